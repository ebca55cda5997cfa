//! A node that is killed: the others take over what it had.

use crate::cluster::{Cluster, SOON};
use crate::judgement::{Again, judge};
use crate::load::Load;
use std::time::Instant;

#[test]
#[ignore = "needs ./test's PostgreSQL"]
fn the_others_take_over_from_a_killed_node_and_nothing_is_lost_or_charged_twice() {
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
