//! The size of a measurement.

/// The amount of each load, and the number of its runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) quick: bool,
    pub(crate) runs: u32,
}
