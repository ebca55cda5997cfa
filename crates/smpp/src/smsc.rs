//! An SMSC to test and demonstrate against, on real TCP: it does what its [`Script`] says, also the
//! things that real ones should not do.
//!
//! Receipts wait in a queue per system id, and every connection that may receive takes from it what
//! is due: whichever bind asks first, as at a real SMSC. What a client did not answer before its
//! connection went is delivered again.

mod account;
mod connection;
mod conversation;
mod letter;
mod parse;
mod script;

pub use parse::{parse_delay, parse_fate, parse_fault, parse_mix, parse_rule, parse_status};
pub use script::{
    BindRules, Delay, Fate, Fault, Quirk, ReceiptDates, ReceiptForm, ReceiptLabels, ReceiptStyle,
    Rule, Script,
};

use crate::pdu::{DeliverSm, SubmitSm};
use account::Account;
use connection::Connection;
use letter::Letter;
use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

/// Connections at a time; further ones are closed at once.
const MAX_CONNECTIONS: usize = 1_024;
/// How long to wait when the system has no connection to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What a simulator counted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Stats {
    /// Connections taken.
    pub connections: u64,
    /// Binds granted.
    pub binds: u64,
    /// Binds refused.
    pub refused_binds: u64,
    /// `submit_sm` that came.
    pub submits: u64,
    /// Those that were accepted.
    pub accepted: u64,
    /// Those that were refused.
    pub refused: u64,
    /// Receipts and messages written, counting those written again.
    pub delivered: u64,
    /// Those that the client answered with success.
    pub answered: u64,
    /// Those that were put back, since the client was gone or asked for them again.
    pub put_back: u64,
    /// Those that found no room in the queue, or did not fit into a PDU.
    pub lost: u64,
    /// PDUs that were malformed, unknown or out of place.
    pub odd_pdus: u64,
}

impl Stats {
    fn add(&mut self, other: &Self) {
        self.connections += other.connections;
        self.binds += other.binds;
        self.refused_binds += other.refused_binds;
        self.submits += other.submits;
        self.accepted += other.accepted;
        self.refused += other.refused;
        self.delivered += other.delivered;
        self.answered += other.answered;
        self.put_back += other.put_back;
        self.lost += other.lost;
        self.odd_pdus += other.odd_pdus;
    }
}

/// A message that the simulator got; kept when [`Script::record`] is not zero.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Received {
    /// Who submitted it.
    pub system_id: String,
    /// The id in the response; `None` when it was not accepted.
    pub message_id: Option<String>,
    /// The message.
    pub submit: SubmitSm,
}

/// Runs a simulator until `shutdown` is ready; gives back what it counted.
pub async fn serve(
    listener: TcpListener,
    script: Script,
    shutdown: impl Future<Output = ()>,
) -> io::Result<Stats> {
    let smsc = Smsc::listen(listener, script)?;
    shutdown.await;
    Ok(smsc.stop().await)
}

