//! Latency at a set pace: the time until each send is accepted, and until its `submit_sm` leaves
//! the service.
//!
//! A send is accepted once its whole 200 is read here. A `submit_sm` that left earlier counts as 0.
//! A further figure is the customer's whole wait, which begins at the due time of the request.

use super::checks::{SETTLE_TIMEOUT, close, spent};
use crate::figures::{Figures, Latencies};
use crate::load::{Load, Request, closed_loop, open_loop};
use crate::process::until;
use crate::site::{Setup, Site, free_address};
use crate::tap::Tap;
use anyhow::{Context, Result};
use std::net::SocketAddr;
use std::time::Duration;

const CONNECTIONS: usize = 32;
const PER_SECOND: u32 = 500;
/// Messages that are sent before the measurement.
const WARM_UP: u64 = 500;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let seconds = if quick { 3 } else { 20 };
    let all = WARM_UP + u64::from(PER_SECOND) * seconds;
    let mut site = Site::prepare(setup)?;
    let behind_tap = free_address()?;
    let tap = start(&mut site, behind_tap).await?;
    let request = Request::new(&site, 1, None);
    closed_loop(&site.http, &request, 4, 0..WARM_UP, Duration::MAX).await?;

    let before = site.usage()?;
    let every = Duration::from_secs(1) / PER_SECOND;
    let load = open_loop(&site.http, &request, CONNECTIONS, WARM_UP..all, every).await?;
    let mut figures = Figures::default();
    close_after(&mut figures, site, before, all).await?;

    figures.latency("accept", &load.latencies);
    figures.latency("sent_late", &load.lateness);
    compare(&mut figures, "", &load, &tap).await?;
    Ok(figures)
}

/// Starts all processes, with a tap between the service and the SMSC.
pub(super) async fn start(site: &mut Site, smsc: SocketAddr) -> Result<Tap> {
    let tap = Tap::listen(site.carrier, smsc).await?;
    site.start_smsc(smsc).await?;
    site.start_service().await?;
    site.wait_until_bound().await?;
    Ok(tap)
}

async fn close_after(
    figures: &mut Figures,
    site: Site,
    before: crate::process::Usage,
    all: u64,
) -> Result<()> {
    site.wait_for("ogene_settled_total", all, SETTLE_TIMEOUT)
        .await?;
    spent(figures, &before, &site.usage()?, all - WARM_UP);
    close(figures, site, all, all).await
}

/// Returns the time of each submit after its accept, and after the due time of its request.
pub(super) async fn compare(
    figures: &mut Figures,
    name: &str,
    load: &Load,
    tap: &Tap,
) -> Result<()> {
    let passed = || {
        load.moments
            .iter()
            .all(|moments| tap.of(moments.number).is_some())
    };
    until(SETTLE_TIMEOUT, passed)
        .await
        .context("accepted sends never reach the wire")?;
    let (mut accepted, mut due) = (Latencies::new()?, Latencies::new()?);
    for moments in &load.moments {
        if let Some(submitted) = tap.of(moments.number) {
            accepted.record(submitted.saturating_duration_since(moments.accepted));
            due.record(submitted.saturating_duration_since(moments.due));
        }
    }
    figures.latency(&format!("{name}accepted_to_submit"), &accepted);
    figures.latency(&format!("{name}due_to_submit"), &due);
    Ok(())
}
