//! A whole installation on loopback: the service as `ogene serve` runs it, SMSC simulators on real SMPP, and a
//! customer with credit, a token and an approved sender ID.

pub(crate) mod esme;
pub(crate) mod http;
pub(crate) mod http2;
pub(crate) mod provider;
pub(crate) mod receiver;
pub(crate) mod wire;

use domain::token::TokenTerms;
use domain::{AccountId, AccountStatus, Component, SenderStatus};
use engine::Clock;
use engine::operators::{Actor, Operations};
use http::{Answer, Request};
use serde_json::{Value, json};
use server::app;
use server::config::Config;
use smpp::simulator::{Script, Smsc};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::Store;
use tempfile::TempDir;
use testkit::{Schema, sql};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

/// The sender ID that every customer of the kit may use.
pub(crate) const SENDER: &str = "AdaStores";
/// A number of MTN, one of Airtel and one of Glo.
pub(crate) const MTN: &str = "2348031234567";
pub(crate) const AIRTEL: &str = "2348021234567";
pub(crate) const GLO: &str = "2348051234567";
/// The carrier of an installation without other carriers.
pub(crate) const CARRIER: &str = "mtn";
/// Timeout of a condition. It is far longer than any condition takes on an idle machine.
const TIMEOUT: Duration = Duration::from_secs(40);
/// Interval at which a condition is checked.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);
/// Messages that a simulator remembers.
const RECORD: usize = 50_000;

/// Returns so many numbers of MTN.
pub(crate) fn numbers(many: u64) -> Vec<String> {
    (0..many)
        .map(|last| (2_348_031_000_000 + last).to_string())
        .collect()
}

/// The settings of an installation before its start.
pub(crate) struct Setup {
    scripts: BTreeMap<String, Script>,
    settings: BTreeMap<String, String>,
    has_customer: bool,
}

