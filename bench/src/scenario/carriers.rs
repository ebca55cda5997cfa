//! What a message costs with more and more carriers, which share the numbers evenly.

use super::curve;
use crate::figures::Figures;
use crate::site::{Setup, Site};
use anyhow::Result;

const POINTS: [u64; 3] = [1, 10, 50];
/// Each, so that many carriers do not mean many connections more than a few.
const BINDS: u32 = 1;
const WARM_UP: u64 = 5_000;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    curve::draw(quick, POINTS, WARM_UP, |carriers| {
        Site::prepare(&Setup {
            carriers: usize::try_from(carriers)?,
            binds: BINDS,
            ..setup.clone()
        })
    })
    .await
}
