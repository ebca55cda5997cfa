//! Carriers by HTTP that take several recipients in one request.

use crate::http_carriers::{Aggregator, Reply, receive, with};
use crate::kit::http::Request;
use crate::kit::{MTN, Ogene, SENDER, Setup, numbers, to, until};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Recipients in one request at most.
const MOST: usize = 10;

/// Returns an installation whose carrier answers for each recipient, by number.
fn bulk(aggregator: &Aggregator) -> Setup {
    in_order(aggregator).set("carriers.mtn.submit.to", r#""/number""#)
}

/// Returns an installation whose carrier answers for each recipient, in their order.
fn in_order(aggregator: &Aggregator) -> Setup {
    with(aggregator)
        .set("carriers.mtn.recipients_per_request", &MOST.to_string())
        .set(
            "carriers.mtn.submit.json",
            r#"{ to = ["{to}"], from = "{from}", text = "{body}", ref = "{id}" }"#,
        )
        .set("carriers.mtn.submit.items", r#""/all""#)
        .set("carriers.mtn.submit.id", r#""/id""#)
        .set("carriers.mtn.response_timeout", r#""2s""#)
        .set("gateways.direct-refund.in_doubt", r#""hold""#)
}

/// Returns a text to three numbers of one network.
fn to_three(text: &str) -> Value {
    json!({"from": SENDER, "to": numbers(3), "body": text})
}

/// Returns the recipients of each request.
fn asked(aggregator: &Aggregator) -> Vec<Vec<String>> {
    let asked = aggregator.asked();
    let numbers = asked.iter().map(|one| one["to"].as_array().unwrap());
    let texts = numbers.map(|all| all.iter().map(|one| one.as_str().unwrap().to_owned()));
    texts.map(Iterator::collect).collect()
}

async fn in_doubt(ogene: &Ogene, count: u64) {
    until("recipients are in doubt", async || {
        let doubts = ogene.metric("ogene_in_doubt_total", &[r#"carrier="mtn""#]);
        (doubts.await == count).then_some(())
    })
    .await;
}

#[tokio::test]
async fn recipients_of_one_text_share_a_request() {
    let aggregator = Aggregator::start([]).await;
    let ogene = bulk(&aggregator).start().await;
    let all = numbers(25);
    let message = json!({"from": SENDER, "to": all, "body": "Hello"});
    let id = ogene.sent_id(message).await;
    until("everybody was sent to", async || {
        (asked(&aggregator).concat().len() == 25).then_some(())
    })
    .await;
    let requests = asked(&aggregator);
    let sizes: Vec<usize> = requests.iter().map(Vec::len).collect();
    let mut sorted = sizes.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [5, 10, 10]);
    let sent: BTreeSet<String> = requests.concat().into_iter().collect();
    assert_eq!(sent, all.into_iter().collect(), "each once");
    let references = aggregator.asked();
    assert_ne!(references[0]["ref"], references[1]["ref"]);
    // Each recipient has an id, and a receipt of its own.
    for (number, size) in (1..).zip(sizes) {
        for place in 0..size {
            receive(&ogene, format!("{number}-{place}"), "Delivered").await;
        }
    }
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 25]);
    assert_eq!(ogene.total().await.to_string(), "850");
    ogene.end().await;
}

#[tokio::test]
async fn recipients_of_other_texts_have_other_requests() {
    let aggregator = Aggregator::start([]).await;
    let ogene = bulk(&aggregator).start().await;
    let row = |to: &str, name: &str| json!({"to": to, "variables": {"name": name}});
    let all = numbers(3);
    let rows = [
        row(&all[0], "Ada"),
        row(&all[1], "Obi"),
        row(&all[2], "Obi"),
    ];
    let fields = json!({"from": SENDER, "body": "Hello {name}", "messages": rows});
    let request = Request::post("/api/v2/sms/personalised").bearer(&ogene.shop.token);
    assert_eq!(ogene.ask(&request.json(&fields)).await.status, 200);
    until("everybody was sent to", async || {
        (asked(&aggregator).concat().len() == 3).then_some(())
    })
    .await;
    for request in aggregator.asked() {
        let text = if request["to"] == json!(all[..1]) {
            "Hello Ada"
        } else {
            assert_eq!(request["to"], json!(all[1..]));
            "Hello Obi"
        };
        assert_eq!(request["text"], text);
    }
    assert_eq!(aggregator.asked().len(), 2);
    ogene.end().await;
}

#[tokio::test]
async fn a_partial_refusal_settles_each_recipient_by_its_own_result() {
    let results = &[(0, "ok"), (1, "bad_number"), (2, "busy")];
    let aggregator = Aggregator::start([Reply::Results(results)]).await;
    let ogene = bulk(&aggregator).start().await;
    let id = ogene.sent_id(to_three("Hello")).await;
    aggregator.asked_at_least(2).await;
    let requests = asked(&aggregator);
    let [first, again] = &requests[..] else {
        panic!("{requests:?}")
    };
    assert_eq!(first.len(), 3);
    assert_eq!(*again, [first[2].clone()], "the busy one is sent again");
    for id in ["1-0", "2-0"] {
        receive(&ogene, id, "Delivered").await;
    }
    let mut outcome = ogene.outcome(&id).await;
    outcome.sort();
    assert_eq!(outcome, ["delivrd", "delivrd", "rejectd"]);
    assert_eq!(ogene.total().await.to_string(), "988", "one is refunded");
    assert_eq!(asked(&aggregator).len(), 2);
    ogene.end().await;
}

#[tokio::test]
async fn a_recipient_without_a_result_is_in_doubt_and_sent_once() {
    let aggregator = Aggregator::start([Reply::Results(&[(0, "ok"), (2, "ok")])]).await;
    let ogene = bulk(&aggregator).start().await;
    let id = ogene.sent_id(to_three("Hello")).await;
    in_doubt(&ogene, 1).await;
    for id in ["1-0", "1-2"] {
        receive(&ogene, id, "Delivered").await;
    }
    until("the others are delivered", async || {
        let statuses = ogene.statuses(&id).await;
        let delivered = statuses.iter().filter(|status| *status == "delivrd");
        (delivered.count() == 2).then_some(())
    })
    .await;
    assert_eq!(asked(&aggregator).len(), 1);
    assert_eq!(ogene.total().await.to_string(), "982", "charged once each");
    ogene.end().await;
}

#[tokio::test]
async fn results_in_order_have_as_many_places_as_recipients() {
    let short = Reply::Results(&[(0, "ok"), (1, "bad_number")]);
    let whole = Reply::Results(&[(0, "bad_number"), (1, "ok"), (2, "ok")]);
    let aggregator = Aggregator::start([short, whole]).await;
    let ogene = in_order(&aggregator).start().await;
    ogene.sent_id(to_three("Hello")).await;
    in_doubt(&ogene, 3).await;
    assert_eq!(
        ogene.total().await.to_string(),
        "982",
        "nothing is refunded"
    );
    ogene.sent_id(to_three("Hello again")).await;
    until("the refused one is refunded", async || {
        (ogene.total().await.to_string() == "970").then_some(())
    })
    .await;
    assert_eq!(asked(&aggregator).len(), 2);
    ogene.end().await;
}

#[tokio::test]
async fn a_time_out_leaves_all_recipients_in_doubt() {
    let aggregator = Aggregator::start([Reply::Silence, Reply::Code(502, "")]).await;
    let ogene = bulk(&aggregator).start().await;
    for (text, count) in [("Hello", 3), ("Hello again", 6)] {
        ogene.sent_id(to_three(text)).await;
        in_doubt(&ogene, count).await;
    }
    assert_eq!(asked(&aggregator).len(), 2, "nothing is sent again");
    assert_eq!(ogene.total().await.to_string(), "964", "charged once each");
    ogene.end().await;
}

#[tokio::test]
async fn recipients_that_are_refused_together_are_sent_alone() {
    let refused = Reply::Code(400, "bad_number");
    let aggregator = Aggregator::start([refused, Reply::Accept, refused]).await;
    let ogene = bulk(&aggregator)
        .set("carriers.mtn.window", "1")
        .start()
        .await;
    let id = ogene.sent_id(to_three("Hello")).await;
    aggregator.asked_at_least(4).await;
    let sizes: Vec<usize> = asked(&aggregator).iter().map(Vec::len).collect();
    assert_eq!(sizes, [3, 1, 1, 1]);
    for number in [2, 4] {
        receive(&ogene, format!("{number}-0"), "Delivered").await;
    }
    let mut outcome = ogene.outcome(&id).await;
    outcome.sort();
    assert_eq!(outcome, ["delivrd", "delivrd", "rejectd"]);
    assert_eq!(ogene.total().await.to_string(), "988");
    let together = ogene.metric("ogene_responses_total", &["refused together"]);
    assert_eq!(together.await, 3);
    ogene.end().await;
}

#[tokio::test]
async fn the_window_counts_requests_and_not_recipients() {
    let aggregator = Aggregator::start([]).await;
    aggregator.gate.send_replace(false);
    let ogene = bulk(&aggregator)
        .set("carriers.mtn.window", "2")
        .set("carriers.mtn.response_timeout", r#""30s""#)
        .start()
        .await;
    let message = json!({"from": SENDER, "to": numbers(45), "body": "Hello"});
    ogene.sent_id(message).await;
    aggregator.asked_at_least(2).await;
    let used = ogene.metric("ogene_window_used", &["mtn"]);
    assert_eq!(used.await, 2);
    assert_eq!(asked(&aggregator).concat().len(), 2 * MOST);
    aggregator.gate.send_replace(true);
    until("everybody was sent to", async || {
        (asked(&aggregator).concat().len() == 45).then_some(())
    })
    .await;
    assert_eq!(aggregator.book.lock().unwrap().most_at_once, 2);
    ogene.end().await;
}

#[tokio::test]
async fn a_kill_between_request_and_answer_sends_nobody_twice() {
    let aggregator = Aggregator::start([Reply::Accept, Reply::Silence]).await;
    let mut ogene = bulk(&aggregator)
        .set("carriers.mtn.window", "1")
        .set("carriers.mtn.response_timeout", r#""1m""#)
        .start()
        .await;
    let message = json!({"from": SENDER, "to": numbers(15), "body": "Hello"});
    let id = ogene.sent_id(message).await;
    aggregator.asked_at_least(2).await;
    receive(&ogene, "1-0", "Delivered").await;
    until("the answer of the first request is kept", async || {
        let statuses = ogene.statuses(&id).await;
        statuses.contains(&"delivrd".to_owned()).then_some(())
    })
    .await;
    ogene.kill().await;
    ogene.serve().await;
    // A later message shows that the carrier is sent to again.
    let later = ogene.sent_id(to(MTN, "Later")).await;
    aggregator.asked_at_least(3).await;
    receive(&ogene, "3-0", "Delivered").await;
    assert_eq!(ogene.outcome(&later).await, ["delivrd"]);
    for place in 1..MOST {
        receive(&ogene, format!("1-{place}"), "Delivered").await;
    }
    until("the accepted ones are delivered", async || {
        let statuses = ogene.statuses(&id).await;
        let delivered = statuses.iter().filter(|status| *status == "delivrd");
        (delivered.count() == MOST).then_some(())
    })
    .await;
    assert_eq!(asked(&aggregator).len(), 3, "nobody is sent to twice");
    assert_eq!(ogene.total().await.to_string(), "904", "charged once each");
    ogene.end().await;
}
