//! Limits that an operator sets against fraud: what an account spends in a day.

use crate::kit::http::Request;
use crate::kit::{AIRTEL, GLO, MTN, Ogene, operator, to};
use engine::admin;

/// The value of a metric that all installations of this process share, 0 where it is not there yet.
async fn metric(ogene: &Ogene, name: &str) -> u64 {
    let text = ogene.ask(&Request::get("/metrics")).await;
    let line = text.text().lines().find(|line| line.starts_with(name));
    let value = line.and_then(|line| line.rsplit(' ').next());
    value.map_or(0, |value| value.parse().expect("a number"))
}

#[tokio::test]
async fn a_send_over_the_daily_limit_is_refused_until_tomorrow_and_not_charged() {
    const REASON: &str =
        r#"ogene_http_refusals_total{code="API-3004",reason="Daily spend limit reached"}"#;
    let ogene = Ogene::start().await;
    let store = ogene.store().await;
    let limit = Some("13.00".parse().expect("an amount"));
    admin::set_daily_limit(&store, &operator(), ogene.shop.id, limit)
        .await
        .expect("set");
    store.close().await;
    let before = metric(&ogene, REASON).await;

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
    assert!((ogene.total().await - 988.0).abs() < f64::EPSILON);
    assert!(metric(&ogene, REASON).await > before);

    let sandbox = Request::post("/api/sandbox/v2/sms").bearer(&ogene.shop.token);
    let simulated = ogene.ask(&sandbox.json(&to(GLO, "Good morning"))).await;
    assert_eq!(simulated.status, 200, "{}", simulated.text());
    ogene.end().await;
}
