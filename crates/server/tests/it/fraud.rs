//! Limits against fraud: the daily limit of an account, velocity limits, and prohibited phrases.

use crate::kit::http::Request;
use crate::kit::{AIRTEL, GLO, MTN, Ogene, Setup, operations, to, until};
use engine::operators::PageRequest;
use serde_json::{Value, json};

#[tokio::test]
async fn a_send_over_the_daily_limit_is_refused_and_not_charged() {
    const REASON: &str =
        r#"ogene_http_refusals_total{code="API-3004",reason="Daily spend limit reached"}"#;
    let ogene = Ogene::start().await;
    let store = ogene.store().await;
    let limit = Some("13.00".parse().expect("an amount"));
    operations(&store)
        .accounts()
        .set_daily_limit(ogene.shop.id, limit)
        .await
        .expect("set");
    store.close().await;
    let before = ogene.metric(REASON, &[]).await;

    ogene.sent(to(MTN, "Good morning")).await;
    ogene.sent(to(AIRTEL, "Good morning")).await;
    let refused = ogene.send(to(GLO, "Good morning")).await;
    assert_eq!(refused.status, 429, "{}", refused.text());
    let error = refused.json();
    assert_eq!(error["code"], "API-3004");
    let message = error["error"]["message"].as_str().expect("a text");
    for part in ["13.00 NGN", "1.00 NGN are left", "6.00 NGN are", "midnight"] {
        assert!(message.contains(part), "{message}");
    }
    let again = refused.header("retry-after").expect("when to retry");
    assert!((1..=86_400).contains(&again.parse::<u32>().expect("seconds")));
    // This is not the time until the rate limit allows a request.
    assert_eq!(refused.header("x-ratelimit-reset"), Some(again));
    assert!((ogene.total().await - 988.0).abs() < f64::EPSILON);
    assert!(ogene.metric(REASON, &[]).await > before);

    let sandbox = Request::post("/api/sandbox/v2/sms").bearer(&ogene.shop.token);
    let simulated = ogene.ask(&sandbox.json(&to(GLO, "Good morning"))).await;
    assert_eq!(simulated.status, 200, "{}", simulated.text());
    ogene.end().await;
}

#[tokio::test]
async fn a_number_gets_at_most_its_hourly_messages_of_an_account() {
    const REASON: &str =
        r#"ogene_http_refusals_total{code="API-3004",reason="Too many messages to a number"}"#;
    let setup = Setup::new().set("velocity.per_recipient_per_hour", "2");
    let ogene = setup.start().await;
    let before = ogene.metric(REASON, &[]).await;
    // A refused send is not counted: this one is a duplicate.
    ogene.sent(to(MTN, "First")).await;
    assert_eq!(ogene.send(to(MTN, "First")).await.status, 409);
    ogene.sent(to(MTN, "Second")).await;
    assert_eq!(ogene.send(to(MTN, "Second")).await.status, 409);
    let both = format!("{AIRTEL},{MTN}");
    let refused = ogene.send(to(&both, "Third")).await;
    assert_eq!(refused.status, 429, "{}", refused.text());
    assert_eq!(refused.json()["code"], "API-3004");
    assert_eq!(
        refused.json()["error"]["description"],
        "Too many messages to a number"
    );
    assert!(!refused.text().contains(MTN), "{}", refused.text());
    assert!(refused.header("retry-after").is_some());
    assert!(ogene.metric(REASON, &[]).await > before);
    assert!((ogene.total().await - 988.0).abs() < f64::EPSILON);
    ogene.sent(to(AIRTEL, "Third")).await;
    let sandbox = Request::post("/api/sandbox/v2/sms").bearer(&ogene.shop.token);
    let simulated = ogene.ask(&sandbox.json(&to(MTN, "Fourth"))).await;
    assert_eq!(simulated.status, 200, "{}", simulated.text());
    ogene.end().await;
}

