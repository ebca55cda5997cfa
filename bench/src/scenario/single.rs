//! The whole life of single messages: request, SMSC, receipt, callback.

use super::checks::{SETTLE_TIMEOUT, close, spent};
use crate::callbacks::Callbacks;
use crate::figures::Figures;
use crate::load::{Load, Request, closed_loop};
use crate::process::Usage;
use crate::site::{Setup, Site};
use anyhow::Result;
use std::time::{Duration, Instant};

/// Messages before the measurement, so that connections and pages of the database are warm.
pub(crate) const WARM_UP: u64 = 1_000;

pub(super) async fn run(setup: &Setup, messages: u64) -> Result<Figures> {
    let mut site = Site::prepare(setup)?;
    let callbacks = Callbacks::start()?;
    site.start().await?;
    let request = Request::new(&site, 1, Some(&callbacks.url()));
    let all = WARM_UP + messages;
    let connections = setup.connections;
    closed_loop(&site.http, &request, connections, 0..WARM_UP, Duration::MAX).await?;
    callbacks.wait_for(WARM_UP, SETTLE_TIMEOUT).await?;

    let before = site.usage()?;
    let numbers = WARM_UP..all;
    let load = closed_loop(&site.http, &request, connections, numbers, Duration::MAX).await?;
    let last = callbacks.wait_for(all, SETTLE_TIMEOUT).await?;
    let mut figures = whole_life(&load, last, [&before, &site.usage()?], messages);
    close(&mut figures, site, all, all).await?;
    let told = callbacks.count();
    figures.expect("callbacks", all, told.requests);
    figures.expect("callbacks of a delivery", all, told.delivered);
    Ok(figures)
}

/// Sets the figures of so many messages, whose last callback was made at this time.
pub(crate) fn whole_life(
    load: &Load,
    last: Instant,
    [before, after]: [&Usage; 2],
    messages: u64,
) -> Figures {
    let mut figures = Figures::default();
    figures.rate("messages_per_s", messages, last - load.began);
    figures.rate("accepts_per_s", messages, load.time);
    figures.latency("accept", &load.latencies);
    spent(&mut figures, before, after, messages);
    figures
}
