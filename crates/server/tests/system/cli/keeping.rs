//! `ogene backup` and `ogene restore`: an installation is backed up while it sends, and restored.

use crate::customer::{Client, Customer, wait_until};
use crate::installation::Installation;
use crate::process::Process;
use serde_json::Value;
use smpp::simulator::{Delay, Script, Smsc};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use tokio::runtime::Runtime;

const BACKUPS: usize = 20;
/// Minimum number of messages between two backups.
const BETWEEN: u64 = 5;
/// Attempts to stop a process inside a lock, which is rare.
const STOPS: usize = 5;
const SENDERS: u64 = 2;
/// Numbers from which the test's recipients count: those of the campaign, and of each sender.
const CAMPAIGN_FROM: u64 = 2_348_031_000_000;
const SINGLES_FROM: u64 = 2_348_061_000_000;
const CAMPAIGN: u64 = 600;
const CREDIT: &str = "900000.00";

/// An installation that sends to a simulator, slowly enough that recipients are always in flight.
struct Kept {
    ogene: Installation,
    customer: Customer,
    smsc: Smsc,
    _runtime: Runtime,
}

impl Kept {
    fn start() -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let within = |to: u64| Delay {
            from: Duration::from_millis(20),
            to: Duration::from_millis(to),
        };
        let script = Script {
            response_delay: within(60),
            receipt_delay: within(300),
            ..Script::default()
        };
        let smsc = runtime.block_on(Smsc::start(script)).expect("started");
        let ogene = Installation::embedded();
        ogene.configure(&format!(
            "[limits]\nsends_per_minute = 1000000\nreports_per_minute = 1000000\n\
             [carriers.mtn]\naddress = \"{}\"\nsystem_id = \"ogene\"\npassword = \"secret\"\n\
             binds = 2\nwindow = 10\nmax_per_second = 150\n\
             [gateways.direct-refund]\ncarriers = [\"mtn\"]\nprice = \"6.00\"\nin_doubt_hold = \"1s\"\n",
            smsc.address(),
        ));
        let customer = Customer::new(&ogene, CREDIT);
        Self {
            ogene,
            customer,
            smsc,
            _runtime: runtime,
        }
    }

    /// A command on the directory of a restored installation.
    fn on(&self, directory: &str, arguments: &[&str]) -> Command {
        let mut command = self.ogene.command(arguments);
        command.env("OGENE_DATA_DIR", directory);
        command
    }

    fn json_on(&self, directory: &str, arguments: &[&str]) -> Value {
        let mut command = self.on(directory, arguments);
        let output = command.arg("--json").output().expect("it runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
        serde_json::from_slice(&output.stdout).expect("one JSON value")
    }

    /// Returns `true` if the balance is the sum of all ledger entries.
    fn adds_up(&self, directory: &str) -> bool {
        let of = ["--account", &self.customer.account];
        let shown = self.json_on(directory, &[&["account", "show"], &of[..]].concat());
        let statement = ["wallet", "statement"];
        let entries = self.json_on(directory, &[&statement, &of[..]].concat());
        let entries = entries["items"].as_array().expect("entries").iter();
        let sum: f64 = entries.filter_map(|entry| entry["amount"].as_f64()).sum();
        let balance = shown["balance"]["total_balance"].as_f64();
        (balance.expect("a number") - sum).abs() < 1e-6
    }

    /// Sends single messages until it is stopped.
    fn load(&self, address: &str, first: u64, accepted: &AtomicU64, stop: &AtomicBool) {
        let mut client = Client::new(address, &self.customer.token);
        for number in first.. {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let answer = client.send(&[number], None).expect("an answer");
            assert_eq!(answer.status, 200, "{answer:?}");
            accepted.fetch_add(1, Ordering::Relaxed);
            // The pace is below that of the carrier, so that the queue stays short.
            thread::park_timeout(Duration::from_millis(20));
        }
    }

    /// Makes backups one after the other. Returns the number of messages in each.
    fn back_up_and_restore(&self, accepted: &AtomicU64) -> Vec<i64> {
        let one = |count: usize| {
            let before = accepted.load(Ordering::Relaxed);
            let (file, directory) = (format!("{count}.db"), format!("restored-{count}"));
            let written = self.ogene.json(&["backup", &file]);
            let messages = written["messages"].as_i64().expect("a count");
            assert!(messages >= i64::try_from(before).expect("few"), "{written}");
            let restored = self.json_on(&directory, &["restore", &file]);
            let verified = self.json_on(&directory, &["verify"]);
            assert_eq!(verified["violations"], serde_json::json!([]));
            for name in ["wallets", "entries", "messages", "deliveries"] {
                assert_eq!(written[name], verified[name], "{name}");
                assert_eq!(restored[name], verified[name], "{name}");
            }
            assert!(self.adds_up(&directory), "backup {count}");
            wait_until("the load goes on", || {
                accepted.load(Ordering::Relaxed) >= before + BETWEEN
            });
            messages
        };
        (0..BACKUPS).map(one).collect()
    }

    /// Makes a backup of a stopped process (SIGSTOP), which stays stopped.
    ///
    /// A process that was stopped inside a lock of SQLite blocks the backup, so it runs for a
    /// moment.
    fn back_up_stopped(&self, process: &Process) -> Value {
        for _ in 0..STOPS {
            process.signal("STOP");
            let output = self.ogene.run(&["backup", "kept.db", "--json"]);
            if output.status.success() {
                return serde_json::from_slice(&output.stdout).expect("one JSON value");
            }
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(error.contains("lock"), "{error}");
            process.signal("CONT");
        }
        panic!("stopped inside a lock {STOPS} times");
    }
}

