//! The customer. It sends at the pace of the answers (closed loop) or at set times (open loop).

mod request;

pub(crate) use request::{
    BEFORE_NUMBER, NUMBER_DIGITS, NUMBERS, RECIPIENT_DIGITS, Request, recipient_of, text,
    write_digits,
};

use crate::figures::Latencies;
use crate::http::Connection;
use anyhow::{Context, Result};
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

/// The pause after each connection that is opened, before anything is measured.
const OPEN_INTERVAL: Duration = Duration::from_millis(4);

/// The result of a load.
pub(crate) struct Load {
    pub(crate) began: Instant,
    pub(crate) time: Duration,
    pub(crate) accepted: u64,
    pub(crate) latencies: Latencies,
    /// The delays of requests behind their times, in an open loop.
    pub(crate) lateness: Latencies,
    /// The due time of each request, and the arrival of its 200, by its number.
    pub(crate) moments: Vec<Moments>,
    /// The first answer that is no acceptance.
    pub(crate) refusal: Option<String>,
}

/// The due time of a request, and the arrival of its acceptance.
#[derive(Clone, Copy)]
pub(crate) struct Moments {
    pub(crate) number: u64,
    pub(crate) due: Instant,
    pub(crate) accepted: Instant,
}

impl Load {
    fn new(began: Instant) -> Result<Self> {
        Ok(Self {
            began,
            time: Duration::ZERO,
            accepted: 0,
            latencies: Latencies::new()?,
            lateness: Latencies::new()?,
            moments: Vec::new(),
            refusal: None,
        })
    }

    async fn send(&mut self, to: &mut Connection, octets: &[u8]) -> Result<bool> {
        let answer = to.ask(octets).await?;
        // Kannel answers 202.
        let accepted = matches!(answer.status, 200 | 202);
        if accepted {
            self.accepted += 1;
        } else if self.refusal.is_none() {
            self.refusal = Some(String::from_utf8_lossy(answer.body).into_owned());
        }
        Ok(accepted)
    }

    fn join(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.latencies.join(&other.latencies);
        self.lateness.join(&other.lateness);
        self.moments.extend(other.moments);
        self.refusal = self.refusal.take().or(other.refusal);
    }

    /// Fails unless every request was accepted.
    fn checked(mut self) -> Result<Self> {
        self.time = self.began.elapsed();
        match self.refusal.take() {
            None => Ok(self),
            Some(refusal) => Err(anyhow::anyhow!("a send was refused: {refusal}")),
        }
    }
}

/// Sends the requests of these numbers on so many connections, to the nodes in turns. Each
/// connection sends the next one after its answer. The load ends early, without a fault, when the
/// time is over.
pub(crate) async fn closed_loop(
    addresses: &[SocketAddr],
    request: &Request,
    connections: usize,
    numbers: Range<u64>,
    time: Duration,
) -> Result<Load> {
    let mut streams = open(addresses, connections).await?;
    closed_loop_on(&mut streams, request, numbers, time).await
}

/// Sends the requests on connections that are open, and stay open.
pub(crate) async fn closed_loop_on(
    streams: &mut Vec<Connection>,
    request: &Request,
    numbers: Range<u64>,
    time: Duration,
) -> Result<Load> {
    let next = Arc::new(AtomicU64::new(numbers.start));
    let began = Instant::now();
    let mut senders = JoinSet::new();
    for mut stream in streams.drain(..) {
        let (mut request, next) = (request.clone(), Arc::clone(&next));
        senders.spawn(async move {
            let mut load = Load::new(began)?;
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= numbers.end || began.elapsed() > time {
                    return anyhow::Ok((load, stream));
                }
                let octets = request.fill(number);
                let at = Instant::now();
                load.send(&mut stream, octets).await?;
                load.latencies.record(at.elapsed());
            }
        });
    }
    let mut all = Load::new(began)?;
    while let Some(sender) = senders.join_next().await {
        let (load, stream) = sender.context("a sender panicked")??;
        all.join(load);
        streams.push(stream);
    }
    all.checked()
}

/// Sends so many requests, one each `every`. A latency begins at the due time of its request.
pub(crate) async fn open_loop(
    addresses: &[SocketAddr],
    request: &Request,
    connections: usize,
    numbers: Range<u64>,
    every: Duration,
) -> Result<Load> {
    let streams = open(addresses, connections).await?;
    let began = Instant::now() + every;
    let dues = Arc::new(Mutex::new(pace(began, every, numbers)));
    let mut senders = JoinSet::new();
    for mut stream in streams {
        let (mut request, dues) = (request.clone(), Arc::clone(&dues));
        senders.spawn(async move {
            let mut load = Load::new(began)?;
            loop {
                let Some((number, due)) = dues.lock().await.recv().await else {
                    return anyhow::Ok(load);
                };
                let octets = request.fill(number);
                load.lateness.record(due.elapsed());
                if load.send(&mut stream, octets).await? {
                    let accepted = Instant::now();
                    load.latencies.record(accepted - due);
                    load.moments.push(Moments {
                        number,
                        due,
                        accepted,
                    });
                }
            }
        });
    }
    gather(began, senders).await
}

/// Opens so many connections, one after the other. Some servers have a short queue of new
/// connections, and a client that finds it full waits a second.
pub(crate) async fn open(addresses: &[SocketAddr], connections: usize) -> Result<Vec<Connection>> {
    let mut streams = Vec::with_capacity(connections);
    for &address in addresses.iter().cycle().take(connections) {
        streams.push(Connection::open(address).await?);
        tokio::time::sleep(OPEN_INTERVAL).await;
    }
    Ok(streams)
}

async fn gather(began: Instant, mut senders: JoinSet<Result<Load>>) -> Result<Load> {
    let mut all = Load::new(began)?;
    while let Some(load) = senders.join_next().await {
        all.join(load.context("a sender panicked")??);
    }
    all.checked()
}

/// Returns each number at its due time. It has a thread of its own, because the runtime's timers
/// have a resolution of a millisecond, and latencies are as short as that.
pub(crate) fn pace(
    began: Instant,
    every: Duration,
    numbers: Range<u64>,
) -> mpsc::UnboundedReceiver<(u64, Instant)> {
    let (dues, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        // Nothing is sent to this socket: a wait on it is a precise sleep.
        let (_silent, nothing) = channel::<()>();
        let mut due = began;
        for number in numbers {
            let wait = due.saturating_duration_since(Instant::now());
            if nothing.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected)
                || dues.send((number, due)).is_err()
            {
                return;
            }
            due += every;
        }
    });
    receiver
}
