//! Finding messages, their recipients and the events of each (docs/spec/finding.md).

use crate::kit::http::{Answer, Request};
use crate::kit::wire::{receipt, rule};
use crate::kit::{AIRTEL, GLO, MTN, Ogene, Setup, numbers, to, until, with};
use serde_json::{Value, json};
use smpp::ReceiptState;
use smpp::simulator::Script;

async fn get(ogene: &Ogene, path: &str) -> Answer {
    ogene
        .ask(&Request::get(path).bearer(&ogene.shop.token))
        .await
}

async fn data(ogene: &Ogene, path: &str) -> Value {
    let answer = get(ogene, &format!("/api/v2{path}")).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json()["data"].clone()
}

/// Returns the ids of a list, page by page.
async fn ids(ogene: &Ogene, query: &str) -> Vec<String> {
    let (mut ids, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = data(ogene, &format!("/messages?{query}&cursor={cursor}")).await;
        let items = page["items"].as_array().expect("items");
        ids.extend(items.iter().map(|item| text(&item["message_id"])));
        match page["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => return ids,
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Waits until a message is completed.
async fn completed(ogene: &Ogene, id: &str) -> Value {
    until("the message is completed", async || {
        let message = data(ogene, &format!("/messages/{id}")).await;
        (message["state"] == "completed").then_some(message)
    })
    .await
}

/// An installation whose carrier does not deliver to Airtel.
async fn installation() -> Ogene {
    let script = Script {
        rules: vec![rule(AIRTEL, receipt(ReceiptState::Undeliverable))],
        ..Script::default()
    };
    Setup::new().script(script).start().await
}

#[tokio::test]
async fn messages_are_listed_newest_first_in_pages() {
    let ogene = Ogene::start().await;
    let mut sent = Vec::new();
    for number in numbers(5) {
        sent.insert(0, ogene.sent_id(to(&number, "Hello")).await);
    }
    for limit in [1, 2, 5, 100] {
        assert_eq!(ids(&ogene, &format!("limit={limit}")).await, sent);
    }
    let first = data(&ogene, "/messages?limit=2").await;
    // A message that is added meanwhile is on no later page.
    ogene.sent_id(to(GLO, "Hello")).await;
    let cursor = text(&first["next_cursor"]);
    let second = data(&ogene, &format!("/messages?limit=2&cursor={cursor}")).await;
    assert_eq!(second["items"][0]["message_id"], json!(sent[2]));
    for wrong in [
        "limit=0",
        "limit=x",
        "cursor=x",
        "since=x",
        "state=x",
        "sender=A&sender=B",
    ] {
        let answer = get(&ogene, &format!("/api/v2/messages?{wrong}")).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "API-2000"),
            "{wrong}"
        );
    }
    ogene.end().await;
}

#[tokio::test]
async fn each_filter_finds_its_messages() {
    let ogene = installation().await;
    let one = ogene
        .sent_id(with(
            to(MTN, "One"),
            json!({ "customer_reference": "order 1" }),
        ))
        .await;
    let both = json!({ "to": [MTN, AIRTEL], "gateway": "direct-corporate" });
    let two = ogene.sent_id(with(to(MTN, "Two"), both)).await;
    completed(&ogene, &one).await;
    completed(&ogene, &two).await;
    for (query, found) in [
        ("", vec![&two, &one]),
        ("recipient=08021234567", vec![&two]),
        ("recipient=2348031234567", vec![&two, &one]),
        ("recipient=2348051234567", vec![]),
        ("sender=ADASTORES", vec![&two, &one]),
        ("sender=Other", vec![]),
        ("gateway=direct-corporate", vec![&two]),
        ("customer_reference=order+1", vec![&one]),
        ("delivery_status=undeliv", vec![&two]),
        ("delivery_status=delivrd", vec![&two, &one]),
        ("delivery_status=sent+awaiting+status", vec![]),
        ("state=completed&gateway=direct-refund", vec![&one]),
        ("state=sending", vec![]),
        ("since=2020-01-01+00:00:00", vec![&two, &one]),
        ("until=2020-01-01T00:00:00Z", vec![]),
    ] {
        for limit in [1, 100] {
            let found: Vec<String> = found.iter().map(|id| (*id).clone()).collect();
            assert_eq!(
                ids(&ogene, &format!("{query}&limit={limit}")).await,
                found,
                "{query}"
            );
        }
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_message_shows_its_charge_refund_and_summary() {
    let ogene = installation().await;
    let id = ogene
        .sent_id(with(to(MTN, "Hello"), json!({ "to": [MTN, AIRTEL] })))
        .await;
    let mut message = completed(&ogene, &id).await;
    assert!(message["created_at"].is_string());
    message["created_at"] = Value::Null;
    let expected = json!({
        "message_id": id,
        "created_at": null,
        "scheduled_for": null,
        "state": "completed",
        "sender": "AdaStores",
        "gateway": "direct-refund",
        "body": "Hello",
        "recipients_count": 2,
        "page_count": 1,
        "pages_total": 2,
        "cost": 12.0,
        "refunded": 6.0,
        "customer_reference": null,
        "summary": { "total": 2, "delivered": 1, "pending": 0, "failed": 1 },
    });
    assert_eq!(message, expected);
    let listed = data(&ogene, "/messages").await["items"][0].clone();
    assert_eq!(listed["summary"], expected["summary"]);
    ogene.end().await;
}

#[tokio::test]
async fn recipients_have_status_charge_and_events() {
    let ogene = installation().await;
    let id = ogene
        .sent_id(with(to(MTN, "Hello"), json!({ "to": [MTN, AIRTEL] })))
        .await;
    completed(&ogene, &id).await;
    let list = data(&ogene, &format!("/messages/{id}/recipients")).await;
    assert_eq!(list["next_cursor"], Value::Null);
    let words = [
        "recipient",
        "network",
        "delivery_status",
        "pages",
        "cost",
        "refunded",
    ];
    let rows: Vec<Vec<Value>> = list["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| words.iter().map(|word| item[word].clone()).collect())
        .collect();
    let expected = [
        vec![
            json!(MTN),
            json!("mtn"),
            json!("delivrd"),
            json!(1),
            json!(6.0),
            json!(0.0),
        ],
        vec![
            json!(AIRTEL),
            json!("airtel"),
            json!("undeliv"),
            json!(1),
            json!(6.0),
            json!(6.0),
        ],
    ];
    assert_eq!(rows, expected);
    let failed = data(
        &ogene,
        &format!("/messages/{id}/recipients?delivery_status=undeliv&limit=1"),
    )
    .await;
    assert_eq!(failed["items"][0]["recipient"], AIRTEL);
    ogene.end().await;
}

#[tokio::test]
async fn the_events_of_a_recipient_say_what_happened() {
    let ogene = installation().await;
    let id = ogene
        .sent_id(with(to(MTN, "Hello"), json!({ "to": [MTN, AIRTEL] })))
        .await;
    completed(&ogene, &id).await;
    let one = data(&ogene, &format!("/messages/{id}/recipients/08021234567")).await;
    let events: Vec<String> = one["events"]
        .as_array()
        .expect("events")
        .iter()
        .map(|event| text(&event["event"]))
        .collect();
    let expected = ["accepted", "submitted", "receipt", "settled", "refunded"];
    assert_eq!(events, expected);
    let (submitted, receipt) = (&one["events"][1]["detail"], &one["events"][2]["detail"]);
    assert_eq!(
        (&submitted["carrier"], &submitted["pages"]),
        (&json!("mtn"), &json!(1))
    );
    let named = format!("id:{} ", text(&submitted["carrier_message_id"]));
    assert!(text(&receipt["text"]).starts_with(&named), "{named}");
    assert_eq!(receipt["carrier"], "mtn");
    let came = text(&receipt["text"]);
    assert!(came.contains("stat:UNDELIV"), "{came}");
    assert!(came.ends_with("text:"), "the text is left out: {came}");
    assert_eq!(
        one["events"][4]["detail"],
        json!({ "amount": 6.0, "component": "sms_wallet" })
    );
    ogene.end().await;
}

#[tokio::test]
async fn no_receipt_is_kept_if_the_operator_wants_none() {
    let setup = Setup::new().set("retention.receipts", r#""0s""#);
    let ogene = setup.start().await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    completed(&ogene, &id).await;
    let one = data(&ogene, &format!("/messages/{id}/recipients/{MTN}")).await;
    let events = one["events"].as_array().expect("events").iter();
    let events: Vec<_> = events.map(|event| text(&event["event"])).collect();
    assert_eq!(events, ["accepted", "submitted", "settled"]);
    let detail = &one["events"][1]["detail"];
    assert_eq!(detail["carrier_message_id"], json!(null));
    ogene.end().await;
}

#[tokio::test]
async fn recipients_without_a_carrier_are_listed_too() {
    // No SMSC listens at the address of the carrier.
    let address = r#""127.0.0.1:1""#;
    let setup = Setup::new().set("carriers.mtn.address", address);
    let ogene = setup.without_carriers().start().await;
    let all = numbers(7);
    let id = ogene
        .sent_id(with(to(MTN, "Hello"), json!({ "to": all })))
        .await;
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = data(
            &ogene,
            &format!("/messages/{id}/recipients?limit=3&cursor={cursor}"),
        )
        .await;
        for item in page["items"].as_array().expect("items") {
            assert_eq!(item["delivery_status"], "sent awaiting status");
            assert_eq!(
                (&item["cost"], &item["submitted_at"]),
                (&json!(6.0), &Value::Null)
            );
            found.push(text(&item["recipient"]));
        }
        match page["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => break,
        }
    }
    assert_eq!(found, all);
    assert_eq!(
        ids(&ogene, &format!("recipient={}", all[3])).await,
        std::slice::from_ref(&id)
    );
    assert_eq!(ids(&ogene, "state=sending").await, [id]);
    ogene.end().await;
}

#[tokio::test]
async fn another_account_or_environment_finds_nothing() {
    let ogene = Ogene::start().await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    let other = ogene.customer("10").await;
    let list = Request::get("/api/v2/messages").bearer(&other.token);
    assert_eq!(ogene.ask(&list).await.json()["data"]["items"], json!([]));
    for path in ["", "/recipients", &format!("/recipients/{MTN}")] {
        let of_other = Request::get(&format!("/api/v2/messages/{id}{path}")).bearer(&other.token);
        let sandbox = Request::get(&format!("/api/sandbox/v2/messages/{id}{path}"));
        for request in [of_other, sandbox.bearer(&ogene.shop.token)] {
            let answer = ogene.ask(&request).await;
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (404, "API-2007"),
                "{path}"
            );
        }
    }
    let unknown = get(&ogene, &format!("/api/v2/messages/{id}/recipients/{GLO}")).await;
    assert_eq!(unknown.code(), "API-2007");
    let none = get(&ogene, "/api/v2/messages/none").await;
    assert_eq!(none.code(), "API-2007");
    ogene.end().await;
}

#[tokio::test]
async fn the_sandbox_lists_its_own_messages() {
    let ogene = Ogene::start().await;
    let request = Request::post("/api/sandbox/v2/sms")
        .bearer(&ogene.shop.token)
        .json(&to(MTN, "Hello"));
    let sent = ogene.ask(&request).await.json();
    let list = get(&ogene, "/api/sandbox/v2/messages").await.json();
    let data = &list["data"];
    assert_eq!(data["sandbox"], true);
    assert_eq!(data["items"][0]["message_id"], sent["data"]["message_id"]);
    assert_eq!(ids(&ogene, "limit=9").await, Vec::<String>::new());
    ogene.end().await;
}
