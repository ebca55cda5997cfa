//! The cost of a message when more and more recipients of the same carrier are queued by quiet
//! hours.

use super::checks::{SETTLE_TIMEOUT, stop, verify};
use super::curve::{self, Side};
use crate::figures::Figures;
use crate::load::{Request, closed_loop};
use crate::site::{HELD, Setup, Site};
use anyhow::Result;
use std::time::Duration;

const POINTS: [u64; 4] = [0, 10_000, 100_000, 1_000_000];
const RECIPIENTS: u64 = 1_000;
const CONNECTIONS: usize = 4;
const WARM_UP: u64 = 5_000;
/// The numbers of single messages begin behind those of the queued recipients.
const FIRST_NUMBER: u64 = 10_000_000;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let share = if quick { 10 } else { 1 };
    let mut sides = Vec::new();
    for recipients in POINTS.map(|recipients| recipients / share) {
        let mut side = Side::start(Site::prepare(setup)?, FIRST_NUMBER).await?;
        let held = Request::over(&side.site, HELD, usize::try_from(RECIPIENTS)?);
        let requests = 0..recipients / RECIPIENTS;
        closed_loop(&side.site.http, &held, CONNECTIONS, requests, Duration::MAX).await?;
        side.send(WARM_UP).await?;
        sides.push((recipients, side));
    }
    let mut figures = Figures::default();
    curve::compare(&mut figures, &mut sides, quick).await?;
    for (queued, Side { mut site, sent, .. }) in sides {
        site.wait_for("ogene_settled_total", sent, SETTLE_TIMEOUT)
            .await?;
        stop(&mut figures, &mut site, sent).await?;
        verify(&mut figures, &site, sent + queued / RECIPIENTS, sent, sent)?;
    }
    Ok(figures)
}
