//! Times of a send: when it is due, and how long it is valid.

use crate::kit::http::Request;
use crate::kit::{CARRIER, GLO, MTN, Ogene, Setup, to, until, with};
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

fn in_seconds(seconds: i64) -> String {
    (Timestamp::now() + seconds.seconds()).to_string()
}

fn at(number: &str, send_at: &str) -> Value {
    with(to(number, "Later"), json!({"send_at": send_at}))
}

#[tokio::test]
async fn a_scheduled_message_is_charged_now_and_sent_at_its_time() {
    let ogene = Ogene::start().await;
    ogene.bound(CARRIER, 2).await;
    let before = ogene.total().await;
    let data = ogene.sent(at(MTN, &in_seconds(4))).await;
    assert_eq!(data["state"], "scheduled");
    let time = data["scheduled_for"].as_str().expect("a time").to_owned();
    assert_eq!((time.len(), &time[10..11]), (19, " "), "{time}");
    assert!(ogene.total().await < before, "it is charged");
    let id = data["message_id"].as_str().expect("an id");
    let report = ogene.report(id).await;
    assert_eq!(report["state"], "scheduled");
    assert_eq!(report["scheduled_for"], time.as_str());
    assert!(ogene.smsc().received().is_empty(), "nothing went out yet");
    // The duplicate window begins at the acceptance.
    assert_eq!(ogene.send(at(MTN, &in_seconds(9))).await.code(), "API-2012");
    ogene.outcome(id).await;
    let report = ogene.report(id).await;
    assert_eq!(report["state"], "completed");
    assert_eq!(report["scheduled_for"], time.as_str());
    ogene.end().await;
}

#[tokio::test]
async fn a_message_that_is_due_at_once_is_scheduled_for_nothing() {
    let ogene = Ogene::start().await;
    for (number, body) in [(MTN, to(MTN, "Now")), (GLO, at(GLO, &in_seconds(-30)))] {
        let data = ogene.sent(body).await;
        assert_eq!(data["scheduled_for"], Value::Null, "{number}");
        assert_eq!(data["state"], "sending");
        let id = data["message_id"].as_str().expect("an id");
        ogene.outcome(id).await;
        assert_eq!(ogene.report(id).await["scheduled_for"], Value::Null);
    }
    ogene.end().await;
}

#[tokio::test]
async fn other_times_are_refused_with_the_accepted_forms() {
    let ogene = Ogene::start().await;
    let before = ogene.total().await;
    let (past, far) = (in_seconds(-90), in_seconds(91 * 86_400));
    for send_at in [
        &*past,
        &far,
        "tomorrow",
        "2027-01-31T18:00:00",
        "1801414800",
    ] {
        let answer = ogene.send(at(MTN, send_at)).await;
        assert_eq!((answer.status, answer.code()), (400, "API-2000".to_owned()));
        let text = answer.text();
        assert!(
            text.contains("RFC 3339") && text.contains("YYYY-MM-DD HH:MM:SS"),
            "{text}"
        );
    }
    for validity in [json!(59), json!("172801"), json!("1h"), json!(60.5)] {
        let answer = ogene
            .send(with(to(MTN, "Valid"), json!({"validity": validity})))
            .await;
        assert_eq!((answer.status, answer.code()), (400, "API-2000".to_owned()));
    }
    assert!((ogene.total().await - before).abs() < f64::EPSILON);
    ogene.end().await;
}

#[tokio::test]
async fn the_smaller_validity_goes_to_the_carrier() {
    let ogene = Setup::new()
        .set("gateways.direct-refund.validity", "\"1h\"")
        .start()
        .await;
    for (number, validity) in [(MTN, json!(120)), (GLO, json!("7200"))] {
        ogene
            .sent(with(to(number, "Valid"), json!({"validity": validity})))
            .await;
    }
    let received = ogene.received(2).await;
    let validity = |number: &str| {
        let of = received
            .iter()
            .find(|one| one.submit.destination.digits == number);
        of.expect("it went out").submit.validity_period.clone()
    };
    let period = validity(MTN);
    assert!(
        ["000000000200000R", "000000000159000R"].contains(&&*period),
        "{period}"
    );
    let longer = validity(GLO);
    assert!(
        ["000000010000000R", "000000005959000R"].contains(&&*longer),
        "{longer}"
    );
    ogene.end().await;
}

#[tokio::test]
async fn the_sandbox_schedules_and_replays_alike() {
    let ogene = Ogene::start().await;
    let fields = at(MTN, &in_seconds(3));
    let request = Request::post("/api/sandbox/v2/sms")
        .bearer(&ogene.shop.token)
        .json(&fields)
        .header("idempotency-key", "one");
    let first = ogene.ask(&request).await;
    assert_eq!(
        first.json()["data"]["state"],
        "scheduled",
        "{}",
        first.text()
    );
    assert_eq!(ogene.ask(&request).await.text(), first.text());
    let id = first.json()["data"]["message_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let path = format!("/api/sandbox/v2/delivery-reports?message_id={id}");
    let read = Request::get(&path).bearer(&ogene.shop.token);
    until("it is simulated at its time", async || {
        let report = ogene.ask(&read).await.json();
        (report["data"]["state"] == "completed").then_some(())
    })
    .await;
    // A request with another time is another request.
    let other = with(fields, json!({"send_at": in_seconds(60)}));
    let other = Request::post("/api/sandbox/v2/sms")
        .bearer(&ogene.shop.token)
        .json(&other)
        .header("idempotency-key", "one");
    assert_eq!(ogene.ask(&other).await.code(), "API-2016");
    ogene.end().await;
}
