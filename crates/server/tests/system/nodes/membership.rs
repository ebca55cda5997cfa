//! Nodes that end in good order, and nodes that join.

use super::cluster::Cluster;
use super::judgement::{Again, judge};
use super::load::Load;

#[test]
fn a_node_that_ends_and_one_that_joins_cost_nothing() {
    testkit::needs!(PostgresPrograms);
    let mut cluster = Cluster::start();
    let load = Load::start(&cluster);
    let mut ended = cluster.nodes.remove(0);
    ended.process.signal("TERM");
    assert!(ended.process.end().0.success());
    cluster.wait_for_even_binds();
    cluster.join();
    load.add(&cluster.nodes[2]);
    cluster.wait_for_even_binds();
    judge(&cluster, &load.finish(), Again::NOTHING);
}
