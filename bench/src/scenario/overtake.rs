//! One-time passwords while a campaign is queued: they are submitted first. There are two
//! measurements. In the first, the carrier takes 2,000 a second, so that the campaign stays queued.
//! In the second, the campaign is sent as fast as possible.

use super::checks::{SETTLE_TIMEOUT, finish};
use super::latency;
use crate::figures::Figures;
use crate::load::{Load, Request, closed_loop, open_loop};
use crate::site::{OTP, Setup, Site, free_address};
use anyhow::{Result, bail};
use std::time::{Duration, Instant};

const MAX_PER_SECOND: u32 = 2_000;
const CAMPAIGN_CONNECTIONS: usize = 4;
const RECIPIENTS: usize = 1_000;
const CONNECTIONS: usize = 16;
const OTPS_PER_SECOND: u32 = 100;
/// The numbers of one-time passwords begin behind those of the campaign.
const FIRST_NUMBER: u64 = 10_000_000;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let requests: u64 = if quick { 100 } else { 1_000 };
    let campaign = requests * RECIPIENTS as u64;
    let mut site = Site::prepare(&Setup {
        max_per_second: Some(MAX_PER_SECOND),
        ..setup.clone()
    })?;
    let tap = latency::start(&mut site, free_address()?).await?;
    let request = Request::new(&site, RECIPIENTS, None);
    let connections = CAMPAIGN_CONNECTIONS;
    closed_loop(
        &site.http,
        &request,
        connections,
        0..requests,
        Duration::MAX,
    )
    .await?;

    let mut figures = Figures::default();
    let seconds = if quick { 2 } else { 10 };
    let otps = FIRST_NUMBER..FIRST_NUMBER + u64::from(OTPS_PER_SECOND) * seconds;
    let load = send(&site, otps.clone()).await?;
    let mut sent = load.accepted;
    latency::compare(&mut figures, "otp_", &load, &tap).await?;
    if tap.count() >= campaign {
        bail!("the campaign was on the wire before the passwords were");
    }

    site.stop_service().await?;
    site.unlimit()?;
    site.start_service().await?;
    site.wait_until_bound().await?;
    let draining = if quick { 1 } else { 5 };
    let otps = otps.end..otps.end + u64::from(OTPS_PER_SECOND) * draining;
    let (began, submitted) = (Instant::now(), tap.count());
    let load = send(&site, otps).await?;
    let submitted = tap.count() - submitted;
    figures.rate("submits_while_draining_per_s", submitted, began.elapsed());
    sent += load.accepted;
    let all = campaign + sent;
    // Each of two nodes counts its own settled recipients. The SMSC counts all of them.
    site.wait_until_answered(all, SETTLE_TIMEOUT).await?;
    latency::compare(&mut figures, "otp_while_draining_", &load, &tap).await?;
    figures.expect("submits on the wire", all, tap.count());
    finish(&mut figures, site, requests + sent, all, 0).await?;
    Ok(figures)
}

async fn send(site: &Site, numbers: std::ops::Range<u64>) -> Result<Load> {
    let request = Request::over(site, OTP, 1);
    let every = Duration::from_secs(1) / OTPS_PER_SECOND;
    open_loop(&site.http, &request, CONNECTIONS, numbers, every).await
}
