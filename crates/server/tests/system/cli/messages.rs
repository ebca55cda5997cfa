//! The commands that find and explain messages, export rows and add up usage.

use crate::customer::{Client, Customer, wait_until};
use crate::installation::Installation;
use crate::process::Process;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use std::fs;

/// An installation with a simulated message to a number that is delivered and one that is rejected.
struct Site {
    ogene: Installation,
    account: String,
    address: String,
    message: String,
    _service: Process,
}

const DELIVERED: &str = "2348031234567";
const REJECTED: &str = "2348000000004";

impl Site {
    fn new() -> Self {
        let ogene = Installation::new();
        let customer = Customer::new(&ogene, "10.00");
        let (service, address) = Process::serve(ogene.command(&["serve"]));
        let mut client = Client::new(&address, &customer.token);
        let fields = json!({"from": "AdaFoods", "to": [DELIVERED, REJECTED], "body": "Hello\u{7}"});
        let sent = client.request("POST /api/sandbox/v2/sms", &fields.to_string());
        let message = sent.expect("an answer").message_id();
        let site = Self {
            ogene,
            account: customer.account,
            address,
            message,
            _service: service,
        };
        wait_until("the message has ended", || {
            site.list(&["--state", "completed"]).len() == 1
        });
        site
    }

    fn list(&self, more: &[&str]) -> Vec<Value> {
        self.ogene
            .rows(&[&["message", "list", "--sandbox"], more].concat())
    }

    fn text(&self, words: &[&str]) -> String {
        let output = self.ogene.run(words);
        assert!(output.status.success(), "{words:?}");
        String::from_utf8(output.stdout).expect("text")
    }
}

#[test]
fn messages_are_found_by_account_and_filter() {
    let site = Site::new();
    for (filter, found) in [
        (vec![], 1),
        (vec!["--account", &site.account], 1),
        (vec!["--recipient", REJECTED], 1),
        (vec!["--recipient", "2348051234567"], 0),
        (
            vec!["--sender", "adafoods", "--gateway", "direct-refund"],
            1,
        ),
        (vec!["--delivery-status", "rejectd"], 1),
        (vec!["--delivery-status", "expired"], 0),
        (vec!["--until", "2020-01-01 00:00:00"], 0),
    ] {
        assert_eq!(site.list(&filter).len(), found, "{filter:?}");
    }
    let one = &site.list(&[])[0];
    assert_eq!(one["message_id"], site.message);
    assert_eq!(one["user_id"], site.account);
    assert_eq!(one["summary"]["failed"], 1);
    assert!(site.ogene.rows(&["message", "list"]).is_empty());
    let listed = ["message", "list", "--since"];
    let (code, sentence) = site.ogene.failure(&[&listed[..], &["soon"]].concat());
    assert_eq!(code, Some(2));
    assert!(sentence.starts_with("`since` must be a time"), "{sentence}");
    let (code, sentence) = site.ogene.failure(&["message", "list", "--account", "7"]);
    assert_eq!((code, sentence.contains("no account 7")), (Some(1), true));
}

#[test]
fn a_message_is_explained_with_its_outcomes() {
    let site = Site::new();
    let show = ["message", "show", "--message-id", &site.message];
    let text = site.text(&show);
    assert!(
        text.contains("2: 1 delivered, 1 failed, 0 pending"),
        "{text}"
    );
    assert!(!text.contains('\u{7}'), "{text}");
    for number in [DELIVERED, REJECTED] {
        let line = text.lines().find(|line| line.starts_with(number));
        let line = line.expect("a sentence for each recipient");
        assert!(line.contains("carrier sandbox"), "{line}");
    }
    let shown = site.ogene.json(&show);
    assert_eq!(shown["environment"], "sandbox");
    let outcomes = shown["outcomes"].as_array().expect("a list");
    let statuses: Vec<_> = outcomes.iter().map(|one| &one["delivery_status"]).collect();
    assert_eq!(statuses, ["delivrd", "rejectd"]);
    let events = &shown["recipients"][0]["events"];
    assert_eq!(events[0]["event"], "accepted");
    let one = [&show[..], &["--recipient", "2348051234567"]].concat();
    assert_eq!(site.ogene.failure(&one).0, Some(1));
    let one = [&show[..], &["--recipient", REJECTED]].concat();
    let one = site.ogene.json(&one)["recipients"].clone();
    assert_eq!(one.as_array().map(Vec::len), Some(1));
    assert_eq!(one[0]["recipient"], REJECTED);
    let unknown = "019a5c1e-9f00-7abc-8000-000000000001";
    let (code, sentence) = site
        .ogene
        .failure(&["message", "show", "--message-id", unknown]);
    assert_eq!(code, Some(1));
    assert!(sentence.contains("no such message"), "{sentence}");
}

fn month_ahead() -> String {
    (Timestamp::now() + 720.hours()).to_string()
}

