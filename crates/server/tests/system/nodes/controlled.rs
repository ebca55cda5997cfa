//! An operator pauses, drains and resumes a carrier of several nodes.

use super::cluster::{Cluster, SYSTEM_ID};
use crate::customer::wait_until;

const NUMBERS: u64 = 2_348_031_000_000;
const CHANGED: &str = "carrier: control changed by an operator";

/// Runs a command, and waits until every node has applied it.
fn control(cluster: &mut Cluster, change: &str) {
    let answer = cluster.ogene.json(&["carrier", change, "mtn"]);
    assert_eq!(answer["carrier"], "mtn");
    for node in &mut cluster.nodes {
        node.process.line_with(CHANGED);
    }
}

#[test]
fn control_of_a_carrier_reaches_every_node() {
    testkit::needs!(PostgresPrograms);
    let mut cluster = Cluster::start_but_one();
    cluster.wait_for_even_binds();
    control(&mut cluster, "pause");
    // A node that joins later knows the pause at its start.
    cluster.join();
    cluster.wait_for_even_binds();
    for (number, node) in (NUMBERS..).zip(&cluster.nodes) {
        let sent = cluster.client(node).send(&[number], None);
        assert_eq!(sent.expect("an answer").status, 200);
    }
    control(&mut cluster, "drain");
    wait_until("no node is bound", || cluster.smsc.bound(SYSTEM_ID) == 0);
    assert_eq!(cluster.smsc.received().len(), 0);
    let listed = cluster.ogene.json(&["carrier", "list"]);
    let listed = &listed["items"][0];
    assert_eq!(
        (&listed["carrier"], &listed["mode"]),
        (&"mtn".into(), &"drained".into())
    );
    control(&mut cluster, "resume");
    let all = cluster.nodes.len();
    wait_until("all messages go out", || {
        cluster.smsc.received().len() == all
    });
    let (code, message) = cluster.ogene.failure(&["carrier", "pause", "none"]);
    assert_eq!(code, Some(1));
    assert!(message.contains("ogene carrier list"), "{message}");
}
