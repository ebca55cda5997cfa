//! Recipients in doubt after a lost connection, response or process (docs/spec/delivery.md, section 3).

use crate::kit::wire::{count, good, written_for};
use crate::kit::{AIRTEL, MTN, SENDER, Setup, numbers, to};
use serde_json::json;
use smpp::simulator::{Delay, Fate, Fault, Script};
use std::time::Duration;

/// A carrier that accepts every message, answers none, and sends its receipt after so many
/// milliseconds. A recipient in doubt is not resent during a test.
fn losing_responses(receipt_after_ms: u64) -> Setup {
    let script = Script {
        faults: vec![(1, Fault::LoseResponse)],
        receipt_delay: Delay::fixed(Duration::from_millis(receipt_after_ms)),
        ..Script::default()
    };
    Setup::new()
        .set("gateways.direct-refund.in_doubt_hold", r#""1h""#)
        .script(script)
}

#[tokio::test]
async fn a_lost_window_is_sent_once_more_after_the_hold() {
    let dropping = Script {
        drop_at_window: Some(9),
        ..Script::default()
    };
    let ogene = Setup::new()
        .set("carriers.mtn.binds", "1")
        .set("carriers.mtn.window", "10")
        .script(dropping)
        .start()
        .await;
    ogene.bound("mtn", 1).await;
    let id = ogene
        .sent_id(json!({"from": SENDER, "to": numbers(30), "body": "Dear customer"}))
        .await;
    ogene.received(9).await;
    ogene.smsc().set_script(good());
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 30]);
    let received = ogene.smsc().received();
    let counts: Vec<_> = numbers(30)
        .iter()
        .map(|number| count(&received, number))
        .collect();
    assert!(
        counts.iter().all(|count| (1..=2).contains(count)),
        "{counts:?}"
    );
    assert!(
        counts.iter().filter(|count| **count == 2).count() <= 20,
        "a window at a time: {counts:?}"
    );
    assert!(counts.contains(&2), "{counts:?}");
    assert_eq!(ogene.total().await.to_string(), "820", "charged once");
    ogene.end().await;
}

