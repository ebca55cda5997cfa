//! Alerts about a low balance (docs/spec/payments.md, section 6).

use crate::callbacks::{hmac, signatures, signed};
use crate::kit::http::{Answer, Request};
use crate::kit::receiver::Receiver;
use crate::kit::{MTN, Ogene, Setup, operations, to, until};
use domain::Component;
use serde_json::{Value, json};
use testkit::SmtpServer;

const ALERTS: &str = "/api/v2/alerts";

async fn add(ogene: &Ogene, fields: Value) -> Answer {
    let add = Request::post(ALERTS).bearer(&ogene.shop.token);
    ogene.ask(&add.json(&fields)).await
}

/// Waits until the first alert of the list is below its threshold, or is not.
async fn is_below(ogene: &Ogene, expected: bool) {
    until("the alert follows the balance", async || {
        let alerts = ogene.read("/alerts").await;
        (alerts["data"]["items"][0]["is_below"] == expected).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_low_balance_is_told_once_and_again_after_it_was_above() {
    let setup = Setup::new().set("limits.reads_per_minute", "100000");
    let (ogene, receiver) = (setup.start().await, Receiver::start().await);
    let fields = json!({"threshold": "995.00", "url": receiver.url});
    let added = add(&ogene, fields).await;
    assert_eq!(added.status, 200, "{}", added.text());
    let id = added.json()["data"]["alert_id"].clone();
    for (round, credit, further) in [(1, "6.00", "12.00"), (2, "7.00", "13.00")] {
        for text in ["Falls", "Stays"] {
            ogene.sent_id(to(MTN, &format!("{text} {round}"))).await;
        }
        is_below(&ogene, true).await;
        let calls = receiver.called(round).await;
        assert_eq!(calls.len(), round, "told once");
        let told = calls[round - 1].json();
        assert_eq!(told["event"], "low_balance");
        assert_eq!(
            (&told["alert_id"], &told["threshold"]),
            (&id, &json!(995.0))
        );
        assert!(told["balance"].as_f64().expect("a number") < 995.0);
        ogene
            .credit(&ogene.shop, further, Component::SmsWallet)
            .await;
        ogene
            .credit(&ogene.shop, credit, Component::MainBalance)
            .await;
        is_below(&ogene, false).await;
    }
    let remove = format!("{ALERTS}/{}", id.as_str().expect("an id"));
    let remove = Request::new("DELETE", &remove).bearer(&ogene.shop.token);
    assert_eq!(ogene.ask(&remove).await.status, 200);
    assert_eq!(ogene.ask(&remove).await.code(), "API-2007");
    assert_eq!(ogene.read("/alerts").await["data"]["items"], json!([]));
    ogene.end().await;
}

#[tokio::test]
async fn an_alert_is_signed_as_callbacks_are() {
    let ogene = Ogene::start().await;
    let (receiver, told) = (Receiver::start().await, Receiver::start().await);
    let store = ogene.store().await;
    let callbacks = operations(&store).callbacks();
    let secret = callbacks.create_secret(ogene.shop.id).await;
    let secret = secret.expect("made").signing.secret.text();
    store.close().await;
    // The running service knows the secret within a second.
    signed(&ogene, &receiver, 1).await;
    let threshold = ogene.total().await - 1.0;
    let fields = json!({"threshold": threshold, "url": told.url});
    let added = add(&ogene, fields).await;
    assert_eq!(added.status, 200, "{}", added.text());
    ogene.sent_id(to(MTN, "Falls")).await;
    let call = told.called(1).await.remove(0);
    assert_eq!(call.field("event"), "low_balance");
    assert_eq!(signatures(&call), [hmac(&secret, &call)].into());
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_alert_is_mailed_once() {
    // More than the mails of one step.
    const COUNT: usize = 12;
    let smtp = SmtpServer::start();
    let setup = Setup::new()
        .set("http.public_url", r#""http://localhost""#)
        .set("mail.server", &format!("{:?}", smtp.address().to_string()))
        .set("mail.tls", r#""off""#)
        .set("mail.from", r#""Ogene <sms@example.ng>""#);
    let ogene = setup.start().await;
    for index in 0..COUNT {
        let email = format!("ada{index}@example.ng");
        let added = add(&ogene, json!({"threshold": "995.00", "email": email})).await;
        assert_eq!(added.status, 200, "{}", added.text());
    }
    ogene.sent_id(to(MTN, "Falls")).await;
    ogene.sent_id(to(MTN, "Stays")).await;
    until("each alert is mailed", async || {
        (smtp.mails().len() >= COUNT).then_some(())
    })
    .await;
    let mails = smtp.mails();
    assert!(mails[0].text.contains("below 995.00 NGN"), "{:?}", mails[0]);
    let mut receivers: Vec<String> = mails.into_iter().flat_map(|mail| mail.to).collect();
    receivers.sort_unstable();
    receivers.dedup();
    assert_eq!((smtp.mails().len(), receivers.len()), (COUNT, COUNT));
    ogene.end().await;
}

#[tokio::test]
async fn an_alert_that_cannot_be_told_is_refused() {
    let ogene = Ogene::start().await;
    for fields in [
        json!({"url": "https://shop.example.ng/low"}),
        json!({"threshold": 0, "url": "https://shop.example.ng/low"}),
        json!({"threshold": 5}),
        json!({"threshold": 5, "url": "ftp://shop.example.ng"}),
        // This installation sends no mail.
        json!({"threshold": 5, "email": "ada@example.ng"}),
    ] {
        let shown = fields.to_string();
        let refused = add(&ogene, fields).await;
        assert_eq!(
            (refused.status, &*refused.code()),
            (400, "API-2000"),
            "{shown}"
        );
    }
    let fields = json!({"threshold": 5, "url": "https://shop.example.ng/low"});
    for _ in 0..20 {
        assert_eq!(add(&ogene, fields.clone()).await.status, 200);
    }
    assert_eq!(add(&ogene, fields).await.code(), "API-3004");
    let page = ogene.read("/alerts?limit=15").await["data"].take();
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    let rest = ogene.read(&format!("/alerts?cursor={cursor}")).await;
    assert_eq!(rest["data"]["items"].as_array().map(Vec::len), Some(5));
    ogene.end().await;
}
