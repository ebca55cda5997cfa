//! The commands about money that customers pay in, and about limited tokens.

use crate::customer::{Client, Customer};
use crate::faults::provider::Provider;
use crate::installation::Installation;
use crate::process::Process;
use serde_json::{Value, json};

/// Makes a top-up of 1,000 naira for which the provider received 900. Returns its id.
fn mismatched(client: &mut Client, provider: &Provider) -> String {
    let fields = json!({"amount": "1000.00"}).to_string();
    let made = client.request("POST /api/v2/top-ups", &fields);
    let made = made.expect("an answer");
    assert_eq!(made.status, 200, "{}", made.body);
    let text = |name: &str| made.body["data"][name].as_str().expect("a text").to_owned();
    provider.receive(&text("reference"), 900.0);
    let (header, body) = Provider::hook(&text("reference"));
    let hook = client.request_with("POST /hooks/payments/flutterwave", &header, &body);
    assert_eq!(hook.expect("an answer").status, 200);
    text("top_up_id")
}

/// Adds up a field of rows.
fn sum(rows: &[Value], name: &str) -> f64 {
    rows.iter().filter_map(|row| row[name].as_f64()).sum()
}

/// Checks that the revenue has two paid top-ups of 1,900 naira, as the interface lists them.
fn check_revenue(ogene: &Installation, client: &mut Client) {
    let paid = client.request("GET /api/v2/top-ups", "");
    let paid = paid.expect("an answer").body["data"]["items"].take();
    let mut paid = paid.as_array().expect("a list").clone();
    paid.retain(|top_up| top_up["state"] == "paid");
    // The month may end meanwhile.
    let months = ogene.rows(&["revenue", "--months", "2"]);
    assert_eq!(months.len(), 2, "{months:?}");
    for (name, expected) in [
        ("top_ups", 2.0),
        ("paid_in", sum(&paid, "amount")),
        ("vat", sum(&paid, "vat")),
        ("credited", 100.0),
        ("spent", 0.0),
        ("revenue", 0.0),
    ] {
        assert!((sum(&months, name) - expected).abs() < 1e-9, "{months:?}");
    }
    assert!((sum(&paid, "amount") - 1900.0).abs() < 1e-9, "{paid:?}");
}

#[test]
fn an_operator_decides_about_mismatches_and_reads_the_revenue() {
    let provider = Provider::start();
    let ogene = Installation::new();
    let public_url = "public_url = \"http://sms.example.ng\"\n";
    ogene.configure(&format!("{public_url}{}", provider.sections()));
    let customer = Customer::new(&ogene, "100.00");
    let (mut serving, address) = Process::serve(ogene.command(&["serve"]));
    let mut client = Client::new(&address, &customer.token);
    let [whole, less, rejected] = [(); 3].map(|()| mismatched(&mut client, &provider));

    let mismatches = ogene.rows(&["top-up", "list", "--mismatches"]);
    assert_eq!(mismatches.len(), 3, "{mismatches:?}");
    for row in &mismatches {
        assert_eq!(
            (&row["received"], &row["mismatch"], &row["state"]),
            (&json!(900.0), &json!("amount"), &json!("mismatch"))
        );
    }
    let accept = ["top-up", "accept", "--id"];
    let accepted = ogene.json(&[&accept[..], &[whole.as_str()]].concat());
    let shown = ["amount", "vat", "state", "receipt_number"].map(|name| accepted[name].clone());
    let expected = [json!(1000.0), json!(75.0), json!("paid"), json!(1)];
    assert_eq!(shown, expected, "the default is the amount of the top-up");
    let accepted = ogene.json(&[&accept[..], &[less.as_str(), "--amount", "900.00"]].concat());
    let shown = ["amount", "vat", "bonus", "receipt_number"].map(|name| accepted[name].clone());
    let expected = [json!(900.0), json!(67.5), json!(0.0), json!(2)];
    assert_eq!(shown, expected, "another amount has its own VAT");
    let refused = ogene.json(&["top-up", "reject", "--id", &rejected]);
    assert_eq!(refused["state"], "failed");
    for words in [["accept", "--id", &whole], ["reject", "--id", &less]] {
        let (code, message) = ogene.failure(&[&["top-up"], &words[..]].concat());
        assert_eq!(code, Some(1), "{words:?}: {message}");
    }
    let left = ogene.rows(&["top-up", "list", "--mismatches"]);
    assert_eq!(left, Vec::<Value>::new());
    let of = ["--account", customer.account.as_str()];
    let listed = ogene.rows(&[&["top-up", "list"], &of[..]].concat());
    assert_eq!(listed.len(), 3, "{listed:?}");
    let account = ogene.json(&[&["account", "show"], &of[..]].concat());
    assert_eq!(account["balance"]["total_balance"], 2000.0, "each once");

    let entries = ogene.rows(&["audit"]);
    let count = |verb: &str| entries.iter().filter(|entry| entry["what"] == verb).count();
    assert_eq!(
        (count("top-up.accept"), count("top-up.reject")),
        (2, 1),
        "{entries:?}"
    );
    check_revenue(&ogene, &mut client);
    assert_eq!(ogene.json(&["verify"])["ok"], true);
    serving.signal("TERM");
    assert_eq!(serving.end().0.code(), Some(0));
}

#[test]
fn a_token_by_command_is_limited_to_its_scopes_and_rate() {
    let ogene = Installation::new();
    let account = Customer::new(&ogene, "100.00").account;
    let create = "token create --name reports --account";
    let create: Vec<&str> = create.split(' ').chain([account.as_str()]).collect();
    let limits = ["--scope", "wallet", "--scope", "read", "--per-minute", "2"];
    let made = ogene.json(&[&create[..], &limits].concat());
    let shown = (&made["scopes"], &made["per_minute"]);
    assert_eq!(shown, (&json!(["read", "wallet"]), &json!(2)));
    let tokens = ogene.rows(&["token", "list", "--account", &account]);
    let listed = tokens.iter().find(|row| row["name"] == "reports");
    let listed = listed.expect("it is listed");
    assert_eq!((&listed["scopes"], &listed["per_minute"]), shown);
    for wrong in [["--scope", "admin"], ["--per-minute", "0"]] {
        let (code, message) = ogene.failure(&[&create[..], &wrong].concat());
        assert_eq!(code, Some(2), "{message}");
    }

    let (mut serving, address) = Process::serve(ogene.command(&["serve"]));
    let token = made["token"].as_str().expect("a token");
    let mut client = Client::new(&address, token);
    let sent = client.send(&[2_348_031_234_567], None).expect("an answer");
    assert_eq!((sent.status, &sent.body["code"]), (403, &json!("API-1007")));
    let mut read = || {
        let answer = client.request("GET /api/v2/balance", "");
        answer.expect("an answer").status
    };
    assert_eq!([read(), read(), read()], [200, 200, 429]);
    serving.signal("TERM");
    assert_eq!(serving.end().0.code(), Some(0));
}