#[test]
fn every_backup_taken_under_load_is_whole_and_its_books_add_up() {
    let kept = Kept::start();
    let (mut process, address) = Process::serve(kept.ogene.command(&["serve"]));
    let (accepted, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let messages = thread::scope(|scope| {
        for sender in 0..SENDERS {
            let first = SINGLES_FROM + sender * 1_000_000;
            let (kept, address, accepted, stop) = (&kept, &address, &accepted, &stop);
            scope.spawn(move || kept.load(address, first, accepted, stop));
        }
        let stop = Stop(&stop);
        wait_until("the load is on", || kept.smsc.stats().submits > 20);
        let messages = kept.back_up_and_restore(&accepted);
        drop(stop);
        messages
    });
    assert!(
        messages.is_sorted_by(|one, next| one < next),
        "{messages:?}"
    );
    process.signal("TERM");
    assert!(process.end().0.success());
    assert_eq!(kept.ogene.json(&["verify"])["ok"], true);
}

/// A guard that ends the load, also if the test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_restored_installation_sends_and_settles_its_queue() {
    let kept = Kept::start();
    let (process, address) = Process::serve(kept.ogene.command(&["serve"]));
    let mut client = Client::new(&address, &kept.customer.token);
    let numbers: Vec<u64> = (CAMPAIGN_FROM..CAMPAIGN_FROM + CAMPAIGN).collect();
    let campaign = client.send(&numbers, None).expect("an answer").message_id();
    wait_until("some of it is sent", || kept.smsc.stats().submits > 50);
    // The process stays stopped until its end, because receipts that it had after the backup would
    // not arrive again.
    let written = kept.back_up_stopped(&process);
    assert_eq!(written["messages"], 1);
    assert!(written["deliveries"].as_u64() < Some(CAMPAIGN), "{written}");
    drop(process);

    kept.json_on("again", &["restore", "kept.db"]);
    let mut process = Process::start(kept.on("again", &["serve"]));
    process.line_with("recovery: claims of a removed process taken over");
    let line = process.line_with("http.address");
    let log: Value = serde_json::from_str(&line).expect("JSON");
    let url = log["http.address"].as_str().expect("an address");
    let address = url.strip_prefix("http://").expect("http");
    let mut client = Client::new(address, &kept.customer.token);
    wait_until("all of the campaign is delivered", || {
        client.summary(&campaign).expect("an answer")["delivered"] == CAMPAIGN
    });
    process.signal("TERM");
    assert!(process.end().0.success());
    assert_eq!(kept.json_on("again", &["verify"])["deliveries"], CAMPAIGN);
    assert!(kept.adds_up("again"));
}

/// Returns the error of a command that fails with this code.
fn refused(ogene: &Installation, code: i32, arguments: &[&str]) -> String {
    let (found, sentence) = ogene.failure(arguments);
    assert_eq!(found, Some(code), "{sentence}");
    sentence.replace(&ogene.path().display().to_string(), "DIR")
}

#[test]
fn each_refusal_says_what_to_do() {
    let ogene = Installation::embedded();
    let mut told = vec![refused(&ogene, 2, &["backup", "a.db"])];
    ogene.json(&["migrate"]);
    let written = ogene.json(&["backup", "a.db"]);
    let bytes = std::fs::metadata(ogene.path().join("a.db")).map(|file| file.len());
    assert_eq!(written["bytes"], bytes.expect("it is there"));
    told.push(refused(&ogene, 1, &["backup", "a.db"]));
    told.push(refused(&ogene, 1, &["backup", "nowhere/a.db"]));
    told.push(refused(&ogene, 2, &["restore", "b.db"]));
    told.push(refused(&ogene, 1, &["restore", "a.db"]));
    let serving = Process::serve(ogene.command(&["serve"]));
    told.push(refused(&ogene, 1, &["restore", "a.db"]));
    drop(serving);
    std::fs::remove_dir_all(ogene.path().join("data")).expect("removed");
    told.push(refused(&ogene, 1, &["restore", "ogene.toml"]));
    std::fs::write(ogene.path().join("data"), "").expect("written");
    told.push(refused(&ogene, 2, &["account", "list"]));
    // The carrier is not asked: no process listens there.
    let many = Installation::on("postgres://ogene@127.0.0.1:1/ogene");
    std::fs::write(many.path().join("a.db"), "").expect("written");
    for command in ["backup", "restore"] {
        told.push(refused(&many, 2, &[command, "a.db"]));
    }
    insta::assert_snapshot!(told.join("\n"), @r"
    there is no ogene.db in DIR/data: set `data_dir` to that of the installation; `ogene serve` or `ogene migrate` makes a new one
    no backup was written: DIR/a.db is there already, and nothing is overwritten: move it away, or name another place
    no backup was written: DIR/nowhere/a.db.partial cannot be written: No such file or directory (os error 2)
    there is no file b.db
    a.db cannot be restored: DIR/data/ogene.db is there already, and nothing is overwritten: move it away, or name another place
    another ogene serves from DIR/data already: stop it, or give this one a `data_dir` of its own
    ogene.toml cannot be restored: it is no database of ogene
    DIR/data cannot be read: Not a directory (os error 20); name the `data_dir` of the installation, and run this as the user of the service
    `database_url` is set: back up PostgreSQL with pg_dump, or with pg_basebackup and continuous archiving
    `database_url` is set: restore into an empty `data_dir` without it, and move that to an empty PostgreSQL database with `ogene import-sqlite`
    ");
}