/// A message of the sandbox that is due in a month.
fn scheduled(site: &Site) -> String {
    let token = site.ogene.json(&[
        "token",
        "create",
        "--account",
        &site.account,
        "--name",
        "scheduled",
    ]);
    let token = token["token"].as_str().expect("a token").to_owned();
    let mut client = Client::new(&site.address, &token);
    let fields = json!({
        "from": "AdaFoods", "to": DELIVERED, "body": "Later", "send_at": month_ahead(),
    });
    let sent = client.request("POST /api/sandbox/v2/sms", &fields.to_string());
    sent.expect("an answer").message_id()
}

#[test]
fn an_operator_pauses_resumes_reschedules_and_cancels() {
    let site = Site::new();
    let id = scheduled(&site);
    let of = |verb: &'static str| ["message", verb, "--message-id", &id].map(str::to_owned);
    let run = |verb: &'static str, more: &[&str]| {
        let words = of(verb);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        site.ogene.json(&[&words[..], more].concat())
    };
    assert_eq!(run("pause", &[])["state"], "paused");
    assert_eq!(run("pause", &[])["state"], "paused");
    assert_eq!(run("resume", &[])["state"], "scheduled");
    let moved = run("reschedule", &["--send-at", &month_ahead()]);
    assert_eq!(
        (&moved["state"], &moved["user_id"]),
        (&json!("scheduled"), &json!(site.account))
    );
    let ended = run("cancel", &[]);
    assert_eq!(
        (&ended["state"], &ended["cancelled"], &ended["is_complete"]),
        (&json!("cancelled"), &json!(1), &json!(true))
    );
    let (code, sentence) = site
        .ogene
        .failure(&["message", "pause", "--message-id", &id]);
    assert_eq!(
        (code, sentence.contains("final state")),
        (Some(1), true),
        "{sentence}"
    );
    let wrong = [
        "message",
        "reschedule",
        "--message-id",
        &id,
        "--send-at",
        "soon",
    ];
    assert_eq!(site.ogene.failure(&wrong).0, Some(2));
    let unknown = "019a5c1e-9f00-7abc-8000-000000000001";
    let (code, _) = site
        .ogene
        .failure(&["message", "cancel", "--message-id", unknown]);
    assert_eq!(code, Some(1));
    let audit = site.ogene.rows(&["audit", "--account", &site.account]);
    let verbs: Vec<&str> = audit
        .iter()
        .filter(|entry| entry["object"] == id.as_str())
        .map(|entry| entry["what"].as_str().expect("a verb"))
        .collect();
    assert_eq!(
        verbs,
        [
            "message.cancel",
            "message.reschedule",
            "message.resume",
            "message.pause"
        ]
    );
}

#[test]
fn an_export_goes_to_a_new_file_or_to_standard_output() {
    let site = Site::new();
    let export = [
        "export",
        "recipients",
        "--sandbox",
        "--account",
        &site.account,
    ];
    let rows = site.text(&export);
    assert_eq!(rows.lines().count(), 3, "{rows}");
    assert!(rows.starts_with("message_id,created_at,"), "{rows}");
    let to_file = [&export[..], &["--output", "rows.csv"]].concat();
    let written = site.ogene.json(&to_file);
    assert_eq!(written, json!({"rows": 2, "file": "rows.csv"}));
    let file = site.ogene.path().join("rows.csv");
    assert_eq!(fs::read_to_string(&file).expect("a file"), rows);
    fs::write(&file, "mine").expect("written");
    let (code, sentence) = site.ogene.failure(&to_file);
    assert_eq!(code, Some(2));
    assert!(sentence.contains("exists already"), "{sentence}");
    assert_eq!(fs::read_to_string(&file).expect("a file"), "mine");
    let wallet = site.text(&["export", "wallet", "--account", &site.account]);
    let kinds: Vec<_> = wallet
        .lines()
        .filter_map(|row| row.split(',').nth(2))
        .collect();
    assert_eq!(kinds, ["kind", "credit"]);
}

#[test]
fn usage_is_added_up_by_group() {
    let site = Site::new();
    for (by, keys) in [
        ("sender", vec!["AdaFoods"]),
        ("gateway", vec!["direct-refund"]),
        ("network", vec!["mtn", "other"]),
    ] {
        let usage = ["usage", "--sandbox", "--account", &site.account, "--by", by];
        let groups = site.ogene.rows(&usage);
        let found: Vec<_> = groups.iter().map(|group| &group["key"]).collect();
        assert_eq!(found, keys, "{by}");
        let recipients: u64 = groups
            .iter()
            .filter_map(|group| group["recipients"].as_u64())
            .sum();
        assert_eq!(recipients, 2, "{by}");
    }
    let days = site.ogene.rows(&["usage", "--sandbox"]);
    assert_eq!(days.len(), 1, "{days:?}");
}
