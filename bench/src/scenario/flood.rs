//! The rate of an SMPP user alone, and beside another user that submits as fast as the service
//! reads. Both are measured by turns.

use super::checks::{SETTLE_TIMEOUT, close, receipts_are_whole};
use crate::clients::{self, Client, Flood, Receipts};
use crate::figures::{Figures, float, median};
use crate::site::{Setup, Site, smpp_users};
use anyhow::Result;
use smpp::BindKind;
use std::sync::Arc;
use std::time::Duration;

/// The largest limit of a user.
const LIMIT: u32 = 10_000;
const WINDOW: usize = 100;
/// The pace of the user, which stays below its limit.
const PER_SECOND: u32 = 9_500;
/// The limits of the flood, those of a new user.
const FLOOD_BINDS: u16 = 4;
const FLOOD_LIMIT: u32 = 100;
const FLOOD_WINDOW: usize = 100;
const MAX_CONNECTIONS: u32 = 100;
/// The numbers of the flood begin behind those of the user.
const FIRST_OF_FLOOD: u64 = 20_000_000;
/// More submits than a flood can write in a round.
const FLOOD_MOST: u64 = 10_000_000;
/// More messages than the user can send in a turn.
const MOST: u64 = 1_000_000;
/// The flood is longer than the turn of the user.
const LONGER: Duration = Duration::from_secs(1);

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let (rounds, seconds) = if quick { (2, 3) } else { (5, 8) };
    let mut site = Site::prepare(&Setup {
        smpp_connections: Some(MAX_CONNECTIONS),
        ..setup.clone()
    })?;
    let users = [smpp_users::make(&site, 1, LIMIT, WINDOW)?];
    let other = smpp_users::make(&site, FLOOD_BINDS.into(), FLOOD_LIMIT, FLOOD_WINDOW)?;
    site.start().await?;
    let receipts = Arc::new(Receipts::default());
    let kind = BindKind::Transceiver;
    let mut user = User {
        clients: clients::bind(&site.smpp, &users, kind, 1, &receipts).await?,
        receipts,
        sent: 0,
        next: 0,
    };
    let time = Duration::from_secs(seconds);
    user.turn(time).await?;
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    let (mut flooded, mut flood_accepted, mut flood_time) = (0, 0, Duration::ZERO);
    for round in 0..rounds {
        alone.push(user.turn(time).await?);
        let first = FIRST_OF_FLOOD + round * FLOOD_MOST;
        let binds = usize::from(FLOOD_BINDS);
        let mut flood = Flood::start(site.smpp[0], &other, binds, first, time + LONGER)?;
        flood.began().await?;
        beside.push(user.turn(time).await?);
        let answers = flood.ended().await?;
        flooded += answers.accepted + answers.refused;
        flood_accepted += answers.accepted;
        flood_time += answers.time;
    }
    let mut figures = Figures::default();
    let shares = beside.iter().zip(&alone);
    let shares = shares.map(|(beside, alone)| beside / alone).collect();
    figures.set("share_of_rate_alone", median(shares));
    figures.set("messages_per_s_alone", median(alone));
    figures.set("messages_per_s_beside_flood", median(beside));
    figures.rate("flood_submits_per_s", flooded, flood_time);
    figures.rate("flood_accepted_per_s", flood_accepted, flood_time);
    let (all, sent) = (user.sent + flood_accepted, user.sent);
    clients::unbind(user.clients).await?;
    receipts_are_whole(&mut figures, &site, &users, &user.receipts, sent).await?;
    close(&mut figures, site, all, all).await?;
    Ok(figures)
}

/// The user that keeps its pace.
struct User {
    clients: Vec<Client>,
    receipts: Arc<Receipts>,
    sent: u64,
    next: u64,
}

impl User {
    /// Sends for so long, and waits for all receipts. Returns the accepted messages a second.
    async fn turn(&mut self, time: Duration) -> Result<f64> {
        let numbers = self.next..self.next + MOST;
        self.next = numbers.end;
        let clients = &mut self.clients;
        let load = clients::closed_loop(clients, WINDOW, PER_SECOND, numbers, time).await?;
        self.sent += load.accepted;
        clients::receive(clients, &self.receipts, self.sent, SETTLE_TIMEOUT).await?;
        Ok(float(load.accepted) / load.time.as_secs_f64())
    }
}
