//! Carriers that refuse, are slow, are down or send invalid answers: nothing is lost, and nothing
//! is sent twice.

use crate::kit::wire::{count, good, receipt, rule};
use crate::kit::{MTN, Ogene, SENDER, Setup, numbers, to, until, with};
use serde_json::json;
use smpp::simulator::{
    Delay, Fate, Fault, Quirk, ReceiptForm, ReceiptLabels, ReceiptStyle, Script,
};
use smpp::{CommandStatus, ReceiptIds, ReceiptState};
use std::time::Duration;

/// Checks that the carrier accepted every number once, however often it refused it before.
fn each_accepted_once(ogene: &Ogene, carrier: &str, many: u64) {
    let received = ogene.smsc_of(carrier).received();
    let accepted: Vec<_> = received
        .into_iter()
        .filter(|one| one.message_id.is_some())
        .collect();
    for number in numbers(many) {
        assert_eq!(count(&accepted, &number), 1, "{number}");
    }
}

#[tokio::test]
async fn a_sender_that_one_carrier_refuses_goes_to_the_next() {
    let mix = vec![(1, Fate::Refuse(CommandStatus::RINVSRCADR))];
    let ogene = Setup::new()
        .script(Script {
            mix,
            ..Script::default()
        })
        .carrier("second", Script::default())
        .set("gateways.direct-refund.carriers", r#"["mtn", "second"]"#)
        .start()
        .await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    assert_eq!(
        (
            count(&ogene.smsc().received(), MTN),
            count(&ogene.smsc_of("second").received(), MTN)
        ),
        (1, 1)
    );
    assert_eq!(ogene.total().await.to_string(), "994");
    ogene.end().await;
}

#[tokio::test]
async fn what_waits_for_a_carrier_that_is_down_goes_to_the_next() {
    let ogene = Setup::new()
        .carrier("second", Script::default())
        .set("carriers.down.address", r#""127.0.0.1:1""#)
        .set("carriers.down.system_id", r#""ogene""#)
        .set("carriers.down.password", r#""secret""#)
        .set("gateways.direct-refund.carriers", r#"["down", "second"]"#)
        .start()
        .await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    assert_eq!(count(&ogene.smsc_of("second").received(), MTN), 1);
    ogene.end().await;
}

/// A carrier that refuses every bind.
fn down() -> Script {
    Script {
        binds: smpp::simulator::BindRules {
            max: Some(0),
            ..Default::default()
        },
        ..Script::default()
    }
}

#[tokio::test]
async fn messages_wait_for_the_only_carrier_to_come_back() {
    let ogene = Setup::new().script(down()).start().await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    assert_eq!(ogene.statuses(&id).await, ["sent awaiting status"]);
    ogene.smsc().set_script(Script {
        record: 100,
        ..Script::default()
    });
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    assert_eq!(count(&ogene.smsc().received(), MTN), 1);
    ogene.end().await;
}

#[tokio::test]
async fn a_delayed_submit_requests_the_remaining_validity() {
    const ONE_HOUR: &str = "000000010000000R";
    let ogene = Setup::new().script(down()).start().await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    ogene.clock.set(ogene.clock.now_ms() + 47 * 3_600_000);
    ogene.smsc().set_script(good());
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    let asked = ogene.smsc().received()[0].submit.validity_period.clone();
    assert!(asked.len() == 16 && *asked <= *ONE_HOUR, "{asked}");
    ogene.end().await;
}

#[tokio::test]
async fn a_carrier_that_refuses_senders_is_not_flooded() {
    for status in [
        CommandStatus::RBINDFAIL,
        CommandStatus::RINVPASWD,
        CommandStatus::RINVSYSID,
    ] {
        let ogene = Setup::new()
            .set("carriers.mtn.binds", "1")
            .script(Script {
                mix: vec![(1, Fate::Refuse(status))],
                ..Script::default()
            })
            .start()
            .await;
        let id = ogene.sent_id(to(MTN, "Hello")).await;
        until("it is refused", async || {
            (ogene.smsc().stats().refused > 0).then_some(())
        })
        .await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(ogene.smsc().stats().refused, 1, "{status}");
        ogene.smsc().set_script(Script {
            record: 100,
            ..Script::default()
        });
        assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
        assert_eq!(ogene.smsc().stats().refused, 1, "{status}");
        ogene.end().await;
    }
}

#[tokio::test]
async fn a_one_time_password_overtakes_a_campaign() {
    let ogene = Setup::new()
        .set("carriers.mtn.max_per_second", "40")
        .start()
        .await;
    ogene.bound("mtn", 2).await;
    let slow = ogene.campaign(150).await;
    ogene.received(20).await;
    let otp = with(to(MTN, "Your OTP is 483920"), json!({"gateway": "otp"}));
    let id = ogene.sent_id(otp).await;
    let before = ogene.smsc().received().len();
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    let received = ogene.smsc().received();
    let place = received
        .iter()
        .position(|one| one.submit.destination.digits == MTN)
        .expect("it came");
    assert!(
        place < before + 45,
        "place {place} of {before} when it was sent"
    );
    assert!(place < 120, "the campaign was not over: {place}");
    assert_eq!(ogene.outcome(&slow).await.len(), 150);
    ogene.end().await;
}

#[tokio::test]
async fn throttling_and_full_queues_lose_and_repeat_nothing() {
    let faults = vec![
        (7, Fault::Refuse(CommandStatus::RTHROTTLED)),
        (11, Fault::Refuse(CommandStatus::RMSGQFUL)),
    ];
    let ogene = Setup::new()
        .script(Script {
            faults,
            ..Script::default()
        })
        .start()
        .await;
    let id = ogene.campaign(60).await;
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 60]);
    each_accepted_once(&ogene, "mtn", 60);
    assert!(ogene.smsc().stats().refused > 0);
    assert_eq!(ogene.total().await.to_string(), "640");
    ogene.end().await;
}

#[tokio::test]
async fn a_full_queue_repeats_no_page_that_was_accepted() {
    let faults = vec![
        (5, Fault::Refuse(CommandStatus::RMSGQFUL)),
        (17, Fault::Refuse(CommandStatus::RSYSERR)),
    ];
    let ogene = Setup::new()
        .script(Script {
            faults,
            record: 10_000,
            ..Script::default()
        })
        .start()
        .await;
    let numbers = numbers(12);
    let id = ogene
        .sent_id(json!({"from": SENDER, "to": numbers, "body": "x".repeat(400)}))
        .await;
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 12]);
    let received = ogene.smsc().received().into_iter();
    let mut taken: Vec<_> = received
        .filter(|one| one.message_id.is_some())
        .map(|one| (one.submit.destination.digits, one.submit.short_message[5]))
        .collect();
    taken.sort();
    let pages = numbers
        .iter()
        .flat_map(|number| (1..=3).map(|page| (number.clone(), page)));
    assert_eq!(taken, pages.collect::<Vec<_>>());
    assert!(
        ogene.smsc().stats().refused > 4,
        "some of them between two pages"
    );
    ogene.end().await;
}

#[tokio::test]
async fn a_carrier_that_throttles_is_sent_to_more_slowly() {
    let ogene = Setup::new()
        .script(Script {
            max_per_second: Some(30),
            ..Script::default()
        })
        .start()
        .await;
    let id = ogene.campaign(120).await;
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 120]);
    each_accepted_once(&ogene, "mtn", 120);
    ogene.end().await;
}

