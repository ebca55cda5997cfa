//! The configuration of running nodes is reloaded.

use super::cluster::{Cluster, SYSTEM_ID};
use crate::customer::wait_until;
use std::fs;

const NUMBERS: u64 = 2_348_031_000_000;

#[test]
fn config_reload_reaches_every_node() {
    testkit::needs!(PostgresPrograms);
    let mut cluster = Cluster::start_but_one();
    cluster.wait_for_even_binds();
    let bound = cluster.smsc.stats().binds;

    let reload = |cluster: &mut Cluster, from: &str, to: &str| {
        let file = cluster.ogene.path().join("ogene.toml");
        let text = fs::read_to_string(&file).expect("a file");
        assert!(text.contains(from), "{from}");
        fs::write(&file, text.replace(from, to)).expect("written");
        cluster.ogene.json(&["config", "reload"]);
        for node in &mut cluster.nodes {
            node.process.line_with("configuration: reloaded");
        }
    };
    reload(&mut cluster, "price = \"6.00\"", "price = \"9.00\"");
    for (number, node) in (NUMBERS..).zip(&cluster.nodes) {
        let sent = cluster
            .client(node)
            .send(&[number], None)
            .expect("an answer");
        assert_eq!(sent.status, 200);
        assert_eq!(sent.body["data"]["cost"], 9.0);
    }
    assert_eq!(cluster.smsc.stats().binds, bound, "nothing is bound again");

    // The carrier has fewer connections, and then another carrier replaces it and takes its
    // connections.
    reload(&mut cluster, "binds = 3", "binds = 2");
    wait_until("it has two connections", || {
        cluster.smsc.bound(SYSTEM_ID) == 2
    });
    reload(&mut cluster, "mtn", "glo");
    let held = "select count(*) from binds where carrier = 'mtn' and node <> 0";
    wait_until("the connections are given back", || {
        cluster.sql(held).trim() == "0"
    });
    let held = "select count(*) from binds where carrier = 'glo' and bound";
    wait_until("the other one is bound", || cluster.sql(held).trim() == "2");
    let mut client = cluster.client(&cluster.nodes[0]);
    let sent = client.send(&[NUMBERS + 100], None).expect("an answer");
    assert_eq!(sent.status, 200);
    wait_until("it goes out", || {
        let received = cluster.smsc.received();
        received
            .iter()
            .any(|one| format!("{one:?}").contains(&(NUMBERS + 100).to_string()))
    });
}
