//! The commands as an operator runs them: the real binary on a database of its own.
//!
//! They also run on PostgreSQL if `OGENE_TEST_DATABASE=postgres` is set. `embedded` has the tests
//! of the embedded database alone.

mod audit;
mod callbacks;
mod carriers;
mod codes;
mod content;
mod correcting;
mod dnd;
mod embedded;
mod files;
mod keeping;
mod listing;
mod logging;
mod mail;
mod messages;
mod money;
mod moving;
mod opening;
mod operating;
mod pooler;
mod reload;
mod serving;
mod sub_accounts;

use crate::installation::Installation;
use crate::process::Process;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::net::TcpStream;
use std::os::unix::ffi::OsStrExt;

/// The command that makes an account.
const AN_ACCOUNT: [&str; 6] = [
    "account",
    "create",
    "--name",
    "Ada",
    "--email",
    "ada@example.ng",
];

#[test]
fn an_operator_sets_up_a_customer() {
    let ogene = Installation::new();
    let account = ogene.json(&[
        "account",
        "create",
        "--name",
        "Ada Foods",
        "--email",
        "ada@example.ng",
    ]);
    assert_eq!(account["account_status"], "active");
    assert_eq!(account["verification_level"], "unverified");
    let id = account["user_id"].as_str().expect("ids are strings");

    let token = ogene.json(&["token", "create", "--account", id, "--name", "shop"]);
    assert!(
        token["token"]
            .as_str()
            .expect("the token")
            .starts_with("ogl_")
    );
    let tokens = ogene.rows(&["token", "list", "--account", id]);
    assert_eq!(tokens[0]["token_id"], token["token_id"]);
    assert_eq!(tokens[0].get("token"), None);

    let of_ada = ["--account", id, "--sender-id", "AdaFoods"];
    let sender = ogene.json(
        &[
            &["sender-id", "register", "--purpose", "Orders"],
            &of_ada[..],
        ]
        .concat(),
    );
    assert_eq!(sender["status"], "pending");
    assert_eq!(sender["approved_at"], Value::Null);
    let sender = ogene.json(&[&["sender-id", "approve"], &of_ada[..]].concat());
    assert_eq!(sender["status"], "approved");
    assert!(sender["approved_at"].is_string());
    let rejection = ["sender-id", "reject", "--reason", "Unclear"];
    let sender = ogene.json(&[&rejection, &of_ada[..]].concat());
    assert_eq!(sender["rejection_reason"], "Unclear");
    assert_eq!(ogene.rows(&["sender-id", "list"]).len(), 1);

    let verified = [
        "account",
        "set-verification",
        "--level",
        "verified",
        "--account",
        id,
    ];
    assert_eq!(ogene.json(&verified)["verification_level"], "verified");
    let restricted = [
        "account",
        "set-status",
        "--status",
        "restricted",
        "--account",
        id,
    ];
    assert_eq!(ogene.json(&restricted)["account_status"], "restricted");
    assert_eq!(ogene.rows(&["account", "list"])[0]["user_id"], id);

    let token_id = token["token_id"].as_str().expect("an id");
    ogene.json(&["token", "revoke", "--id", token_id]);
    assert!(ogene.rows(&["token", "list"])[0]["revoked_at"].is_string());
}

#[test]
fn a_reference_credits_once_and_the_ledger_adds_up() {
    let ogene = Installation::new();
    let account = ogene.json(&AN_ACCOUNT);
    let id = account["user_id"].as_str().expect("an id");
    let credit = [
        "wallet",
        "credit",
        "--account",
        id,
        "--amount",
        "1000.50",
        "--reference",
        "bank-17",
    ];
    let text = ogene.run(&[&credit[..], &["--json"]].concat()).stdout;
    assert!(
        String::from_utf8_lossy(&text).contains("\"balance\": 1000.50"),
        "amounts are exact numbers"
    );
    let again = ogene.json(&credit);
    assert_eq!(
        (&again["credited"], &again["balance"]),
        (&Value::Bool(false), &Value::from(1000.5))
    );
    let promo = [
        "wallet",
        "credit",
        "--account",
        id,
        "--amount",
        "20",
        "--reference",
        "gift",
    ];
    ogene.json(&[&promo[..], &["--component", "promo_bonus"]].concat());

    let shown = ogene.json(&["account", "show", "--account", id]);
    assert_eq!(shown["balance"]["total_balance"], 1020.5);
    assert_eq!(shown["balance"]["promo_bonus"], 20.0);
    let statement = ogene.rows(&["wallet", "statement", "--account", id]);
    let amounts: f64 = statement
        .iter()
        .filter_map(|entry| entry["amount"].as_f64())
        .sum();
    assert!((amounts - 1020.5).abs() < f64::EPSILON);
    let verified = ogene.json(&["verify"]);
    assert_eq!(
        (&verified["ok"], &verified["entries"]),
        (&Value::Bool(true), &Value::from(2))
    );
}

