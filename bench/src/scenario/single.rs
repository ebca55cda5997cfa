//! The whole life of single messages: request, SMSC, receipt, callback.

use super::{SETTLE_PATIENCE, close, spent};
use crate::callbacks::Callbacks;
use crate::figures::Figures;
use crate::load::{Request, closed_loop};
use crate::site::{Setup, Site};
use anyhow::Result;
use std::time::Duration;

pub(crate) const CONNECTIONS: usize = 256;
/// Sent before anything is measured, so that connections and pages of the database are warm.
pub(crate) const WARM_UP: u64 = 1_000;

pub(crate) const fn messages(quick: bool) -> u64 {
    if quick { 5_000 } else { 50_000 }
}

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let messages = messages(quick);
    let mut site = Site::prepare(setup)?;
    let callbacks = Callbacks::start()?;
    site.start().await?;
    let request = Request::new(&site, 1, Some(&callbacks.url()));
    let all = WARM_UP + messages;
    closed_loop(&site.http, &request, CONNECTIONS, 0..WARM_UP, Duration::MAX).await?;
    callbacks.wait_for(WARM_UP, SETTLE_PATIENCE).await?;

    let before = site.usage()?;
    let numbers = WARM_UP..all;
    let load = closed_loop(&site.http, &request, CONNECTIONS, numbers, Duration::MAX).await?;
    let last = callbacks.wait_for(all, SETTLE_PATIENCE).await?;
    let after = site.usage()?;

    let mut figures = Figures::default();
    figures.rate("messages_per_s", messages, last - load.began);
    figures.rate("accepts_per_s", messages, load.time);
    figures.latency("accept", &load.latencies);
    spent(&mut figures, &before, &after, messages);
    close(&mut figures, site, all, all).await?;
    let told = callbacks.count();
    figures.expect("callbacks", all, told.requests);
    figures.expect("callbacks of a delivery", all, told.delivered);
    Ok(figures)
}
