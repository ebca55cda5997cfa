//! A million recipients that are queued while the SMSC is down, a SIGKILL, a start, and the return
//! of the SMSC.

use super::checks::{MILLION, SETTLE_TIMEOUT, close};
use crate::figures::Figures;
use crate::load::{Request, closed_loop};
use crate::process::until;
use crate::site::{Setup, Site, free_address};
use crate::tap::Tap;
use anyhow::{Context, Result};
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 4;
const RECIPIENTS: usize = 1_000;
/// The pause between two attempts to bind grows to a minute.
const BIND_TIMEOUT: Duration = Duration::from_secs(90);

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let requests = if quick { 100 } else { 1_000 };
    let recipients = requests * RECIPIENTS as u64;
    let mut figures = Figures::default();
    let mut site = Site::prepare(setup)?;

    let ready = site.start_service().await?;
    figures.set("ready_when_empty_s", ready.as_secs_f64());
    figures.set("idle_mb", site.usage()?.resident_bytes / MILLION);

    let request = Request::new(&site, RECIPIENTS, None);
    let load = closed_loop(
        &site.http,
        &request,
        CONNECTIONS,
        0..requests,
        Duration::MAX,
    )
    .await?;
    figures.rate("accepted_recipients_per_s", recipients, load.time);
    figures.latency("accept", &load.latencies);
    let usage = site.usage()?;
    figures.set("queued_mb", usage.resident_bytes / MILLION);
    figures.set("queued_peak_mb", usage.peak_resident_bytes / MILLION);

    site.kill_service()?;
    let ready = site.start_service().await?;
    figures.set("ready_after_kill_s", ready.as_secs_f64());
    figures.set(
        "queued_after_start_mb",
        site.usage()?.resident_bytes / MILLION,
    );

    drain(&mut figures, &mut site, recipients).await?;
    close(&mut figures, site, requests, recipients).await?;
    Ok(figures)
}

/// The SMSC starts behind a tap, and all queued recipients are submitted.
async fn drain(figures: &mut Figures, site: &mut Site, recipients: u64) -> Result<()> {
    let behind_tap = free_address()?;
    site.start_smsc(behind_tap).await?;
    let up = Instant::now();
    let tap = Tap::listen(site.carrier, behind_tap).await?;
    until(BIND_TIMEOUT, || tap.first().is_some())
        .await
        .context("nothing is submitted")?;
    let first = tap.first().context("nothing is submitted")?;
    figures.set("first_submit_after_smsc_s", (first - up).as_secs_f64());
    site.wait_for("ogene_settled_total", recipients, SETTLE_TIMEOUT)
        .await?;
    figures.rate("drained_recipients_per_s", recipients, first.elapsed());
    figures.set(
        "drained_peak_mb",
        site.usage()?.peak_resident_bytes / MILLION,
    );
    figures.expect("submits on the wire", recipients, tap.count());
    Ok(())
}
