//! A million receipts that wait for a user who is not bound, and then their delivery.

use super::checks::{MILLION, SETTLE_TIMEOUT, close, receipts_are_whole};
use crate::clients::{self, Receipts};
use crate::figures::Figures;
use crate::progress::progress;
use crate::site::{Setup, Site, smpp_users};
use anyhow::Result;
use smpp::BindKind;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

const MESSAGES: u64 = 1_000_000;
const SESSIONS: u16 = 4;
/// The largest limits of a user.
const LIMIT: u32 = 10_000;
const WINDOW: usize = 1_000;
/// The pace of the submits, which stays below the limit.
const PER_SECOND: u32 = 9_500;
/// Submits of each client without a response.
const SUBMITS: usize = 100;
const MAX_CONNECTIONS: u32 = 100;
/// Time in which all receipts are delivered.
const DELIVERY_TIMEOUT: Duration = Duration::from_mins(20);
/// Time after which the memory of the last submits is free.
const REST: Duration = Duration::from_secs(10);

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let messages = if quick { MESSAGES / 10 } else { MESSAGES };
    let mut site = Site::prepare(&Setup {
        smpp_connections: Some(MAX_CONNECTIONS),
        ..setup.clone()
    })?;
    let users = [smpp_users::make(&site, SESSIONS.into(), LIMIT, WINDOW)?];
    site.start().await?;
    let mut figures = Figures::default();
    let idle = site.usage()?.resident_bytes;
    figures.set("idle_mb", idle / MILLION);
    let receipts = Arc::new(Receipts::default());
    let (kind, count) = (BindKind::Transmitter, usize::from(SESSIONS));
    let mut clients = clients::bind(&site.smpp, &users, kind, count, &receipts).await?;
    for client in &mut clients {
        client.ask_for_receipts(true)?;
    }
    let numbers = 0..messages;
    let sent = clients::closed_loop(&mut clients, SUBMITS, PER_SECOND, numbers, Duration::MAX);
    figures.rate("submits_per_s", messages, sent.await?.time);
    clients::unbind(clients).await?;
    // Each of two nodes counts its own settled recipients. The SMSC counts all of them.
    site.wait_until_answered(messages, SETTLE_TIMEOUT).await?;
    sleep(REST).await;
    let waiting = smpp_users::receipts_waiting(&site, &users[0])?;
    figures.expect("receipts that wait", messages, waiting);
    let usage = site.usage()?;
    figures.set("waiting_mb", usage.resident_bytes / MILLION);
    let above_idle = (usage.resident_bytes - idle).max(0.0);
    figures.set("waiting_above_idle_mb", above_idle / MILLION);
    progress(&format!("{waiting} receipts wait"));

    let began = Instant::now();
    let kind = BindKind::Transceiver;
    let mut clients = clients::bind(&site.smpp, &users, kind, count, &receipts).await?;
    let last = clients::receive(&mut clients, &receipts, messages, DELIVERY_TIMEOUT).await?;
    figures.rate("receipts_per_s", messages, last - began);
    let after = site.usage()?;
    let cpu_s = after.cpu_s - usage.cpu_s;
    let thousands = crate::figures::float(messages) / 1e3;
    figures.set("cpu_s_per_1000_receipts", cpu_s / thousands);
    figures.set("peak_mb", after.peak_resident_bytes / MILLION);
    clients::unbind(clients).await?;
    receipts_are_whole(&mut figures, &site, &users, &receipts, messages).await?;
    close(&mut figures, site, messages, messages).await?;
    Ok(figures)
}
