//! SIGTERM finishes the work in flight, and a start continues with the rest.

use crate::kit::http::{Request, try_ask};
use crate::kit::wire::{count, good};
use crate::kit::{AIRTEL, MTN, Ogene, SENDER, Setup, numbers, to, until};
use serde_json::json;
use smpp::simulator::{Delay, Fault, Script};
use std::time::Duration;

#[tokio::test]
async fn an_orderly_shutdown_waits_for_open_responses() {
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
async fn a_send_during_shutdown_is_either_stored_or_refused() {
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
    // A send without an answer may be accepted. No send is charged without being stored.
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

/// A carrier that answers no submit. One place of its window is for one-time passwords alone.
fn silent() -> Setup {
    let script = Script {
        faults: vec![(1, Fault::LoseResponse)],
        receipt_delay: Delay::fixed(Duration::from_hours(1)),
        ..Script::default()
    };
    Setup::new()
        .set("carriers.mtn.binds", "1")
        .set("carriers.mtn.window", "10")
        .script(script)
}

#[tokio::test]
async fn work_of_a_renamed_carrier_goes_to_another_after_a_kill() {
    let mut ogene = silent().start().await;
    ogene.bound("mtn", 1).await;
    let id = ogene
        .sent_id(json!({"from": SENDER, "to": numbers(30), "body": "Dear customer"}))
        .await;
    ogene.received(9).await;
    ogene.kill().await;
    ogene.smsc().set_script(good());
    ogene.rename_carrier("airtel");
    ogene.serve().await;
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 30]);
    let received = ogene.smsc().received();
    let again = numbers(30)
        .iter()
        .filter(|number| count(&received, number) == 2)
        .count();
    assert_eq!((again, received.len()), (9, 39), "what was on the wire");
    assert_eq!(ogene.total().await.to_string(), "820", "charged once");
    ogene.end().await;
}

#[tokio::test]
async fn doubts_of_a_renamed_carrier_expire_and_are_refunded() {
    let mut ogene = silent()
        .set("gateways.direct-refund.in_doubt", r#""hold""#)
        .set("gateways.direct-refund.validity", r#""2m""#)
        .set("gateways.direct-refund.receipt_timeout", r#""2m""#)
        .start()
        .await;
    ogene.bound("mtn", 1).await;
    let id = ogene
        .sent_id(json!({"from": SENDER, "to": numbers(9), "body": "Dear customer"}))
        .await;
    ogene.received(9).await;
    ogene.kill().await;
    ogene.rename_carrier("airtel");
    ogene.serve().await;
    ogene.clock.set(ogene.clock.now_ms() + 5 * 60_000);
    assert_eq!(ogene.outcome(&id).await, vec!["expired"; 9]);
    assert_eq!(ogene.total().await.to_string(), "1000");
    ogene.end().await;
}