#[tokio::test]
async fn a_block_that_gets_too_much_is_paused_until_it_is_released() {
    const PAUSED: &str =
        r#"ogene_http_refusals_total{code="API-3004",reason="Block of numbers paused"}"#;
    let setup = Setup::new().set("velocity.per_block_per_hour", "3");
    let mut ogene = setup.start().await;
    let (refusals, so_far) = (
        ogene.metric(PAUSED, &[]).await,
        ogene.metric("ogene_velocity_pauses_total", &[]).await,
    );
    let block: Vec<String> = (0..4).map(|last| format!("234803123456{last}")).collect();
    let allowed = to(&block[..3].join(","), "Win");
    ogene.sent(allowed.clone()).await;
    // A repeated send is a duplicate, and no reason for a pause.
    assert_eq!(ogene.send(allowed.clone()).await.status, 409);
    for _ in 0..2 {
        let refused = ogene.send(to(&block[3], "Win")).await;
        assert_eq!(refused.status, 429, "{}", refused.text());
        assert_eq!(
            refused.json()["error"]["description"],
            "Block of numbers paused"
        );
    }
    assert!((ogene.total().await - 982.0).abs() < f64::EPSILON);
    assert!(ogene.metric(PAUSED, &[]).await >= refusals + 2);
    assert!(ogene.metric("ogene_velocity_pauses_total", &[]).await > so_far);
    // Other blocks and other accounts are not paused.
    ogene.sent(to(AIRTEL, "Win")).await;
    let other = ogene.customer("10.00").await;
    let sent = ogene
        .ask(&Request::send(&other.token, &to(&block[3], "Win")))
        .await;
    assert_eq!(sent.status, 200, "{}", sent.text());

    ogene.restart().await;
    assert_eq!(ogene.send(to(&block[3], "Win")).await.status, 429);
    let store = ogene.store().await;
    let paused = operations(&store)
        .velocity()
        .paused(&PageRequest::default())
        .await
        .expect("a list")
        .items;
    assert_eq!(paused.len(), 1);
    assert_eq!(paused[0].block.to_string(), "2348031234***");
    let released = operations(&store)
        .velocity()
        .release(ogene.shop.id, paused[0].block);
    released.await.expect("released");
    let audit = operations(&store)
        .audit()
        .list(Some(ogene.shop.id), &PageRequest::default())
        .await
        .expect("entries")
        .items;
    store.close().await;
    assert_eq!(audit[0].verb, "velocity.release");
    assert_eq!(audit[1].verb, "velocity.pause");
    assert!(audit[1].actor.starts_with("node:"), "{:?}", audit[1]);
    until("the block is open", async || {
        let answer = ogene.send(to(&block[3], "Win")).await;
        (answer.status == 200).then_some(())
    })
    .await;
    ogene.end().await;
}

#[tokio::test]
async fn a_phrase_is_refused_between_its_adding_and_removal() {
    let setup = Setup::new().set("content.prohibited", r#"["double your money"]"#);
    let ogene = setup.start().await;
    let store = ogene.store().await;
    let casino = to(MTN, "Visit our Cásino today");
    let add = operations(&store).content().add("CASINO");
    assert_eq!(add.await.expect("added"), "casino");
    // Each send has another text, because it would be a duplicate otherwise.
    let mut count = 0;
    let mut sends = async |text: &str| {
        count += 1;
        ogene.send(to(MTN, &format!("{text} {count}"))).await
    };
    let refused = until("the phrase is refused", async || {
        let answer = sends("Visit our casino").await;
        (answer.status == 422).then_some(answer)
    })
    .await;
    assert_eq!(refused.json()["code"], "API-2010");
    assert_eq!(ogene.send(casino.clone()).await.status, 422);
    let configured = ogene.send(to(MTN, "Double your money")).await;
    assert_eq!(configured.json()["code"], "API-2010");
    ogene.sent(to(MTN, "Casinos")).await;

    let remove = operations(&store).content().remove("Casino");
    remove.await.expect("removed");
    until("the phrase is carried", async || {
        (ogene.send(casino.clone()).await.status == 200).then_some(())
    })
    .await;
    store.close().await;
    ogene.end().await;
}

#[tokio::test]
async fn limits_of_the_configuration_are_in_the_audit_once() {
    let mut ogene = Setup::new()
        .set("velocity.per_block_per_hour", "200")
        .set("content.prohibited", r#"["Call 08031234567"]"#)
        .set("gateways.otp.quiet_hours", r#""23:30-05:00""#)
        .start()
        .await;
    ogene.restart().await;
    let store = ogene.store().await;
    let entries = operations(&store)
        .audit()
        .list(None, &PageRequest::default())
        .await
        .expect("entries")
        .items;
    store.close().await;
    let of_limits = entries.iter().filter(|one| one.verb == "limits.configure");
    let [entry] = of_limits.collect::<Vec<_>>()[..] else {
        panic!("{entries:?}")
    };
    assert!(entry.actor.starts_with("node:"), "{entry:?}");
    assert_eq!(entry.before, "null");
    let after: Value = serde_json::from_str(&entry.after).expect("JSON");
    let velocity = json!({
        "per_recipient_per_hour": null, "per_block_per_hour": 200, "pause_ms": 3_600_000,
    });
    assert_eq!(
        after,
        json!({
            "velocity": velocity,
            "prohibited": ["call 0803123****"],
            "quiet_hours": {"otp": "23:30-05:00"},
        })
    );
    ogene.end().await;
}
