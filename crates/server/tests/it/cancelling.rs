//! `POST /messages/{message_id}/cancel`: what no carrier has ends and is refunded, and the rest goes on.

use crate::kit::http::{Answer, Request};
use crate::kit::receiver::Receiver;
use crate::kit::{GLO, MTN, Ogene, SENDER, numbers, to, until, with, with_slow_carrier};
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::time::Duration;

const LIVE: &str = "/api/v2";
const SANDBOX: &str = "/api/sandbox/v2";

fn in_an_hour() -> String {
    (Timestamp::now() + 3_600.seconds()).to_string()
}

fn later(number: &str, body: &str) -> Value {
    with(to(number, body), json!({"send_at": in_an_hour()}))
}

fn cancelling(ogene: &Ogene, prefix: &str, id: &str) -> Request {
    Request::post(&format!("{prefix}/messages/{id}/cancel")).bearer(&ogene.shop.token)
}

async fn cancel(ogene: &Ogene, id: &str) -> Value {
    let answer = ogene.ask(&cancelling(ogene, LIVE, id)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["data"].clone()
}

fn replays(answer: &Answer) -> bool {
    answer.header("idempotent-replayed") == Some("true")
}

#[tokio::test]
async fn a_scheduled_message_is_cancelled_whole() {
    let ogene = Ogene::start().await;
    let receiver = Receiver::start().await;
    let before = ogene.total().await;
    let fields = json!({
        "from": SENDER, "to": [MTN, GLO], "body": "Later", "send_at": in_an_hour(),
        "callback_url": receiver.url, "gateway": "direct-corporate",
    });
    let id = ogene.sent_id(fields.clone()).await;
    assert!(ogene.total().await < before, "it is charged");
    assert_eq!(ogene.send(fields.clone()).await.code(), "API-2012");
    let data = cancel(&ogene, &id).await;
    assert_eq!(data["message_id"], id.as_str());
    assert_eq!(data["state"], "cancelled");
    assert_eq!(
        (&data["cancelled"], &data["not_cancelled"]),
        (&json!(2), &json!(0))
    );
    let refunded = data["refunded"].as_f64().expect("an amount");
    assert!(refunded > 0.0);
    assert!((ogene.total().await - before).abs() < f64::EPSILON);
    assert_eq!(ogene.statuses(&id).await, ["cancelled", "cancelled"]);
    let report = ogene.report(&id).await;
    assert_eq!(
        report["summary"],
        json!({"total": 2, "delivered": 0, "pending": 0, "failed": 2})
    );
    assert_eq!(report["state"], "cancelled");
    let calls = receiver.called(2).await;
    assert!(
        calls
            .iter()
            .all(|call| call.field("delivery_status") == "cancelled")
    );
    assert_eq!(
        cancel(&ogene, &id).await,
        data,
        "a second cancel has no effect"
    );
    let message = ogene.read(&format!("/messages/{id}")).await["data"].clone();
    assert_eq!(
        (&message["state"], &message["refunded"]),
        (&json!("cancelled"), &data["refunded"])
    );
    let found = ogene
        .read("/messages?delivery_status=cancelled&state=cancelled")
        .await;
    assert_eq!(found["data"]["items"][0]["message_id"], id.as_str());
    let timeline = ogene
        .read(&format!("/messages/{id}/recipients/{MTN}"))
        .await["data"]
        .clone();
    let events = timeline["events"].as_array().expect("events").iter();
    let events: Vec<&str> = events
        .map(|event| event["event"].as_str().expect("a word"))
        .collect();
    assert_eq!(
        events[..4],
        ["accepted", "scheduled", "cancelled", "settled"]
    );
    assert!(events.contains(&"refunded"), "{events:?}");
    // The same send is no duplicate now.
    ogene.sent(fields).await;
    ogene.end().await;
}

#[tokio::test]
async fn a_campaign_stops_and_the_rest_is_refunded() {
    const MANY: u64 = 600;
    let ogene = with_slow_carrier().await;
    let before = ogene.total().await;
    let id = ogene
        .sent_id(json!({"from": SENDER, "to": numbers(MANY), "body": "Dear customer"}))
        .await;
    ogene.received(20).await;
    let data = cancel(&ogene, &id).await;
    let count = |name: &str| data[name].as_u64().expect("a count");
    let (cancelled, sent) = (count("cancelled"), count("not_cancelled"));
    assert_eq!(cancelled + sent, MANY);
    assert!(cancelled > 0 && sent >= 20, "{data}");
    let statuses = ogene.outcome(&id).await;
    let ended = statuses.iter().filter(|status| *status == "cancelled");
    assert_eq!(ended.count() as u64, cancelled);
    let received: BTreeSet<String> = ogene
        .smsc()
        .received()
        .into_iter()
        .map(|one| one.submit.destination.digits)
        .collect();
    assert_eq!(
        received.len() as u64,
        sent,
        "each recipient is sent or refunded"
    );
    let paid = before - ogene.total().await;
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let expected = 6.0 * sent as f64;
    assert!((paid - expected).abs() < 1e-6, "{paid} for {sent}");
    let again = cancel(&ogene, &id).await;
    assert_eq!(
        (&again["cancelled"], &again["refunded"]),
        (&data["cancelled"], &data["refunded"])
    );
    assert_eq!(again["state"], "completed");
    ogene.end().await;
}

#[tokio::test]
async fn a_sent_message_keeps_its_outcome() {
    let ogene = Ogene::start().await;
    let id = ogene.sent_id(to(MTN, "Now")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    let data = cancel(&ogene, &id).await;
    assert_eq!(data["state"], "completed");
    assert_eq!(
        (&data["cancelled"], &data["not_cancelled"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(data["refunded"].as_f64(), Some(0.0));
    assert_eq!(ogene.statuses(&id).await, ["delivrd"]);
    ogene.end().await;
}

#[tokio::test]
async fn the_sandbox_cancels_alike() {
    let ogene = Ogene::start().await;
    let request = Request::post(&format!("{SANDBOX}/sms"))
        .bearer(&ogene.shop.token)
        .json(&later(MTN, "Later"));
    let sent = ogene.ask(&request).await.json();
    let id = sent["data"]["message_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert_eq!(
        ogene.ask(&cancelling(&ogene, LIVE, &id)).await.code(),
        "API-2007"
    );
    let answer = ogene.ask(&cancelling(&ogene, SANDBOX, &id)).await;
    let data = answer.json()["data"].clone();
    assert_eq!(
        (answer.status, &data["cancelled"]),
        (200, &json!(1)),
        "{}",
        answer.text()
    );
    assert_eq!(
        (&data["state"], &data["sandbox"]),
        (&json!("cancelled"), &json!(true))
    );
    ogene.end().await;
}

#[tokio::test]
async fn a_repeated_cancel_under_its_key_gets_the_first_answer() {
    let ogene = Ogene::start().await;
    let id = ogene.sent_id(later(MTN, "Later")).await;
    let other = ogene.sent_id(later(GLO, "Later")).await;
    let keyed = |id: &str| cancelling(&ogene, LIVE, id).header("idempotency-key", "stop");
    let first = ogene.ask(&keyed(&id)).await;
    assert_eq!(first.status, 200, "{}", first.text());
    assert!(!replays(&first));
    let again = ogene.ask(&keyed(&id)).await;
    assert_eq!((again.status, again.text()), (200, first.text()));
    assert!(replays(&again));
    let refused = ogene.ask(&keyed(&other)).await;
    assert_eq!(
        (refused.status, refused.code()),
        (422, "API-2016".to_owned())
    );
    assert_eq!(ogene.statuses(&other).await, ["sent awaiting status"]);
    ogene.end().await;
}

#[tokio::test]
async fn an_unknown_message_is_not_cancelled() {
    let ogene = Ogene::start().await;
    let stranger = ogene.customer("100").await;
    let id = ogene.sent_id(later(MTN, "Later")).await;
    let strange = Request::post(&format!("{LIVE}/messages/{id}/cancel")).bearer(&stranger.token);
    let unknown = [
        strange,
        cancelling(&ogene, LIVE, "7"),
        cancelling(&ogene, LIVE, "019a96a4-f878-7a17-8388-0d429be1367f"),
    ];
    for request in unknown {
        let answer = ogene.ask(&request).await;
        assert_eq!((answer.status, answer.code()), (404, "API-2007".to_owned()));
    }
    assert_eq!(ogene.statuses(&id).await, ["sent awaiting status"]);
    ogene.end().await;
}

#[tokio::test]
async fn a_cancel_that_lost_its_node_is_completed_by_the_next() {
    let mut ogene = Ogene::start().await;
    let id = ogene.sent_id(later(MTN, "Waits")).await;
    ogene.kill().await;
    // The node died after the request of the cancel.
    ogene.sql("update messages set paused_at_ms = 1");
    ogene.sql("insert into stops select bucket, message_id, true, 1 from messages");
    ogene.serve().await;
    until("the cancel is completed", async || {
        (ogene.statuses(&id).await == ["cancelled"]).then_some(())
    })
    .await;
    until("the stop is removed", async || {
        let stops = ogene.sql("select count(*) from stops");
        (stops.trim() == "0").then_some(())
    })
    .await;
    ogene.end().await;
}

/// Raises the heartbeat of a node, for ever.
async fn keep_alive(ogene: &Ogene, node: i64) -> Infallible {
    let mut ticks = tokio::time::interval(Duration::from_millis(500));
    loop {
        ticks.tick().await;
        ogene.sql(&format!(
            "update nodes set beat = beat + 1 where node = {node}"
        ));
    }
}

#[tokio::test]
async fn a_cancel_that_a_node_delays_answers_the_counts_so_far() {
    let ogene = Ogene::start().await;
    let id = ogene.sent_id(later(MTN, "Later")).await;
    // A node that lives, and does not answer, has the batch.
    ogene.sql("insert into nodes (node, name, beat) values (77, 'slow', 0)");
    ogene.sql("update batches set claimed_by = 77, claimed_until_ms = 9000000000000");
    let data = tokio::select! {
        data = cancel(&ogene, &id) => data,
        never = keep_alive(&ogene, 77) => match never {},
    };
    assert_eq!(
        (&data["state"], &data["cancelled"], &data["not_cancelled"]),
        (&json!("scheduled"), &json!(0), &json!(1))
    );
    // The node gives the batch back before it ends. The batch of a node that ended is taken over, and
    // its recipients are in doubt.
    ogene.sql("update batches set claimed_by = 0, claimed_until_ms = 0");
    ogene.sql("delete from nodes where node = 77");
    until("the cancel is completed", async || {
        (ogene.statuses(&id).await == ["cancelled"]).then_some(())
    })
    .await;
    let data = cancel(&ogene, &id).await;
    assert_eq!(
        (&data["state"], &data["cancelled"]),
        (&json!("cancelled"), &json!(1))
    );
    ogene.end().await;
}
