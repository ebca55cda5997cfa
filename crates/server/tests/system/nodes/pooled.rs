//! Nodes behind a pool of connections in session mode.

use super::cluster::{BINDS, Cluster, script};
use super::judgement::{Again, judge};
use super::load::Load;
use crate::pgbouncer::Pgbouncer;

#[test]
fn nodes_send_and_settle_behind_a_session_pool() {
    testkit::needs!(PostgresPrograms, Pgbouncer);
    let mut cluster = Cluster::without_nodes(script(), BINDS);
    let pooler = Pgbouncer::start(cluster.server.single());
    for _ in 0..2 {
        cluster.join_by(&pooler.url("session"));
    }
    cluster.wait_for_even_binds();
    let load = Load::start(&cluster);
    judge(&cluster, &load.finish(), Again::NOTHING);
}
