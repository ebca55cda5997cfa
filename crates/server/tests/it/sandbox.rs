//! The sandbox: the same operations, simulated, without any charge (docs/spec/interface.md, section
//! 9).

use crate::kit::http::{Answer, Request};
use crate::kit::receiver::Receiver;
use crate::kit::{MTN, Ogene, Setup, to, until, with};
use serde_json::{Value, json};

async fn send(ogene: &Ogene, fields: Value) -> Answer {
    let request = Request::post("/api/sandbox/v2/sms")
        .bearer(&ogene.shop.token)
        .json(&fields);
    ogene.ask(&request).await
}

async fn report(ogene: &Ogene, id: &str) -> Value {
    let path = format!("/api/sandbox/v2/delivery-reports?message_id={id}");
    ogene
        .ask(&Request::get(&path).bearer(&ogene.shop.token))
        .await
        .json()["data"]
        .clone()
}

#[tokio::test]
async fn a_simulated_send_is_answered_as_a_live_one_and_marked() {
    let ogene = Ogene::start().await;
    insta::assert_snapshot!(testkit::indented(&send(&ogene, to(MTN, "Hello")).await.redacted()), @r#"
    200 {
      "status": "success",
      "code": "API-0000",
      "message": "Message simulated for 1 recipient. Nothing is delivered or charged.",
      "data": {
        "status": "success",
        "message": "Message Sent",
        "message_id": "[uuid]",
        "cost": 6.00,
        "currency": "NGN",
        "recipients_count": 1,
        "gateway_used": "direct-refund",
        "unicode": false,
        "page_count": 1,
        "text_changed": false,
        "removed_characters": 0,
        "scheduled_for": null,
        "state": "sending",
        "total_recipients": 1,
        "balance": 10000.00,
        "sandbox": true
      },
      "success": true
    }
    "#);
    let mut lines = Vec::new();
    for path in ["/balance", "/sender-ids", "/account"] {
        let request = Request::get(&format!("/api/sandbox/v2{path}")).bearer(&ogene.shop.token);
        let answer = ogene.ask(&request).await;
        assert_eq!(
            (answer.status, &answer.json()["data"]["sandbox"]),
            (200, &json!(true)),
            "{path}"
        );
        lines.push(answer);
    }
    insta::assert_snapshot!(testkit::indented(&lines[0].redacted()), @r#"
    200 {
      "status": "success",
      "code": "API-0000",
      "message": "Wallet balance retrieved.",
      "data": {
        "status": "success",
        "message": "Wallet balance retrieved.",
        "balance": 10000.00,
        "total_balance": 10000.00,
        "currency": "NGN",
        "formatted": "NGN 10000.00",
        "sandbox": true
      },
      "balance": {
        "total_balance": 10000.00,
        "universal_wallet": 0.00,
        "sms_wallet": 10000.00,
        "sms_bonus": 0.00,
        "main_balance": 0.00,
        "volume_bonus": 0.00,
        "promo_bonus": 0.00
      }
    }
    "#);
    ogene.end().await;
}

#[tokio::test]
async fn nine_numbers_steer_the_sandbox() {
    let ogene = Ogene::start().await;
    let outcomes = [
        "delivrd",
        "undeliv",
        "expired",
        "rejectd",
        "sent awaiting status",
        "failed",
    ];
    let numbers: Vec<_> = (1..=6)
        .map(|last| json!(2_348_000_000_000_u64 + last))
        .chain([json!(MTN)])
        .collect();
    let answer = send(&ogene, with(to("", "Hello"), json!({"to": numbers}))).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let id = answer.json()["data"]["message_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let first = report(&ogene, &id).await;
    assert_eq!(first["summary"]["pending"], 7, "it takes about a second");
    let last = until("all but one are final", async || {
        let report = report(&ogene, &id).await;
        (report["summary"]["pending"] == 1).then_some(report)
    })
    .await;
    let statuses: Vec<_> = last["reports"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| &one["delivery_status"])
        .collect();
    let expected: Vec<_> = outcomes.iter().chain(&["delivrd"]).collect();
    assert_eq!(json!(statuses), json!(expected));
    assert_eq!(
        last["summary"],
        json!({"total": 7, "delivered": 2, "pending": 1, "failed": 4})
    );
    let refused = [
        (7, 402, "API-3001"),
        (8, 503, "API-5003"),
        (9, 429, "API-3004"),
    ];
    for (last, status, code) in refused {
        let answer = send(&ogene, to(&format!("234800000000{last}"), "Hello")).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code));
        assert_eq!(answer.header("retry-after").is_some(), status != 402);
    }
    let abroad = with(
        to("2348000000007", "Hello"),
        json!({"gateway": "international"}),
    );
    assert_eq!(
        send(&ogene, abroad).await.code(),
        "API-3001",
        "on every gateway"
    );
    for last in 1..=9 {
        let answer = ogene
            .send(to(&format!("234800000000{last}"), "Hello"))
            .await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (422, "API-2006"),
            "live"
        );
    }
    ogene.end().await;
}