/// Sends with one style of receipts. One recipient is not delivered.
async fn under(ogene: &Ogene, number: usize, receipts: ReceiptStyle) {
    let shown = format!("{receipts:?}");
    ogene.smsc().set_script(Script {
        receipts,
        receipt_delay: Delay {
            from: Duration::ZERO,
            to: Duration::from_millis(40),
        },
        rules: vec![rule("0", receipt(ReceiptState::Undeliverable))],
        record: 10_000,
        ..Script::default()
    });
    let list: Vec<_> = (0..20).map(|last| 2_348_031_230_000_u64 + last).collect();
    let before = ogene.total().await;
    let id = ogene
        .sent_id(json!({"from": SENDER, "to": list, "body": format!("Text {number}")}))
        .await;
    let expected: Vec<_> = (0..20)
        .map(|last| if last % 10 == 0 { "undeliv" } else { "delivrd" })
        .collect();
    assert_eq!(ogene.outcome(&id).await, expected, "{shown}");
    until("all receipts are answered", async || {
        let stats = ogene.smsc().stats();
        (stats.answered == stats.delivered && ogene.smsc().waiting() == 0).then_some(())
    })
    .await;
    assert_eq!(ogene.statuses(&id).await, expected, "{shown}");
    assert_eq!((before - ogene.total().await).to_string(), "108", "{shown}");
}

