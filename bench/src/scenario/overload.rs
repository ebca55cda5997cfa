//! Ten times the sustained rate, for a minute. The figures are the accepted rate, the refusals, the
//! memory, and the time of the recovery.
//!
//! The load is bounded: each connection has one request at a time, and one that is a second late
//! skips the sends that it could not offer. The offered rate is one of the figures. The load shares
//! the cores, so it cannot write ten times as many single messages. It can with campaigns.

use super::checks::{SETTLE_TIMEOUT, finish, spent};
use crate::figures::{Figures, Latencies, float};
use crate::http::Connection;
use crate::load::{self, Request, closed_loop};
use crate::site::{Setup, Site};
use anyhow::{Context, Result, bail};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// The accept queue has fewer places than there are connections, so that sends are refused. No rate
/// limit comes before it.
const LIMITS: &str =
    "sends_per_minute = 1000000000\nreports_per_minute = 1000000\naccept_queue = 500\n";
/// Settled recipients count, because more can be accepted for a while than delivered.
const SETTLED: &str = "ogene_settled_total";
/// More sends than can be accepted.
const MOST: u64 = 80_000_000;
const TIMES: f64 = 10.0;
/// The share of the sustained rate at which latencies are normal.
const WELL: f64 = 0.5;
/// The service has recovered when the 99th percentile is at most this many times as long as before,
/// and this much longer.
const AS_BEFORE: f64 = 2.0;
const LITTLE_MS: f64 = 5.0;
/// Maximum time of the recovery.
const MAX_SECONDS: u32 = 30;
const LATE: Duration = Duration::from_secs(1);
/// Work of ten minutes may be accepted in one.
const ALL_TIMEOUT: Duration = Duration::from_mins(30);

/// The load of a scenario.
pub(super) struct Callers {
    /// Recipients of a request.
    recipients: u64,
    /// Connections of the closed loop that finds the sustained rate, and of the load at a normal
    /// rate.
    few: usize,
    /// The connections of the overload.
    many: usize,
    /// Duration of the sustained rate that the overload is compared with, before and after it.
    seconds: u64,
    /// If `true`, the load has recovered once accepts are as fast as at the sustained rate:
    /// accepted campaigns keep the carrier busy for a while.
    are_behind: bool,
}

impl Callers {
    /// One recipient a request, over nearly as many connections as the service has by default.
    pub(super) const SINGLE: Self = Self {
        recipients: 1,
        few: 256,
        many: 9_000,
        seconds: 30,
        are_behind: false,
    };
    /// The request is that of `bulk`.
    pub(super) const CAMPAIGNS: Self = Self {
        recipients: 1_000,
        few: 8,
        many: 2_000,
        // Accepted campaigns take this time again until they are settled.
        seconds: 10,
        are_behind: true,
    };
}

pub(super) async fn run(setup: &Setup, quick: bool, callers: &Callers) -> Result<Figures> {
    let (long, short) = if quick { (3, 2) } else { (60, 10) };
    let &Callers {
        recipients, few, ..
    } = callers;
    let mut site = Site::prepare(&Setup {
        limits: LIMITS,
        ..setup.clone()
    })?;
    site.start().await?;
    let request = Request::new(&site, usize::try_from(recipients)?, None);
    let warm_up = few as u64;
    closed_loop(&site.http, &request, few, 0..warm_up, Duration::MAX).await?;
    site.wait_for(SETTLED, warm_up * recipients, SETTLE_TIMEOUT)
        .await?;
    let short = Duration::from_secs(short);
    let sustain = Duration::from_secs(callers.seconds.min(long));
    let mut figures = Figures::default();
    let sustained = Sustained::measure(&site, &request, callers, warm_up, warm_up, sustain).await?;
    let per_s = sustained.per_s;
    let mut accepted = warm_up + sustained.accepted;

    let mut crowd = Crowd::new(&site, request.clone(), callers, accepted + few as u64).await?;
    let before = site.usage()?;
    let well = crowd.offer(few, per_s * WELL, short).await?;
    let over = Duration::from_secs(long);
    let settled = site.wait_for(SETTLED, 0, SETTLE_TIMEOUT).await?;
    let overloaded = crowd.offer(callers.many, per_s * TIMES, over).await?;
    let settled = site.wait_for(SETTLED, 0, SETTLE_TIMEOUT).await? - settled;
    let usual_ms = if callers.are_behind {
        sustained.p99_ms
    } else {
        well.p99_ms() * AS_BEFORE + LITTLE_MS
    };
    let (recovered_s, after) = crowd.recover(per_s * WELL, usual_ms).await?;
    let during = well.accepted + overloaded.accepted + after;
    accepted += during;
    site.wait_for(SETTLED, accepted * recipients, ALL_TIMEOUT)
        .await?;
    spent(&mut figures, &before, &site.usage()?, during * recipients);

    // The speed of a shared machine changes within minutes, so the sustained rate is measured on
    // both sides.
    let next = crowd.next.load(Ordering::Relaxed);
    let again = Sustained::measure(&site, &request, callers, accepted, next, sustain).await?;
    accepted += again.accepted;
    let sustained_per_s = f64::midpoint(per_s, again.per_s) * float(recipients);
    tell(&mut figures, &overloaded, over, recipients);
    let goodput = settled / over.as_secs_f64();
    figures.set("sustained_per_s", sustained_per_s);
    figures.set("sustained_before_per_s", per_s * float(recipients));
    figures.set("sustained_after_per_s", again.per_s * float(recipients));
    figures.set("goodput_per_s", goodput);
    figures.set("goodput_share", goodput / sustained_per_s);
    figures.set("sustained_p99_ms", sustained.p99_ms);
    figures.latency("well", &well.latencies);
    figures.set("recovery_s", recovered_s);
    finish(&mut figures, site, accepted, accepted * recipients, 0).await?;
    Ok(figures)
}

