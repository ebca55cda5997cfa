//! The customer. It sends at the pace of the answers (closed loop) or at set times (open loop).

use crate::figures::Latencies;
use crate::http::Connection;
use crate::site::{SENDER_ID, Site};
use anyhow::{Context, Result};
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

/// Digits of a recipient.
const RECIPIENT_DIGITS: usize = 13;
/// Digits of the number in a text.
pub(crate) const NUMBER_DIGITS: usize = 8;
/// The text before the number in every message.
pub(crate) const BEFORE_NUMBER: &str = "Your order ";
/// Numbers from 0801 to 0809, which are valid in every number plan of the service.
const NUMBERS: u64 = 90_000_000;
/// A number prime to [`NUMBERS`], so that prefixes are mixed and no number repeats.
const STEP: u64 = 61_803_399;
/// A number prime to any number of accounts, so that all of them take turns.
const APART: u64 = 6_180_331;

/// The pause after each connection that is opened, before anything is measured.
const OPEN_INTERVAL: Duration = Duration::from_millis(4);

/// A send request. Its recipients and its number are filled in for each send.
#[derive(Clone)]
pub(crate) struct Request {
    octets: Vec<u8>,
    recipients_at: usize,
    recipients: usize,
    /// The place where the first recipient is repeated.
    again_at: Option<usize>,
    number_at: usize,
    tokens: Arc<[String]>,
    token_at: usize,
}

impl Request {
    pub(crate) fn new(site: &Site, recipients: usize, callback_url: Option<&str>) -> Self {
        let callback = callback_url.map(|url| format!(r#","callback_url":"{url}""#));
        Self::with(site, recipients, &callback.unwrap_or_default())
    }

    /// Returns a request that names its gateway.
    pub(crate) fn over(site: &Site, gateway: &str, recipients: usize) -> Self {
        Self::with(site, recipients, &format!(r#","gateway":"{gateway}""#))
    }

    /// Returns a request with more fields, which begin with a comma.
    pub(crate) fn with(site: &Site, recipients: usize, more: &str) -> Self {
        let to = vec!["0".repeat(RECIPIENT_DIGITS); recipients].join(",");
        let number = "0".repeat(NUMBER_DIGITS);
        let before_to = format!(r#"{{"from":"{SENDER_ID}","to":""#);
        let before_number = format!(r#"","body":"{BEFORE_NUMBER}"#);
        let rest = r#" is on its way. Thank you for shopping with Ada Foods.""#;
        let rest = format!("{rest}{more}}}");
        let body = [&before_to, &to, &before_number, &number, &rest]
            .map(String::as_str)
            .concat();
        let before_token = format!(
            "POST /api/v2/sms HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer ",
            site.http[0]
        );
        let head = format!(
            "{before_token}{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            site.tokens[0],
            body.len()
        );
        Self {
            recipients_at: head.len() + before_to.len(),
            number_at: head.len() + before_to.len() + to.len() + before_number.len(),
            octets: (head + &body).into_bytes(),
            recipients,
            again_at: None,
            tokens: site.tokens.as_slice().into(),
            token_at: before_token.len(),
        }
    }

    /// Returns the first recipient of the request that was filled last.
    pub(crate) fn recipient(&self) -> String {
        let digits = &self.octets[self.recipients_at..][..RECIPIENT_DIGITS];
        String::from_utf8_lossy(digits).into_owned()
    }

    /// Returns the same send to one recipient for Kannel: to its `sendsms`, with a `dlr-url` that
    /// names the recipient.
    pub(crate) fn kannel(user: &str, callback_url: &str) -> Self {
        let recipient = "0".repeat(RECIPIENT_DIGITS);
        let number = "0".repeat(NUMBER_DIGITS);
        let encoded = callback_url.replace(':', "%3A").replace('/', "%2F");
        let before_to = format!("GET /cgi-bin/sendsms?{user}&from={SENDER_ID}&to=");
        let before_number = format!("&text={}", BEFORE_NUMBER.replace(' ', "+"));
        // The mask asks for final states only, and %d is the state.
        let before_again = format!(
            "+is+on+its+way.+Thank+you+for+shopping+with+Ada+Foods.&dlr-mask=3&dlr-url={encoded}%3Fstatus%3D%25d%26recipient%3D"
        );
        let rest = " HTTP/1.1\r\nHost: bench\r\n\r\n";
        let number_at = before_to.len() + RECIPIENT_DIGITS + before_number.len();
        let text: [&str; 7] = [
            &before_to,
            &recipient,
            &before_number,
            &number,
            &before_again,
            &recipient,
            rest,
        ];
        Self {
            octets: text.concat().into_bytes(),
            recipients_at: before_to.len(),
            recipients: 1,
            again_at: Some(number_at + NUMBER_DIGITS + before_again.len()),
            number_at,
            tokens: Arc::new([]),
            token_at: 0,
        }
    }

    /// Writes the request of this number. No two requests share a recipient. Accounts take turns in
    /// an order that mixes them, because the accounts of customers who send together have unrelated
    /// ids.
    pub(crate) fn fill(&mut self, number: u64) -> &[u8] {
        let accounts = self.tokens.len() as u64;
        if accounts > 1 {
            // The value is below the length, so it fits.
            let turn = usize::try_from(number.wrapping_mul(APART) % accounts).unwrap_or(0);
            let token = self.tokens[turn].as_bytes();
            self.octets[self.token_at..][..token.len()].copy_from_slice(token);
        }
        write_digits(&mut self.octets[self.number_at..][..NUMBER_DIGITS], number);
        let first = number * self.recipients as u64;
        let recipients = self.octets[self.recipients_at..].chunks_mut(RECIPIENT_DIGITS + 1);
        for (recipient, number) in recipients.take(self.recipients).zip(first..) {
            let number = number.wrapping_mul(STEP) % NUMBERS;
            let digits = 2_348_010_000_000 + number;
            write_digits(&mut recipient[..RECIPIENT_DIGITS], digits);
        }
        if let Some(again_at) = self.again_at {
            let recipient = self.recipients_at..self.recipients_at + RECIPIENT_DIGITS;
            self.octets.copy_within(recipient, again_at);
        }
        &self.octets
    }
}

fn write_digits(place: &mut [u8], mut number: u64) {
    for digit in place.iter_mut().rev() {
        // The remainder is below ten.
        *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
    }
}

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
