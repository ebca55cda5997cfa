//! The audit records each action of an operator, with the operator.

use crate::installation::Installation;
use serde_json::{Value, json};
use std::process::Command;

/// The user that the tests run as.
fn user() -> String {
    let output = Command::new("id").arg("-un").output().expect("id is there");
    let name = String::from_utf8(output.stdout).expect("a name");
    format!("cli:{}", name.trim())
}

#[test]
fn each_change_is_listed_with_who_made_it_and_how_it_was() {
    let ogene = Installation::new();
    let run = |line: &str, more: &[&str]| {
        let words: Vec<&str> = line.split(' ').chain(more.iter().copied()).collect();
        ogene.json(&words)
    };
    let account = run("account create --name Ada --email ada@example.ng", &[]);
    let id = account["user_id"].as_str().expect("an id");
    let of = ["--account", id];
    run("account set-status --status restricted", &of);
    let limited = run("account limit --per-day 5000", &of);
    assert_eq!(
        (&limited["limit_per_day"], &limited["spent_today"]),
        (&json!(5000.0), &json!(0.0))
    );
    let token = run("token create --name shop", &of);
    let token_id = token["token_id"].as_str().expect("an id");
    run("token revoke --id", &[token_id]);
    let credit = "wallet credit --amount 1000.50 --reference bank-17";
    run(credit, &of);
    // The command changes nothing, so it leaves no entry.
    run(credit, &of);
    run("callback secret create", &of);
    run("callback secret rotate", &of);

    let entries = ogene.rows(&["audit", "--account", id]);
    let what = |entry: &Value| entry["what"].as_str().expect("a verb").to_owned();
    assert_eq!(
        entries.iter().rev().map(what).collect::<Vec<_>>(),
        [
            "account.create",
            "account.set-status",
            "account.limit",
            "token.create",
            "token.revoke",
            "wallet.credit",
            "callback.secret.create",
            "callback.secret.rotate",
        ]
    );
    let user = user();
    assert!(entries.iter().all(|entry| entry["who"] == *user));
    assert!(entries.iter().all(|entry| entry["user_id"] == id));
    let status = &entries[6];
    assert_eq!(
        status["before"],
        json!({ "status": "active", "queued": "send" })
    );
    assert_eq!(
        status["after"],
        json!({ "status": "restricted", "queued": "hold" })
    );
    assert_eq!(entries[3]["object"], token_id);
    assert_eq!(entries[2]["after"], json!({ "sms_wallet": "1000.50" }));
    assert_eq!(ogene.rows(&["audit", "--limit", "2"]).len(), 2);

    let text = ogene.run(&["audit", "--limit", "1"]).stdout;
    let text = String::from_utf8(text).expect("text");
    assert!(text.starts_with("NUMBER"), "{text}");
    assert!(text.contains("callback.secret.rotate"), "{text}");
    let (code, message) = ogene.failure(&["audit", "--account", "7"]);
    assert_eq!((code, message.contains("no account 7")), (Some(1), true));
}