/// The rate that a few connections sustain in a closed loop.
struct Sustained {
    accepted: u64,
    /// Requests a second, until the last one was settled.
    per_s: f64,
    p99_ms: f64,
}

impl Sustained {
    /// Sends for so long, after all earlier recipients are settled.
    async fn measure(
        site: &Site,
        request: &Request,
        callers: &Callers,
        accepted: u64,
        next: u64,
        time: Duration,
    ) -> Result<Self> {
        let began = Instant::now();
        let load = closed_loop(&site.http, request, callers.few, next..MOST, time).await?;
        let all = (accepted + load.accepted) * callers.recipients;
        site.wait_for(SETTLED, all, SETTLE_TIMEOUT).await?;
        Ok(Self {
            accepted: load.accepted,
            per_s: float(load.accepted) / began.elapsed().as_secs_f64(),
            p99_ms: load.latencies.quantile_ms(0.99),
        })
    }
}

/// Sets the figures of the offered load and its answers.
fn tell(figures: &mut Figures, overloaded: &Offered, over: Duration, recipients: u64) {
    figures.rate("offered_per_s", overloaded.offered() * recipients, over);
    let share = |count: u64| float(count) / float(overloaded.offered().max(1));
    figures.set("refused_503_share", share(overloaded.unavailable));
    figures.set("refused_429_share", share(overloaded.limited));
    figures.expect("refusals without Retry-After", 0, overloaded.silent);
    figures.latency("overloaded", &overloaded.latencies);
}

/// The result of an offered load.
struct Offered {
    accepted: u64,
    unavailable: u64,
    limited: u64,
    /// Refusals without a `Retry-After`.
    silent: u64,
    /// The latencies of accepted requests.
    latencies: Latencies,
}

impl Offered {
    fn new() -> Result<Self> {
        Ok(Self {
            accepted: 0,
            unavailable: 0,
            limited: 0,
            silent: 0,
            latencies: Latencies::new()?,
        })
    }

    fn offered(&self) -> u64 {
        self.accepted + self.unavailable + self.limited
    }

    fn p99_ms(&self) -> f64 {
        self.latencies.quantile_ms(0.99)
    }

    async fn send(&mut self, to: &mut Connection, octets: &[u8]) -> Result<()> {
        let began = Instant::now();
        let answer = to.ask(octets).await?;
        match answer.status {
            200 => {
                self.accepted += 1;
                self.latencies.record(began.elapsed());
                return Ok(());
            }
            429 => self.limited += 1,
            503 => self.unavailable += 1,
            other => bail!("a send is answered {other}"),
        }
        self.silent += u64::from(answer.header(b"retry-after").is_none());
        Ok(())
    }

    fn join(&mut self, other: &Self) {
        self.accepted += other.accepted;
        self.unavailable += other.unavailable;
        self.limited += other.limited;
        self.silent += other.silent;
        self.latencies.join(&other.latencies);
    }
}

/// Connections that stay open, and the number of the next send.
struct Crowd {
    streams: Vec<Connection>,
    request: Request,
    next: Arc<AtomicU64>,
    few: usize,
}

impl Crowd {
    async fn new(site: &Site, request: Request, callers: &Callers, first: u64) -> Result<Self> {
        Ok(Self {
            streams: load::open(&site.http, callers.many).await?,
            request,
            next: Arc::new(first.into()),
            few: callers.few,
        })
    }

    /// Offers so many sends a second over that many connections, each at its own times.
    async fn offer(&mut self, connections: usize, per_s: f64, time: Duration) -> Result<Offered> {
        let every = Duration::from_secs_f64(float(connections as u64) / per_s.max(1.0));
        let began = Instant::now();
        let mut senders = JoinSet::new();
        let rest = self.streams.split_off(connections);
        for (place, mut stream) in (0_u32..).zip(std::mem::replace(&mut self.streams, rest)) {
            let (mut request, next) = (self.request.clone(), Arc::clone(&self.next));
            // The connections take turns, because all would send at one moment otherwise.
            let mut due = began + every.mul_f64(f64::from(place) / float(connections as u64));
            senders.spawn(async move {
                let mut offered = Offered::new()?;
                while due < began + time {
                    tokio::time::sleep_until(due.into()).await;
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    offered.send(&mut stream, request.fill(number)).await?;
                    due += every;
                    let late = due.elapsed();
                    if late > LATE {
                        due += late;
                    }
                }
                anyhow::Ok((offered, stream))
            });
        }
        let mut all = Offered::new()?;
        while let Some(sender) = senders.join_next().await {
            let (offered, stream) = sender.context("a sender panicked")??;
            all.join(&offered);
            self.streams.push(stream);
        }
        Ok(all)
    }

    /// Offers a normal rate until sends are as fast as before. Returns the seconds of the recovery,
    /// and the number of accepted sends.
    async fn recover(&mut self, per_s: f64, usual_ms: f64) -> Result<(f64, u64)> {
        let (began, mut accepted) = (Instant::now(), 0);
        for _ in 0..MAX_SECONDS {
            let at_s = began.elapsed().as_secs_f64();
            let second = Duration::from_secs(1);
            let offered = self.offer(self.few, per_s, second).await?;
            accepted += offered.accepted;
            let refused = offered.offered() - offered.accepted;
            if refused == 0 && offered.p99_ms() <= usual_ms {
                return Ok((at_s, accepted));
            }
        }
        bail!("it is not as before after {MAX_SECONDS} s");
    }
}
