//! Customers by SMPP: four sessions from `submit_sm` through the carrier to the answered receipt,
//! as a share of single messages over HTTP. Both take turns on the same service.
//!
//! A rate is that of receipts or callbacks while the load runs, from a time at which they are
//! steady: a receipt by SMPP is a second old at least, and that is no part of a rate.

use super::checks::{MILLION, SETTLE_TIMEOUT, close, receipts_are_whole};
use crate::callbacks::Callbacks;
use crate::clients::{self, Client, Receipts};
use crate::figures::{Figures, Latencies, float, median};
use crate::http::Connection;
use crate::load::{self, Request, closed_loop_on};
use crate::process::Usage;
use crate::site::smpp_users::{self, Credentials};
use crate::site::{Setup, Site};
use anyhow::Result;
use smpp::BindKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

const SESSIONS: usize = 4;
const WINDOW: usize = 100;
/// The largest limit of a user. Each session has a user of its own, so that no limit slows it.
const PER_SECOND: u32 = 10_000;
const MAX_CONNECTIONS: u32 = 100;
/// The time after which receipts are steady.
const STEADY: Duration = Duration::from_millis(2_500);
/// More messages than can be accepted in a turn.
const MOST: u64 = 1_000_000;

/// The figures of a turn.
pub(crate) struct Turn {
    messages_per_s: f64,
    cpu_s_per_1000: f64,
    peak_bytes: f64,
    latencies: Latencies,
}

impl Turn {
    /// Sets the figures of one turn.
    pub(crate) fn show(figures: &mut Figures, turn: &Self) {
        figures.set("messages_per_s", turn.messages_per_s);
        figures.set("cpu_s_per_1000", turn.cpu_s_per_1000);
        figures.set("peak_mb", turn.peak_bytes / MILLION);
        figures.latency("response", &turn.latencies);
    }
}

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let (rounds, time) = if quick {
        (2, STEADY * 2)
    } else {
        (5, STEADY * 4)
    };
    let (site, users) = start(setup).await?;
    let usage = || site.usage();
    let mut by_http = ByHttp::open(&site, setup.connections).await?;
    let mut by_smpp = Sessions::bind(&site.smpp, &users).await?;
    let mut first = 0;
    let mut turns: [Vec<Turn>; 2] = [Vec::new(), Vec::new()];
    for round in 0..=rounds {
        // The first round warms the service up.
        let time = if round == 0 { STEADY * 2 } else { time };
        let both = [
            by_http.turn(&usage, first, time).await?,
            by_smpp.turn(&usage, first + MOST, time).await?,
        ];
        first += 2 * MOST;
        if round > 0 {
            for (turns, turn) in turns.iter_mut().zip(both) {
                turns.push(turn);
            }
        }
    }
    let mut figures = Figures::default();
    compare(&mut figures, &turns);
    let (sent, submitted) = (by_http.sent, by_smpp.sent);
    let receipts = by_smpp.unbind().await?;
    receipts_are_whole(&mut figures, &site, &users, &receipts, submitted).await?;
    close(&mut figures, site, sent + submitted, sent + submitted).await?;
    figures.expect("callbacks", sent, by_http.callbacks.count().requests);
    Ok(figures)
}

/// Measures the sessions without HTTP, for the comparison with another product.
pub(crate) async fn alone(setup: &Setup, time: Duration) -> Result<Figures> {
    let (site, users) = start(setup).await?;
    let mut sessions = Sessions::bind(&site.smpp, &users).await?;
    let turn = sessions.turns(&|| site.usage(), time).await?;
    let mut figures = Figures::default();
    Turn::show(&mut figures, &turn);
    let sent = sessions.sent;
    let receipts = sessions.unbind().await?;
    receipts_are_whole(&mut figures, &site, &users, &receipts, sent).await?;
    close(&mut figures, site, sent, sent).await?;
    Ok(figures)
}

/// Starts a site with a user for each session.
async fn start(setup: &Setup) -> Result<(Site, Vec<Credentials>)> {
    let mut site = Site::prepare(&Setup {
        smpp_connections: Some(MAX_CONNECTIONS),
        ..setup.clone()
    })?;
    let make = |_| smpp_users::make(&site, 1, PER_SECOND, WINDOW);
    let users = (0..SESSIONS).map(make).collect::<Result<_>>()?;
    site.start().await?;
    Ok((site, users))
}

