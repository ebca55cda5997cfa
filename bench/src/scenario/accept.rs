//! The rate of durable accepts while the service does nothing else.

use super::checks::{spent, verify};
use crate::figures::Figures;
use crate::load::{Request, closed_loop};
use crate::site::{Setup, Site};
use anyhow::Result;
use std::time::Duration;

const CONNECTIONS: usize = 256;
const WARM_UP: u64 = 1_000;
/// More sends than can be accepted in the time.
const MOST: u64 = 1_000_000;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let time = Duration::from_secs(if quick { 2 } else { 8 });
    let mut site = Site::prepare(setup)?;
    site.start_service().await?;
    let request = Request::new(&site, 1, None);
    closed_loop(&site.http, &request, CONNECTIONS, 0..WARM_UP, Duration::MAX).await?;

    let before = site.usage()?;
    let load = closed_loop(&site.http, &request, CONNECTIONS, WARM_UP..MOST, time).await?;
    let after = site.usage()?;

    let mut figures = Figures::default();
    figures.rate("accepts_per_s", load.accepted, load.time);
    figures.latency("accept", &load.latencies);
    spent(&mut figures, &before, &after, load.accepted);
    let stop = site.stop_service().await?;
    figures.set("stop_s", stop.as_secs_f64());
    let all = WARM_UP + load.accepted;
    verify(&mut figures, &site, all, all, 0)?;
    Ok(figures)
}
