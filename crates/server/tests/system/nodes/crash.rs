//! A PostgreSQL that crashes under all nodes.

use super::cluster::{Cluster, SOON, script};
use super::judgement::{Again, judge};
use super::load::Load;
use crate::customer::wait_until;
use std::time::{Duration, Instant};

/// Time in which each statement is tried several times: the revision sixteen times, the others four.
const SOME_TRIES: Duration = Duration::from_secs(4);

#[test]
fn all_nodes_answer_503_while_the_database_is_down() {
    testkit::needs!(PostgresPrograms);
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

#[test]
fn a_database_outage_logs_little_and_its_recovery_once() {
    testkit::needs!(PostgresPrograms);
    let mut cluster = Cluster::without_nodes(script(), 1);
    cluster.join();
    cluster.server.act("crash");
    let since = Instant::now();
    wait_until("each was tried some times", || since.elapsed() > SOME_TRIES);
    cluster.server.act("restart");
    let process = &mut cluster.nodes[0].process;
    let log = process.lines_until("over: the other nodes cannot be seen");
    for what in [
        "the other nodes cannot be seen",
        "the revision of accounts cannot be read",
        "due callbacks cannot be claimed",
        "due batches cannot be found",
    ] {
        let is_told = |line: &&String| line.contains(what) && !line.contains("over: ");
        assert_eq!(log.iter().filter(is_told).count(), 1, "{what}: {log:#?}");
    }
}
