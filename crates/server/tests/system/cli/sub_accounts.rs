//! Sub-accounts by the commands.

use crate::customer::Customer;
use crate::installation::Installation;
use serde_json::{Value, json};

const CREATE: &str = "sub-account create --name Bola --email bola@example.ng --account";

#[test]
fn an_operator_makes_and_changes_a_sub_account() {
    let ogene = Installation::new();
    let parent = Customer::new(&ogene, "100.00").account;
    let run = |line: &str, more: &[&str]| {
        let words: Vec<&str> = line.split(' ').chain(more.iter().copied()).collect();
        ogene.json(&words)
    };
    let made = run(CREATE, &[&parent]);
    assert_eq!(
        (&made["parent"], &made["balance"]),
        (&json!(parent), &json!(0.0))
    );
    let token = made["token"].as_str().expect("a token");
    assert!(token.starts_with("ogl_"), "{token}");
    let id = made["sub_account_id"].as_str().expect("an id");
    let of = ["--sub-account", id];

    let shown = run("sub-account show", &of);
    assert_eq!(shown.get("token"), None, "a token is shown once");
    let own = shown["prices"]["otp"]["own"].as_f64().expect("a price");
    let price = format!("otp={}", own + 1.0);
    let change = ["--daily-limit", "50.00", "--price", &price];
    let changed = run("sub-account change", &[&of[..], &change].concat());
    let otp = &changed["prices"]["otp"];
    assert_eq!(changed["daily_limit"], json!(50.0), "{changed}");
    assert_eq!(
        (&otp["price"], &otp["unicode_price"], &otp["set"]),
        (&json!(own + 1.0), &json!((own + 1.0) * 2.0), &json!(true))
    );
    let low = format!("otp={}", own - 0.5);
    let low = [&["sub-account", "change", "--price", &low], &of[..]].concat();
    let (code, message) = ogene.failure(&low);
    assert_eq!(code, Some(1));
    assert!(message.contains("below your own"), "{message}");
    let removed = [
        "--daily-limit",
        "none",
        "--price",
        "otp=none",
        "--status",
        "disabled",
    ];
    let changed = run("sub-account change", &[&of[..], &removed].concat());
    assert_eq!(changed["daily_limit"], Value::Null);
    assert_eq!(
        (&changed["prices"]["otp"]["set"], &changed["status"]),
        (&json!(false), &json!("disabled"))
    );

    let (code, message) = ogene.failure(&["sub-account", "show", "--sub-account", &parent]);
    assert_eq!(code, Some(1));
    assert!(message.contains("ogene sub-account list"), "{message}");
}

#[test]
fn a_transfer_by_command_counts_once() {
    let ogene = Installation::new();
    let parent = Customer::new(&ogene, "100.00").account;
    let run = |line: &str, more: &[&str]| {
        let words: Vec<&str> = line.split(' ').chain(more.iter().copied()).collect();
        ogene.json(&words)
    };
    let made = run(CREATE, &[&parent]);
    let id = made["sub_account_id"].as_str().expect("an id");
    let of = ["--sub-account", id];
    run("sub-account change --price otp=99", &of);
    let transfer = "sub-account transfer --amount 30.00 --direction to_sub --reference r-1";
    let first = run(transfer, &of);
    assert_eq!(run(transfer, &of), first, "a reference counts once");
    let more = transfer.replace("30.00", "31.00");
    let more: Vec<&str> = more.split(' ').chain(of).collect();
    let (code, message) = ogene.failure(&more);
    assert_eq!(code, Some(1));
    assert!(message.contains("another transfer"), "{message}");
    let list = ogene.rows(&["sub-account", "list", "--account", &parent]);
    assert_eq!((list.len(), &list[0]["balance"]), (1, &json!(30.0)));

    let audit = ogene.rows(&["audit", "--account", id]);
    let verbs: Vec<&str> = audit
        .iter()
        .filter_map(|entry| entry["what"].as_str())
        .collect();
    for verb in [
        "sub-account.create",
        "sub-account.change",
        "sub-account.transfer",
    ] {
        assert!(verbs.contains(&verb), "{verb}: {verbs:?}");
    }
    assert_eq!(ogene.json(&["verify"])["ok"], true);
}
