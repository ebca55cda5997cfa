//! A node that is stopped (SIGSTOP) until the others have removed it, and continues.

use super::cluster::{Cluster, SOON};
use super::judgement::{Again, judge};
use super::load::Load;
use crate::customer::wait_until;
use std::time::{Duration, Instant};

#[test]
fn a_stalled_node_notices_its_removal_and_serves_again() {
    testkit::needs!(PostgresPrograms);
    let mut cluster = Cluster::start();
    let load = Load::start_impatient(&cluster, Duration::from_secs(2));
    let mut still = cluster.nodes.remove(0);
    still.process.signal("STOP");
    let since = Instant::now();
    wait_until("the others bury it", || !cluster.knows(&still));
    // Its own connection stays open while it is stopped.
    let took = cluster.wait_for_binds(since, 1);
    println!("connections taken over after {took:?}");
    assert!(took < SOON, "{took:?}");
    still.process.signal("CONT");
    let since = Instant::now();
    still
        .process
        .line_with("node: removed as dead by another node");
    cluster.nodes.push(still);
    for node in &cluster.nodes {
        assert!(load.wait_until_accepted(node, since) < SOON);
    }
    let took = cluster.wait_for_binds(since, 0);
    println!("connections shared again after {took:?}");
    assert!(took < SOON, "{took:?}");
    judge(&cluster, &load.finish(), Again::IN_DOUBT);
}