#[tokio::test]
async fn a_receipt_adopts_what_is_in_doubt_and_nothing_is_resent() {
    // The receipt arrives before and after the timeout of the response.
    for receipt_after in [0, 2_500] {
        let ogene = losing_responses(receipt_after)
            .set("carriers.mtn.response_timeout", r#""1s""#)
            .start()
            .await;
        let id = ogene.sent_id(to(&format!("{MTN},{AIRTEL}"), "Hello")).await;
        assert_eq!(
            ogene.outcome(&id).await,
            ["delivrd", "delivrd"],
            "{receipt_after}"
        );
        let received = ogene.smsc().received();
        assert_eq!((count(&received, MTN), count(&received, AIRTEL)), (1, 1));
        ogene.end().await;
    }
}

#[tokio::test]
async fn a_submit_without_an_id_is_in_doubt_and_never_resent() {
    let script = Script {
        faults: vec![(1, Fault::NoId)],
        // The hold is over by then, and other recipients in doubt are sent again.
        receipt_delay: Delay::fixed(Duration::from_millis(2_500)),
        ..good()
    };
    let ogene = Setup::new().script(script).start().await;
    let short = ogene.sent_id(to(MTN, "Hello")).await;
    let long = ogene.sent_id(to(AIRTEL, &"x".repeat(400))).await;
    assert_eq!(ogene.outcome(&short).await, ["delivrd"]);
    assert_eq!(ogene.outcome(&long).await, ["delivrd"]);
    let received = ogene.smsc().received();
    assert_eq!((count(&received, MTN), count(&received, AIRTEL)), (1, 3));
    let labels = ["carrier=\"mtn\""];
    assert!(ogene.metric("ogene_in_doubt_total{", &labels).await >= 2);
    ogene.end().await;
}

#[tokio::test]
async fn what_is_to_be_held_is_never_resent_and_waits_for_its_receipt() {
    let script = Script {
        mix: vec![(1, Fate::Drop)],
        ..Script::default()
    };
    let ogene = Setup::new()
        .set("gateways.direct-refund.in_doubt", r#""hold""#)
        .script(script)
        .start()
        .await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    let lost = ogene.received(1).await.remove(0);
    ogene.smsc().set_script(good());
    // Another gateway resends after a second. This one has not resent by then.
    ogene.smsc().set_script(Script {
        mix: vec![(1, Fate::Drop)],
        ..good()
    });
    let other = crate::kit::with(to(AIRTEL, "Hello"), json!({"gateway": "direct-corporate"}));
    let other = ogene.sent_id(other).await;
    ogene.received(2).await;
    ogene.smsc().set_script(good());
    assert_eq!(ogene.outcome(&other).await, ["delivrd"]);
    assert_eq!(count(&ogene.smsc().received(), AIRTEL), 2);
    assert_eq!(count(&ogene.smsc().received(), MTN), 1);
    assert_eq!(ogene.statuses(&id).await, ["sent awaiting status"]);
    ogene
        .smsc()
        .send("ogene", written_for(&lost, "987654", "DELIVRD"));
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    assert_eq!(count(&ogene.smsc().received(), MTN), 1);
    ogene.end().await;
}

#[tokio::test]
async fn what_stays_in_doubt_is_resent_once_and_never_a_third_time() {
    let script = Script {
        mix: vec![(1, Fate::Drop)],
        ..Script::default()
    };
    let ogene = Setup::new().script(script).start().await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    // The second copy is lost as well.
    ogene.received(2).await;
    ogene.smsc().set_script(good());
    let later = ogene.sent_id(to(AIRTEL, "Hello")).await;
    assert_eq!(ogene.outcome(&later).await, ["delivrd"]);
    let other = Script {
        mix: vec![(1, Fate::Drop)],
        ..good()
    };
    ogene.smsc().set_script(other);
    ogene.sent(to("2348031230000", "Hello")).await;
    ogene.received(5).await;
    assert_eq!(count(&ogene.smsc().received(), MTN), 2);
    assert_eq!(
        ogene.statuses(&id).await,
        ["sent awaiting status"],
        "visible, and not refunded"
    );
    ogene.end().await;
}

#[tokio::test]
async fn messages_in_flight_at_a_kill_are_resent_and_charged_once() {
    let silent = Script {
        mix: vec![(1, Fate::Silence)],
        ..Script::default()
    };
    let mut ogene = Setup::new().script(silent).start().await;
    ogene.bound("mtn", 2).await;
    let id = ogene
        .sent_id(json!({"from": SENDER, "to": numbers(20), "body": "Dear customer"}))
        .await;
    ogene.received(20).await;
    ogene.kill().await;
    ogene.smsc().set_script(good());
    ogene.serve().await;
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 20]);
    let received = ogene.smsc().received();
    for number in numbers(20) {
        assert_eq!(count(&received, &number), 2, "{number}");
    }
    assert_eq!(ogene.total().await.to_string(), "880");
    ogene.end().await;
}

#[tokio::test]
async fn a_doubt_about_pages_ends_with_all_their_receipts() {
    for receipt_after in [0, 2_500] {
        let ogene = losing_responses(receipt_after)
            .set("carriers.mtn.response_timeout", r#""1s""#)
            .start()
            .await;
        let id = ogene.sent_id(to(MTN, &"x".repeat(400))).await;
        assert_eq!(ogene.outcome(&id).await, ["delivrd"], "{receipt_after}");
        assert_eq!(count(&ogene.smsc().received(), MTN), 3);
        ogene.end().await;
    }
}

#[tokio::test]
async fn receipts_that_come_after_a_kill_end_the_doubt_it_left() {
    let mut ogene = losing_responses(2_000).start().await;
    ogene.bound("mtn", 2).await;
    let fields = json!({"from": SENDER, "to": numbers(10), "body": "Dear customer"});
    let id = ogene.sent_id(fields).await;
    ogene.received(10).await;
    ogene.kill().await;
    ogene.smsc().set_script(good());
    ogene.serve().await;
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 10]);
    let received = ogene.smsc().received();
    for number in numbers(10) {
        assert_eq!(count(&received, &number), 1, "{number}");
    }
    assert_eq!(ogene.total().await.to_string(), "940");
    ogene.end().await;
}
