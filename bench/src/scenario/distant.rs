//! An SMSC whose responses take 50 ms, on one connection with a window of 100. This allows at most
//! 2,000 submits a second, and long messages must not leave the window idle.

use super::checks::{SETTLE_TIMEOUT, close, spent};
use crate::figures::{Figures, float};
use crate::load::{Request, closed_loop};
use crate::site::{Setup, Site};
use anyhow::Result;
use std::time::{Duration, Instant};

const BINDS: u32 = 1;
const WINDOW: u32 = 100;
const RESPONSE_DELAY: &str = "50ms";
const RECIPIENTS: usize = 1_000;
const CONNECTIONS: usize = 2;
/// Messages that are submitted before the measurement.
const WARM_UP: u64 = 2_000;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let requests: u64 = if quick { 10 } else { 32 };
    let recipients = requests * RECIPIENTS as u64;
    let mut site = Site::prepare(&Setup {
        binds: BINDS,
        window: WINDOW,
        response_delay: RESPONSE_DELAY.to_owned(),
        ..setup.clone()
    })?;
    site.start().await?;
    let request = Request::new(&site, RECIPIENTS, None);
    let before = site.usage()?;
    closed_loop(
        &site.http,
        &request,
        CONNECTIONS,
        0..requests,
        Duration::MAX,
    )
    .await?;

    // Responses are counted, because a submit counts at once, before the window has room.
    let responses = "ogene_responses_total";
    let first = site.wait_for(responses, WARM_UP, SETTLE_TIMEOUT).await?;
    let began = Instant::now();
    // The last submits no longer fill the window.
    let nearly_all = recipients - u64::from(WINDOW);
    let last = site.wait_for(responses, nearly_all, SETTLE_TIMEOUT).await?;
    let time = began.elapsed();

    let mut figures = Figures::default();
    // The end of the load is slower, so it is left out.
    let counted = last.min(float(nearly_all)) - first;
    figures.set("submits_per_s", counted / time.as_secs_f64());
    site.wait_for("ogene_settled_total", recipients, SETTLE_TIMEOUT)
        .await?;
    spent(&mut figures, &before, &site.usage()?, recipients);
    close(&mut figures, site, requests, recipients).await?;
    Ok(figures)
}
