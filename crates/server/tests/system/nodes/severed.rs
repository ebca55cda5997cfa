//! A node that loses PostgreSQL while the others do not.

use super::cluster::{Cluster, SOON};
use super::judgement::{Again, judge};
use super::load::Load;
use super::proxy::{Line, Proxy};
use crate::customer::wait_until;
use std::time::{Duration, Instant};

/// Time in which the proxy has no server. Each source of log lines retries dozens of times.
const WITHOUT_SERVER: Duration = Duration::from_secs(10);
/// Log lines of a node that loses its database: two for each retried operation, and its connections
/// to the carrier.
const MAX_LINES: usize = 60;

/// Cuts the last node off until the others have taken over, and connects it again.
fn sever(cluster: &mut Cluster, load: &Load, proxy: &Proxy, line: Line) {
    let severed = cluster.nodes.pop().expect("a node");
    let unavailable = load.unavailable(&severed);
    proxy.set(line);
    let since = Instant::now();
    for node in &cluster.nodes {
        let took = load.wait_until_accepted(node, since);
        println!("another accepts after {took:?}");
        assert!(took < SOON, "{took:?}");
    }
    let took = cluster.wait_for_binds(since, 0);
    println!("connections taken over after {took:?}");
    assert!(took < SOON, "{took:?}");
    wait_until("the node has answered 503", || {
        load.unavailable(&severed) > unavailable
    });
    println!("503 after {:?}", since.elapsed());
    proxy.set(Line::Open);
    let since = Instant::now();
    let took = load.wait_until_accepted(&severed, since);
    println!("accepts after {took:?}");
    assert!(took < SOON, "{took:?}");
    cluster.nodes.push(severed);
    let took = cluster.wait_for_binds(since, 0);
    println!("connections shared again after {took:?}");
    assert!(took < SOON, "{took:?}");
}

#[test]
fn a_severed_node_answers_503_and_comes_back_by_itself() {
    testkit::needs!(PostgresPrograms);
    let mut cluster = Cluster::start_but_one();
    let proxy = cluster
        .runtime
        .block_on(Proxy::start(cluster.server.path()));
    cluster.join_by(&proxy.url());
    cluster.wait_for_even_binds();
    let load = Load::start(&cluster);
    for line in [Line::Cut, Line::Hole] {
        sever(&mut cluster, &load, &proxy, line);
    }
    judge(&cluster, &load.finish(), Again::IN_DOUBT);
}

#[test]
fn a_proxy_without_a_database_causes_503_and_few_log_lines() {
    testkit::needs!(PostgresPrograms);
    let mut cluster = Cluster::start_but_one();
    let proxy = cluster
        .runtime
        .block_on(Proxy::start(cluster.server.path()));
    cluster.join_by(&proxy.url_with_tls());
    cluster.wait_for_even_binds();
    let load = Load::start(&cluster);
    let mut severed = cluster.nodes.pop().expect("a node");
    proxy.set(Line::NoServer);
    let since = Instant::now();
    wait_until("the outage has lasted", || since.elapsed() > WITHOUT_SERVER);
    let unavailable = load.unavailable(&severed);
    assert!(unavailable > 0, "nobody was answered 503");
    proxy.set(Line::Open);
    load.wait_until_accepted(&severed, Instant::now());
    let log = severed
        .process
        .lines_until("over: the other nodes cannot be seen");
    println!("{unavailable} answers of 503, {} lines", log.len());
    assert!(log.len() < MAX_LINES, "{log:#?}");
    let aside: Vec<_> = log.iter().filter(|line| line.contains("aside")).collect();
    assert!(aside.is_empty(), "{aside:#?}");
    cluster.nodes.push(severed);
    cluster.wait_for_even_binds();
    // A 500 among the answers fails the test here.
    judge(&cluster, &load.finish(), Again::IN_DOUBT);
}
