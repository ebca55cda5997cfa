//! Many messages that are due in the same second, beside one-time passwords.

use super::checks::{MILLION, finish};
use super::latency;
use crate::figures::Figures;
use crate::load::{Request, closed_loop, open_loop};
use crate::machine::unix_time;
use crate::progress::progress;
use crate::site::{OTP, Setup, Site, free_address};
use anyhow::{Context, Result, bail};
use std::time::{Duration, Instant};
use tokio::time::sleep;

const CONNECTIONS: usize = 256;
const OTP_CONNECTIONS: usize = 16;
const OTPS_PER_SECOND: u32 = 100;
/// The numbers of one-time passwords begin behind those of the messages.
const FIRST_OTP: u64 = 10_000_000;
/// One-time passwords are sent from this time before the due time.
const BEFORE: Duration = Duration::from_secs(2);
/// Time in which all messages are submitted.
const DRAIN_TIMEOUT: Duration = Duration::from_mins(10);

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let (messages, ahead_s, seconds) = if quick {
        (20_000, 30, 4)
    } else {
        (1_000_000, 240, 12)
    };
    let mut site = Site::prepare(setup)?;
    let tap = latency::start(&mut site, free_address()?).await?;
    let due_s = unix_time().as_secs() + ahead_s;
    let due = domain::time::lagos_time(i64::try_from(due_s * 1_000)?);
    let request = Request::with(&site, 1, &format!(r#","send_at":"{due}""#));
    let numbers = 0..messages;
    closed_loop(&site.http, &request, CONNECTIONS, numbers, Duration::MAX).await?;
    let left = Duration::from_secs(due_s).saturating_sub(unix_time());
    let wait = left
        .checked_sub(BEFORE)
        .context("the messages were due before all of them were accepted")?;
    progress(&format!("{messages} messages are due in {left:?}"));
    let due = Instant::now() + left;
    sleep(wait).await;

    let request = Request::over(&site, OTP, 1);
    let otps = FIRST_OTP..FIRST_OTP + u64::from(OTPS_PER_SECOND) * seconds;
    let every = Duration::from_secs(1) / OTPS_PER_SECOND;
    let load = open_loop(&site.http, &request, OTP_CONNECTIONS, otps, every).await?;
    let mut figures = Figures::default();
    let all = messages + load.accepted;
    site.wait_until_answered(all, DRAIN_TIMEOUT).await?;
    latency::compare(&mut figures, "otp_", &load, &tap).await?;
    let first = tap.first_below(messages).context("no message was sent")?;
    if first < due {
        bail!("a message was submitted {:?} before its time", due - first);
    }
    figures.set("first_submit_ms", (first - due).as_secs_f64() * 1e3);
    figures.set("peak_mb", site.usage()?.peak_resident_bytes / MILLION);
    figures.expect("submits on the wire", all, tap.count());
    finish(&mut figures, site, all, all, 0).await?;
    Ok(figures)
}
