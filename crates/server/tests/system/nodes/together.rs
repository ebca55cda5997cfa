//! Healthy nodes together.

use super::cluster::{BINDS, Cluster, Node, SOON, SYSTEM_ID, script};
use super::judgement::{Again, judge};
use super::load::Load;
use crate::customer::{Client, wait_until};
use crate::process::Process;
use serde_json::Value;
use smpp::simulator::{Fate, Script};
use smpp::{DeliverSm, esm_class};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

const NUMBERS: u64 = 2_348_031_000_000;

#[test]
fn nodes_share_work_without_doing_anything_twice() {
    testkit::needs!(PostgresPrograms);
    let cluster = Cluster::start();
    let load = Load::start(&cluster);
    let since = Instant::now();
    for node in &cluster.nodes {
        assert!(load.wait_until_accepted(node, since) < SOON);
    }
    judge(&cluster, &load.finish(), Again::NOTHING);
}

#[test]
fn what_one_node_or_command_does_holds_on_all() {
    testkit::needs!(PostgresPrograms);
    let cluster = Cluster::start();
    duplicates_are_accepted_once(&cluster);
    a_reference_credits_once(&cluster);
    a_revoked_token_is_refused_everywhere(&cluster);
}

fn duplicates_are_accepted_once(cluster: &Cluster) {
    const ROUNDS: u64 = 20;
    let barrier = Barrier::new(2);
    let send = |mut client: Client| -> Vec<u16> {
        let numbers = NUMBERS..NUMBERS + ROUNDS;
        let statuses = numbers.map(|number| {
            barrier.wait();
            client.send(&[number], None).expect("an answer").status
        });
        statuses.collect()
    };
    let send = &send;
    let [one, other] = thread::scope(|scope| {
        [0, 1]
            .map(|node| cluster.client(&cluster.nodes[node]))
            .map(|client| scope.spawn(move || send(client)))
            .map(|sender| sender.join().expect("no panic"))
    });
    for both in one.into_iter().zip(other) {
        assert!(matches!(both, (200, 409) | (409, 200)), "{both:?}");
    }
}

fn a_reference_credits_once(cluster: &Cluster) {
    let line = "wallet credit --json --amount 50.00 --reference bank-2 --account";
    let account = &*cluster.customer.account;
    let words: Vec<&str> = line.split(' ').chain([account]).collect();
    let commands = [(); 2].map(|()| Process::start(cluster.ogene.command(&words)));
    let mut credited = commands.map(|mut command| {
        let (status, output) = command.end();
        assert!(status.success());
        let answer: Value = serde_json::from_str(&output).expect("one JSON value");
        answer["credited"].as_bool().expect("a truth")
    });
    credited.sort_unstable();
    assert_eq!(credited, [false, true]);
}

fn a_revoked_token_is_refused_everywhere(cluster: &Cluster) {
    const WITHIN: Duration = Duration::from_secs(1);
    let status = |client: &mut Client| {
        let answer = client.request("GET /api/v2/balance", "");
        answer.expect("an answer").status
    };
    let mut clients: Vec<Client> = cluster
        .nodes
        .iter()
        .map(|node| cluster.client(node))
        .collect();
    assert!(clients.iter_mut().all(|client| status(client) == 200));
    let tokens = cluster.ogene.rows(&["token", "list"]);
    let id = tokens[0]["token_id"].as_str().expect("an id");
    cluster.ogene.json(&["token", "revoke", "--id", id]);
    let since = Instant::now();
    for client in &mut clients {
        wait_until("the token is refused", || status(client) == 401);
    }
    assert!(since.elapsed() < WITHIN, "{:?}", since.elapsed());
}

/// One of three nodes has the only connection, and no receipt arrives by itself.
fn with_one_connection() -> (Cluster, Node) {
    let script = Script {
        rules: Vec::new(),
        mix: vec![(1, Fate::Pending)],
        ..script()
    };
    let mut cluster = Cluster::without_nodes(script, 1);
    for _ in 0..BINDS {
        cluster.join();
    }
    wait_until("one is bound", || cluster.smsc.bound(SYSTEM_ID) == 1);
    let binds = cluster.binds();
    let holds = |node: &Node| binds.contains_key(&node.process.id());
    let holder = cluster.nodes.iter().position(holds).expect("a holder");
    let holder = cluster.nodes.remove(holder);
    (cluster, holder)
}

