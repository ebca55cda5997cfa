//! A proxy between the service and its SMSC. It passes every octet on, and notes the time of each
//! `submit_sm`, by the same clock as the requests.

use crate::http::digits;
use crate::load::{BEFORE_NUMBER, NUMBER_DIGITS};
use anyhow::Result;
use smpp::{Command, first_frame};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A proxy, which ends when it is dropped.
pub(crate) struct Tap {
    seen: Arc<Mutex<Seen>>,
    task: JoinHandle<()>,
}

/// The submits that passed the proxy.
#[derive(Default)]
struct Seen {
    first: Option<Instant>,
    count: u64,
    /// The time of the first submit whose text has this number.
    numbers: HashMap<u64, Instant>,
}

impl Tap {
    /// Listens at the address of the carrier, and passes octets on to the SMSC.
    pub(crate) async fn listen(carrier: SocketAddr, smsc: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind(carrier).await?;
        let seen = Arc::new(Mutex::new(Seen::default()));
        let shared = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(pass(stream, smsc, Arc::clone(&shared)));
            }
        });
        Ok(Self { seen, task })
    }

    /// Returns the time of the first `submit_sm`.
    pub(crate) fn first(&self) -> Option<Instant> {
        lock(&self.seen).first
    }

    /// Returns the number of submits.
    pub(crate) fn count(&self) -> u64 {
        lock(&self.seen).count
    }

    /// Returns the time of the first message whose number is below this one.
    pub(crate) fn first_below(&self, end: u64) -> Option<Instant> {
        let seen = lock(&self.seen);
        let below = seen.numbers.iter().filter(|(number, _)| **number < end);
        below.map(|(_, at)| *at).min()
    }

    /// Returns the time of the message with this number.
    pub(crate) fn of(&self, number: u64) -> Option<Instant> {
        lock(&self.seen).numbers.get(&number).copied()
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pass(service: TcpStream, smsc: SocketAddr, seen: Arc<Mutex<Seen>>) -> Result<()> {
    let smsc = TcpStream::connect(smsc).await?;
    service.set_nodelay(true)?;
    smsc.set_nodelay(true)?;
    let (from_service, mut to_service) = service.into_split();
    let (mut from_smsc, to_smsc) = smsc.into_split();
    tokio::select! {
        submits = note(from_service, to_smsc, seen) => submits?,
        responses = copy(&mut from_smsc, &mut to_service) => { responses?; }
    }
    Ok(())
}

async fn note(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    seen: Arc<Mutex<Seen>>,
) -> Result<()> {
    let mut buffer = Vec::with_capacity(64 * 1024);
    // Octets of an unfinished frame, which were passed on already.
    let mut passed = 0;
    while from.read_buf(&mut buffer).await? > 0 {
        let now = Instant::now();
        to.write_all(&buffer[passed..]).await?;
        let whole = lock(&seen).note(&buffer, now)?;
        buffer.drain(..whole);
        passed = buffer.len();
    }
    Ok(())
}

impl Seen {
    /// Notes the submits among the whole frames. Returns the octets of these frames.
    fn note(&mut self, octets: &[u8], now: Instant) -> Result<usize> {
        let mut at = 0;
        while let Some(frame) = first_frame(&octets[at..])? {
            at += frame.octets();
            if frame.header.command != Command::SUBMIT_SM {
                continue;
            }
            self.first.get_or_insert(now);
            self.count += 1;
            if let Some(number) = number(frame.body) {
                self.numbers.entry(number).or_insert(now);
            }
        }
        Ok(at)
    }
}

fn number(body: &[u8]) -> Option<u64> {
    let text = body
        .windows(BEFORE_NUMBER.len())
        .position(|part| part == BEFORE_NUMBER.as_bytes())?;
    digits(
        body.get(text + BEFORE_NUMBER.len()..)?
            .get(..NUMBER_DIGITS)?,
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
