//! A tap on the wire between the service and its SMSC: passes every octet on, and notes when each `submit_sm`
//! left the service, on the clock that the requests are timed with.

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

/// Ends when dropped.
pub(crate) struct Tap {
    seen: Arc<Mutex<Seen>>,
    task: JoinHandle<()>,
}

/// The submits that passed.
#[derive(Default)]
struct Seen {
    first: Option<Instant>,
    count: u64,
    /// When the message with this number in its text went out first.
    numbers: HashMap<u64, Instant>,
}

impl Tap {
    /// Listens where the service looks for its carrier, and passes on to the SMSC.
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

    /// When the first `submit_sm` passed.
    pub(crate) fn first(&self) -> Option<Instant> {
        lock(&self.seen).first
    }

    /// How many passed.
    pub(crate) fn count(&self) -> u64 {
        lock(&self.seen).count
    }

    /// When the message with this number passed.
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
    // Octets of an unfinished frame, which have been passed on already.
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
    /// Notes the submits among the whole frames; gives how many octets these are.
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
