//! `ogene import-sqlite`: an installation moves to PostgreSQL.

use crate::installation::Installation;
use crate::postgres::Postgres;
use crate::process::Process;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

/// Timeout of outcomes.
const TIMEOUT: Duration = Duration::from_secs(40);
const RECIPIENTS: usize = 2_500;

/// An installation before and after its move to PostgreSQL.
struct Moving {
    old: Installation,
    new: Installation,
    _server: Postgres,
}

impl Moving {
    fn start() -> Self {
        // The test reads the outcome of a message in its reports.
        const LIMITS: &str = "[limits]\nreports_per_minute = 1000000\n";
        let server = Postgres::start(&[]);
        let url = server.url("ogene", "postgres", 5432);
        let (old, new) = (Installation::embedded(), Installation::on(&url));
        old.configure(LIMITS);
        new.configure(LIMITS);
        Self {
            old,
            new,
            _server: server,
        }
    }

    fn data_dir(&self) -> String {
        self.old.path().join("data").display().to_string()
    }

    fn import(&self) -> Command {
        self.new
            .command(&["import-sqlite", "--from", &self.data_dir()])
    }

    /// Runs an import to its end. Returns its JSON.
    fn imported(&self) -> Value {
        self.new
            .json(&["import-sqlite", "--from", &self.data_dir()])
    }
}

/// Asserts that a command fails with this code and an error with these parts.
fn fails(ogene: &Installation, arguments: &[&str], code: i32, says: &[&str]) {
    let (found, sentence) = ogene.failure_among_logs(arguments);
    let is_said = says.iter().all(|part| sentence.contains(part));
    assert_eq!((found, is_said), (Some(code), true), "{sentence}");
}

/// Makes a customer with credit. Returns the `user_id` and the token.
fn customer(ogene: &Installation) -> (String, String) {
    let create = ["account", "create", "--name", "Ada", "--email", "a@b.ng"];
    let id = ogene.json(&create)["user_id"].clone();
    let id = id.as_str().expect("an id").to_owned();
    let of = ["--account", &id];
    let with = |command: &[&str]| ogene.json(&[command, &of[..]].concat());
    let token = with(&["token", "create", "--name", "shop"])["token"].clone();
    let sender = ["--sender-id", "AdaFoods"];
    with(
        &[
            &["sender-id", "register", "--purpose", "Orders"],
            &sender[..],
        ]
        .concat(),
    );
    with(&[&["sender-id", "approve"], &sender[..]].concat());
    with(&[
        "wallet",
        "credit",
        "--amount",
        "99.50",
        "--reference",
        "bank-1",
    ]);
    (id, token.as_str().expect("a token").to_owned())
}

fn serve(ogene: &Installation) -> (Process, String) {
    let mut process = Process::start(ogene.command(&["serve"]));
    let log: Value = serde_json::from_str(&process.line_with("http.address")).expect("JSON");
    let url = log["http.address"].as_str().expect("an address");
    let address = url.strip_prefix("http://").expect("http").to_owned();
    (process, address)
}

fn ask(address: &str, token: &str, line: &str, form: &str) -> Value {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(TIMEOUT)).expect("set");
    let length = form.len();
    write!(
        stream,
        "{line} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{form}"
    )
    .expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a head");
    serde_json::from_str(body).expect("JSON")
}

/// Sends to many recipients in the sandbox. Returns the `message_id`.
fn send(address: &str, token: &str) -> String {
    let numbers: Vec<String> = (0..RECIPIENTS)
        .map(|count| (2_348_031_000_000 + count).to_string())
        .collect();
    let form = format!("from=AdaFoods&body=Kedu&to={}", numbers.join(","));
    let sent = ask(address, token, "POST /api/sandbox/v2/sms", &form);
    assert_eq!(sent["code"], "API-0000", "{sent}");
    sent["data"]["message_id"]
        .as_str()
        .expect("an id")
        .to_owned()
}

fn summary(address: &str, token: &str, message: &str) -> Value {
    let line = format!("GET /api/sandbox/v2/delivery-reports?message_id={message}");
    ask(address, token, &line, "")["data"]["summary"].clone()
}

/// Returns the report of a message once all recipients are delivered.
fn delivered(address: &str, token: &str, message: &str) -> Value {
    let end = Instant::now() + TIMEOUT;
    loop {
        let summary = summary(address, token, message);
        if summary["delivered"] == RECIPIENTS {
            return summary;
        }
        assert!(Instant::now() < end, "{summary}");
    }
}

#[test]
fn an_installation_moves_to_postgresql_and_is_served_from_there() {
    testkit::needs!(PostgresPrograms);
    let moving = Moving::start();
    let (old, new, data_dir) = (&moving.old, &moving.new, moving.data_dir());
    let import = ["import-sqlite", "--from", &data_dir];
    fails(new, &import, 2, &["there is no ogene.db in"]);
    let (id, token) = customer(old);
    fails(old, &import, 2, &["`database_url` is not set"]);
    let (mut process, address) = serve(old);
    fails(new, &import, 1, &["another ogene serves from"]);
    let message = send(&address, &token);
    let before = delivered(&address, &token, &message);
    process.signal("KILL");
    process.end();

    // The first import is killed. No service may run on its rows.
    let mut first = Process::start(moving.import());
    first.line_with("accounts: 1 of 1");
    drop(first);
    let again = ["run `ogene import-sqlite` again"];
    fails(new, &["account", "list"], 1, &again);
    fails(new, &["serve"], 1, &again);
    let second = moving.imported();
    assert_eq!(
        (&second["imported"], &second["rows"]["deliveries"]),
        (&Value::Bool(true), &RECIPIENTS.into())
    );
    assert_eq!(moving.imported()["imported"], false);

    let moved = ["was moved to PostgreSQL", "delete from marks"];
    fails(old, &["serve"], 1, &moved);
    let credit = [
        "wallet",
        "credit",
        "--account",
        &id,
        "--amount",
        "1",
        "--reference",
        "r",
    ];
    fails(old, &credit, 1, &moved);
    let (mut process, address) = serve(new);
    assert_eq!(summary(&address, &token, &message), before);
    let account = ask(&address, &token, "GET /api/v2/account", "");
    assert_eq!(
        (&account["data"]["user_id"], &account["data"]["balance"]),
        (&id.into(), &99.5.into())
    );
    delivered(&address, &token, &send(&address, &token));
    process.signal("TERM");
    assert_eq!(process.end().0.code(), Some(0));
    assert_eq!(new.json(&["verify"])["ok"], true);
}
