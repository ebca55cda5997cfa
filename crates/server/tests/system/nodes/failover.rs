//! A failover as operators run it: two PostgreSQL under Patroni with etcd, behind `HAProxy`.

use super::cluster::{BINDS, Cluster, SOON, Server, script};
use super::judgement::{Again, judge};
use super::load::Load;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Maximum duration of a failover: Patroni replaces a lost primary after its `ttl` of 20 s.
const FAILOVER_TIMEOUT: Duration = Duration::from_mins(2);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Two servers, of which one is the primary. They end with the test.
pub(crate) struct Replicated {
    directory: TempDir,
    url: String,
}

impl Replicated {
    fn start() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let url = run("start", directory.path());
        Self { directory, url }
    }

    /// The URL of `HAProxy`, which leads to the primary.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn act(&self, action: &str) {
        run(action, self.path());
    }

    fn primary(&self) -> String {
        run("primary", self.path())
    }

    /// Waits until `HAProxy` leads to another primary, as a client sees it.
    fn wait_for_another(&self, data: &str) {
        let end = Instant::now() + FAILOVER_TIMEOUT;
        while self.primary_data().is_none_or(|now| now == data) {
            assert!(Instant::now() < end, "no other server became the primary");
            thread::park_timeout(POLL_INTERVAL);
        }
    }

    /// Returns the data directory of the primary, if there is one.
    fn primary_data(&self) -> Option<String> {
        let query = "select current_setting('data_directory') where not pg_is_in_recovery()";
        let output = Command::new("psql")
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"])
            .args(["--dbname", self.url(), "--command", query])
            .env("PGCONNECT_TIMEOUT", "2")
            .stderr(Stdio::null())
            .output()
            .expect("psql is there");
        let data = String::from_utf8(output.stdout).expect("text");
        let data = data.trim();
        (output.status.success() && !data.is_empty()).then(|| data.to_owned())
    }
}

impl Drop for Replicated {
    fn drop(&mut self) {
        run("stop", self.path());
    }
}

/// Runs their control script. Returns its output.
fn run(action: &str, directory: &Path) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/ha/cluster");
    let mut command = Command::new(script);
    let output = command.arg(action).arg(directory).output();
    let output = output.expect("the script is there");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{action}: {error}");
    let printed = String::from_utf8(output.stdout).expect("text");
    printed.trim().to_owned()
}

fn replicated(cluster: &Cluster) -> &Replicated {
    match &cluster.server {
        Server::Replicated(servers) => servers,
        Server::Single(_) => unreachable!("it was started with two"),
    }
}

/// Fails over under load. Returns the time until each node accepted a message on the new primary.
fn fail_over(cluster: &Cluster, load: &Load, action: &str) -> Vec<Duration> {
    let servers = replicated(cluster);
    let data = servers.primary_data().expect("a primary");
    let began = Instant::now();
    servers.act(action);
    servers.wait_for_another(&data);
    let since = Instant::now();
    println!("{action}: another primary after {:?}", began.elapsed());
    let accepted: Vec<Duration> = cluster
        .nodes
        .iter()
        .map(|node| load.wait_until_accepted(node, since))
        .collect();
    println!("{action}: accepted {accepted:?} after that");
    accepted
}

fn start() -> Cluster {
    let server = Server::Replicated(Replicated::start());
    let mut cluster = Cluster::on(server, script(), BINDS);
    cluster.join();
    cluster.join();
    cluster.wait_for_even_binds();
    cluster
}

#[test]
fn a_switchover_loses_nothing_and_does_nothing_twice() {
    testkit::needs!(PostgresPrograms, Patroni);
    let cluster = start();
    let load = Load::start(&cluster);
    for took in fail_over(&cluster, &load, "switchover") {
        assert!(took < SOON, "{took:?}");
    }
    judge(&cluster, &load.finish(), Again::NOTHING);
}

#[test]
fn no_failover_loses_anything_or_does_it_twice() {
    const FIRST_ACCEPTED: Duration = Duration::from_secs(1);
    testkit::needs!(PostgresPrograms, Patroni);
    if std::env::var_os("OGENE_LONG").is_none() {
        println!("left out: it takes minutes, ./test --long runs it");
        return;
    }
    let cluster = start();
    let load = Load::start(&cluster);
    for action in ["switchover", "lose-primary", "lose-patroni"] {
        let before = replicated(&cluster).primary();
        let accepted = fail_over(&cluster, &load, action);
        let first = accepted.iter().min().expect("two nodes");
        assert!(*first < FIRST_ACCEPTED, "{action}: {accepted:?}");
        replicated(&cluster).act("recover");
        assert_ne!(replicated(&cluster).primary(), before);
    }
    judge(&cluster, &load.finish(), Again::NOTHING);
}