#[test]
fn three_nodes_accept_submit_and_settle_one_message() {
    const SENDS: u64 = 20;
    const QUICK: Duration = Duration::from_millis(500);
    testkit::needs!(PostgresPrograms);
    let (cluster, mut holder) = with_one_connection();
    let mut clients: Vec<Client> = cluster
        .nodes
        .iter()
        .map(|node| cluster.client(node))
        .collect();
    let (mut messages, mut times) = (Vec::new(), Vec::new());
    for (number, turn) in (NUMBERS..NUMBERS + SENDS).zip([0, 1].into_iter().cycle()) {
        let before = cluster.smsc.stats().submits;
        let since = Instant::now();
        let answer = clients[turn].send(&[number], None).expect("an answer");
        messages.push(answer.message_id());
        while cluster.smsc.stats().submits == before {
            assert!(since.elapsed() < SOON, "it was not sent");
            thread::park_timeout(Duration::from_millis(1));
        }
        times.push(since.elapsed());
    }
    times.sort_unstable();
    let median = times[times.len() / 2];
    println!("from a request on one node to the wire of another: {median:?} in the median");
    assert!(median < QUICK, "{times:?}");

    holder.process.signal("TERM");
    assert!(holder.process.end().0.success());
    wait_until("another node is bound", || {
        cluster.binds().len() == 1 && cluster.smsc.bound(SYSTEM_ID) == 1
    });
    for received in cluster.smsc.received() {
        let id = received.message_id.expect("it was accepted");
        let text = format!(
            "id:{id} sub:001 dlvrd:001 submit date:2611210000 done date:2611210001 stat:DELIVRD err:000 text:"
        );
        let receipt = DeliverSm {
            source: received.submit.destination,
            destination: received.submit.source,
            esm_class: esm_class::RECEIPT,
            short_message: text.into(),
            ..DeliverSm::default()
        };
        cluster.smsc.send(SYSTEM_ID, receipt);
    }
    for (message, turn) in messages.iter().zip([0, 1].into_iter().cycle()) {
        wait_until("the receipt has settled it", || {
            let summary = clients[turn].summary(message).expect("an answer");
            summary["delivered"] == 1
        });
    }
}

/// The receipt arrived on one node while another held its response, and the commits missed each
/// other.
#[test]
fn a_parked_receipt_is_matched_while_other_sweeps_wait() {
    testkit::needs!(PostgresPrograms);
    let (mut cluster, holder) = with_one_connection();
    cluster.nodes.push(holder);
    let mut client = cluster.client(&cluster.nodes[0]);
    client.send(&[NUMBERS], None).expect("an answer");
    wait_until("the carrier has taken it", || {
        cluster.sql("select count(*) from carrier_ids").trim() == "1"
    });
    // No duplicate window can be removed now.
    let _held = cluster.hold("lock table recent_sends in share row exclusive mode");
    wait_until("the sweeps of all nodes wait", || {
        let waiting = cluster.sql("select count(*) from pg_locks where not granted");
        waiting
            .trim()
            .parse()
            .is_ok_and(|count: usize| count >= BINDS)
    });
    cluster.sql(
        "insert into parked_receipts (bucket, carrier, carrier_id, received_at_ms, number, recipient, sender, state)
         select p.bucket, p.carrier, p.prefix || chr(get_byte(p.pages, 19)),
             cast(extract(epoch from clock_timestamp()) * 1000 as bigint), 1, recipient, 'Sender', 'delivrd'
         from carrier_ids p, deliveries",
    );
    wait_until("the receipt has settled it", || {
        let ended = "select count(*) from deliveries where status = 'delivrd'";
        cluster.sql(ended).trim() == "1"
    });
}
