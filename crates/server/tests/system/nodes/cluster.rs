//! Nodes on a PostgreSQL of their own, with a carrier and a customer.

use super::failover::Replicated;
use crate::customer::{Client, Customer, wait_until};
use crate::installation::Installation;
use crate::postgres::Postgres;
use crate::process::Process;
use crate::receiver::Receiver;
use smpp::ReceiptState;
use smpp::simulator::{Delay, Fate, Rule, Script, Smsc};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::sql;
use tokio::runtime::Runtime;

pub(crate) const WINDOW: usize = 20;
pub(crate) const BINDS: usize = 3;
/// The account at the carrier.
pub(crate) const SYSTEM_ID: &str = "ogene";
/// The first credit of the customer and the price of a page, in naira.
pub(crate) const CREDIT: i64 = 9_000_000;
pub(crate) const PRICE: i64 = 6;
/// The last digit of numbers that are never reached.
pub(crate) const UNREACHABLE: u64 = 7;
/// Time in which the other nodes must have taken over. It takes them some 5 s, which the tests
/// print. A busy machine may need more.
pub(crate) const SOON: Duration = Duration::from_secs(20);

pub(crate) struct Node {
    pub(crate) process: Process,
    pub(crate) address: String,
}

/// Locks of another session, held until they are dropped.
pub(crate) struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        let killed = self.0.kill();
        let _ended = killed.and_then(|()| self.0.wait());
    }
}

/// The database of all nodes.
pub(crate) enum Server {
    /// One PostgreSQL.
    Single(Postgres),
    /// Two servers under Patroni, behind `HAProxy`.
    Replicated(Replicated),
}

impl Server {
    /// The URL that the nodes are configured with.
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Single(server) => server.url("ogene", "postgres", 5432),
            Self::Replicated(servers) => servers.url().to_owned(),
        }
    }

    /// Runs an action of its control script.
    pub(crate) fn act(&self, action: &str) {
        match self {
            Self::Single(server) => server.act(action),
            Self::Replicated(servers) => servers.act(action),
        }
    }

    /// The one PostgreSQL.
    pub(crate) fn single(&self) -> &Postgres {
        match self {
            Self::Single(server) => server,
            Self::Replicated(_) => panic!("there are two"),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Single(server) => server.path(),
            Self::Replicated(servers) => servers.path(),
        }
    }
}

/// The processes of a test. The nodes are dropped first.
pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Node>,
    pub(crate) customer: Customer,
    pub(crate) ogene: Installation,
    pub(crate) smsc: Smsc,
    pub(crate) receiver: Receiver,
    pub(crate) runtime: Runtime,
    pub(crate) server: Server,
}

/// A simulator that answers after some time, and sends receipts some 50 ms later.
pub(crate) fn script() -> Script {
    let millis = |from, to| Delay {
        from: Duration::from_millis(from),
        to: Duration::from_millis(to),
    };
    Script {
        record: 200_000,
        rules: vec![Rule {
            suffix: UNREACHABLE.to_string(),
            fate: Fate::Receipt(ReceiptState::Undeliverable),
        }],
        response_delay: millis(5, 20),
        receipt_delay: millis(40, 70),
        ..Script::default()
    }
}

impl Cluster {
    /// Starts three nodes that share three connections, one each.
    pub(crate) fn start() -> Self {
        let mut cluster = Self::start_but_one();
        cluster.join();
        cluster.wait_for_even_binds();
        cluster
    }

    /// Starts two of the three nodes.
    pub(crate) fn start_but_one() -> Self {
        let mut cluster = Self::without_nodes(script(), BINDS);
        cluster.join();
        cluster.join();
        cluster
    }

    pub(crate) fn without_nodes(script: Script, binds: usize) -> Self {
        Self::on(Server::Single(Postgres::start(&[])), script, binds)
    }

