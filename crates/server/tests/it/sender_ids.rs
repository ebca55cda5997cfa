//! Requests of customers for sender IDs (docs/spec/interface.md, section 6.4).

use crate::kit::http::{Answer, Request};
use crate::kit::{MTN, Ogene, operations, until};
use domain::SenderStatus;
use serde_json::{Value, json};

const PATH: &str = "/api/v2/sender-ids";

async fn post(ogene: &Ogene, path: &str, fields: &Value) -> Answer {
    let request = Request::post(path).bearer(&ogene.shop.token);
    ogene.ask(&request.json(fields)).await
}

/// The shop's sender ID of a name, once it has a status.
async fn listed(ogene: &Ogene, name: &str, status: &str) -> Value {
    until("the sender ID has the status", async || {
        let data = ogene.read("/sender-ids").await["data"].clone();
        let senders = data["sender_ids"].as_array().expect("a list").clone();
        let mut senders = senders.into_iter();
        senders.find(|one| one["sender_id"] == name && one["status"] == status)
    })
    .await
}

async fn decide(ogene: &Ogene, name: &str, status: SenderStatus, reason: Option<&str>) {
    let store = ogene.store().await;
    let senders = operations(&store).senders();
    let set = senders.set_status(ogene.shop.id, name, status, reason);
    set.await.expect("set");
    store.close().await;
}

#[tokio::test]
async fn a_requested_sender_id_sends_once_it_is_approved() {
    let ogene = Ogene::start().await;
    let answer = post(
        &ogene,
        PATH,
        &json!({"sender_id": "Acme", "purpose": "News"}),
    )
    .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(
        answer.json()["data"],
        json!({"sender_id": "Acme", "status": "pending", "purpose": "News", "approved_at": null,
            "rejection_reason": null})
    );
    listed(&ogene, "Acme", "pending").await;
    let fields = json!({"from": "Acme", "to": MTN, "body": "Hello"});
    assert_eq!(ogene.send(fields.clone()).await.code(), "API-2011");
    decide(&ogene, "Acme", SenderStatus::Approved, None).await;
    listed(&ogene, "Acme", "approved").await;
    ogene.sent_id(fields).await;
    let again = json!({"sender_id": "ACME", "purpose": "Other"});
    let again = post(&ogene, PATH, &again).await.json()["data"].clone();
    assert_eq!(
        (&again["status"], &again["purpose"]),
        (&json!("approved"), &json!("News"))
    );
    ogene.end().await;
}

#[tokio::test]
async fn a_rejected_sender_id_can_be_requested_again() {
    let ogene = Ogene::start().await;
    let ask = async |purpose: &str| {
        let fields = json!({"sender_id": "Acme", "purpose": purpose});
        post(&ogene, PATH, &fields).await.json()["data"].clone()
    };
    ask("News").await;
    decide(&ogene, "Acme", SenderStatus::Rejected, Some("Unclear")).await;
    let rejected = listed(&ogene, "Acme", "rejected").await;
    assert_eq!(rejected["rejection_reason"], "Unclear");
    let again = ask("News of Acme Ltd, RC 1042").await;
    assert_eq!(again["status"], "pending");
    assert_eq!(again["rejection_reason"], Value::Null);
    let pending = listed(&ogene, "Acme", "pending").await;
    assert_eq!(pending["purpose"], "News of Acme Ltd, RC 1042");
    ogene.end().await;
}

#[tokio::test]
async fn a_request_for_a_sender_id_is_repeated_under_its_key() {
    let ogene = Ogene::start().await;
    for root in ["/api/v2", "/api/sandbox/v2"] {
        let ask = async |key: &str, name: &str| {
            let request = Request::post(&format!("{root}/sender-ids"))
                .bearer(&ogene.shop.token)
                .header("idempotency-key", key);
            let form = [("sender_id", name), ("purpose", "News")];
            ogene.ask(&request.form(&form)).await
        };
        let first = ask("one", "Acme").await;
        assert_eq!(first.status, 200, "{}", first.text());
        assert_eq!(first.header("idempotent-replayed"), None);
        let again = ask("one", "Acme").await;
        assert_eq!(again.text(), first.text());
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        let other = ask("one", "Other").await;
        assert_eq!((other.status, &*other.code()), (422, "API-2016"));
        assert_eq!(ask("a b", "Acme").await.code(), "API-2000");
    }
    ogene.end().await;
}

#[tokio::test]
async fn the_sandbox_simulates_a_request_and_registers_nothing() {
    let ogene = Ogene::start().await;
    let fields = json!({"sender_id": "Acme", "purpose": "News"});
    let answer = post(&ogene, "/api/sandbox/v2/sender-ids", &fields).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.json()["data"]["status"], "pending");
    assert_eq!(answer.json()["data"]["sandbox"], true);
    assert_eq!(
        ogene.sql("select count(*) from sender_ids where name = 'Acme'"),
        "0"
    );
    ogene.end().await;
}

#[tokio::test]
async fn a_malformed_request_for_a_sender_id_says_what_to_do() {
    let ogene = Ogene::start().await;
    for (fields, expected) in [
        (json!({"purpose": "News"}), "`sender_id` must be 3 to 11"),
        (
            json!({"sender_id": "A&B Ltd", "purpose": "News"}),
            "`sender_id` must be 3 to 11",
        ),
        (json!({"sender_id": "Acme"}), "`purpose` must say"),
        (
            json!({"sender_id": "Acme", "purpose": "a\u{1b}[2J"}),
            "`purpose` must say",
        ),
        (
            json!({"sender_id": 7, "purpose": "News"}),
            "`sender_id` must be a string",
        ),
    ] {
        let answer = post(&ogene, PATH, &fields).await;
        assert_eq!(
            (answer.status, &*answer.code()),
            (400, "API-2000"),
            "{fields}"
        );
        let message = answer.json()["message"]
            .as_str()
            .expect("a text")
            .to_owned();
        assert!(message.starts_with(expected), "{message}");
    }
    for number in 0..20 {
        let fields = json!({"sender_id": format!("Shop {number}"), "purpose": "News"});
        assert_eq!(post(&ogene, PATH, &fields).await.status, 200);
    }
    let answer = post(
        &ogene,
        PATH,
        &json!({"sender_id": "Acme", "purpose": "News"}),
    )
    .await;
    assert_eq!((answer.status, &*answer.code()), (429, "API-3004"));
    ogene.end().await;
}