impl Setup {
    /// One carrier that delivers every message, all gateways, callbacks to loopback, and short
    /// delays.
    pub(crate) fn new() -> Self {
        let none = Self {
            scripts: BTreeMap::new(),
            settings: BTreeMap::new(),
            has_customer: true,
        };
        let gateways = ["direct-refund", "direct-corporate", "otp", "international"];
        let with_gateways = gateways.iter().fold(none, |setup, gateway| {
            setup
                .set(&format!("gateways.{gateway}.carriers"), r#"["mtn"]"#)
                .set(&format!("gateways.{gateway}.in_doubt_hold"), r#""1s""#)
        });
        with_gateways
            .set("gateways.dual-backup.leg_timeout", r#""120s""#)
            .set("callbacks.allow_private_targets", "true")
            .set("callbacks.retry_delays", &format!("{:?}", ["100ms"; 50]))
            // Tests read the outcome of a message in its reports.
            .set("limits.reports_per_minute", "1000000")
            .carrier(CARRIER, Script::default())
    }

    /// Sets one key of the configuration, in the syntax of TOML.
    pub(crate) fn set(mut self, key: &str, value: &str) -> Self {
        self.settings.insert(key.to_owned(), value.to_owned());
        self
    }

    /// Removes a section.
    pub(crate) fn without(mut self, section: &str) -> Self {
        let inside = format!("{section}.");
        self.settings.retain(|key, _| !key.starts_with(&inside));
        self
    }

    /// Creates no customer, as on a fresh installation.
    pub(crate) fn without_customer(mut self) -> Self {
        self.has_customer = false;
        self
    }

    /// Starts no simulator.
    pub(crate) fn without_carriers(mut self) -> Self {
        self.scripts.clear();
        self
    }

    /// Adds a carrier with a simulator of its own, or gives it another script.
    pub(crate) fn carrier(mut self, name: &str, script: Script) -> Self {
        let script = Script {
            record: RECORD,
            ..script
        };
        self.scripts.insert(name.to_owned(), script);
        self.set(&format!("carriers.{name}.system_id"), r#""ogene""#)
            .set(&format!("carriers.{name}.password"), r#""secret""#)
    }

    /// Returns the script of the only carrier.
    pub(crate) fn script(self, script: Script) -> Self {
        self.carrier(CARRIER, script)
    }

    /// Starts everything.
    pub(crate) async fn start(mut self) -> Ogene {
        let mut smscs = BTreeMap::new();
        for (name, script) in std::mem::take(&mut self.scripts) {
            let smsc = Smsc::start(script).await.expect("a simulator");
            let address = format!("\"{}\"", smsc.address());
            self = self.set(&format!("carriers.{name}.address"), &address);
            smscs.insert(name, smsc);
        }
        let directory = tempfile::tempdir().expect("a directory");
        let schema = Schema::asked_for();
        if let Some(schema) = &schema {
            self = self.set("database_url", &format!("{:?}", schema.url()));
        }
        let mut lines = String::new();
        for (key, value) in &self.settings {
            lines.extend([key, " = ", value, "\n"]);
        }
        let config = Config::read(&lines, "it", []).expect("no fault");
        let config = Config {
            data_dir: directory.path().join("data"),
            ..config
        };
        let mut ogene = Ogene {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            shop: Customer::default(),
            smscs,
            file: Arc::new(Mutex::new(lines.clone())),
            asked: None,
            lines,
            config,
            clock: Clock::running(),
            running: None,
            ended: false,
            schema,
            _directory: directory,
        };
        if self.has_customer {
            ogene.shop = ogene.customer("1000.00").await;
        }
        ogene.serve().await;
        ogene
    }
}

/// The customer of a request.
#[derive(Clone, Debug)]
pub(crate) struct Customer {
    pub(crate) id: AccountId,
    pub(crate) token_id: String,
    pub(crate) token: String,
}

impl Default for Customer {
    fn default() -> Self {
        Self {
            id: AccountId(0),
            token_id: String::new(),
            token: String::new(),
        }
    }
}

/// A running installation. A test ends it by [`Ogene::end`], which checks the ledger.
pub(crate) struct Ogene {
    pub(crate) address: SocketAddr,
    /// The customer of most tests.
    pub(crate) shop: Customer,
    smscs: BTreeMap<String, Smsc>,
    lines: String,
    config: Config,
    /// The configuration for a reload, and the channel that requests it.
    file: Arc<Mutex<String>>,
    asked: Option<mpsc::Sender<()>>,
    /// The clock of the service. It is the system's until it is set.
    pub(crate) clock: Clock,
    running: Option<Running>,
    ended: bool,
    /// The PostgreSQL of the test, if there is one.
    schema: Option<Schema>,
    _directory: TempDir,
}

/// One more node of an installation.
pub(crate) struct Neighbour {
    pub(crate) address: SocketAddr,
    running: Running,
}

impl Neighbour {
    /// Ends the node as SIGTERM does.
    pub(crate) async fn stop(self) {
        let _ = self.running.stop.send(End::Asked);
        let ended = self.running.ended.await.expect("no panic");
        ended.expect("not killed").expect("an orderly end");
    }
}

/// The service runs on threads of its own, as in a process.
struct Running {
    stop: oneshot::Sender<End>,
    ended: oneshot::Receiver<Option<Result<(), app::Error>>>,
}

/// A Python script that runs a statement, because Python has SQLite built in.
const RUN_ON_SQLITE: &str = "import sys, sqlite3 as s\n\
    c = s.connect(sys.argv[1], timeout=10, isolation_level=None)\n\
    for row in c.execute(sys.argv[2]): print(*row, sep='|')";

/// A Python script that runs statements line by line, as `psql` does.
const RUN_LINES_ON_SQLITE: &str = "import sys, sqlite3 as s\n\
    c = s.connect(sys.argv[1], timeout=10, isolation_level=None)\n\
    for line in sys.stdin: c.execute(line); print('done', flush=True)";

/// A lock that delays the commit of sends until it is dropped.
pub(crate) struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        let killed = self.0.kill();
        let _ended = killed.and_then(|()| self.0.wait());
    }
}

/// The way in which the service ends.
enum End {
    /// The service ends as after SIGTERM.
    Asked,
    /// The service ends as in a crash: its tasks are dropped wherever they are.
    Killed,
}

/// Runs the service until it is ended. A killed one returns nothing.
fn run(
    config: Config,
    source: app::Source,
    clock: Clock,
    listener: TcpListener,
    stopped: oneshot::Receiver<End>,
) -> Option<Result<(), app::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let listener = listener.into_std().expect("a listener");
    let ended = runtime.block_on(async {
        let listener = TcpListener::from_std(listener).expect("a listener");
        let (ask, asked) = oneshot::channel::<()>();
        let shutdown = async {
            let _ = asked.await;
        };
        let killed = async {
            match stopped.await {
                Ok(End::Killed) => {}
                Ok(End::Asked) | Err(_) => {
                    let _ = ask.send(());
                    std::future::pending::<()>().await;
                }
            }
        };
        tokio::select! {
            ended = app::serve(config, source, clock, listener, shutdown) => Some(ended),
            () = killed => None,
        }
    });
    runtime.shutdown_background();
    ended
}

impl Ogene {
    /// Starts an installation with the default settings.
    pub(crate) async fn start() -> Self {
        Setup::new().start().await
    }

    /// Starts the service as `ogene serve` does.
    pub(crate) async fn serve(&mut self) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a port");
        self.address = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel();
        let (done, ended) = oneshot::channel();
        let (config, clock) = (self.config.clone(), self.clock.clone());
        let (ask, asked) = mpsc::channel(1);
        let (file, data_dir) = (Arc::clone(&self.file), self.config.data_dir.clone());
        let read = move || {
            let config = Config::read(&file.lock().expect("no panic"), "it", [])?;
            let data_dir = data_dir.clone();
            Ok(Config { data_dir, ..config })
        };
        let source = app::Source::new(read, asked);
        self.asked = Some(ask);
        std::thread::spawn(move || {
            let _ = done.send(run(config, source, clock, listener, stopped));
        });
        self.running = Some(Running { stop, ended });
        if self.config.http.tls.is_none() {
            until("the service is ready", async || {
                let ready = http::try_ask(self.address, &Request::get("/readyz")).await;
                ready.ok().filter(|answer| answer.status == 200)
            })
            .await;
        }
    }

    /// Starts one more node on the same PostgreSQL. SQLite has one node.
    pub(crate) async fn join(&self) -> Option<Neighbour> {
        self.schema.as_ref()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel();
        let (done, ended) = oneshot::channel();
        let (config, clock) = (self.config.clone(), self.clock.clone());
        let source = app::Source::fixed(config.clone());
        std::thread::spawn(move || {
            let _ = done.send(run(config, source, clock, listener, stopped));
        });
        until("the other node is ready", async || {
            let ready = http::try_ask(address, &Request::get("/readyz")).await;
            ready.ok().filter(|answer| answer.status == 200)
        })
        .await;
        let running = Running { stop, ended };
        Some(Neighbour { address, running })
    }

    /// Ends the service as SIGTERM does.
    pub(crate) async fn stop(&mut self) {
        let Running { stop, ended } = self.running.take().expect("it runs");
        let _ = stop.send(End::Asked);
        let ended = ended.await.expect("no panic").expect("not killed");
        ended.expect("an orderly end");
    }

    /// Ends the service as a crash does.
    pub(crate) async fn kill(&mut self) {
        let Running { stop, ended } = self.running.take().expect("it runs");
        let _ = stop.send(End::Killed);
        assert!(ended.await.expect("no panic").is_none());
    }

    /// Ends the installation, and starts it again.
    pub(crate) async fn restart(&mut self) {
        self.stop().await;
        self.serve().await;
    }

    /// Ends the installation, and checks the invariants.
    pub(crate) async fn end(mut self) {
        self.ended = true;
        if self.running.is_some() {
            self.stop().await;
        }
        let store = self.store().await;
        let checked = operations(&store)
            .configuration()
            .verify()
            .await
            .expect("it can be read");
        store.close().await;
        assert_eq!(
            checked.violations,
            Vec::<String>::new(),
            "the books are in order"
        );
        for smsc in std::mem::take(&mut self.smscs).into_values() {
            smsc.stop().await;
        }
    }

    /// Opens the database as the commands do while the service runs.
    pub(crate) async fn store(&self) -> Store {
        app::open(&self.config).await.expect("a database")
    }

    /// Writes the configuration into a file for `ogene serve`, with further keys.
    pub(crate) fn settings(&self, more: &str) -> String {
        format!(
            "data_dir = {:?}\n{}{more}",
            self.config.data_dir, self.lines
        )
    }

    /// Renames the only carrier from the next start on.
    pub(crate) fn rename_carrier(&mut self, name: &str) {
        let section = format!("carriers.{CARRIER}.");
        let lines = self.lines.replace(&section, &format!("carriers.{name}."));
        self.lines = lines.replace(&format!("{CARRIER:?}"), &format!("{name:?}"));
        self.config = Config {
            data_dir: self.config.data_dir.clone(),
            ..Config::read(&self.lines, "it", []).expect("no fault")
        };
    }

    /// Sets keys of the configuration, in the syntax of TOML, or removes keys without a value.
    pub(crate) fn edit(&mut self, keys: &[(&str, &str)]) {
        let is_set = |line: &&str| {
            let set = |(key, _): &(&str, &str)| line.starts_with(&format!("{key} = "));
            !keys.iter().any(set)
        };
        let mut lines: Vec<String> = self
            .lines
            .lines()
            .filter(is_set)
            .map(str::to_owned)
            .collect();
        let given = keys.iter().filter(|(_, value)| !value.is_empty());
        lines.extend(given.map(|(key, value)| format!("{key} = {value}")));
        self.lines = lines.join("\n") + "\n";
        self.file.lock().expect("no panic").clone_from(&self.lines);
    }

    /// Sets keys, and reloads the configuration.
    pub(crate) async fn reload(&mut self, keys: &[(&str, &str)]) {
        self.edit(keys);
        let asked = self.asked.as_ref().expect("it runs");
        asked.send(()).await.expect("it listens");
    }

    /// Starts a simulator for one more carrier, which is not configured yet; gives its address, as in TOML.
    pub(crate) async fn simulate(&mut self, name: &str, script: Script) -> String {
        let record = RECORD;
        let smsc = Smsc::start(Script { record, ..script })
            .await
            .expect("a simulator");
        let address = format!("\"{}\"", smsc.address());
        self.smscs.insert(name.to_owned(), smsc);
        address
    }

    /// Renames a table while the service runs, so that reading it fails.
    pub(crate) fn hide(&self, table: &str) {
        self.sql(&format!("alter table {table} rename to hidden"));
    }

    /// Gives the table its name back.
    pub(crate) fn show(&self, table: &str) {
        self.sql(&format!("alter table hidden rename to {table}"));
    }

    /// Locks the tables that accept writes, for less time than the service waits for them.
    pub(crate) fn hold_commits(&self) -> Held {
        if let Some(held) = self.hold_table("wallets") {
            return held;
        }
        let mut python = Command::new("python3");
        python.args(["-c", RUN_LINES_ON_SQLITE]);
        python.arg(self.config.data_dir.join("ogene.db"));
        Self::hold(python, "begin immediate;\n")
    }

    /// Locks one table. The embedded database has no such lock.
    pub(crate) fn hold_table(&self, table: &str) -> Option<Held> {
        let schema = self.schema.as_ref()?;
        let mut psql = Command::new("psql");
        psql.args(["--no-psqlrc", "--quiet", "--dbname", &schema.url()]);
        let lock = format!("begin; lock table {table};\n\\! echo done\n");
        Some(Self::hold(psql, &lock))
    }

    /// Starts a program that takes a lock by this line and holds it.
    fn hold(mut held: Command, line: &str) -> Held {
        held.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut held = held.spawn().expect("it is there");
        let lines = held.stdin.as_mut().expect("a pipe");
        lines.write_all(line.as_bytes()).expect("it reads");
        // The lock is taken when it answers.
        let mut answer = [0; 4];
        let answers = held.stdout.as_mut().expect("a pipe");
        answers.read_exact(&mut answer).expect("it answers");
        Held(held)
    }

    /// Returns the directory of the embedded database.
    pub(crate) fn data_dir(&self) -> &Path {
        &self.config.data_dir
    }

    /// Runs SQL while the service runs. Returns the output.
    pub(crate) fn sql(&self, text: &str) -> String {
        if let Some(schema) = &self.schema {
            return sql(&schema.url(), text).trim().to_owned();
        }
        let output = Command::new("python3")
            .args(["-c", RUN_ON_SQLITE])
            .arg(self.config.data_dir.join("ogene.db"))
            .arg(text)
            .output()
            .expect("python3 is there");
        assert!(output.status.success(), "{text}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Returns the simulator of a carrier.
    pub(crate) fn smsc_of(&self, carrier: &str) -> &Smsc {
        &self.smscs[carrier]
    }

    /// Returns the rules of the configuration at the start.
    pub(crate) fn rules(&self) -> domain::Rulebook {
        self.config.settings().rules
    }

    /// Returns the settings of a carrier at the start.
    pub(crate) fn carrier_settings(&self, name: &str) -> Option<engine::CarrierSettings> {
        let carriers = self.config.settings().carriers;
        carriers.into_iter().find(|one| one.name == name)
    }

    /// Returns `true` if the service runs, as the lock of an embedded database says.
    pub(crate) fn serves_embedded(&self) -> Option<bool> {
        match app::lock(&self.config) {
            Ok(lock) => lock.map(|_| false),
            Err(_) => Some(true),
        }
    }

    /// Returns the simulator of the only carrier.
    pub(crate) fn smsc(&self) -> &Smsc {
        self.smsc_of(CARRIER)
    }

    /// Waits until so many connections of a carrier are bound.
    pub(crate) async fn bound(&self, carrier: &str, binds: u64) {
        until("the carrier is bound", async || {
            (self.smsc_of(carrier).stats().binds >= binds).then_some(())
        })
        .await;
    }

    /// Creates a customer with credit in the default component, by the operator's functions.
    pub(crate) async fn customer(&self, credit: &str) -> Customer {
        let store = self.store().await;
        let account = operations(&store)
            .accounts()
            .create("Ada Stores", "ada@example.ng")
            .await;
        let id = account.expect("an account").id;
        let (info, token) = operations(&store)
            .tokens()
            .create(id, "shop", TokenTerms::default())
            .await
            .expect("a token");
        store.close().await;
        let customer = Customer {
            id,
            token_id: info.id,
            token,
        };
        self.credit(&customer, credit, Component::SmsWallet).await;
        self.sender(&customer, SENDER, false, SenderStatus::Approved)
            .await;
        customer
    }

    /// Adds credit to an account.
    pub(crate) async fn credit(&self, customer: &Customer, amount: &str, component: Component) {
        let store = self.store().await;
        let amount = amount.parse().expect("an amount");
        let reference = format!("{component:?} {amount}");
        if amount > domain::Money::ZERO {
            let credit =
                operations(&store)
                    .wallets()
                    .credit(customer.id, amount, &reference, component);
            assert!(credit.await.expect("credit").new);
        }
        store.close().await;
    }

    /// Registers a sender ID and sets its status.
    pub(crate) async fn sender(
        &self,
        customer: &Customer,
        name: &str,
        international: bool,
        status: SenderStatus,
    ) {
        let store = self.store().await;
        let registered =
            operations(&store)
                .senders()
                .register(customer.id, name, "Orders", international);
        registered.await.expect("registered");
        let reason = (status == SenderStatus::Rejected).then_some("Unclear");
        if status != SenderStatus::Pending {
            let set = operations(&store)
                .senders()
                .set_status(customer.id, name, status, reason);
            set.await.expect("set");
        }
        store.close().await;
    }

    /// Sets the status of an account.
    pub(crate) async fn set_status(&self, customer: &Customer, status: AccountStatus) {
        let store = self.store().await;
        operations(&store)
            .accounts()
            .set_status(customer.id, status, None)
            .await
            .expect("set");
        store.close().await;
    }

    /// Sends a request to the service.
    pub(crate) async fn ask(&self, request: &Request) -> Answer {
        http::try_ask(self.address, request)
            .await
            .expect("an answer")
    }

    /// Sends a message by JSON as the shop.
    pub(crate) async fn send(&self, fields: Value) -> Answer {
        self.ask(&Request::send(&self.shop.token, &fields)).await
    }

    /// Sends a message by JSON as the shop, with success. Returns `data`.
    pub(crate) async fn sent(&self, fields: Value) -> Value {
        let answer = self.send(fields).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["data"].clone()
    }

    /// Sends a message with success. Returns the `message_id`.
    pub(crate) async fn sent_id(&self, fields: Value) -> String {
        let data = self.sent(fields).await;
        data["message_id"].as_str().expect("an id").to_owned()
    }

    /// Sends one text to so many [`numbers`] with success. Returns the `message_id`.
    pub(crate) async fn campaign(&self, many: u64) -> String {
        self.sent_id(json!({"from": SENDER, "to": numbers(many), "body": "Dear customer"}))
            .await
    }

    /// Returns the sum of a metric over the lines with this beginning and all of these labels.
    pub(crate) async fn metric(&self, begin: &str, labels: &[&str]) -> u64 {
        let answer = self.ask(&Request::get("/metrics")).await;
        let lines = answer.text().lines().filter(|line| {
            line.starts_with(begin) && labels.iter().all(|label| line.contains(label))
        });
        lines
            .filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
            .sum()
    }

    /// Reads a path below `/api/v2` as the shop, with success.
    pub(crate) async fn read(&self, path: &str) -> Value {
        let request = Request::get(&format!("/api/v2{path}")).bearer(&self.shop.token);
        let answer = self.ask(&request).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    /// Returns `data` of the delivery report of a message.
    pub(crate) async fn report(&self, message_id: &str) -> Value {
        self.read(&format!(
            "/delivery-reports?message_id={message_id}&per_page=1000"
        ))
        .await["data"]
            .clone()
    }

    /// Returns the statuses of all recipients, in order.
    pub(crate) async fn statuses(&self, message_id: &str) -> Vec<String> {
        let report = self.report(message_id).await;
        let reports = report["reports"].as_array().expect("a list").iter();
        reports
            .map(|one| one["delivery_status"].as_str().expect("a word").to_owned())
            .collect()
    }

    /// Returns the statuses of all recipients, once none is pending.
    pub(crate) async fn outcome(&self, message_id: &str) -> Vec<String> {
        until("every recipient has an outcome", async || {
            let statuses = self.statuses(message_id).await;
            let pending = statuses
                .iter()
                .any(|status| status == "sent awaiting status");
            (!pending).then_some(statuses)
        })
        .await
    }

    /// Returns the total balance of the shop's wallet.
    pub(crate) async fn total(&self) -> f64 {
        self.read("/balance").await["balance"]["total_balance"]
            .as_f64()
            .expect("a number")
    }

    /// Waits until the simulator of the one carrier has got so many messages.
    pub(crate) async fn received(&self, count: usize) -> Vec<smpp::simulator::Received> {
        self.received_by(CARRIER, count).await
    }

    /// Waits until the simulator of a carrier has got so many messages.
    pub(crate) async fn received_by(
        &self,
        carrier: &str,
        count: usize,
    ) -> Vec<smpp::simulator::Received> {
        until("the carrier has the messages", async || {
            let received = self.smsc_of(carrier).received();
            (received.len() >= count).then_some(received)
        })
        .await
    }
}

/// A test that passes must have ended its installation, so that the ledger was checked.
impl Drop for Ogene {
    fn drop(&mut self) {
        assert!(
            self.ended || std::thread::panicking(),
            "the test did not end its installation"
        );
    }
}

/// Starts a service whose carrier takes 40 submits a second, and whose shop can pay for a campaign.
pub(crate) async fn with_slow_carrier() -> Ogene {
    let ogene = Setup::new()
        .set("carriers.mtn.max_per_second", "40")
        .start()
        .await;
    ogene.bound(CARRIER, 2).await;
    ogene
        .credit(&ogene.shop, "10000.00", Component::SmsWallet)
        .await;
    ogene
}

/// Waits for a condition, for a limited time.
pub(crate) async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let end = Instant::now() + TIMEOUT;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain until {what}");
        sleep(LOOK_INTERVAL).await;
    }
}

/// Returns the operations of the tests' operator.
pub(crate) fn operations(store: &Store) -> Operations {
    Operations::new(store.clone(), Actor::new(Clock::system(), "cli:ada"))
}

/// Returns the fields of a send to one number.
pub(crate) fn to(number: &str, body: &str) -> Value {
    serde_json::json!({ "from": SENDER, "to": number, "body": body })
}

/// Adds fields to a send.
pub(crate) fn with(mut fields: Value, more: Value) -> Value {
    let Value::Object(more) = more else {
        panic!("an object of fields, not {more}");
    };
    fields.as_object_mut().expect("an object").extend(more);
    fields
}
