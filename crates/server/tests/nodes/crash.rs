//! A PostgreSQL that crashes under all nodes.

use crate::cluster::{Cluster, SOON};
use crate::customer::wait_until;
use crate::judgement::{Again, judge};
use crate::load::Load;
use std::time::Instant;

#[test]
#[ignore = "needs ./test's PostgreSQL"]
fn while_the_server_is_gone_all_nodes_answer_503_and_then_they_go_on() {
    let cluster = Cluster::start();
    let load = Load::start(&cluster);
    cluster.server.act("crash");
    wait_until("every node has answered 503", || {
        cluster.nodes.iter().all(|node| load.unavailable(node) > 0)
    });
    cluster.server.act("restart");
    let since = Instant::now();
    for node in &cluster.nodes {
        let took = load.wait_until_accepted(node, since);
        assert!(took < SOON, "{took:?}");
    }
    let took = cluster.wait_for_binds(since, 0);
    println!("connections shared after {took:?}");
    assert!(took < SOON, "{took:?}");
    judge(&cluster, &load.finish(), Again::IN_DOUBT);
}
