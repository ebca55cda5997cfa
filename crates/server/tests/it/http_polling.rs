//! Carriers by HTTP that are asked for the states of messages.

use crate::carrier_testing::{names, test};
use crate::http_carriers::{Aggregator, with};
use crate::kit::{MTN, Ogene, SENDER, Setup, numbers, to, until};
use crate::odd_carriers::logged;
use domain::DeliveryStatus;
use serde_json::json;
use std::time::Duration;

/// Returns an installation whose carrier posts no receipts, and is asked each second.
fn polling(aggregator: &Aggregator) -> Setup {
    let url = format!("\"{}/state/{{id}}\"", aggregator.url);
    with(aggregator)
        .without("carriers.mtn.receipts")
        .set(
            "carriers.mtn.receipts.states",
            r#"{ DELIVRD = ["Delivered"], UNDELIV = ["Failed"] }"#,
        )
        .set("carriers.mtn.receipts.poll.url", &url)
        .set(
            "carriers.mtn.receipts.poll.headers",
            r#"{ "x-api-key" = "{token}" }"#,
        )
        .set("carriers.mtn.receipts.poll.state", r#""/message/status""#)
        .set("carriers.mtn.receipts.poll.interval", r#""1s""#)
}

fn answer_with(aggregator: &Aggregator, status: u16, word: &'static str) {
    aggregator.book.lock().unwrap().state = Some((status, word));
}

fn polled(aggregator: &Aggregator) -> Vec<String> {
    aggregator.book.lock().unwrap().polled.clone()
}

async fn polled_at_least(aggregator: &Aggregator, count: usize) {
    until("the states are asked for", async || {
        (polled(aggregator).len() >= count).then_some(())
    })
    .await;
}

async fn no_polls_are_left(ogene: &Ogene) {
    until("no state is to be asked for", async || {
        (ogene.sql("select count(*) from receipt_polls") == "0").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_state_is_asked_for_until_it_is_final() {
    let aggregator = Aggregator::start([]).await;
    let ogene = polling(&aggregator).start().await;
    let long = ogene.sent_id(to(MTN, &"Dear customer, ".repeat(30))).await;
    // Neither an intermediate state nor an answer without one ends it.
    polled_at_least(&aggregator, 1).await;
    answer_with(&aggregator, 404, "unknown");
    let before = polled(&aggregator).len();
    polled_at_least(&aggregator, before + 2).await;
    assert_eq!(ogene.statuses(&long).await, ["sent awaiting status"]);
    answer_with(&aggregator, 200, "Delivered");
    assert_eq!(ogene.outcome(&long).await, ["delivrd"]);
    no_polls_are_left(&ogene).await;
    assert!(polled(&aggregator).iter().all(|id| id == "1"));
    assert_eq!(aggregator.asked().len(), 1);
    answer_with(&aggregator, 200, "Failed");
    let failed = ogene.sent_id(to(MTN, "Hello")).await;
    assert_eq!(ogene.outcome(&failed).await, ["undeliv"]);
    assert_eq!(
        ogene.total().await.to_string(),
        "982",
        "the second is refunded"
    );
    ogene.end().await;
}

#[tokio::test]
async fn answers_without_a_state_leave_one_line_a_minute() {
    let aggregator = Aggregator::start([]).await;
    answer_with(&aggregator, 404, "unknown");
    let mut ogene = polling(&aggregator).start().await;
    ogene.stop().await;
    let log = logged(&mut ogene, async |ogene| {
        let message = json!({"from": SENDER, "to": numbers(10), "body": "Dear customer"});
        ogene.sent_id(message).await;
        // Each message is due a second time only after its first answer.
        polled_at_least(&aggregator, 20).await;
        Some(())
    })
    .await;
    let lines = log.lines().filter(|line| line.contains("HTTP 404 without"));
    assert_eq!(lines.count(), 1, "{log}");
    ogene.end().await;
}

#[tokio::test]
async fn polling_goes_on_after_a_restart_and_a_crash() {
    let aggregator = Aggregator::start([]).await;
    let mut ogene = polling(&aggregator).start().await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    polled_at_least(&aggregator, 1).await;
    ogene.restart().await;
    let before = polled(&aggregator).len();
    polled_at_least(&aggregator, before + 1).await;
    ogene.kill().await;
    answer_with(&aggregator, 200, "Delivered");
    ogene.serve().await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    no_polls_are_left(&ogene).await;
    ogene.end().await;
}

#[tokio::test]
async fn the_window_bounds_the_requests_for_states() {
    let aggregator = Aggregator::start([]).await;
    let ogene = polling(&aggregator)
        .set("carriers.mtn.window", "5")
        .set("carriers.mtn.receipts.poll.interval", r#""3s""#)
        .start()
        .await;
    let message = json!({"from": SENDER, "to": numbers(20), "body": "Dear customer"});
    let id = ogene.sent_id(message).await;
    until("all are submitted", async || {
        (ogene.sql("select count(*) from receipt_polls") == "20").then_some(())
    })
    .await;
    aggregator.gate.send_replace(false);
    aggregator.book.lock().unwrap().most_at_once = 0;
    polled_at_least(&aggregator, 5).await;
    answer_with(&aggregator, 200, "Delivered");
    aggregator.gate.send_replace(true);
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 20]);
    assert!(aggregator.book.lock().unwrap().most_at_once <= 5);
    no_polls_are_left(&ogene).await;
    ogene.end().await;
}

#[tokio::test]
async fn polling_ends_with_its_period() {
    let aggregator = Aggregator::start([]).await;
    let ogene = polling(&aggregator)
        .set("carriers.mtn.receipts.poll.period", r#""3s""#)
        .start()
        .await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    polled_at_least(&aggregator, 2).await;
    no_polls_are_left(&ogene).await;
    let count = polled(&aggregator).len();
    // The last request is repeated until its end is committed.
    assert!((2..=9).contains(&count), "{count}");
    assert_eq!(ogene.statuses(&id).await, ["sent awaiting status"]);
    ogene.end().await;
}

#[tokio::test]
async fn a_failing_carrier_is_asked_seldom_and_the_last_request_again() {
    let aggregator = Aggregator::start([]).await;
    answer_with(&aggregator, 503, "busy");
    let ogene = polling(&aggregator)
        .set("carriers.mtn.receipts.poll.period", r#""2s""#)
        .start()
        .await;
    let message = json!({"from": SENDER, "to": numbers(10), "body": "Dear customer"});
    let id = ogene.sent_id(message).await;
    polled_at_least(&aggregator, 1).await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    // Each message would be asked for three times or more without pauses.
    let count = polled(&aggregator).len();
    assert!(count < 30, "{count}");
    answer_with(&aggregator, 200, "Delivered");
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 10]);
    no_polls_are_left(&ogene).await;
    ogene.end().await;
}

#[tokio::test]
async fn several_nodes_ask_for_each_state_once() {
    let aggregator = Aggregator::start([]).await;
    answer_with(&aggregator, 200, "Delivered");
    let ogene = polling(&aggregator)
        .set("carriers.mtn.receipts.poll.interval", r#""2s""#)
        .start()
        .await;
    let neighbour = ogene.join().await;
    let message = json!({"from": SENDER, "to": numbers(30), "body": "Dear customer"});
    let id = ogene.sent_id(message).await;
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 30]);
    no_polls_are_left(&ogene).await;
    let mut asked = polled(&aggregator);
    asked.sort_by_key(|id| id.parse::<u64>().ok());
    let all: Vec<String> = (1..=30).map(|id: u64| id.to_string()).collect();
    assert_eq!(asked, all);
    if let Some(neighbour) = neighbour {
        neighbour.stop().await;
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_test_of_a_polled_carrier_asks_by_itself() {
    let aggregator = Aggregator::start([]).await;
    let mut ogene = polling(&aggregator).start().await;
    ogene.stop().await;
    answer_with(&aggregator, 200, "Failed");
    let tested = test(&ogene, "mtn", Duration::from_secs(30)).await;
    let (end, steps) = tested.expect("a test");
    assert_eq!(
        names(&steps),
        ["connected", "submitted", "answer", "response", "receipt"]
    );
    assert_eq!(end.status, Some(DeliveryStatus::Undelivered));
    assert!(end.is_accepted && !end.is_good());
    ogene.end().await;
}

#[tokio::test]
async fn another_ogene_is_asked_for_the_states_of_messages() {
    let carrier = Ogene::start().await;
    let base_url = format!("\"http://{}/api/v2\"", carrier.address);
    let ogene = Setup::new()
        .without_carriers()
        .without("carriers.mtn")
        .set("carriers.mtn.kind", r#""http""#)
        .set("carriers.mtn.preset", r#""ogene""#)
        .set("carriers.mtn.base_url", &base_url)
        .set("carriers.mtn.token", &format!("{:?}", carrier.shop.token))
        .set("carriers.mtn.poll.interval", r#""1s""#)
        .start()
        .await;
    let id = ogene.sent_id(to(MTN, "Hello from one to the other")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    let wait = Duration::from_secs(30);
    let (end, steps) = test(&ogene, "mtn", wait).await.expect("a test");
    // The sender ID of the test is not registered there.
    assert!(!end.is_accepted, "{steps:?}");
    ogene.end().await;
    carrier.end().await;
}