#[tokio::test]
async fn the_wallet_is_never_read_or_written() {
    let mut ogene = Ogene::start().await;
    ogene.shop = ogene.customer("0").await;
    let answer = send(
        &ogene,
        with(to(MTN, &"x".repeat(161)), json!({"gateway": "otp"})),
    )
    .await;
    let data = &answer.json()["data"];
    assert_eq!(
        (answer.status, &data["cost"]),
        (200, &json!(16.0)),
        "{}",
        answer.text()
    );
    let id = data["message_id"].as_str().expect("an id").to_owned();
    until("it is over", async || {
        (report(&ogene, &id).await["summary"]["delivered"] == 1).then_some(())
    })
    .await;
    let failing = send(&ogene, to("2348000000002", "Hello")).await.json();
    let id = failing["data"]["message_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    until("it has failed", async || {
        (report(&ogene, &id).await["summary"]["failed"] == 1).then_some(())
    })
    .await;
    assert_eq!(
        ogene.total().await.to_string(),
        "0",
        "and nothing is refunded"
    );
    assert_eq!(ogene.smsc().stats().submits, 0);
    ogene.end().await;
}

#[tokio::test]
async fn a_simulated_outcome_is_called_back_for_real() {
    let ogene = Ogene::start().await;
    let receiver = Receiver::start().await;
    let more = json!({"callback_url": receiver.url, "customer_reference": "order-7"});
    let answer = send(&ogene, with(to("2348000000004", "Hello"), more))
        .await
        .json();
    let calls = receiver.called(1).await;
    assert_eq!(calls[0].field("message_id"), answer["data"]["message_id"]);
    assert_eq!(calls[0].field("delivery_status"), "rejectd");
    ogene.end().await;
}

#[tokio::test]
async fn the_sandbox_works_where_no_carrier_is_configured() {
    let mut setup = Setup::new().without("carriers.mtn");
    for gateway in [
        "direct-refund",
        "direct-corporate",
        "otp",
        "international",
        "dual-backup",
    ] {
        setup = setup.without(&format!("gateways.{gateway}"));
    }
    let ogene = setup.without_carriers().start().await;
    let answer = send(&ogene, to(MTN, "Hello")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let id = answer.json()["data"]["message_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    until("it is over", async || {
        (report(&ogene, &id).await["summary"]["delivered"] == 1).then_some(())
    })
    .await;
    let live = ogene.send(to(MTN, "Hello")).await;
    assert_eq!(
        (live.status, live.code().as_str()),
        (400, "API-2009"),
        "{}",
        live.text()
    );
    assert_eq!(ogene.total().await.to_string(), "1000");
    ogene.end().await;
}

#[tokio::test]
async fn the_sandbox_has_a_limit_of_recipients_and_of_callbacks() {
    let ogene = Setup::new()
        .set("sandbox.recipients_per_minute", "5")
        .set("sandbox.callbacks_per_minute", "2")
        .start()
        .await;
    let receiver = Receiver::start().await;
    let numbers = |count: u64| {
        let numbers = (0..count).map(|at| json!(2_348_030_000_000 + at));
        json!({"to": numbers.collect::<Vec<_>>()})
    };
    let called = |count, text: &str| {
        let fields = with(to("", text), numbers(count));
        with(fields, json!({"callback_url": receiver.url}))
    };
    let told = async |fields| {
        let answer = send(&ogene, fields).await;
        let retry_after = answer.header("retry-after").map(ToOwned::to_owned);
        (
            answer.status,
            answer.code(),
            retry_after,
            answer.text().to_owned(),
        )
    };
    let (status, code, retry_after, text) = told(called(3, "One")).await;
    assert_eq!((status, code.as_str()), (422, "API-2014"), "{text}");
    assert_eq!(retry_after, None, "no time makes room for that: {text}");
    assert_eq!(told(called(2, "Two")).await.0, 200);
    let (status, code, retry_after, text) = told(called(1, "Three")).await;
    assert_eq!((status, code.as_str()), (429, "API-3004"), "{text}");
    assert!(
        text.contains("2 recipients with a `callback_url`"),
        "{text}"
    );
    let seconds: u64 = retry_after.expect("a time").parse().expect("seconds");
    assert!((1..=61).contains(&seconds), "{seconds}");
    assert_eq!(told(with(to("", "Four"), numbers(3))).await.0, 200);
    let (status, code, retry_after, text) = told(with(to("", "Five"), numbers(1))).await;
    assert_eq!((status, code.as_str()), (429, "API-3004"), "{text}");
    assert!(
        retry_after.is_some() && text.contains("5 recipients"),
        "{text}"
    );
    let (status, code, ..) = told(with(to("", "Six"), numbers(6))).await;
    assert_eq!((status, code.as_str()), (422, "API-2014"));
    ogene.sent(with(to("", "Seven"), numbers(9))).await;
    ogene.end().await;
}