/// A running simulator. It ends when it is dropped.
#[derive(Debug)]
pub struct Smsc {
    address: SocketAddr,
    server: Arc<Server>,
    /// Asks to drop all connections, and to be told when they are gone.
    drops: mpsc::Sender<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Smsc {
    /// Starts a simulator on a free port of the loopback interface.
    pub async fn start(script: Script) -> io::Result<Self> {
        Self::listen(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?, script)
    }

    /// Starts a simulator on this listener, within a tokio runtime.
    pub fn listen(listener: TcpListener, script: Script) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let server = Arc::new(Server::new(script));
        let (drops, asked) = mpsc::channel(1);
        let task = tokio::spawn(run(listener, Arc::clone(&server), asked));
        Ok(Self {
            address,
            server,
            drops,
            task,
        })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The messages that came, the oldest first, as far as [`Script::record`] keeps them.
    pub fn received(&self) -> Vec<Received> {
        lock(&self.server.received).iter().cloned().collect()
    }

    /// What was counted so far.
    pub fn stats(&self) -> Stats {
        *lock(&self.server.stats)
    }

    /// How many binds this system id has now.
    pub fn bound(&self, system_id: &str) -> usize {
        self.server.account(system_id).binds()
    }

    /// Receipts and messages that were not yet written.
    pub fn waiting(&self) -> usize {
        let accounts = lock(&self.server.accounts);
        accounts.values().map(|account| account.waiting()).sum()
    }

    /// Drops all connections without a word, and returns when they are gone.
    pub async fn drop_connections(&self) {
        let (done, gone) = oneshot::channel();
        if self.drops.send(done).await.is_ok() {
            let _ = gone.await;
        }
    }

    /// Behaves differently from now on, also on open connections.
    pub fn set_script(&self, script: Script) {
        let mut current = self
            .server
            .script
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(script);
    }

    /// Delivers a message to this system id, now or as soon as it binds to receive.
    pub fn send(&self, system_id: &str, message: DeliverSm) {
        let letter = Letter::Message(Box::new(message));
        let mut letters = vec![(Instant::now(), letter)];
        let lost = self.server.account(system_id).post(&mut letters);
        lock(&self.server.stats).lost += lost;
    }

    /// Closes the listener and all connections.
    pub async fn stop(mut self) -> Stats {
        self.drop_connections().await;
        self.task.abort();
        let _ = (&mut self.task).await;
        self.stats()
    }
}

impl Drop for Smsc {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What all connections share.
#[derive(Debug)]
struct Server {
    script: RwLock<Arc<Script>>,
    accounts: Mutex<HashMap<String, Arc<Account>>>,
    stats: Mutex<Stats>,
    received: Mutex<VecDeque<Received>>,
    last_message_id: AtomicU64,
    last_connection: AtomicU64,
    started_at: Instant,
}

impl Server {
    fn new(script: Script) -> Self {
        Self {
            last_message_id: AtomicU64::new(script.last_message_id),
            last_connection: AtomicU64::new(0),
            script: RwLock::new(Arc::new(script)),
            accounts: Mutex::default(),
            stats: Mutex::default(),
            received: Mutex::default(),
            started_at: Instant::now(),
        }
    }

    fn script(&self) -> Arc<Script> {
        let script = self.script.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&script)
    }

    fn account(&self, system_id: &str) -> Arc<Account> {
        let mut accounts = lock(&self.accounts);
        if let Some(account) = accounts.get(system_id) {
            return Arc::clone(account);
        }
        let account = Arc::new(Account::default());
        accounts.insert(system_id.to_owned(), Arc::clone(&account));
        account
    }

    fn next_message_id(&self) -> u64 {
        self.last_message_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Unix time, in seconds, as the script has it.
    fn unix_s(&self, script: &Script, now: Instant) -> u64 {
        script.started_at_s + now.duration_since(self.started_at).as_secs()
    }

    fn record(&self, limit: usize, received: Received) {
        let mut all = lock(&self.received);
        while all.len() >= limit {
            all.pop_front();
        }
        all.push_back(received);
    }
}

async fn run(
    listener: TcpListener,
    server: Arc<Server>,
    mut drops: mpsc::Receiver<oneshot::Sender<()>>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => take(&server, &mut connections, stream),
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(done) = drops.recv() => {
                connections.shutdown().await;
                let _ = done.send(());
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

fn take(server: &Arc<Server>, connections: &mut JoinSet<()>, stream: TcpStream) {
    if connections.len() >= MAX_CONNECTIONS || stream.set_nodelay(true).is_err() {
        return;
    }
    lock(&server.stats).connections += 1;
    let number = server.last_connection.fetch_add(1, Ordering::Relaxed) + 1;
    let mut connection = Connection::new(stream, Arc::clone(server), number);
    connections.spawn(async move { poll_fn(|cx| connection.poll(cx)).await });
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
