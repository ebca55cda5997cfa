//! The cost of a message when more and more accounts take turns.

use super::curve;
use crate::copies;
use crate::figures::Figures;
use crate::site::{Setup, Site};
use anyhow::Result;

const POINTS: [u64; 3] = [1, 100, 10_000];
/// Enough messages for each account to be known before the measurement.
const WARM_UP: u64 = 10_000;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    curve::draw(quick, POINTS, WARM_UP, |accounts| {
        let mut site = Site::prepare(setup)?;
        copies::make_accounts(&mut site, accounts)?;
        Ok(site)
    })
    .await
}
