//! Latency by SMPP at a set pace: from `submit_sm` to `submit_sm_resp`, over one session. A latency
//! begins at the due time of its submit.

use super::checks::{SETTLE_TIMEOUT, close, receipts_are_whole, spent};
use crate::clients::{self, Receipts};
use crate::figures::Figures;
use crate::site::{Setup, Site, smpp_users};
use anyhow::{Context, Result};
use smpp::BindKind;
use std::sync::Arc;
use std::time::Duration;

const PER_SECOND: u32 = 500;
const WINDOW: usize = 100;
/// The limit of the user. The messages before the measurement are faster than the pace.
const LIMIT: u32 = 10_000;
const MAX_CONNECTIONS: u32 = 100;
/// Messages that are sent before the measurement.
const WARM_UP: u64 = 500;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let seconds = if quick { 3 } else { 20 };
    let all = WARM_UP + u64::from(PER_SECOND) * seconds;
    let mut site = Site::prepare(&Setup {
        smpp_connections: Some(MAX_CONNECTIONS),
        ..setup.clone()
    })?;
    let users = [smpp_users::make(&site, 1, LIMIT, WINDOW)?];
    site.start().await?;
    let receipts = Arc::new(Receipts::default());
    let kind = BindKind::Transceiver;
    let mut clients = clients::bind(&site.smpp, &users, kind, 1, &receipts).await?;
    clients::closed_loop(&mut clients, 4, 0, 0..WARM_UP, Duration::MAX).await?;
    clients::receive(&mut clients, &receipts, WARM_UP, SETTLE_TIMEOUT).await?;

    let before = site.usage()?;
    let every = Duration::from_secs(1) / PER_SECOND;
    let client = clients.first_mut().context("a client")?;
    let answers = clients::open_loop(client, WINDOW, WARM_UP..all, every).await?;
    clients::receive(&mut clients, &receipts, all, SETTLE_TIMEOUT).await?;
    let mut figures = Figures::default();
    figures.latency("response", &answers.latencies);
    figures.latency("sent_late", &answers.lateness);
    spent(&mut figures, &before, &site.usage()?, all - WARM_UP);
    clients::unbind(clients).await?;
    receipts_are_whole(&mut figures, &site, &users, &receipts, all).await?;
    close(&mut figures, site, all, all).await?;
    Ok(figures)
}
