//! Campaigns: many recipients per request, from the first request to the last settled receipt.

use super::checks::{SETTLE_TIMEOUT, close, spent};
use crate::figures::Figures;
use crate::load::{Request, closed_loop};
use crate::site::{Setup, Site};
use anyhow::Result;
use std::time::Duration;

const CONNECTIONS: usize = 8;
const RECIPIENTS: usize = 1_000;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let requests = if quick { 40 } else { 400 };
    let recipients = requests * RECIPIENTS as u64;
    let mut site = Site::prepare(setup)?;
    site.start().await?;
    let request = Request::new(&site, RECIPIENTS, None);

    let before = site.usage()?;
    let load = closed_loop(
        &site.http,
        &request,
        CONNECTIONS,
        0..requests,
        Duration::MAX,
    )
    .await?;
    site.wait_for("ogene_settled_total", recipients, SETTLE_TIMEOUT)
        .await?;
    let time = load.began.elapsed();
    let after = site.usage()?;

    let mut figures = Figures::default();
    figures.rate("recipients_per_s", recipients, time);
    figures.rate("accepted_recipients_per_s", recipients, load.time);
    figures.latency("accept", &load.latencies);
    spent(&mut figures, &before, &after, recipients);
    close(&mut figures, site, requests, recipients).await?;
    Ok(figures)
}
