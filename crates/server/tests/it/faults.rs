//! Faults of SMSCs: nothing is lost, and no recipient gets more copies than the rule about doubt
//! allows. `/metrics` shows recipients in doubt and the state of the carrier.

use crate::kit::wire::{count, good, written_for};
use crate::kit::{Ogene, Setup, numbers, until};
use smpp::simulator::{BindRules, Delay, Fate, Fault, Script};
use smpp::{CommandStatus, DeliverSm, esm_class};
use std::time::Duration;

/// Each test has a carrier of its own name, because metrics are of the whole process.
fn setup(carrier: &str, script: Script) -> Setup {
    let none = Setup::new().without_carriers().without("carriers.mtn");
    let gateways = ["direct-refund", "direct-corporate", "otp", "international"];
    let with_gateways = gateways.iter().fold(none, |setup, gateway| {
        setup.set(
            &format!("gateways.{gateway}.carriers"),
            &format!("[{carrier:?}]"),
        )
    });
    with_gateways
        .carrier(carrier, script)
        .set(&format!("carriers.{carrier}.binds"), "1")
        .set(&format!("carriers.{carrier}.window"), "10")
        .set(&format!("carriers.{carrier}.enquire_link"), r#""2s""#)
        .set(&format!("carriers.{carrier}.response_timeout"), r#""1s""#)
}

/// Returns a metric of a carrier, summed over its statuses.
async fn metric(ogene: &Ogene, name: &str, carrier: &str, status: &str) -> u64 {
    let labels = [&format!("carrier=\"{carrier}\""), status];
    ogene.metric(&format!("{name}{{"), &labels).await
}

/// Returns the number of copies of each number.
fn copies(ogene: &Ogene, carrier: &str, many: u64) -> Vec<usize> {
    let received = ogene.smsc_of(carrier).received();
    let copies = numbers(many).into_iter();
    copies.map(|number| count(&received, &number)).collect()
}

/// Sends a campaign on a carrier that begins with this script and is healthy after so many submits.
/// Every recipient gets it, none more than twice, and only recipients in doubt get a second copy.
/// Each is charged once.
async fn is_survived(carrier: &str, script: Script, many: u64, well_after: usize) {
    let ogene = setup(carrier, script).start().await;
    ogene.bound(carrier, 1).await;
    let id = ogene.campaign(many).await;
    ogene.received_by(carrier, well_after).await;
    ogene.smsc_of(carrier).set_script(good());
    let wanted = vec!["delivrd"; usize::try_from(many).expect("few")];
    assert_eq!(ogene.outcome(&id).await, wanted);
    let copies = copies(&ogene, carrier, many);
    assert!(
        copies.iter().all(|copies| (1..=2).contains(copies)),
        "{copies:?}"
    );
    let twice = copies.iter().filter(|copies| **copies == 2).count() as u64;
    let in_doubt = metric(&ogene, "ogene_in_doubt_total", carrier, "").await;
    assert!(in_doubt > 0, "somebody was in doubt");
    assert!(twice <= in_doubt, "{twice} copies, {in_doubt} in doubt");
    let unknown = metric(&ogene, "ogene_responses_total", carrier, "unknown").await;
    assert_eq!(unknown, in_doubt, "each doubt is an answer that never came");
    assert_eq!(metric(&ogene, "ogene_binds", carrier, "").await, 1, "bound");
    let left = 1_000 - 6 * many;
    assert_eq!(ogene.total().await.to_string(), left.to_string());
    ogene.end().await;
}

#[tokio::test]
async fn a_reset_with_a_full_window_is_survived() {
    let script = Script {
        drop_at_window: Some(10),
        ..Script::default()
    };
    is_survived("resetting", script, 40, 10).await;
}

#[tokio::test]
async fn a_half_open_connection_is_survived() {
    let script = Script {
        faults: vec![(7, Fault::HalfOpen)],
        ..Script::default()
    };
    is_survived("half-open", script, 40, 7).await;
}

#[tokio::test]
async fn responses_that_come_too_late_are_survived() {
    let script = Script {
        response_delay: Delay::fixed(Duration::from_millis(1_500)),
        receipt_delay: Delay::fixed(Duration::from_hours(1)),
        ..Script::default()
    };
    is_survived("late", script, 20, 10).await;
}

#[tokio::test]
async fn responses_to_what_nobody_asked_are_survived() {
    let script = Script {
        faults: vec![(3, Fault::WrongSequence)],
        ..Script::default()
    };
    is_survived("confused", script, 30, 12).await;
}

#[tokio::test]
async fn octets_out_of_step_are_survived() {
    let script = Script {
        faults: vec![(11, Fault::Drop), (6, Fault::BrokenLength)],
        response_delay: Delay::fixed(Duration::from_millis(100)),
        ..Script::default()
    };
    is_survived("babbling", script, 40, 12).await;
}

#[tokio::test]
async fn a_lost_window_is_not_resent_where_doubt_is_held() {
    let carrier = "lossy";
    let script = Script {
        drop_at_window: Some(10),
        ..Script::default()
    };
    let ogene = setup(carrier, script)
        .set("gateways.direct-refund.in_doubt", r#""hold""#)
        .start()
        .await;
    ogene.bound(carrier, 1).await;
    let id = ogene.campaign(30).await;
    ogene.received_by(carrier, 10).await;
    ogene.smsc_of(carrier).set_script(good());
    let lost = until("all but those in doubt are delivered", async || {
        let lost = metric(&ogene, "ogene_in_doubt_total", carrier, "").await;
        let summary = ogene.report(&id).await["summary"].clone();
        let delivered = summary["delivered"].as_u64()?;
        (lost > 0 && delivered + lost == 30).then_some(lost)
    })
    .await;
    let pending = ogene.statuses(&id).await.into_iter();
    let pending = pending.filter(|status| status == "sent awaiting status");
    assert_eq!(pending.count() as u64, lost, "they are told as pending");
    let copies = copies(&ogene, carrier, 30);
    assert!(copies.iter().all(|copies| *copies <= 1), "{copies:?}");
    assert_eq!(ogene.total().await.to_string(), "820");
    ogene.end().await;
}

/// Waits until so many are told to be in doubt now.
async fn in_doubt(ogene: &Ogene, carrier: &str, many: u64) {
    until("the count of those in doubt", async || {
        let count = metric(ogene, "ogene_in_doubt", carrier, "").await;
        (count == many).then_some(())
    })
    .await;
}

#[tokio::test]
async fn recipients_in_doubt_are_counted_across_restarts() {
    let carrier = "doubtful";
    let script = Script {
        drop_at_window: Some(10),
        ..Script::default()
    };
    let mut ogene = setup(carrier, script)
        .set("gateways.direct-refund.in_doubt", r#""hold""#)
        .start()
        .await;
    ogene.bound(carrier, 1).await;
    let id = ogene.campaign(10).await;
    let lost = ogene.received_by(carrier, 10).await;
    ogene.smsc_of(carrier).set_script(good());
    in_doubt(&ogene, carrier, 10).await;
    ogene.kill().await;
    // A new process has counted nothing yet. Here it is the same process.
    metrics::gauge!("ogene_in_doubt", "carrier" => carrier).set(0.0);
    ogene.serve().await;
    in_doubt(&ogene, carrier, 10).await;
    ogene.bound(carrier, 1).await;
    for (id, one) in lost.iter().enumerate() {
        let receipt = written_for(one, &id.to_string(), "DELIVRD");
        ogene.smsc_of(carrier).send("ogene", receipt);
    }
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 10]);
    in_doubt(&ogene, carrier, 0).await;
    ogene.end().await;
}

#[tokio::test]
async fn a_receipt_that_cannot_be_read_is_answered_once_and_counted() {
    let carrier = "illegible";
    let ogene = setup(carrier, good()).start().await;
    ogene.bound(carrier, 1).await;
    for text in ["Delivered to your handset", "id:77 err:000", "stat:DELIVRD"] {
        let receipt = DeliverSm {
            esm_class: esm_class::RECEIPT,
            short_message: text.into(),
            ..DeliverSm::default()
        };
        ogene.smsc_of(carrier).send("ogene", receipt);
    }
    until("they are counted and answered", async || {
        let count = metric(&ogene, "ogene_receipts_unreadable_total", carrier, "").await;
        (count == 3 && ogene.smsc_of(carrier).stats().answered == 3).then_some(())
    })
    .await;
    assert_eq!(ogene.smsc_of(carrier).stats().delivered, 3);
    let inbound = metric(&ogene, "ogene_inbound_total", carrier, "").await;
    assert_eq!(inbound, 0, "they are no subscriber's");
    ogene.end().await;
}

#[tokio::test]
async fn throttling_without_end_loses_nothing_and_costs_no_copy() {
    let carrier = "throttling";
    let script = Script {
        mix: vec![(1, Fate::Refuse(CommandStatus::RTHROTTLED))],
        ..Script::default()
    };
    // The slowest pace is one submit a second, for minutes in a long run.
    let tens = if std::env::var_os("OGENE_LONG").is_some() {
        15
    } else {
        1
    };
    let ogene = setup(carrier, script).start().await;
    let id = ogene.campaign(20).await;
    for refusals in (1..=tens).map(|tens| 10 * tens) {
        until("the carrier has refused for a while", async || {
            let refused = metric(&ogene, "ogene_responses_total", carrier, "THROTTLED").await;
            (refused >= refusals).then_some(())
        })
        .await;
    }
    assert_eq!(ogene.report(&id).await["summary"]["pending"], 20);
    assert_eq!(metric(&ogene, "ogene_in_doubt_total", carrier, "").await, 0);
    ogene.smsc_of(carrier).set_script(good());
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 20]);
    let received = ogene.smsc_of(carrier).received().into_iter();
    let taken: Vec<_> = received.filter(|one| one.message_id.is_some()).collect();
    for number in numbers(20) {
        assert_eq!(count(&taken, &number), 1, "{number}");
    }
    assert_eq!(ogene.total().await.to_string(), "880");
    ogene.end().await;
}

