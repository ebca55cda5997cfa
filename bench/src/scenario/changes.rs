//! The cost of a message of one account while other accounts change.

use super::curve::{self, Side};
use crate::copies;
use crate::figures::Figures;
use crate::site::{Setup, Site};
use anyhow::Result;

const ACCOUNTS: u64 = 10_000;
/// Changes in each turn, which lasts about a second: none, and one.
const POINTS: [u64; 2] = [0, 1];

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let mut sides = Vec::new();
    for changes in POINTS {
        let mut prepared = Site::prepare(setup)?;
        copies::make_accounts(&mut prepared, ACCOUNTS)?;
        let mut side = Side::start(prepared, 0).await?;
        // Each account is then known before the measurement.
        side.send(ACCOUNTS).await?;
        side.changes = changes;
        sides.push((changes, side));
    }
    curve::by_turns(sides, quick).await
}
