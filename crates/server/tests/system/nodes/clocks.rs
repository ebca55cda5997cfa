//! Nodes on machines whose clocks are wrong by hours.

use super::cluster::{Cluster, Node};
use crate::customer::wait_until;
use std::thread;
use std::time::{Duration, Instant};

/// Length of the duplicate window, and the time by which it may end early.
const WINDOW: Duration = Duration::from_mins(1);
const EARLY: Duration = Duration::from_secs(1);
/// Interval of attempts.
const PACE: Duration = Duration::from_millis(100);

/// Returns the node's answer to a send to that number.
fn send(cluster: &Cluster, node: &Node, number: u64) -> u16 {
    let answer = cluster.client(node).send(&[number], None);
    answer.expect("an answer").status
}

#[test]
fn skewed_node_clocks_change_no_window_and_lose_no_receipt() {
    testkit::needs!(PostgresPrograms, Faketime);
    let mut cluster = Cluster::start_but_one();
    cluster.join_by_clock("+3h");
    cluster.join_by_clock("-5h");
    cluster.wait_for_even_binds();
    let began = Instant::now();
    let numbers = 2_348_031_000_100..;
    let armed: Vec<(u64, &Node)> = numbers.zip(&cluster.nodes).collect();
    for &(number, node) in &armed {
        assert_eq!(send(&cluster, node, number), 200);
    }
    let armed_by = Instant::now();
    for &(number, _) in &armed {
        for node in &cluster.nodes {
            assert_eq!(send(&cluster, node, number), 409, "{}", node.address);
        }
    }
    // Each window is tried by the node after the one that opened it.
    let others = cluster.nodes.iter().cycle().skip(1);
    let mut closed: Vec<(u64, &Node)> = armed.iter().map(|one| one.0).zip(others).collect();
    while !closed.is_empty() {
        closed.retain(|&(number, other)| {
            let sent_at = armed_by.elapsed();
            let is_open = send(&cluster, other, number) == 200;
            if is_open {
                let most = began.elapsed();
                println!("open again after {sent_at:?} to {most:?}");
                assert!(most + EARLY >= WINDOW, "{most:?}");
            }
            !is_open
        });
        assert!(
            armed_by.elapsed() < 2 * WINDOW,
            "{} stay closed",
            closed.len()
        );
        thread::park_timeout(PACE);
    }
    wait_until("both have been answered for", || {
        cluster.smsc.stats().answered >= 2 * armed.len() as u64
    });
    let violations = &cluster.ogene.json(&["verify"])["violations"];
    assert_eq!(violations, &serde_json::json!([]));
}
