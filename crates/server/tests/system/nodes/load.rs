//! Senders that repeat a request on another node if one does not accept it. So all accepted
//! messages are known at the end.

use super::cluster::{Cluster, Node, SOON};
use crate::customer::{Answer, Client, wait_until};
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Numbers from which the test's recipients count: those of the campaign, and of single sends.
const CAMPAIGN_FROM: u64 = 2_348_031_000_000;
const SINGLES_FROM: u64 = 2_348_061_000_000;
const CAMPAIGN: u64 = 1_500;
const REQUEST: u64 = 500;
const SENDERS: usize = 4;
/// Pauses between two sends of a sender, and before another node is tried.
const PACE: Duration = Duration::from_millis(15);
/// Maximum duration of one send over all nodes.
const LONGEST: Duration = Duration::from_mins(1);
/// Number of submits after which the load is steady.
const SUBMITS: u64 = 400;

/// An accepted request: its recipients, and its message unless the answer was lost.
pub(crate) struct Message {
    pub(crate) id: Option<String>,
    pub(crate) numbers: Vec<u64>,
}

/// The answers to the senders.
#[derive(Default)]
pub(crate) struct Seen {
    /// The number of 503 answers of each node.
    unavailable: HashMap<String, usize>,
    /// Faults: other answers, missing `Retry-After`, and requests without an answer in time.
    odd: Vec<String>,
}

struct Shared {
    addresses: Mutex<Vec<String>>,
    token: String,
    callback_url: String,
    patience: Duration,
    /// `true` if a node may hold a request for longer than this.
    may_hang: bool,
    next: AtomicU64,
    stop: AtomicBool,
    accepted: Mutex<Vec<Message>>,
    seen: Mutex<Seen>,
}

pub(crate) struct Load {
    shared: Arc<Shared>,
    senders: Vec<JoinHandle<()>>,
}

/// A sender's connections to the nodes.
struct Sender {
    shared: Arc<Shared>,
    clients: HashMap<String, Client>,
    turn: usize,
}

impl Load {
    /// Sends a campaign and single messages to all nodes. No answer may take longer than [`SOON`].
    pub(crate) fn start(cluster: &Cluster) -> Self {
        Self::begin(cluster, SOON, false)
    }

    /// Sends the same load while a node may be stopped. A request that it holds for longer is sent to
    /// another one.
    pub(crate) fn start_impatient(cluster: &Cluster, patience: Duration) -> Self {
        Self::begin(cluster, patience, true)
    }

    fn begin(cluster: &Cluster, patience: Duration, may_hang: bool) -> Self {
        let addresses = cluster.nodes.iter().map(|node| node.address.clone());
        let shared = Arc::new(Shared {
            addresses: Mutex::new(addresses.collect()),
            token: cluster.customer.token.clone(),
            callback_url: cluster.receiver.url.clone(),
            patience,
            may_hang,
            next: AtomicU64::new(SINGLES_FROM),
            stop: AtomicBool::new(false),
            accepted: Mutex::default(),
            seen: Mutex::default(),
        });
        let campaign = Sender::new(&shared, 0);
        let singles = (0..SENDERS).map(|turn| Sender::new(&shared, turn));
        let mut senders: Vec<_> = singles
            .map(|sender| thread::spawn(|| sender.send_singles()))
            .collect();
        senders.push(thread::spawn(|| campaign.send_campaign()));
        let load = Self { shared, senders };
        wait_until("the load is on", || cluster.smsc.stats().submits > SUBMITS);
        load
    }

    /// Adds a node to the targets of the senders.
    pub(crate) fn add(&self, node: &Node) {
        let mut addresses = self.shared.addresses.lock().expect("the addresses");
        addresses.push(node.address.clone());
    }

    /// Returns the number of 503 answers of a node so far.
    pub(crate) fn unavailable(&self, node: &Node) -> usize {
        let seen = self.shared.seen();
        seen.unavailable.get(&node.address).copied().unwrap_or(0)
    }

    /// Waits until this node accepts a message. Returns the time since then.
    pub(crate) fn wait_until_accepted(&self, node: &Node, since: Instant) -> Duration {
        let mut sender = Sender::new(&self.shared, 0);
        sender.accept_by(
            std::slice::from_ref(&node.address),
            vec![self.shared.number()],
        );
        since.elapsed()
    }

    /// Ends the senders. Returns the accepted requests. Answers other than 2xx, 409 and 503 fail
    /// the test.
    pub(crate) fn finish(mut self) -> Vec<Message> {
        self.shared.stop.store(true, Ordering::Relaxed);
        for sender in self.senders.drain(..) {
            sender.join().expect("no panic");
        }
        let odd = std::mem::take(&mut self.shared.seen().odd);
        assert!(odd.is_empty(), "{odd:#?}");
        std::mem::take(&mut *self.shared.accepted.lock().expect("what was accepted"))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().expect("what was seen")
    }
}

impl Sender {
    fn new(shared: &Arc<Shared>, turn: usize) -> Self {
        Self {
            shared: Arc::clone(shared),
            clients: HashMap::new(),
            turn,
        }
    }

    fn send_singles(mut self) {
        while !self.shared.stop.load(Ordering::Relaxed) {
            let number = self.shared.number();
            self.accept(vec![number]);
            thread::park_timeout(PACE);
        }
    }

    fn send_campaign(mut self) {
        for request in 0..CAMPAIGN / REQUEST {
            let first = CAMPAIGN_FROM + request * REQUEST;
            self.accept((first..first + REQUEST).collect());
        }
    }

    fn accept(&mut self, numbers: Vec<u64>) {
        let addresses = self.shared.addresses.lock().expect("the addresses").clone();
        self.accept_by(&addresses, numbers);
    }

    /// Sends one request to node after node until one accepts it. A duplicate was accepted before.
    fn accept_by(&mut self, addresses: &[String], numbers: Vec<u64>) {
        let end = Instant::now() + LONGEST;
        loop {
            let address = &addresses[self.turn % addresses.len()];
            self.turn += 1;
            let answer = self.ask(address, &numbers);
            if let Some(answer) = answer.filter(|answer| matches!(answer.status, 200 | 409)) {
                let id = (answer.status == 200).then(|| answer.message_id());
                let mut accepted = self.shared.accepted.lock().expect("what was accepted");
                accepted.push(Message { id, numbers });
                return;
            }
            if Instant::now() >= end {
                self.shared.seen().odd.push("nobody accepted it".to_owned());
                return;
            }
            thread::park_timeout(PACE);
        }
    }

    fn ask(&mut self, address: &str, numbers: &[u64]) -> Option<Answer> {
        let shared = Arc::clone(&self.shared);
        let client = self
            .clients
            .entry(address.to_owned())
            .or_insert_with(|| Client::new(address, &shared.token).with_patience(shared.patience));
        let answer = client.send(numbers, Some(&shared.callback_url));
        let mut seen = shared.seen();
        match &answer {
            Ok(answer) if matches!(answer.status, 200 | 409) => {}
            Ok(answer) if answer.status == 503 && answer.retry_after => {
                *seen.unavailable.entry(address.to_owned()).or_default() += 1;
            }
            Ok(answer) => seen.odd.push(format!("{answer:?}")),
            Err(error) if is_silence(error) && !shared.may_hang => {
                seen.odd.push(format!("{address} did not answer in time"));
            }
            Err(_) => {}
        }
        answer.ok()
    }
}

fn is_silence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}
