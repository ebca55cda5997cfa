//! Personalised sends: a text, a charge and a callback of its own for each recipient.

use crate::kit::http::{Answer, Request};
use crate::kit::receiver::Receiver;
use crate::kit::wire;
use crate::kit::{AIRTEL, GLO, MTN, Ogene, SENDER, until, with};
use domain::Component;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

const PATH: &str = "/api/v2/sms/personalised";

async fn ask(ogene: &Ogene, fields: &Value) -> Answer {
    let request = Request::post(PATH).bearer(&ogene.shop.token);
    ogene.ask(&request.json(fields)).await
}

async fn ask_csv(ogene: &Ogene, query: &str, csv: &str) -> Answer {
    let request = Request::post(&format!("{PATH}?{query}")).bearer(&ogene.shop.token);
    ogene
        .ask(&request.body("text/csv; charset=utf-8", csv))
        .await
}

fn two_rows() -> Value {
    json!({
        "from": SENDER,
        "body": "Hello {name}, you owe N{amount}. {{{{Thanks}}}}",
        "messages": [
            {"to": MTN, "variables": {"name": "Ada", "amount": 1500.25}},
            {"to": GLO, "variables": {"name": "Obi", "amount": true}},
        ],
    })
}

#[tokio::test]
async fn each_recipient_gets_its_own_text() {
    let ogene = Ogene::start().await;
    let answer = ask(&ogene, &two_rows()).await;
    insta::assert_snapshot!(testkit::indented(&answer.redacted()), @r#"
    200 {
      "status": "success",
      "code": "API-0000",
      "message": "Message accepted for delivery to 2 recipients.",
      "data": {
        "status": "success",
        "message": "Message Sent",
        "message_id": "[uuid]",
        "cost": 12.00,
        "currency": "NGN",
        "recipients_count": 2,
        "gateway_used": "direct-refund",
        "unicode": false,
        "page_count": 1,
        "pages_total": 2,
        "text_changed": false,
        "removed_characters": 0,
        "scheduled_for": null,
        "state": "sending",
        "total_recipients": 2,
        "balance": 988.00
      },
      "success": true
    }
    "#);
    until("both are sent", async || {
        let received = ogene.smsc().received();
        (wire::count(&received, MTN) == 1 && wire::count(&received, GLO) == 1).then_some(())
    })
    .await;
    let received = ogene.smsc().received();
    assert_eq!(
        wire::text(&received, MTN),
        "Hello Ada, you owe N1500.25. {{Thanks}}"
    );
    assert_eq!(
        wire::text(&received, GLO),
        "Hello Obi, you owe Ntrue. {{Thanks}}"
    );
    ogene.end().await;
}

#[tokio::test]
async fn recipients_show_their_text_and_expected_charge() {
    let ogene = Ogene::start().await;
    let fields = with(
        two_rows(),
        json!({
            "send_at": (Timestamp::now() + 1.hour()).to_string(),
            "messages": [
                {"to": MTN, "variables": {"name": "Ada", "amount": 1}},
                {"to": GLO, "body": "x".repeat(200)},
            ],
        }),
    );
    let answer = ask(&ogene, &fields).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let id = answer.json()["data"]["message_id"].clone();
    let path = format!(
        "/api/v2/messages/{}/recipients",
        id.as_str().expect("an id")
    );
    let found = ogene
        .ask(&Request::get(&path).bearer(&ogene.shop.token))
        .await;
    let items = found.json()["data"]["items"].clone();
    assert_eq!(items[0]["body"], "Hello Ada, you owe N1. {{Thanks}}");
    assert_eq!(
        (&items[0]["pages"], &items[0]["cost"]),
        (&json!(1), &json!(6.0))
    );
    assert_eq!(items[1]["body"], "x".repeat(200));
    assert_eq!(
        (&items[1]["pages"], &items[1]["cost"]),
        (&json!(2), &json!(12.0))
    );
    // The message counts the pages of each recipient too, though no carrier has any.
    let whole = path.trim_end_matches("/recipients");
    let whole = ogene
        .ask(&Request::get(whole).bearer(&ogene.shop.token))
        .await;
    let whole = whole.json()["data"].clone();
    assert_eq!(
        (&whole["page_count"], &whole["pages_total"]),
        (&json!(2), &json!(3))
    );
    let one = format!("{path}/{MTN}");
    let one = ogene
        .ask(&Request::get(&one).bearer(&ogene.shop.token))
        .await;
    assert_eq!(
        one.json()["data"]["body"],
        "Hello Ada, you owe N1. {{Thanks}}"
    );
    ogene.end().await;
}

#[tokio::test]
async fn a_csv_gives_each_row_its_text_pages_and_charge() {
    let ogene = Ogene::start().await;
    let long = "x".repeat(200);
    let csv = format!(
        "\u{FEFF}to;name;body\r\n{MTN};Ada;\r\n{GLO};Obi;\"Dear {{name}}; \"\"hi\"\"\"\r\n{AIRTEL};Eve;{long}\r\n{MTN};Twice;\r\n123;None;\r\n"
    );
    let before = ogene.total().await;
    let answer = ask_csv(
        &ogene,
        &format!("from={SENDER}&body=Hello%20%7Bname%7D"),
        &csv,
    )
    .await;
    let data = &answer.json()["data"];
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(data["recipients_count"], 3);
    assert_eq!(
        (&data["page_count"], &data["pages_total"]),
        (&json!(2), &json!(4))
    );
    assert_eq!(data["repeated"], json!([4]));
    assert_eq!(data["invalid_recipients"], json!(["123"]));
    assert!((before - ogene.total().await - 24.0).abs() < f64::EPSILON);
    until("all are sent", async || {
        let received = ogene.smsc().received();
        (received.len() == 4).then_some(())
    })
    .await;
    let received = ogene.smsc().received();
    assert_eq!(wire::text(&received, MTN), "Hello Ada");
    assert_eq!(wire::text(&received, GLO), "Dear Obi; \"hi\"");
    assert_eq!(wire::text(&received, AIRTEL), long);
    ogene.end().await;
}

#[tokio::test]
async fn a_thousand_rows_are_sent_with_their_own_texts() {
    let ogene = Ogene::start().await;
    ogene
        .credit(&ogene.shop, "10000", Component::SmsWallet)
        .await;
    let numbers: Vec<String> = (0..1_000).map(|n| format!("23480312{n:05}")).collect();
    let rows = numbers
        .iter()
        .map(|to| json!({"to": to, "variables": {"n": to}}));
    let fields = json!({
        "from": SENDER, "body": "Number {n}", "gateway": "direct-corporate",
        "messages": rows.collect::<Vec<_>>(),
    });
    let answer = ask(&ogene, &fields).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    until("all are sent", async || {
        (ogene.smsc().received().len() == numbers.len()).then_some(())
    })
    .await;
    let received = ogene.smsc().received();
    for one in received {
        let to = one.submit.destination.digits.clone();
        assert_eq!(wire::gsm(&one.submit.short_message), format!("Number {to}"));
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_row_that_cannot_be_sent_stops_all_rows() {
    let ogene = Ogene::start().await;
    let before = ogene.total().await;
    let mut fields = two_rows();
    fields["messages"][1]["variables"] = json!({"name": "Obi"});
    let answer = ask(&ogene, &fields).await;
    insta::assert_snapshot!(testkit::indented(&answer.redacted()), @r#"
    422 {
      "status": "error",
      "code": "API-2020",
      "message": "Rows that cannot be sent: 1. Nothing was sent or charged. `error.details` names the first faults: correct these rows and send all rows again.",
      "error": {
        "message": "Rows that cannot be sent: 1. Nothing was sent or charged. `error.details` names the first faults: correct these rows and send all rows again.",
        "code": "API-2020",
        "description": "Rows that cannot be sent",
        "details": [
          {
            "row": 2,
            "field": "amount",
            "reason": "missing"
          }
        ]
      }
    }
    "#);
    // A refused send leaves no trace: the corrected rows are no duplicate.
    fields["messages"][1]["variables"]["amount"] = json!(3);
    assert_eq!(ask(&ogene, &fields).await.status, 200);
    assert!((before - ogene.total().await - 12.0).abs() < f64::EPSILON);
    assert_eq!(ask(&ogene, &fields).await.code(), "API-2012");
    ogene.end().await;
}

#[tokio::test]
async fn a_broken_csv_is_named_by_row_and_column() {
    let ogene = Ogene::start().await;
    let query = format!("from={SENDER}&body=Hello%20%7Bname%7D");
    for csv in [
        "number,name\n2348031234567,Ada\n",
        "to,name\n2348031234567,\"Ada\n",
    ] {
        let answer = ask_csv(&ogene, &query, csv).await;
        assert_eq!((answer.status, &*answer.code()), (400, "API-2000"), "{csv}");
    }
    // A line that is too short lacks the variable.
    let short = "to,name\n2348031234567,Ada\n2348051234567\n";
    let answer = ask_csv(&ogene, &query, short).await.json();
    let missing = json!([{"row": 2, "field": "name", "reason": "missing"}]);
    assert_eq!(answer["error"]["details"], missing);
    let request = Request::post(PATH).bearer(&ogene.shop.token);
    let answer = ogene.ask(&request.body("application/xml", "<a/>")).await;
    assert_eq!(answer.code(), "API-2000");
    ogene.end().await;
}

#[tokio::test]
async fn a_callback_has_the_reference_of_its_row() {
    let ogene = Ogene::start().await;
    let receiver = Receiver::start().await;
    let mut fields = with(
        two_rows(),
        json!({"callback_url": receiver.url, "customer_reference": "whole"}),
    );
    fields["messages"][1]["customer_reference"] = json!("row-2");
    let answer = ask(&ogene, &fields).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let calls = receiver.called(2).await;
    let mut found: Vec<(String, String)> = calls
        .iter()
        .map(|call| (call.field("recipient"), call.field("customer_reference")))
        .collect();
    found.sort();
    let wanted = [(MTN, "whole"), (GLO, "row-2")];
    assert_eq!(
        found,
        wanted.map(|(to, own)| (to.to_owned(), own.to_owned()))
    );
    ogene.end().await;
}

#[tokio::test]
async fn an_export_has_the_reference_of_each_row() {
    let ogene = Ogene::start().await;
    let mut fields = with(two_rows(), json!({"customer_reference": "whole"}));
    fields["messages"][1]["customer_reference"] = json!("row-2");
    let answer = ask(&ogene, &fields).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let export = Request::get("/api/v2/exports/recipients.csv").bearer(&ogene.shop.token);
    let answer = ogene.ask(&export).await;
    let csv = answer.text();
    assert!(csv.contains(&format!(",whole,{MTN},")), "{csv}");
    assert!(csv.contains(&format!(",row-2,{GLO},")), "{csv}");
    ogene.end().await;
}

#[tokio::test]
async fn the_sandbox_simulates_a_personalised_send() {
    let ogene = Ogene::start().await;
    let before = ogene.total().await;
    let request = Request::post("/api/sandbox/v2/sms/personalised").bearer(&ogene.shop.token);
    let answer = ogene.ask(&request.json(&two_rows())).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.json()["data"]["sandbox"], true);
    assert!((before - ogene.total().await).abs() < f64::EPSILON);
    ogene.end().await;
}

#[tokio::test]
async fn a_key_makes_a_personalised_send_once() {
    let ogene = Ogene::start().await;
    let keyed = |fields: &Value| {
        let request = Request::post(PATH).bearer(&ogene.shop.token).json(fields);
        request.header("idempotency-key", "rows-1")
    };
    let first = ogene.ask(&keyed(&two_rows())).await;
    let charged = ogene.total().await;
    let mut turned = two_rows();
    turned["messages"].as_array_mut().unwrap().reverse();
    let again = ogene.ask(&keyed(&turned)).await;
    assert_eq!((again.status, again.text()), (200, first.text()));
    let mut other = two_rows();
    other["body"] = json!("Bye {name} {amount}");
    assert_eq!(ogene.ask(&keyed(&other)).await.code(), "API-2016");
    assert!((charged - ogene.total().await).abs() < f64::EPSILON);
    ogene.end().await;
}

#[tokio::test]
async fn a_personalised_quote_is_the_price_of_its_send() {
    let ogene = Ogene::start().await;
    let before = ogene.total().await;
    let request = Request::post(&format!("{PATH}/quote")).bearer(&ogene.shop.token);
    let answer = ogene.ask(&request.json(&two_rows())).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let quoted = answer.json()["data"].clone();
    assert_eq!(
        (&quoted["pages_total"], &quoted["sufficient"]),
        (&json!(2), &json!(true))
    );
    assert!((before - ogene.total().await).abs() < f64::EPSILON);
    let sent = ask(&ogene, &two_rows()).await.json()["data"].clone();
    for field in ["cost", "recipients_count", "page_count", "pages_total"] {
        assert_eq!(sent[field], quoted[field], "{field}");
    }
    ogene.end().await;
}
