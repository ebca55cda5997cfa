//! A node that is killed: the others take over its work.

use super::cluster::{Cluster, SOON};
use super::judgement::{Again, judge};
use super::load::Load;
use crate::customer::wait_until;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn takeover_of_a_killed_node_loses_and_double_charges_nothing() {
    testkit::needs!(PostgresPrograms);
    let mut cluster = Cluster::start();
    let load = Load::start(&cluster);
    let killed = cluster.nodes.remove(0);
    killed.process.signal("KILL");
    let since = Instant::now();
    for node in &cluster.nodes {
        assert!(load.wait_until_accepted(node, since) < SOON);
    }
    let took = cluster.wait_for_binds(since, 0);
    println!("connections taken over after {took:?}");
    assert!(took < SOON, "{took:?}");
    judge(&cluster, &load.finish(), Again::IN_DOUBT);
}

#[test]
fn who_takes_over_goes_on_beating_however_long_it_takes() {
    /// A node without a heartbeat for this time stops sending, and the others remove it.
    const LONG: Duration = Duration::from_secs(9);
    testkit::needs!(PostgresPrograms);
    let mut cluster = Cluster::start();
    let load = Load::start(&cluster);
    let killed = cluster.nodes.remove(0);
    let node = cluster.sql(&format!(
        "select node from nodes where name like '%:{}'",
        killed.process.id()
    ));
    let in_hand = format!("from batches where claimed_by = {}", node.trim());
    wait_until("it is killed with something in hand", || {
        killed.process.signal("STOP");
        let count = cluster.sql(&format!("select count(*) {in_hand}"));
        let is_some = count.trim() != "0";
        killed.process.signal(if is_some { "KILL" } else { "CONT" });
        is_some
    });
    // The takeover has to wait for this lock.
    let held = cluster.hold(&format!("select 1 {in_hand} for update"));
    wait_until("what it had in hand is held", || {
        let free = format!("select count(*) from (select 1 {in_hand} for update skip locked) b");
        cluster.sql(&free).trim() == "0"
    });
    assert_ne!(
        cluster.sql(&format!("select count(*) {in_hand}")).trim(),
        "0"
    );
    wait_until("the others bury it", || !cluster.knows(&killed));
    let since = Instant::now();
    let beats = || cluster.sql("select node, beat from nodes order by node");
    let mut before = beats();
    while since.elapsed() < LONG {
        thread::park_timeout(Duration::from_millis(3_500));
        let now = beats();
        let pairs = before.lines().zip(now.lines());
        for (before, now) in pairs {
            assert_ne!(before, now, "a node does not beat");
        }
        assert_eq!(now.lines().count(), cluster.nodes.len(), "{now}");
        before = now;
    }
    for node in &cluster.nodes {
        assert!(load.wait_until_accepted(node, Instant::now()) < SOON);
    }
    drop(held);
    judge(&cluster, &load.finish(), Again::IN_DOUBT);
}