#[tokio::test]
async fn a_bind_refused_for_an_hour_loses_nothing_and_shows() {
    let carrier = "refusing";
    let script = Script {
        binds: BindRules {
            refuse: Some(CommandStatus::RINVPASWD),
            ..BindRules::default()
        },
        ..Script::default()
    };
    let ogene = setup(carrier, script).start().await;
    let id = ogene.campaign(20).await;
    until("the carrier is seen to be down", async || {
        let binds = metric(&ogene, "ogene_binds", carrier, "").await;
        let queued = metric(&ogene, "ogene_queued_recipients", carrier, "").await;
        let refused = ogene.smsc_of(carrier).stats().refused_binds;
        (binds == 0 && queued == 20 && refused > 0).then_some(())
    })
    .await;
    ogene.clock.set(ogene.clock.now_ms() + 3_600_000);
    assert!(ogene.smsc_of(carrier).stats().refused_binds < 5, "slowly");
    let why = metric(&ogene, "ogene_bind_failures_total", carrier, "RINVPASWD").await;
    assert!(why > 0, "it is told why");
    assert_eq!(ogene.report(&id).await["summary"]["pending"], 20);
    ogene.smsc_of(carrier).set_script(good());
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 20]);
    assert_eq!(copies(&ogene, carrier, 20), vec![1; 20]);
    assert_eq!(metric(&ogene, "ogene_in_doubt_total", carrier, "").await, 0);
    assert_eq!(ogene.total().await.to_string(), "880");
    ogene.end().await;
}