    /// Makes a carrier and a customer on a server, without a node.
    pub(crate) fn on(server: Server, script: Script, binds: usize) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let smsc = runtime.block_on(Smsc::start(script)).expect("started");
        let receiver = runtime.block_on(Receiver::start());
        let ogene = Installation::on(&server.url());
        ogene.configure(&format!(
            "[limits]\nsends_per_minute = 1000000\nreports_per_minute = 1000000\n\
             [callbacks]\nallow_private_targets = true\n\
             [carriers.mtn]\naddress = \"{}\"\nsystem_id = \"{SYSTEM_ID}\"\npassword = \"secret\"\n\
             binds = {binds}\nwindow = {WINDOW}\n\
             [gateways.direct-refund]\ncarriers = [\"mtn\"]\nprice = \"{PRICE}.00\"\nin_doubt_hold = \"1s\"\n",
            smsc.address(),
        ));
        let customer = Customer::new(&ogene, &format!("{CREDIT}.00"));
        Self {
            nodes: Vec::new(),
            customer,
            ogene,
            smsc,
            receiver,
            runtime,
            server,
        }
    }

    /// Starts one more node.
    pub(crate) fn join(&mut self) {
        let (process, address) = Process::serve(self.ogene.command(&["serve"]));
        self.nodes.push(Node { process, address });
    }

    /// Starts one more node on a machine whose clock is wrong by this time, in the form of
    /// libfaketime (`+3h`).
    pub(crate) fn join_by_clock(&mut self, offset: &str) {
        let mut command = self.ogene.command(&["serve"]);
        command
            .env("LD_PRELOAD", "/usr/$LIB/faketime/libfaketimeMT.so.1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("FAKETIME", offset);
        let (process, address) = Process::serve(command);
        self.nodes.push(Node { process, address });
    }

    /// Starts one more node, which reaches the server by another way.
    pub(crate) fn join_by(&mut self, database_url: &str) {
        let mut command = self.ogene.command(&["serve"]);
        command.env("OGENE_DATABASE_URL", database_url);
        let (process, address) = Process::serve(command);
        self.nodes.push(Node { process, address });
    }

    pub(crate) fn client(&self, node: &Node) -> Client {
        Client::new(&node.address, &self.customer.token)
    }

    pub(crate) fn sql(&self, text: &str) -> String {
        sql(&self.server.url(), text)
    }

    /// Takes the locks of a statement and keeps them. The caller checks that they are taken.
    pub(crate) fn hold(&self, locks: &str) -> Held {
        let url = self.server.url();
        let mut psql = Command::new("psql");
        psql.args(["--no-psqlrc", "--quiet", "--output", "/dev/null"]);
        psql.args(["--dbname", &url]).stdin(Stdio::piped());
        let mut psql = psql.spawn().expect("psql is there");
        let lines = psql.stdin.as_mut().expect("a pipe");
        lines
            .write_all(format!("begin; {locks};\n").as_bytes())
            .expect("it reads");
        Held(psql)
    }

    /// Returns `true` if the other nodes count it as alive.
    pub(crate) fn knows(&self, node: &Node) -> bool {
        let id = node.process.id();
        let count = self.sql(&format!(
            "select count(*) from nodes where name like '%:{id}'"
        ));
        count.trim() == "1"
    }

    /// Returns the number of connections that each process holds.
    pub(crate) fn binds(&self) -> BTreeMap<u32, usize> {
        let rows = self.sql(
            "select regexp_replace(name, '.*:', ''), count(*) from binds join nodes using (node) group by 1",
        );
        rows.lines()
            .map(|row| {
                let (process, count) = row.split_once('|').expect("two columns");
                (
                    process.parse().expect("a number"),
                    count.parse().expect("a count"),
                )
            })
            .collect()
    }

    /// Returns `true` if all connections are shared evenly among the live nodes.
    fn has_even_binds(&self) -> bool {
        let binds = self.binds();
        let held = |node: &Node| binds.get(&node.process.id()).copied().unwrap_or(0);
        let counts: Vec<usize> = self.nodes.iter().map(held).collect();
        let (least, most) = (counts.iter().min(), counts.iter().max());
        counts.iter().sum::<usize>() == BINDS && most.zip(least).is_some_and(|(m, l)| m - l <= 1)
    }

    pub(crate) fn wait_for_even_binds(&self) {
        wait_until("the connections are shared and bound", || {
            self.has_even_binds() && self.smsc.bound(SYSTEM_ID) == BINDS
        });
    }

    /// Waits until the running nodes hold all connections. `hanging` are those of a stopped node.
    /// Returns the time since then.
    pub(crate) fn wait_for_binds(&self, since: Instant, hanging: usize) -> Duration {
        wait_until("the living nodes have all connections", || {
            self.has_even_binds() && self.smsc.bound(SYSTEM_ID) == BINDS + hanging
        });
        since.elapsed()
    }
}
