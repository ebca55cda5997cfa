//! `dual-backup`: one message over two legs, one outcome, one callback (docs/spec/sending.md, section 5).

use crate::kit::receiver::{Call, Reaction, Receiver};
use crate::kit::wire::{count, receipt, written};
use crate::kit::{MTN, Ogene, Setup, to, until, with};
use serde_json::json;
use smpp::simulator::{Delay, Fate, Script};
use smpp::{CommandStatus, ReceiptState};
use std::time::Duration;

fn script(fate: Fate) -> Script {
    Script {
        mix: vec![(1, fate)],
        ..Script::default()
    }
}

/// The first leg over `mtn` for 6.00, the second over `backup` for 7.50 after a second of silence.
async fn two_legs(first: Fate, second: Fate) -> Ogene {
    two_legs_of(Setup::new(), first, second).await
}

async fn two_legs_of(setup: Setup, first: Fate, second: Fate) -> Ogene {
    let ogene = setup
        .script(script(first))
        .carrier("backup", script(second))
        .set("gateways.direct-corporate.carriers", r#"["backup"]"#)
        .set("gateways.dual-backup.leg_timeout", r#""1s""#)
        .start()
        .await;
    ogene.bound("mtn", 1).await;
    ogene.bound("backup", 1).await;
    ogene
}

async fn send(ogene: &Ogene, receiver: &Receiver) -> String {
    let more = json!({"gateway": "dual-backup", "callback_url": receiver.url});
    let data = ogene.sent(with(to(MTN, "Hello"), more)).await;
    assert_eq!(
        (&data["cost"], &data["gateway_used"]),
        (&json!(7.5), &json!("dual-backup"))
    );
    data["message_id"].as_str().expect("an id").to_owned()
}

/// Checks the end: one status, this balance, one callback, and so many submits on each leg.
async fn ends(
    ogene: Ogene,
    receiver: Receiver,
    id: &str,
    status: &str,
    balance: &str,
    legs: [usize; 2],
) {
    assert_eq!(ogene.outcome(id).await, [status]);
    let calls = receiver.called(1).await;
    assert_eq!(calls[0].field("delivery_status"), status);
    assert_eq!(ogene.total().await.to_string(), balance);
    // A later message gets its callback in two seconds. All other callbacks have arrived by then.
    receiver.react([Reaction::Later(2)]);
    ogene.smsc().set_script(Script {
        record: 100,
        ..Script::default()
    });
    let fields = with(
        to("2348039999999", "Later"),
        json!({"callback_url": receiver.url}),
    );
    let later = ogene.sent_id(fields).await;
    let calls = receiver.called(3).await;
    let of_it = |call: &Call| call.field("message_id") == later;
    assert!(calls[1..].iter().all(of_it), "one callback");
    let submits = ["mtn", "backup"].map(|carrier| count(&ogene.smsc_of(carrier).received(), MTN));
    assert_eq!(submits, legs);
    assert_eq!(ogene.statuses(id).await, [status]);
    ogene.end().await;
}

#[tokio::test]
async fn a_delivered_first_leg_refunds_the_reserved_difference() {
    let delivered = || receipt(ReceiptState::Delivered);
    let (ogene, receiver) = (
        two_legs(delivered(), delivered()).await,
        Receiver::start().await,
    );
    let id = send(&ogene, &receiver).await;
    ends(ogene, receiver, &id, "delivrd", "994", [1, 0]).await;
}

#[tokio::test]
async fn what_fails_on_the_first_leg_goes_over_the_second() {
    for fate in [
        receipt(ReceiptState::Undeliverable),
        Fate::Refuse(CommandStatus::RINVDSTADR),
    ] {
        let (ogene, receiver) = (
            two_legs(fate, receipt(ReceiptState::Delivered)).await,
            Receiver::start().await,
        );
        let id = send(&ogene, &receiver).await;
        ends(ogene, receiver, &id, "delivrd", "992.5", [1, 1]).await;
    }
}

#[tokio::test]
async fn what_has_no_receipt_in_time_goes_over_the_second_leg() {
    let (ogene, receiver) = (
        two_legs(Fate::Pending, receipt(ReceiptState::Delivered)).await,
        Receiver::start().await,
    );
    let id = send(&ogene, &receiver).await;
    ends(ogene, receiver, &id, "delivrd", "992.5", [1, 1]).await;
}

#[tokio::test]
async fn what_stays_in_doubt_on_the_first_leg_goes_over_the_second() {
    let hold = Setup::new().set("gateways.direct-refund.in_doubt", r#""hold""#);
    let ogene = two_legs_of(hold, Fate::Drop, receipt(ReceiptState::Delivered)).await;
    let receiver = Receiver::start().await;
    let id = send(&ogene, &receiver).await;
    ends(ogene, receiver, &id, "delivrd", "992.5", [1, 1]).await;
}

#[tokio::test]
async fn when_both_legs_fail_there_is_no_refund() {
    let failed = || receipt(ReceiptState::Undeliverable);
    let (ogene, receiver) = (two_legs(failed(), failed()).await, Receiver::start().await);
    let id = send(&ogene, &receiver).await;
    ends(ogene, receiver, &id, "undeliv", "992.5", [1, 1]).await;
}

#[tokio::test]
async fn the_first_delivered_of_either_leg_wins() {
    for winner in ["mtn", "backup"] {
        let (ogene, receiver) = (
            two_legs(Fate::Pending, Fate::Pending).await,
            Receiver::start().await,
        );
        let id = send(&ogene, &receiver).await;
        for carrier in ["mtn", "backup"] {
            ogene.received_by(carrier, 1).await;
        }
        assert_eq!(ogene.statuses(&id).await, ["sent awaiting status"]);
        // Both are delivered in the end, and the second receipt changes nothing.
        let loser = if winner == "mtn" { "backup" } else { "mtn" };
        for carrier in [winner, loser] {
            let submitted = ogene.smsc_of(carrier).received().remove(0);
            ogene
                .smsc_of(carrier)
                .send("ogene", written(&submitted, "DELIVRD"));
            until("it is answered", async || {
                (ogene.smsc_of(carrier).stats().answered >= 1).then_some(())
            })
            .await;
            assert_eq!(ogene.statuses(&id).await, ["delivrd"]);
        }
        ends(ogene, receiver, &id, "delivrd", "992.5", [1, 1]).await;
    }
}

#[tokio::test]
async fn a_late_failure_of_the_first_leg_leaves_the_second_to_decide() {
    let (ogene, receiver) = (
        two_legs(Fate::Pending, Fate::Pending).await,
        Receiver::start().await,
    );
    let id = send(&ogene, &receiver).await;
    ogene.received_by("backup", 1).await;
    let failed = written(&ogene.smsc().received()[0], "UNDELIV");
    ogene.smsc().send("ogene", failed);
    until("it is answered", async || {
        (ogene.smsc().stats().answered == 1).then_some(())
    })
    .await;
    assert_eq!(ogene.statuses(&id).await, ["sent awaiting status"]);
    let second = ogene.smsc_of("backup").received().remove(0);
    ogene
        .smsc_of("backup")
        .send("ogene", written(&second, "DELIVRD"));
    ends(ogene, receiver, &id, "delivrd", "992.5", [1, 1]).await;
}

#[tokio::test]
async fn a_second_leg_outlives_a_restart() {
    let (mut ogene, receiver) = (
        two_legs(Fate::Pending, receipt(ReceiptState::Delivered)).await,
        Receiver::start().await,
    );
    let id = send(&ogene, &receiver).await;
    ogene.received(1).await;
    ogene.restart().await;
    ends(ogene, receiver, &id, "delivrd", "992.5", [1, 1]).await;
}

#[tokio::test]
async fn a_second_leg_that_expires_in_the_queue_costs_nothing() {
    // Two are submitted, and their answers arrive after the time of the third.
    let slow = Script {
        response_delay: Delay::fixed(Duration::from_secs(6)),
        ..script(receipt(ReceiptState::Delivered))
    };
    let setup = Setup::new()
        .set("carriers.backup.binds", "1")
        .set("carriers.backup.window", "2")
        .set("gateways.dual-backup.receipt_timeout", r#""4s""#);
    let undelivered = receipt(ReceiptState::Undeliverable);
    let ogene = two_legs_of(setup, undelivered, receipt(ReceiptState::Delivered)).await;
    ogene.smsc_of("backup").set_script(slow);
    let numbers = "2348031234560, 2348031234561, 2348031234562";
    let fields = with(to(numbers, "Hello"), json!({"gateway": "dual-backup"}));
    let id = ogene.sent_id(fields).await;
    let mut ends = ogene.outcome(&id).await;
    ends.sort_unstable();
    assert_eq!(ends, ["delivrd", "delivrd", "expired"]);
    assert_eq!(ogene.smsc_of("backup").stats().submits, 2);
    // The charge is 7.50 for each of two, and 6.00 for the third.
    assert_eq!(ogene.total().await.to_string(), "979");
    ogene.end().await;
}
