//! The invariants at the end of each test.

use super::cluster::{BINDS, CREDIT, Cluster, PRICE, UNREACHABLE, WINDOW};
use super::load::Message;
use crate::customer::wait_until;
use crate::receiver::Calls;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// Callbacks of a node whose outcomes are not committed: those in its queue of outcomes (1,024), in
/// one commit (500) and in flight (`callbacks.concurrency`, 512). While a node cannot commit, it makes
/// no more than these, and another node makes them again.
const UNCOMMITTED_CALLBACKS: usize = 1_024 + 500 + 512;

/// Maximum numbers of repetitions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Again {
    /// Recipients that were submitted twice.
    copies: usize,
    /// Callbacks that were made twice.
    callbacks: usize,
}

impl Again {
    /// No repetition.
    pub(crate) const NOTHING: Self = Self {
        copies: 0,
        callbacks: 0,
    };
    /// The maximum of recipients in doubt, one and a half of all windows, and of callbacks.
    pub(crate) const IN_DOUBT: Self = Self {
        copies: BINDS * WINDOW * 3 / 2,
        callbacks: UNCOMMITTED_CALLBACKS,
    };
}

/// Checks that each accepted message was sent, settled, charged and called back once, with the
/// allowed repetitions.
pub(crate) fn judge(cluster: &Cluster, accepted: &[Message], again: Again) {
    let numbers: Vec<u64> = accepted
        .iter()
        .flat_map(|message| message.numbers.iter().copied())
        .collect();
    wait_until("everybody was told of", || {
        cluster.receiver.recipients() == numbers.len()
    });
    let calls = cluster.receiver.calls();
    told(&numbers, &calls, again);
    sent(cluster, &numbers, again);
    let messages = messages(accepted, &calls);
    settled(cluster, &messages);
    charged(cluster, &messages);
    assert_eq!(
        cluster.ogene.json(&["verify"])["violations"],
        json!([]),
        "in the ledger"
    );
}

fn told(numbers: &[u64], calls: &HashMap<u64, Calls>, again: Again) {
    for number in numbers {
        let calls = calls.get(number).expect("it was told of");
        let expected = if is_reachable(*number) {
            "delivrd"
        } else {
            "undeliv"
        };
        assert_eq!((&*calls.status, calls.differ), (expected, false));
    }
    let made: usize = calls.values().map(|calls| calls.count - 1).sum();
    println!("{made} of {} callbacks again", numbers.len());
    assert!(made <= again.callbacks, "{made} callbacks were made again");
}

fn sent(cluster: &Cluster, numbers: &[u64], again: Again) {
    let mut submits: HashMap<u64, usize> = HashMap::new();
    for received in cluster.smsc.received() {
        let number = received.submit.destination.digits.parse().expect("digits");
        *submits.entry(number).or_default() += 1;
    }
    assert!(numbers.iter().all(|number| submits.contains_key(number)));
    assert_eq!(
        submits.len(),
        numbers.len(),
        "only what was accepted is sent"
    );
    let copies: usize = submits.values().map(|times| times - 1).sum();
    println!("{copies} of {} recipients again", numbers.len());
    assert!(copies <= again.copies, "{copies} copies were sent");
}

/// Returns the recipients of each message. If its answer was lost, its callbacks name its id.
fn messages(accepted: &[Message], calls: &HashMap<u64, Calls>) -> BTreeMap<String, Vec<u64>> {
    let mut messages = BTreeMap::new();
    for message in accepted {
        let of = |number: &u64| calls[number].message.clone();
        let id = message
            .id
            .clone()
            .unwrap_or_else(|| of(&message.numbers[0]));
        assert!(message.numbers.iter().all(|number| of(number) == id));
        let twice = messages.insert(id, message.numbers.clone());
        assert!(twice.is_none(), "each request is a message of its own");
    }
    messages
}

/// Every recipient has its outcome, in the reports of all nodes.
fn settled(cluster: &Cluster, messages: &BTreeMap<String, Vec<u64>>) {
    let mut clients: Vec<_> = cluster
        .nodes
        .iter()
        .map(|node| cluster.client(node))
        .collect();
    let nodes = clients.len();
    for (turn, (message, numbers)) in messages.iter().enumerate() {
        let summary = clients[turn % nodes].summary(message).expect("an answer");
        let delivered = numbers.iter().filter(|number| is_reachable(**number));
        let delivered = delivered.count();
        let counts = |name: &str| summary[name].as_u64();
        let expected = [delivered, numbers.len() - delivered, 0].map(|count| Some(count as u64));
        assert_eq!(
            ["delivered", "failed", "pending"].map(counts),
            expected,
            "{summary}"
        );
    }
}

/// Each message was charged once, and each unreached recipient was refunded once.
fn charged(cluster: &Cluster, messages: &BTreeMap<String, Vec<u64>>) {
    let account = &cluster.customer.account;
    let entries = cluster
        .ogene
        .rows(&["wallet", "statement", "--account", account]);
    let (mut charges, mut refunds, mut balance) = (BTreeMap::new(), BTreeMap::new(), 0);
    for entry in &entries {
        let amount = kobo(&entry["amount"]);
        balance += amount;
        let message = entry["message_id"].as_str().unwrap_or_default().to_owned();
        match entry["kind"].as_str() {
            Some("charge") => *charges.entry(message).or_insert(0) -= amount,
            Some("refund") => *refunds.entry(message).or_insert(0) += amount,
            kind => assert_eq!(kind, Some("credit")),
        }
    }
    let price = |numbers: usize| i64::try_from(numbers).expect("few") * PRICE * 100;
    let (mut expected_charges, mut expected_refunds) = (BTreeMap::new(), BTreeMap::new());
    for (message, numbers) in messages {
        expected_charges.insert(message.clone(), price(numbers.len()));
        let unreachable = numbers.iter().filter(|number| !is_reachable(**number));
        let unreachable = unreachable.count();
        if unreachable > 0 {
            expected_refunds.insert(message.clone(), price(unreachable));
        }
    }
    assert!(charges == expected_charges, "each is charged once");
    assert!(refunds == expected_refunds, "each is refunded once");
    let spent: i64 = charges.values().sum::<i64>() - refunds.values().sum::<i64>();
    assert_eq!(balance, CREDIT * 100 - spent);
    let shown = cluster
        .ogene
        .json(&["account", "show", "--account", account]);
    assert_eq!(kobo(&shown["balance"]["total_balance"]), balance);
}

fn is_reachable(number: u64) -> bool {
    number % 10 != UNREACHABLE
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "amounts of some millions with two decimals"
)]
fn kobo(amount: &Value) -> i64 {
    (amount.as_f64().expect("a number") * 100.0).round() as i64
}
