//! The lists of numbers that a gateway respects.

/// The recipients whom a gateway leaves out of sends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Respected {
    /// `true` if those who opted out are left out.
    pub opt_outs: bool,
    /// `true` if those on DND are left out.
    pub dnd: bool,
}
