//! An end by SIGTERM finishes what is in flight, and a start goes on where the last process ended.

use crate::kit::http::{Request, try_ask};
use crate::kit::wire::count;
use crate::kit::{AIRTEL, MTN, Ogene, SENDER, Setup, numbers, to, until};
use serde_json::json;
use smpp::smsc::{Delay, Script};
use std::time::Duration;

#[tokio::test]
async fn an_orderly_end_waits_for_the_responses_of_what_is_on_the_wire() {
    let script = Script {
        response_delay: Delay::fixed(Duration::from_millis(700)),
        receipt_delay: Delay::fixed(Duration::from_secs(1)),
        ..Script::default()
    };
    let mut ogene = Setup::new().script(script).start().await;
    ogene.bound("mtn", 2).await;
    let id = ogene.sent_id(to(&format!("{MTN},{AIRTEL}"), "Hello")).await;
    ogene.received(2).await;
    ogene.stop().await;
    ogene.serve().await;
    assert_eq!(
        ogene.outcome(&id).await,
        ["delivrd", "delivrd"],
        "the receipts find their message"
    );
    let received = ogene.smsc().received();
    assert_eq!(
        (count(&received, MTN), count(&received, AIRTEL)),
        (1, 1),
        "nothing was in doubt"
    );
    ogene.end().await;
}

#[tokio::test]
async fn a_campaign_goes_on_after_a_restart_and_nobody_gets_it_twice() {
    let mut ogene = Setup::new()
        .set("carriers.mtn.max_per_second", "40")
        .start()
        .await;
    ogene.bound("mtn", 2).await;
    let id = ogene
        .sent_id(json!({"from": SENDER, "to": numbers(120), "body": "Dear customer"}))
        .await;
    for part in [20, 60] {
        ogene.received(part).await;
        ogene.restart().await;
    }
    assert!(ogene.smsc().received().len() < 120, "it was not over");
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 120]);
    let received = ogene.smsc().received();
    for number in numbers(120) {
        assert_eq!(count(&received, &number), 1, "{number}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn what_is_sent_while_the_service_ends_is_either_kept_or_refused() {
    let mut ogene = Ogene::start().await;
    let (address, token) = (ogene.address, ogene.shop.token.clone());
    let sends = tokio::spawn(async move {
        let mut accepted = Vec::new();
        for number in numbers(100_000) {
            let request = Request::send(&token, &to(&number, "Hello"));
            match try_ask(address, &request).await {
                Ok(answer) if answer.status == 200 => {
                    accepted.push(
                        answer.json()["data"]["message_id"]
                            .as_str()
                            .expect("an id")
                            .to_owned(),
                    );
                }
                Ok(answer) => assert!([503, 402].contains(&answer.status), "{}", answer.text()),
                Err(_) => return accepted,
            }
        }
        accepted
    });
    ogene.received(10).await;
    ogene.stop().await;
    let accepted = sends.await.expect("no panic");
    ogene.serve().await;
    assert!(accepted.len() >= 10);
    for id in &accepted {
        assert_eq!(ogene.outcome(id).await, ["delivrd"]);
    }
    // A send may have been accepted whose answer got lost; none is paid for without being there.
    let paid = (1_000.0 - ogene.total().await) / 6.0;
    assert!(
        paid - 1.0 <= f64::from(u32::try_from(accepted.len()).expect("few")),
        "{paid}"
    );
    ogene.end().await;
}

#[tokio::test]
async fn the_duplicate_window_outlives_a_restart() {
    let mut ogene = Ogene::start().await;
    ogene.sent(to(MTN, "Hello")).await;
    ogene.restart().await;
    assert_eq!(ogene.send(to(MTN, "Hello")).await.code(), "API-2012");
    ogene.kill().await;
    ogene.serve().await;
    assert_eq!(ogene.send(to(MTN, "Hello")).await.code(), "API-2012");
    ogene.end().await;
}

#[tokio::test]
async fn whatever_was_answered_outlives_a_kill() {
    let mut ogene = Ogene::start().await;
    let mut ids = Vec::new();
    for round in 0..3 {
        for number in 0..10 {
            let number = format!("23480312{round}{number:04}");
            ids.push(ogene.sent_id(to(&number, "Hello")).await);
        }
        ogene.kill().await;
        ogene.serve().await;
    }
    for id in &ids {
        assert_eq!(ogene.outcome(id).await, ["delivrd"]);
    }
    assert_eq!(ogene.total().await.to_string(), "820");
    until("the carrier is bound", async || {
        (ogene.smsc().stats().binds >= 2).then_some(())
    })
    .await;
    ogene.end().await;
}
