//! Idempotency keys: a request that is repeated with its key gets the first answer, and nothing is
//! sent or charged.

use crate::kit::http::{Answer, Request};
use crate::kit::{GLO, MTN, Ogene, SENDER, Setup, to, until, with};
use serde_json::{Value, json};
use tokio::task::JoinSet;

const KEY: &str = "idempotency-key";

fn keyed(ogene: &Ogene, key: &str, fields: &Value) -> Request {
    Request::send(&ogene.shop.token, fields).header(KEY, key)
}

async fn ask(ogene: &Ogene, key: &str, fields: Value) -> Answer {
    ogene.ask(&keyed(ogene, key, &fields)).await
}

fn is_replay(answer: &Answer) -> bool {
    answer.header("idempotent-replayed") == Some("true")
}

#[tokio::test]
async fn a_repeated_request_is_answered_alike_and_charged_once() {
    let ogene = Ogene::start().await;
    let fields = with(to(MTN, "Once"), json!({"nothing_reads_it": 1}));
    let first = ask(&ogene, "order-1", fields.clone()).await;
    assert_eq!(first.status, 200, "{}", first.text());
    assert!(!is_replay(&first));
    let charged = ogene.total().await;
    let again = ask(&ogene, "order-1", fields.clone()).await;
    assert_eq!((again.status, again.text()), (200, first.text()));
    assert!(is_replay(&again));
    assert_eq!(
        again.header("content-type"),
        first.header("content-type"),
        "the same form"
    );
    assert!(again.header("x-ratelimit-remaining").is_some());
    assert!((ogene.total().await - charged).abs() < f64::EPSILON);
    // Without the key the request is a duplicate.
    assert_eq!(ogene.send(fields).await.code(), "API-2012");
    ogene.end().await;
}

#[tokio::test]
async fn notation_order_and_aliases_make_no_other_request() {
    let ogene = Ogene::start().await;
    let first = json!({"from": SENDER, "to": [MTN, GLO], "body": "Same"});
    let first = ask(&ogene, "one", first).await;
    assert_eq!(first.status, 200, "{}", first.text());
    let local = format!("0{}", &GLO[3..]);
    let form = [
        ("body", "Same"),
        ("to", &*format!("{local},{MTN}")),
        ("from", &SENDER.to_lowercase()),
        ("gateway", "direct-refund"),
        ("ignored", "x"),
    ];
    let token = &ogene.shop.token;
    let by_form = Request::post("/api/v2/sms/create")
        .bearer(token)
        .form(&form);
    let query = crate::kit::http::encoded(&form);
    let by_query = Request::get(&format!("/api/v2/sms?{query}")).bearer(token);
    for request in [by_form, by_query] {
        let answer = ogene.ask(&request.header(KEY, "one")).await;
        assert_eq!(answer.text(), first.text());
        assert!(is_replay(&answer));
    }
    let legacy = Request::post("/api/v1/sms/create")
        .bearer(token)
        .form(&form);
    let other = ogene.ask(&legacy.header(KEY, "one")).await;
    assert_eq!((other.status, other.code()), (422, "API-2016".to_owned()));
    ogene.end().await;
}

#[tokio::test]
async fn the_legacy_send_replays_its_own_shape() {
    let ogene = Ogene::start().await;
    let fields = to(MTN, "Legacy");
    let request = Request::post("/api/v1/sms/create")
        .bearer(&ogene.shop.token)
        .json(&fields)
        .header(KEY, "legacy");
    let first = ogene.ask(&request).await;
    assert_eq!(first.status, 200, "{}", first.text());
    let again = ogene.ask(&request).await;
    assert_eq!(again.text(), first.text());
    assert!(is_replay(&again) && again.json()["success"] == true);
    ogene.end().await;
}

#[tokio::test]
async fn a_refused_request_can_be_mended_under_its_key() {
    let ogene = Ogene::start().await;
    let unknown = with(to(MTN, "Mend"), json!({"from": "Nobody"}));
    assert_eq!(ask(&ogene, "one", unknown).await.code(), "API-2011");
    let dear = with(to(MTN, "Mend"), json!({"to": crate::kit::numbers(10_000)}));
    assert_eq!(ask(&ogene, "one", dear).await.code(), "API-3001");
    let mended = ask(&ogene, "one", to(MTN, "Mend")).await;
    assert_eq!(mended.status, 200, "{}", mended.text());
    let other = ask(&ogene, "one", to(GLO, "Mend")).await;
    assert_eq!((other.status, other.code()), (422, "API-2016".to_owned()));
    ogene.end().await;
}

