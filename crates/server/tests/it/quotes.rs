//! The price of a send before it is sent.

use crate::kit::http::{Answer, Request};
use crate::kit::{AIRTEL, MTN, Ogene, SENDER, Setup, operations, to, with};
use domain::AccountStatus;
use serde_json::{Value, json};

async fn ask(ogene: &Ogene, fields: Value) -> Answer {
    let request = Request::post("/api/v2/sms/quote").bearer(&ogene.shop.token);
    ogene.ask(&request.json(&fields)).await
}

async fn quoted(ogene: &Ogene, fields: Value) -> Value {
    let answer = ask(ogene, fields).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["data"].clone()
}

#[tokio::test]
async fn a_quote_is_the_price_of_the_send_and_changes_nothing() {
    let ogene = Ogene::start().await;
    let fields = json!({
        "from": SENDER, "to": [MTN, AIRTEL, "12345"], "body": "\u{201C}Hello\u{201D}", "append_sender": "all", "nobody": 1,
    });
    let before = ogene.total().await;
    let data = quoted(&ogene, fields.clone()).await;
    assert_eq!(data["prepared_body"], format!("\"Hello\" - {SENDER}"));
    assert_eq!(
        data["changes"],
        json!([{"from": "\u{201C}", "to": "\"", "count": 1}, {"from": "\u{201D}", "to": "\"", "count": 1}])
    );
    assert_eq!(data["invalid_recipients"], json!(["12345"]));
    assert_eq!(data["ignored_fields"], json!(["nobody"]));
    assert_eq!(
        (&data["encoding"], &data["sufficient"]),
        (&json!("gsm"), &json!(true))
    );
    assert_eq!((&data["opted_out"], &data["dnd"]), (&json!(0), &json!(0)));
    let networks: Vec<_> = data["by_network"]
        .as_array()
        .expect("a list")
        .iter()
        .collect();
    assert_eq!(networks.len(), 2);
    assert_eq!(networks[0]["network"], "mtn");
    assert_eq!(data["balance"].as_f64(), Some(before));
    assert!((ogene.total().await - before).abs() < f64::EPSILON);
    // The same send after its quote is no duplicate, and it costs the quoted price.
    assert_eq!(quoted(&ogene, fields.clone()).await, data);
    let sent = ogene.sent(fields).await;
    for field in ["cost", "recipients_count", "page_count", "text_changed"] {
        assert_eq!(sent[field], data[field], "{field}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_quote_is_refused_as_its_send_but_for_money_and_duplicates() {
    let mut ogene = Ogene::start().await;
    ogene.sent(to(MTN, "Twice")).await;
    let data = quoted(&ogene, to(MTN, "Twice")).await;
    assert_eq!(data["sufficient"], true);
    for (more, code) in [
        (json!({"from": "Nobody"}), "API-2011"),
        (json!({"to": "1"}), "API-2006"),
        (json!({"body": ""}), "API-2002"),
        (json!({"gateway": "premium"}), "API-2009"),
        (json!({"body": "Your OTP is 483920"}), "API-2013"),
    ] {
        assert_eq!(ask(&ogene, with(to(MTN, "Hello"), more)).await.code(), code);
    }
    ogene.shop = ogene.customer("5.00").await;
    let data = quoted(&ogene, to(MTN, "Too dear")).await;
    assert_eq!(
        (&data["sufficient"], data["balance"].as_f64()),
        (&json!(false), Some(5.0))
    );
    let restricted = ogene.customer("10").await;
    ogene
        .set_status(&restricted, AccountStatus::Restricted)
        .await;
    let request = Request::post("/api/v2/sms/quote").bearer(&restricted.token);
    let answer = ogene.ask(&request.json(&to(MTN, "Hello"))).await;
    assert_eq!(answer.code(), "API-1007");
    ogene.end().await;
}

#[tokio::test]
async fn a_quote_beyond_a_limit_is_refused_and_counts_nothing() {
    let setup = Setup::new()
        .set("velocity.per_recipient_per_hour", "1")
        .set("velocity.per_block_per_hour", "3");
    let mut ogene = setup.start().await;
    let block: Vec<String> = (0..4).map(|last| format!("234805123456{last}")).collect();
    let paused = ask(&ogene, to(&block.join(","), "Block")).await;
    assert_eq!(
        paused.json()["error"]["description"],
        "Block of numbers paused"
    );
    for _ in 0..3 {
        quoted(&ogene, to(MTN, "Velocity")).await;
        quoted(&ogene, to(&block[3], "Velocity")).await;
    }
    ogene.sent(to(MTN, "Velocity")).await;
    let send = ogene.send(to(MTN, "Another")).await;
    let quote = ask(&ogene, to(MTN, "Another")).await;
    assert_eq!((quote.status, quote.code()), (429, "API-3004".to_owned()));
    assert_eq!(
        quote.json()["error"]["description"],
        send.json()["error"]["description"]
    );
    ogene.shop = ogene.customer("1000.00").await;
    let store = ogene.store().await;
    let limit = Some("7.00".parse().expect("an amount"));
    let accounts = operations(&store);
    let set = accounts.accounts().set_daily_limit(ogene.shop.id, limit);
    set.await.expect("set");
    store.close().await;
    quoted(&ogene, to(AIRTEL, "Daily")).await;
    let quote = ask(&ogene, to(&format!("{AIRTEL},{MTN}"), "Daily")).await;
    assert_eq!(
        quote.json()["error"]["description"],
        "Daily spend limit reached"
    );
    ogene.end().await;
}

#[tokio::test]
async fn a_quote_counts_as_a_read() {
    let ogene = Setup::new()
        .set("limits.sends_per_minute", "1")
        .set("limits.reads_per_minute", "2")
        .start()
        .await;
    for _ in 0..2 {
        assert_eq!(ask(&ogene, to(MTN, "Rate")).await.status, 200);
    }
    let answer = ask(&ogene, to(MTN, "Rate")).await;
    assert_eq!(answer.code(), "API-3004");
    assert_eq!(answer.header("x-ratelimit-limit"), Some("2"));
    ogene.sent(to(MTN, "Rate")).await;
    ogene.end().await;
}

#[tokio::test]
async fn the_sandbox_quotes_with_its_own_wallet() {
    let ogene = Ogene::start().await;
    let request = Request::post("/api/sandbox/v2/sms/quote").bearer(&ogene.shop.token);
    let request = request.json(&to("2348000000007", "Hello"));
    let data = ogene.ask(&request).await.json()["data"].clone();
    assert_eq!(data["sandbox"], true);
    assert_eq!(data["balance"].as_f64(), Some(10_000.0));
    let by_get = Request::get("/api/v2/sms/quote").bearer(&ogene.shop.token);
    assert_eq!(ogene.ask(&by_get).await.code(), "API-4050");
    ogene.end().await;
}
