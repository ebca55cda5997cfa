//! The cost of a message with more and more carriers, which share the numbers evenly.

use super::curve;
use crate::figures::Figures;
use crate::site::{Setup, Site};
use anyhow::Result;

const POINTS: [u64; 3] = [1, 10, 50];
/// Connections of all carriers together, the same at each point. Submits on one connection share
/// its reads and writes, and the curve shows the cost of carriers, not of connections.
const BINDS: u32 = 50;
const WARM_UP: u64 = 5_000;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    curve::draw(quick, POINTS, WARM_UP, |carriers| {
        Site::prepare(&Setup {
            carriers: usize::try_from(carriers)?,
            binds: BINDS / u32::try_from(carriers)?,
            ..setup.clone()
        })
    })
    .await
}