#[tokio::test]
async fn a_replay_comes_before_whatever_depends_on_state() {
    let mut ogene = Ogene::start().await;
    let first = ask(&ogene, "one", to(MTN, "Meet me at the casino")).await;
    assert_eq!(first.status, 200, "{}", first.text());
    ogene
        .reload(&[("content.prohibited", "[\"casino\"]")])
        .await;
    until("the phrase is refused", async || {
        let other = ogene.send(to(GLO, "The casino is open")).await;
        (other.code() == "API-2010").then_some(())
    })
    .await;
    let again = ask(&ogene, "one", to(MTN, "Meet me at the casino")).await;
    assert_eq!(again.text(), first.text());
    assert!(is_replay(&again));
    ogene.end().await;
}

#[tokio::test]
async fn the_key_of_a_request_has_a_form() {
    let ogene = Ogene::start().await;
    let longest = "k".repeat(255);
    let answer = ask(&ogene, &longest, to(MTN, "Longest")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let too_long = "k".repeat(256);
    for key in ["", "two words", "\u{1EB9}", &too_long] {
        let answer = ask(&ogene, key, to(GLO, "Form")).await;
        assert_eq!((answer.status, answer.code()), (400, "API-2000".to_owned()));
        assert!(answer.text().contains("Idempotency-Key"), "{key:?}");
    }
    let twice = keyed(&ogene, "a", &to(GLO, "Form")).header(KEY, "b");
    assert_eq!(ogene.ask(&twice).await.code(), "API-2000");
    let stranger = Request::send("nobody", &to(GLO, "Form")).header(KEY, "two words");
    assert_eq!(ogene.ask(&stranger).await.code(), "API-1001");
    ogene.end().await;
}

#[tokio::test]
async fn a_replay_counts_against_the_rate() {
    let ogene = Setup::new()
        .set("limits.sends_per_minute", "2")
        .start()
        .await;
    assert_eq!(ask(&ogene, "one", to(MTN, "Rate")).await.status, 200);
    assert!(is_replay(&ask(&ogene, "one", to(MTN, "Rate")).await));
    assert_eq!(ask(&ogene, "one", to(MTN, "Rate")).await.code(), "API-3004");
    ogene.end().await;
}

#[tokio::test]
async fn a_key_of_the_sandbox_is_none_of_the_live_service() {
    let ogene = Ogene::start().await;
    let sandbox = Request::post("/api/sandbox/v2/sms")
        .bearer(&ogene.shop.token)
        .json(&to(MTN, "Sandbox"))
        .header(KEY, "one");
    let first = ogene.ask(&sandbox).await;
    assert_eq!(first.status, 200, "{}", first.text());
    let again = ogene.ask(&sandbox).await;
    assert_eq!(again.text(), first.text());
    assert!(is_replay(&again));
    let live = ask(&ogene, "one", to(MTN, "Live")).await;
    assert_eq!(live.status, 200, "{}", live.text());
    assert!(!is_replay(&live));
    ogene.end().await;
}

#[tokio::test]
async fn a_key_in_use_is_refused_until_the_first_request_ends() {
    let ogene = Ogene::start().await;
    let held = ogene.hold_commits();
    let request = keyed(&ogene, "one", &to(MTN, "Slow"));
    let (address, mut asked) = (ogene.address, JoinSet::new());
    for _ in 0..2 {
        let request = request.clone();
        asked.spawn(async move { crate::kit::http::try_ask(address, &request).await });
    }
    let refused = asked.join_next().await.expect("one").expect("it ends");
    let refused = refused.expect("an answer");
    assert_eq!(refused.status, 409, "{}", refused.text());
    assert_eq!(refused.code(), "API-2018");
    assert_eq!(refused.header("retry-after"), Some("1"));
    drop(held);
    let first = asked.join_next().await.expect("two").expect("it ends");
    let first = first.expect("an answer");
    assert_eq!(first.status, 200, "{}", first.text());
    let again = ogene.ask(&request).await;
    assert_eq!(again.text(), first.text());
    ogene.end().await;
}

#[tokio::test]
async fn an_answer_outlasts_the_process() {
    let mut ogene = Ogene::start().await;
    let first = ask(&ogene, "one", to(MTN, "Restart")).await;
    assert_eq!(first.status, 200, "{}", first.text());
    ogene.restart().await;
    let again = ask(&ogene, "one", to(MTN, "Restart")).await;
    assert_eq!(again.text(), first.text());
    assert!(is_replay(&again));
    ogene.end().await;
}
