//! Features of the embedded database alone: a directory that one process serves from, and the demo.

use super::AN_ACCOUNT;
use crate::installation::Installation;
use crate::process::Process;
use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Runs a line as if it were pasted into a shell. Returns its output.
fn paste(line: &str) -> Value {
    let output = Command::new("sh")
        .args(["-c", line])
        .output()
        .expect("a shell");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{error}: {line}\n{}",
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

#[test]
fn one_process_serves_from_a_directory_and_ends_cleanly() {
    let ogene = Installation::embedded();
    let mut serving = Process::start(ogene.command(&["serve"]));
    serving.line_with("serving");
    let (code, message) = ogene.failure_among_logs(&["serve"]);
    assert_eq!(
        (code, message.contains("serves from")),
        (Some(1), true),
        "{message}"
    );
    assert!(
        ogene.rows(&["account", "list"]).is_empty(),
        "commands work beside the server"
    );
    let begun = Instant::now();
    serving.signal("TERM");
    assert_eq!(serving.end().0.code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn who_may_not_serve_from_a_directory_changes_nothing_in_it() {
    let ogene = Installation::embedded();
    let data_dir = ogene.path().join("data");
    fs::create_dir(&data_dir).expect("made");
    let lock = File::create(data_dir.join("ogene.lock")).expect("made");
    lock.lock().expect("nobody serves");
    let demo = ["demo", "--listen", "127.0.0.1:0", "--data-dir", "data"];
    for command in [&["serve"][..], &demo] {
        let (code, message) = ogene.failure_among_logs(command);
        assert_eq!(
            (code, message.contains("serves from")),
            (Some(1), true),
            "{message}"
        );
        assert!(!data_dir.join("ogene.db").exists(), "{command:?}");
    }
}

#[test]
fn a_command_without_a_database_says_so_and_makes_none() {
    let ogene = Installation::embedded();
    for command in [
        &["verify"][..],
        &["account", "list"],
        &["content", "add", "casino"],
        &["audit"],
        &["backup", "a.db"],
    ] {
        let (code, message) = ogene.failure(command);
        assert_eq!(
            (code, message.contains("there is no ogene.db in")),
            (Some(2), true),
            "{message}"
        );
        assert!(!ogene.path().join("data").exists(), "{command:?}");
    }
    ogene.json(&["migrate"]);
    let empty = serde_json::json!({ "items": [], "next_cursor": null });
    assert_eq!(ogene.json(&["account", "list"]), empty);
}

#[test]
fn the_first_account_says_where_a_database_was_made_for_it() {
    let ogene = Installation::embedded();
    let told = || {
        let made = ogene.command(&AN_ACCOUNT).output().expect("it runs");
        assert!(made.status.success(), "{made:?}");
        String::from_utf8(made.stderr).expect("text")
    };
    let data_dir = ogene.path().join("data");
    assert_eq!(
        told(),
        format!("A new database was made in {}.\n", data_dir.display())
    );
    assert_eq!(told(), "");
}

#[test]
fn the_demo_leaves_nothing_behind() {
    let ogene = Installation::embedded();
    let mut demo = Process::start(ogene.command(&["demo", "--listen", "127.0.0.1:0", "--json"]));
    let welcome: Value = serde_json::from_str(&demo.output_until("}")).expect("JSON");
    let data_dir = Path::new(welcome["data_dir"].as_str().expect("a path"));
    assert!(data_dir.exists());
    let life = welcome["life"].as_array().expect("a list");
    let steps: Vec<_> = life.iter().map(|step| &step["what"]).collect();
    assert_eq!(
        steps,
        ["accepted", "submitted", "receipt", "callback", "inbound"],
        "{welcome}"
    );
    let about = |step: usize| life[step]["about"].as_str().expect("a text").to_owned();
    assert!(about(2).ends_with("2348031234567 as delivrd"), "{welcome}");
    assert!(about(3).ends_with("2348031234567 delivrd"), "{welcome}");
    assert!(about(4).contains("PROMO yes please"), "{welcome}");
    demo.signal("INT");
    assert_eq!(demo.end().0.code(), Some(0));
    assert!(!data_dir.exists());
}

#[test]
fn what_the_demo_prints_can_be_pasted() {
    let ogene = Installation::embedded();
    let mut demo = Process::start(ogene.command(&["demo", "--listen", "127.0.0.1:0", "--json"]));
    let welcome: Value = serde_json::from_str(&demo.output_until("}")).expect("JSON");
    let line = |name: &str| welcome[name].as_str().expect("a line").to_owned();
    for name in ["send", "report"] {
        let without_curl = Command::new("/bin/sh")
            .args(["-c", &line(name)])
            .env("PATH", "/nowhere")
            .output()
            .expect("a shell");
        assert_eq!(without_curl.status.code(), Some(127), "{name} without curl");
    }
    let sent = paste(&line("send"));
    assert_eq!(
        (&sent["code"], &sent["data"]["cost"]),
        (&"API-0000".into(), &6.0.into()),
        "{sent}"
    );
    demo.line_with("callback: 2348031234567 delivrd");
    let report = paste(&line("report"));
    assert_eq!(report["data"]["summary"]["delivered"], 1, "{report}");
    assert_eq!(report["data"]["message_id"], sent["data"]["message_id"]);
    demo.signal("TERM");
    assert_eq!(demo.end().0.code(), Some(0));
}
