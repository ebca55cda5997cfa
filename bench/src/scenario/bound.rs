//! Many bound sessions that are idle: their memory, their processor time, and the responses to
//! their `enquire_link`.

use super::checks::MILLION;
use crate::clients::{self, Receipts};
use crate::figures::{Figures, float};
use crate::site::{Setup, Site, smpp_users};
use anyhow::Result;
use smpp::BindKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SESSIONS: u32 = 2_000;
/// Connections of a user. More are not allowed.
const BINDS: u32 = 100;
const PER_SECOND: u32 = 100;
const WINDOW: usize = 100;
/// The service sends an `enquire_link` after 30 seconds of silence.
const SILENCE: Duration = Duration::from_secs(33);

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let sessions = if quick { SESSIONS / 10 } else { SESSIONS };
    let mut site = Site::prepare(&Setup {
        smpp_connections: Some(SESSIONS),
        ..setup.clone()
    })?;
    let users = (0..sessions.div_ceil(BINDS))
        .map(|_| smpp_users::make(&site, BINDS, PER_SECOND, WINDOW))
        .collect::<Result<Vec<_>>>()?;
    site.start().await?;
    let mut figures = Figures::default();
    let idle = site.usage()?.resident_bytes;
    figures.set("idle_mb", idle / MILLION);

    let (kind, count) = (BindKind::Transceiver, usize::try_from(sessions)?);
    let receipts = Arc::new(Receipts::default());
    let began = Instant::now();
    let mut clients = clients::bind(&site.smpp, &users, kind, count, &receipts).await?;
    figures.rate("binds_per_s", sessions.into(), began.elapsed());
    // The first passwords of users take memory for a moment.
    let before = site.usage()?;
    clients::attend(&mut clients, SILENCE).await?;
    let after = site.usage()?;
    let cpu_s = after.cpu_s - before.cpu_s;
    figures.set("idle_cpu_share", cpu_s / SILENCE.as_secs_f64());
    figures.set("bound_mb", after.resident_bytes / MILLION);
    let above_idle = (after.resident_bytes - idle).max(0.0);
    figures.set("bound_above_idle_mb", above_idle / MILLION);
    figures.set("bytes_per_session", above_idle / float(sessions.into()));
    let enquired = clients.iter().filter(|client| client.enquiries > 0).count();
    figures.expect("enquire_link of the service", count as u64, enquired as u64);

    // A missing response is a fault.
    figures.latency("enquire_link", &clients::enquire(&mut clients).await?);
    let began = Instant::now();
    clients::unbind(clients).await?;
    figures.rate("unbinds_per_s", sessions.into(), began.elapsed());
    let stop = site.stop_service().await?;
    figures.set("stop_s", stop.as_secs_f64());
    site.stop_smsc().await?;
    site.ogene(&["verify"])?;
    Ok(figures)
}