/// Sets the rates, and the medians of the ratios in each round.
fn compare(figures: &mut Figures, turns: &[Vec<Turn>; 2]) {
    let [http, smpp] = turns;
    let rate = |turn: &Turn| turn.messages_per_s;
    let cost = |turn: &Turn| turn.cpu_s_per_1000;
    let of = |turns: &[Turn], figure: fn(&Turn) -> f64| median(turns.iter().map(figure).collect());
    let ratio = |figure: fn(&Turn) -> f64| {
        let rounds = smpp.iter().zip(http);
        median(rounds.map(|(one, two)| figure(one) / figure(two)).collect())
    };
    figures.set("messages_per_s", of(smpp, rate));
    figures.set("cpu_s_per_1000", of(smpp, cost));
    figures.set("single_messages_per_s", of(http, rate));
    figures.set("single_cpu_s_per_1000", of(http, cost));
    figures.set("share_of_single", ratio(rate));
    figures.set("cpu_share_of_single", ratio(cost));
}

/// Returns the rate of a count while a load runs, once it is steady.
async fn steady_rate(time: Duration, count: impl Fn() -> u64) -> f64 {
    sleep(STEADY).await;
    let (began, before) = (Instant::now(), count());
    sleep(time.saturating_sub(STEADY)).await;
    float(count() - before) / began.elapsed().as_secs_f64()
}

/// The function that returns the usage of the measured processes.
type UsageOf<'a> = &'a dyn Fn() -> Result<Usage>;

/// The load of `single`.
struct ByHttp {
    streams: Vec<Connection>,
    request: Request,
    callbacks: Callbacks,
    sent: u64,
}

impl ByHttp {
    async fn open(site: &Site, connections: usize) -> Result<Self> {
        let callbacks = Callbacks::start()?;
        Ok(Self {
            streams: load::open(&site.http, connections).await?,
            request: Request::new(site, 1, Some(&callbacks.url())),
            callbacks,
            sent: 0,
        })
    }

    async fn turn(&mut self, usage: UsageOf<'_>, first: u64, time: Duration) -> Result<Turn> {
        let before = usage()?;
        let numbers = first..first + MOST;
        let load = closed_loop_on(&mut self.streams, &self.request, numbers, time);
        let count = || self.callbacks.count().recipients;
        let (load, messages_per_s) = tokio::join!(load, steady_rate(time, count));
        let load = load?;
        self.sent += load.accepted;
        self.callbacks.wait_for(self.sent, SETTLE_TIMEOUT).await?;
        let after = usage()?;
        Ok(Turn {
            messages_per_s,
            cpu_s_per_1000: (after.cpu_s - before.cpu_s) / float(load.accepted) * 1e3,
            peak_bytes: after.peak_resident_bytes,
            latencies: load.latencies,
        })
    }
}

/// The four sessions.
pub(crate) struct Sessions {
    clients: Vec<Client>,
    receipts: Arc<Receipts>,
    pub(crate) sent: u64,
}

impl Sessions {
    /// Binds the sessions of these users by turns.
    pub(crate) async fn bind(nodes: &[SocketAddr], users: &[Credentials]) -> Result<Self> {
        let receipts = Arc::new(Receipts::default());
        let kind = BindKind::Transceiver;
        Ok(Self {
            clients: clients::bind(nodes, users, kind, SESSIONS, &receipts).await?,
            receipts,
            sent: 0,
        })
    }

    /// Submits for so long, and waits for all receipts.
    async fn turn(&mut self, usage: UsageOf<'_>, first: u64, time: Duration) -> Result<Turn> {
        let before = usage()?;
        let numbers = first..first + MOST;
        let load = clients::closed_loop(&mut self.clients, WINDOW, 0, numbers, time);
        let count = || self.receipts.count().recipients;
        let (load, messages_per_s) = tokio::join!(load, steady_rate(time, count));
        let load = load?;
        self.sent += load.accepted;
        let (clients, receipts) = (&mut self.clients, &self.receipts);
        clients::receive(clients, receipts, self.sent, SETTLE_TIMEOUT).await?;
        let after = usage()?;
        Ok(Turn {
            messages_per_s,
            cpu_s_per_1000: (after.cpu_s - before.cpu_s) / float(load.accepted) * 1e3,
            peak_bytes: after.peak_resident_bytes,
            latencies: load.latencies,
        })
    }

    /// Runs a turn after a short one that warms the product up.
    pub(crate) async fn turns(&mut self, usage: UsageOf<'_>, time: Duration) -> Result<Turn> {
        self.turn(usage, 0, STEADY).await?;
        self.turn(usage, MOST, time).await
    }

    /// Checks that each message has a receipt of a delivery.
    pub(crate) fn check_receipts(&self, figures: &mut Figures) {
        let delivered = self.receipts.count().delivered;
        figures.expect("receipts of a delivery", self.sent, delivered);
    }

    /// Unbinds. Returns the receipts.
    pub(crate) async fn unbind(self) -> Result<Arc<Receipts>> {
        clients::unbind(self.clients).await?;
        Ok(self.receipts)
    }
}
