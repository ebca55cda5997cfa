//! `POST /messages/{message_id}/pause`, `…/resume` and `…/reschedule`.

use crate::kit::http::{Answer, Request};
use crate::kit::wire::count;
use crate::kit::{GLO, MTN, Ogene, SENDER, numbers, to, until, with, with_slow_carrier};
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const LIVE: &str = "/api/v2";
const SANDBOX: &str = "/api/sandbox/v2";
/// The time in which a campaign stops.
const SOON: Duration = Duration::from_secs(2);

fn in_seconds(seconds: i64) -> String {
    (Timestamp::now() + seconds.seconds()).to_string()
}

fn changing(ogene: &Ogene, prefix: &str, id: &str, change: &str) -> Request {
    Request::post(&format!("{prefix}/messages/{id}/{change}")).bearer(&ogene.shop.token)
}

fn moving(ogene: &Ogene, prefix: &str, id: &str, send_at: &str) -> Request {
    changing(ogene, prefix, id, "reschedule").json(&json!({ "send_at": send_at }))
}

/// The message after a change.
async fn changed(ogene: &Ogene, id: &str, change: &str) -> Value {
    let answer = ogene.ask(&changing(ogene, LIVE, id, change)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["data"].clone()
}

fn is_too_late(answer: &Answer) -> bool {
    (answer.status, answer.code()) == (409, "API-2019".to_owned())
}

#[tokio::test]
async fn a_campaign_stops_at_a_pause_and_goes_on_at_a_resume() {
    const MANY: u64 = 300;
    let ogene = with_slow_carrier().await;
    let id = ogene
        .sent_id(json!({"from": SENDER, "to": numbers(MANY), "body": "Dear customer"}))
        .await;
    ogene.received(20).await;
    let began = Instant::now();
    let paused = changed(&ogene, &id, "pause").await;
    assert_eq!(
        (&paused["state"], &paused["message_id"]),
        (&json!("paused"), &json!(id))
    );
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    let campaign = || {
        let received = ogene.smsc().received().into_iter();
        received
            .filter(|one| one.submit.destination.digits != GLO)
            .count()
    };
    let stopped_at = campaign();
    assert!((stopped_at as u64) < MANY);
    // Another message overtakes it, so that its carrier is free.
    let other = ogene.sent_id(to(GLO, "Hello")).await;
    assert_eq!(ogene.outcome(&other).await, ["delivrd"]);
    assert_eq!(campaign(), stopped_at, "nothing of it went out");
    assert_eq!(
        changed(&ogene, &id, "pause").await["state"],
        "paused",
        "it has no effect"
    );
    let resumed = changed(&ogene, &id, "resume").await;
    assert_eq!(
        (&resumed["state"], &resumed["scheduled_for"]),
        (&json!("sending"), &Value::Null)
    );
    assert_eq!(changed(&ogene, &id, "resume").await["state"], "sending");
    let statuses = ogene.outcome(&id).await;
    assert!(
        statuses.iter().all(|status| status == "delivrd"),
        "{statuses:?}"
    );
    let received = ogene.smsc().received();
    for number in numbers(MANY) {
        assert_eq!(count(&received, &number), 1, "{number}");
    }
    let last = numbers(MANY).pop().expect("a number");
    let timeline = ogene
        .read(&format!("/messages/{id}/recipients/{last}"))
        .await;
    let events = timeline["data"]["events"]
        .as_array()
        .expect("events")
        .iter();
    let events: Vec<&str> = events
        .map(|event| event["event"].as_str().expect("a word"))
        .collect();
    assert_eq!(events[..4], ["accepted", "paused", "resumed", "submitted"]);
    for change in ["pause", "resume"] {
        let answer = ogene.ask(&changing(&ogene, LIVE, &id, change)).await;
        assert!(is_too_late(&answer), "{}", answer.text());
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_scheduled_message_gets_another_time() {
    let ogene = Ogene::start().await;
    let fields = with(to(MTN, "Later"), json!({"send_at": in_seconds(3_600)}));
    let id = ogene.sent_id(fields).await;
    let later = ogene
        .ask(&moving(&ogene, LIVE, &id, "2099-01-31 18:00:00"))
        .await;
    assert_eq!((later.status, later.code()), (400, "API-2000".to_owned()));
    let none = ogene.ask(&changing(&ogene, LIVE, &id, "reschedule")).await;
    assert_eq!((none.status, none.code()), (400, "API-2000".to_owned()));
    let far = (Timestamp::now() + 7_200.seconds()).to_string();
    let moved = ogene.ask(&moving(&ogene, LIVE, &id, &far)).await.json();
    assert_eq!(moved["data"]["state"], "scheduled");
    let time = moved["data"]["scheduled_for"].clone();
    assert_eq!(ogene.report(&id).await["scheduled_for"], time);
    // A paused one stays paused.
    assert_eq!(changed(&ogene, &id, "pause").await["state"], "paused");
    let moved = ogene
        .ask(&moving(&ogene, LIVE, &id, &in_seconds(-10)))
        .await
        .json();
    assert_eq!(moved["data"]["state"], "paused");
    changed(&ogene, &id, "resume").await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    let late = ogene.ask(&moving(&ogene, LIVE, &id, &far)).await;
    assert!(is_too_late(&late), "{}", late.text());
    ogene.end().await;
}

#[tokio::test]
async fn the_sandbox_pauses_and_resumes_alike() {
    let ogene = Ogene::start().await;
    let fields = with(to(MTN, "Later"), json!({"send_at": in_seconds(3_600)}));
    let request = Request::post(&format!("{SANDBOX}/sms"))
        .bearer(&ogene.shop.token)
        .json(&fields);
    let sent = ogene.ask(&request).await.json();
    let id = sent["data"]["message_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let ask = async |request: Request| {
        let answer = ogene.ask(&request).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["data"]["state"]
            .as_str()
            .expect("a word")
            .to_owned()
    };
    assert_eq!(ask(changing(&ogene, SANDBOX, &id, "pause")).await, "paused");
    assert_eq!(
        ask(moving(&ogene, SANDBOX, &id, &in_seconds(0))).await,
        "paused"
    );
    assert_eq!(
        ask(changing(&ogene, SANDBOX, &id, "resume")).await,
        "sending"
    );
    let read = Request::get(&format!("{SANDBOX}/messages/{id}")).bearer(&ogene.shop.token);
    until("it is simulated", async || {
        let message = ogene.ask(&read).await.json();
        (message["data"]["state"] == "completed").then_some(())
    })
    .await;
    ogene.end().await;
}

#[tokio::test]
async fn a_change_under_its_key_is_made_once() {
    let ogene = Ogene::start().await;
    let fields = with(to(MTN, "Later"), json!({"send_at": in_seconds(3_600)}));
    let id = ogene.sent_id(fields).await;
    let keyed = |request: Request| request.header("idempotency-key", "one");
    let first = ogene
        .ask(&keyed(changing(&ogene, LIVE, &id, "pause")))
        .await;
    assert_eq!(first.status, 200, "{}", first.text());
    changed(&ogene, &id, "resume").await;
    let again = ogene
        .ask(&keyed(changing(&ogene, LIVE, &id, "pause")))
        .await;
    assert_eq!(again.text(), first.text());
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let message = ogene.read(&format!("/messages/{id}")).await;
    assert_eq!(
        message["data"]["state"], "scheduled",
        "it is not paused again"
    );
    let other = ogene
        .ask(&keyed(changing(&ogene, LIVE, &id, "resume")))
        .await;
    assert_eq!((other.status, other.code()), (422, "API-2016".to_owned()));
    ogene.end().await;
}

#[tokio::test]
async fn a_pause_outlives_a_restart() {
    let mut ogene = Ogene::start().await;
    let fields = with(to(MTN, "Later"), json!({"send_at": in_seconds(2)}));
    let id = ogene.sent_id(fields).await;
    changed(&ogene, &id, "pause").await;
    ogene.restart().await;
    let other = ogene.sent_id(to(GLO, "Hello")).await;
    assert_eq!(ogene.outcome(&other).await, ["delivrd"]);
    assert_eq!(ogene.report(&id).await["state"], "paused");
    changed(&ogene, &id, "resume").await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    ogene.end().await;
}