#[tokio::test]
async fn receipts_are_understood_in_every_form_and_order() {
    let ogene = Ogene::start().await;
    ogene
        .credit(&ogene.shop, "5000", domain::Component::UniversalWallet)
        .await;
    let style = ReceiptStyle::default;
    let quirk = |quirk| ReceiptStyle {
        quirks: vec![quirk],
        ..style()
    };
    let styles = [
        quirk(Quirk::BeforeResponse),
        quirk(Quirk::Duplicate),
        quirk(Quirk::Shuffle),
        quirk(Quirk::Payload),
        quirk(Quirk::DataSm),
        quirk(Quirk::Unmarked),
        quirk(Quirk::Intermediate),
        ReceiptStyle {
            quirks: vec![Quirk::BeforeResponse, Quirk::Duplicate, Quirk::Shuffle],
            ..style()
        },
        ReceiptStyle {
            form: ReceiptForm::Text,
            ..style()
        },
        ReceiptStyle {
            form: ReceiptForm::Tlv,
            ..style()
        },
        ReceiptStyle {
            labels: ReceiptLabels::Capitals,
            form: ReceiptForm::Text,
            ..style()
        },
        ReceiptStyle {
            labels: ReceiptLabels::Short,
            form: ReceiptForm::Text,
            ..style()
        },
    ];
    for (number, style) in styles.into_iter().enumerate() {
        under(&ogene, number, style).await;
    }
    ogene.end().await;
}

#[tokio::test]
async fn ids_of_receipts_may_be_written_in_another_base() {
    let table = [
        (
            "hex-response-decimal-receipt",
            ReceiptIds::HexResponseDecimalReceipt,
        ),
        (
            "decimal-response-hex-receipt",
            ReceiptIds::DecimalResponseHexReceipt,
        ),
        ("numeric", ReceiptIds::Numeric),
    ];
    for (name, ids) in table {
        let ogene = Setup::new()
            .set("carriers.mtn.receipt_ids", &format!("{name:?}"))
            .start()
            .await;
        under(
            &ogene,
            0,
            ReceiptStyle {
                ids,
                ..ReceiptStyle::default()
            },
        )
        .await;
        ogene.end().await;
    }
}

#[tokio::test]
async fn a_carrier_may_be_bound_by_transmitter_and_receiver() {
    let ogene = Setup::new()
        .set("carriers.mtn.bind_mode", r#""transmitter-and-receiver""#)
        .set("carriers.mtn.binds", "2")
        .start()
        .await;
    ogene.bound("mtn", 4).await;
    under(&ogene, 0, ReceiptStyle::default()).await;
    ogene.end().await;
}

#[tokio::test]
async fn nonsense_from_a_carrier_breaks_nothing() {
    let ogene = Setup::new()
        .set("carriers.mtn.response_timeout", r#""1s""#)
        .start()
        .await;
    for (number, fault) in [Fault::Garbage, Fault::WrongSequence, Fault::BrokenLength]
        .into_iter()
        .enumerate()
    {
        let script = Script {
            faults: vec![(5, fault)],
            record: 10_000,
            ..Script::default()
        };
        ogene.smsc().set_script(script);
        let list: Vec<_> = (0..12).map(|last| 2_348_031_230_000_u64 + last).collect();
        let id = ogene
            .sent_id(json!({"from": SENDER, "to": list, "body": format!("Text {number}")}))
            .await;
        assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 12], "{fault:?}");
    }
    assert_eq!(
        ogene.total().await.to_string(),
        (1_000 - 3 * 12 * 6).to_string()
    );
    ogene.end().await;
}

#[tokio::test]
async fn a_connection_that_does_not_answer_its_probe_is_replaced() {
    let ogene = Setup::new()
        .set("carriers.mtn.enquire_link", r#""300ms""#)
        .set("carriers.mtn.response_timeout", r#""1s""#)
        .set("carriers.mtn.binds", "1")
        .script(Script {
            ignore_enquire_link: true,
            ..Script::default()
        })
        .start()
        .await;
    ogene.bound("mtn", 2).await;
    ogene.smsc().set_script(Script {
        record: 100,
        ..Script::default()
    });
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    ogene.end().await;
}

#[tokio::test]
async fn receipts_repeated_after_a_lost_connection_count_once() {
    let receipt_delay = Delay {
        from: Duration::from_millis(200),
        to: Duration::from_millis(400),
    };
    let rules = vec![rule("0", receipt(ReceiptState::Undeliverable))];
    let ogene = Setup::new()
        .script(Script {
            receipt_delay,
            rules,
            ..Script::default()
        })
        .start()
        .await;
    let id = ogene.campaign(60).await;
    ogene.received(60).await;
    until("receipts are coming", async || {
        (ogene.smsc().stats().delivered > 0).then_some(())
    })
    .await;
    ogene.smsc().drop_connections().await;
    let statuses = ogene.outcome(&id).await;
    assert_eq!(
        statuses
            .iter()
            .filter(|status| *status == "undeliv")
            .count(),
        6
    );
    assert_eq!(
        statuses
            .iter()
            .filter(|status| *status == "delivrd")
            .count(),
        54
    );
    assert_eq!(
        ogene.total().await.to_string(),
        (1_000 - 54 * 6).to_string()
    );
    ogene.end().await;
}