#[test]
fn commands_that_meet_on_an_empty_directory_all_do_their_work() {
    let ogene = Installation::new();
    let mut processes: Vec<_> = (0..4)
        .map(|_| Process::start(ogene.command(&AN_ACCOUNT)))
        .collect();
    for process in &mut processes {
        assert_eq!(
            process.end().0.code(),
            Some(0),
            "{}",
            process.line_with("error")
        );
    }
    assert_eq!(ogene.rows(&["account", "list"]).len(), 4);
}

#[test]
fn people_read_aligned_text() {
    let ogene = Installation::new();
    ogene.json(&AN_ACCOUNT);
    let output = ogene.run(&["account", "list"]);
    let text = String::from_utf8(output.stdout).expect("text");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0].find("STATUS"), lines[1].find("active"));
    assert_eq!(lines[0].find("NAME"), lines[1].find("Ada"));
}

#[test]
fn a_failure_exits_with_1_and_a_wrong_line_or_file_with_2() {
    let ogene = Installation::new();
    ogene.json(&["migrate"]);
    let (code, message) = ogene.failure(&["account", "show", "--account", "7"]);
    assert_eq!((code, message.contains('7')), (Some(1), true), "{message}");
    let (code, message) = ogene.failure(&["token", "create", "--account", "7", "--name", "x"]);
    assert_eq!(code, Some(1), "{message}");
    let (code, message) = ogene.failure(&["account", "shw"]);
    assert_eq!(
        (code, message.contains("shw")),
        (Some(2), true),
        "{message}"
    );
    fs::write(
        ogene.path().join("wrong.toml"),
        "[http]\nlisten = 1\nlimit = 2\n",
    )
    .expect("written");
    for command in [&["serve"][..], &["config", "check"], &["account", "list"]] {
        let output = ogene.run(&[command, &["--config", "wrong.toml"]].concat());
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(
            error.contains("wrong.toml:2: http.listen")
                && error.contains("wrong.toml:3: http.limit"),
            "{error}"
        );
    }
}

#[test]
fn the_default_configuration_passes_the_check() {
    let ogene = Installation::new();
    let default = ogene.run(&["config", "default"]).stdout;
    fs::write(ogene.path().join("default.toml"), default).expect("written");
    let checked = ogene.json(&["config", "check", "--config", "default.toml"]);
    assert_eq!(checked["ok"], true);
    assert_eq!(checked["notes"].as_array().map(Vec::len), Some(1));
    let variable = ogene
        .command(&["config", "check"])
        .env("OGENE_CONFIG", "nowhere.toml")
        .output();
    assert_eq!(variable.expect("it runs").status.code(), Some(2));
}

#[test]
fn a_variable_that_is_no_text_is_named_where_it_is_ours() {
    let ogene = Installation::new();
    let no_text = OsStr::from_bytes(b"9090\xff");
    let check = |name: &str| {
        let mut command = ogene.command(&["config", "check"]);
        command.env(name, no_text).output().expect("it runs")
    };
    assert_eq!(check("SHELL_PROMPT").status.code(), Some(0));
    for name in ["OGENE_HTTP_LISTEN", "OGENE_CONFIG"] {
        let refused = check(name);
        let error = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{error}");
        assert!(error.contains(&format!("{name}: is not UTF-8")), "{error}");
    }
}

#[test]
fn the_statements_for_citus_are_printed_without_a_database() {
    let ogene = Installation::embedded();
    let output = ogene.run(&["migrate", "--citus", "--config", "not-there.toml"]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}");
    assert!(text.contains("create_distributed_table('messages', 'bucket'"));
    assert!(text.contains("Checked on Citus 13.2.2"));
    assert!(!ogene.path().join("data").exists(), "nothing was opened");
    let help = ogene.run(&["migrate", "--help"]);
    let help = String::from_utf8(help.stdout).expect("text");
    assert!(help.contains("checked on Citus 13.2.2"), "{help}");
}

#[test]
fn the_simulator_counts_until_it_is_stopped() {
    let ogene = Installation::new();
    let mut smsc = Process::start(ogene.command(&["smsc", "--listen", "127.0.0.1:0", "--json"]));
    let listening: Value = serde_json::from_str(&smsc.line_with("listening")).expect("JSON");
    let address = listening["listening"].as_str().expect("an address");
    drop(TcpStream::connect(address).expect("it listens"));
    smsc.line_with("\"connections\":1");
    smsc.signal("INT");
    let (status, output) = smsc.end();
    assert_eq!(status.code(), Some(0));
    let counted: Value = serde_json::from_str(&output).expect("one JSON value");
    assert_eq!(counted["connections"], 1);
}
