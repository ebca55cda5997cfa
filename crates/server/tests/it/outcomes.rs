//! Receipts and submit errors become a status, and a refund if the gateway refunds
//! (docs/spec/delivery.md, sections 1 and 2).

use crate::kit::receiver::Receiver;
use crate::kit::wire::{receipt, rule};
use crate::kit::{MTN, Ogene, SENDER, Setup, to, until, wire, with};
use serde_json::json;
use smpp::simulator::{Delay, Fate, Quirk, ReceiptForm, ReceiptStyle, Rule, Script};
use smpp::{Address, CommandStatus, DeliverSm, ReceiptState};
use std::time::Duration;

/// The last digits of a number, the fate at the carrier, and the expected status.
fn fates() -> Vec<(&'static str, Fate, &'static str)> {
    vec![
        ("01", receipt(ReceiptState::Delivered), "delivrd"),
        ("02", receipt(ReceiptState::Undeliverable), "undeliv"),
        ("03", receipt(ReceiptState::Expired), "expired"),
        ("04", receipt(ReceiptState::Rejected), "rejectd"),
        ("05", receipt(ReceiptState::Deleted), "failed"),
        ("06", receipt(ReceiptState::Unknown), "failed"),
        ("07", receipt(ReceiptState::Enroute), "sent awaiting status"),
        (
            "08",
            receipt(ReceiptState::Accepted),
            "sent awaiting status",
        ),
        (
            "09",
            receipt(ReceiptState::Other("BLOCKED".to_owned())),
            "failed",
        ),
        ("10", Fate::Refuse(CommandStatus::RINVDSTADR), "rejectd"),
        ("11", Fate::Pending, "sent awaiting status"),
        ("12", Fate::Refuse(CommandStatus::RINVSRCADR), "rejectd"),
    ]
}

fn rules() -> Vec<Rule> {
    fates()
        .into_iter()
        .map(|(suffix, fate, _)| rule(suffix, fate))
        .collect()
}

fn script() -> Script {
    Script {
        rules: rules(),
        ..Script::default()
    }
}

/// Sends to a number of each fate and waits for the outcomes.
async fn send_to_all(ogene: &Ogene, gateway: &str, callback_url: Option<&str>) -> String {
    let numbers: Vec<_> = fates()
        .iter()
        .map(|(suffix, ..)| format!("23480312345{suffix}"))
        .collect();
    let fields = json!({
        "from": SENDER, "to": numbers, "body": "Dear customer", "gateway": gateway, "callback_url": callback_url,
    });
    let id = ogene.sent_id(fields).await;
    until("all that comes has come", async || {
        (ogene.report(&id).await["summary"]["pending"] == 3).then_some(())
    })
    .await;
    let expected: Vec<_> = fates().into_iter().map(|(_, _, status)| status).collect();
    assert_eq!(ogene.statuses(&id).await, expected);
    id
}

#[tokio::test]
async fn each_receipt_status_is_mapped_and_refunded_once() {
    let ogene = Setup::new().script(script()).start().await;
    let receiver = Receiver::start().await;
    let id = send_to_all(&ogene, "direct-refund", Some(&receiver.url)).await;
    let summary = ogene.report(&id).await["summary"].clone();
    assert_eq!(
        summary,
        json!({"total": 12, "delivered": 1, "pending": 3, "failed": 8})
    );
    assert_eq!(
        ogene.total().await.to_string(),
        (1_000 - 12 * 6 + 8 * 6).to_string()
    );
    let mut calls: Vec<_> = receiver
        .called(9)
        .await
        .iter()
        .map(|call| {
            (
                call.field("recipient")[11..].to_owned(),
                call.field("delivery_status"),
            )
        })
        .collect();
    calls.sort();
    let final_ones: Vec<_> = fates()
        .into_iter()
        .filter(|(_, _, status)| *status != "sent awaiting status")
        .map(|(suffix, _, status)| (suffix.to_owned(), status.to_owned()))
        .collect();
    assert_eq!(
        calls, final_ones,
        "each final outcome is told once, and no other"
    );
    ogene.end().await;
}

#[tokio::test]
async fn corporate_and_otp_messages_are_not_refunded() {
    let ogene = Setup::new().script(script()).start().await;
    send_to_all(&ogene, "direct-corporate", None).await;
    assert_eq!(ogene.total().await.to_string(), "910");
    ogene.end().await;
}

#[tokio::test]
async fn an_intermediate_receipt_is_not_the_last_word() {
    let receipts = ReceiptStyle {
        quirks: vec![Quirk::Intermediate],
        ..ReceiptStyle::default()
    };
    let ogene = Setup::new()
        .script(Script {
            receipts,
            ..script()
        })
        .start()
        .await;
    let id = ogene
        .sent_id(to("2348031234502,2348031234501", "Hello"))
        .await;
    assert_eq!(ogene.outcome(&id).await, ["undeliv", "delivrd"]);
    assert_eq!(ogene.total().await.to_string(), "994");
    ogene.end().await;
}

#[tokio::test]
async fn one_failed_page_fails_and_refunds_the_whole_message() {
    let mix = vec![
        (1, receipt(ReceiptState::Delivered)),
        (1, receipt(ReceiptState::Undeliverable)),
    ];
    let ogene = Setup::new()
        .script(Script {
            mix,
            ..Script::default()
        })
        .start()
        .await;
    let receiver = Receiver::start().await;
    // The message has ten pages, which are surely not all delivered.
    let fields = with(
        to(MTN, &"x".repeat(1530)),
        json!({"callback_url": receiver.url}),
    );
    let id = ogene.sent_id(fields).await;
    assert_eq!(ogene.outcome(&id).await, ["undeliv"]);
    until("all receipts are answered", async || {
        (ogene.smsc().stats().answered == 10).then_some(())
    })
    .await;
    assert_eq!(ogene.total().await.to_string(), "1000");
    assert_eq!(receiver.called(1).await.len(), 1);
    ogene.end().await;
}

#[tokio::test]
async fn a_message_of_several_pages_is_delivered_when_all_are() {
    let receipt_delay = Delay {
        from: Duration::ZERO,
        to: Duration::from_millis(800),
    };
    let ogene = Setup::new()
        .script(Script {
            receipt_delay,
            ..Script::default()
        })
        .start()
        .await;
    let id = ogene.sent_id(to(MTN, &"x".repeat(1530))).await;
    let mut seen = Vec::new();
    until("it is delivered", async || {
        // The count is read before the status, because a status is never ahead of its receipts.
        let status = ogene.statuses(&id).await.remove(0);
        let answered = ogene.smsc().stats().delivered;
        seen.push((status.clone(), answered));
        (status == "delivrd").then_some(())
    })
    .await;
    let (_, receipts) = seen.last().expect("at least one look");
    assert_eq!(*receipts, 10, "{seen:?}");
    ogene.end().await;
}

#[tokio::test]
async fn a_final_status_never_changes() {
    let ogene = Setup::new().script(script()).start().await;
    let receiver = Receiver::start().await;
    for (round, (suffix, other, status)) in (1..).zip([
        ("02", "DELIVRD", "undeliv"),
        ("01", "UNDELIV", "delivrd"),
        ("03", "DELIVRD", "expired"),
    ]) {
        let number = format!("23480312345{suffix}");
        let id = ogene
            .sent_id(with(
                to(&number, "Hello"),
                json!({"callback_url": receiver.url}),
            ))
            .await;
        assert_eq!(ogene.outcome(&id).await, [status]);
        let submitted = ogene.smsc().received().pop().expect("a message");
        for word in [other, other, "EXPIRED", "ACCEPTD"] {
            ogene.smsc().send("ogene", wire::written(&submitted, word));
        }
        until("all are answered", async || {
            // Each message has its own receipt and four more.
            (ogene.smsc().stats().answered == round * 5).then_some(())
        })
        .await;
        assert_eq!(ogene.statuses(&id).await, [status], "{suffix}");
    }
    // Two were refunded, once each. Three had a callback, once each.
    assert_eq!(ogene.total().await.to_string(), "994");
    assert_eq!(receiver.called(3).await.len(), 3);
    ogene.end().await;
}

#[tokio::test]
async fn a_receipt_is_answered_only_once_it_is_kept() {
    let ogene = Setup::new()
        .set("carriers.mtn.binds", "1")
        .script(script())
        .start()
        .await;
    let id = ogene.sent_id(to("2348031234511", "Hello")).await;
    let received = ogene.received(1).await.remove(0);
    let receipt = wire::written(&received, "DELIVRD");
    let ordinary = DeliverSm {
        esm_class: 0,
        short_message: "STOP".into(),
        ..receipt.clone()
    };
    // No recipient can be settled now. An ordinary message is answered in spite of it.
    ogene.hide("deliveries");
    ogene.smsc().send("ogene", receipt);
    for answers in 1..=3 {
        ogene.smsc().send("ogene", ordinary.clone());
        until("the ordinary message is answered", async || {
            (ogene.smsc().stats().answered >= answers).then_some(())
        })
        .await;
        assert_eq!(ogene.smsc().stats().answered, answers);
    }
    ogene.show("deliveries");
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    until("the receipt is answered", async || {
        (ogene.smsc().stats().answered == 4).then_some(())
    })
    .await;
    ogene.end().await;
}

#[tokio::test]
async fn an_unmarked_receipt_counts_unless_marks_are_configured() {
    for (unmarked, expected) in [(true, ["delivrd"]), (false, ["undeliv"])] {
        let ogene = Setup::new()
            .set("carriers.mtn.binds", "1")
            .set("carriers.mtn.unmarked_receipts", &unmarked.to_string())
            .script(script())
            .start()
            .await;
        let id = ogene.sent_id(to("2348031234511", "Hello")).await;
        let received = ogene.received(1).await.remove(0);
        let forged = DeliverSm {
            esm_class: 0,
            ..wire::written(&received, "DELIVRD")
        };
        ogene.smsc().send("ogene", forged);
        ogene
            .smsc()
            .send("ogene", wire::written(&received, "UNDELIV"));
        assert_eq!(ogene.outcome(&id).await, expected);
        until("both are answered", async || {
            (ogene.smsc().stats().answered == 2).then_some(())
        })
        .await;
        assert_eq!(ogene.statuses(&id).await, expected);
        ogene.end().await;
    }
}

/// Makes a message that cannot be settled, which no release writes. Returns the statement that
/// repairs it.
fn break_message(ogene: &Ogene, reference: &str) -> String {
    let whose = format!("where customer_reference = '{reference}'");
    let paid_from = ogene.sql(&format!("select paid_from from messages {whose}"));
    ogene.sql(&format!("update messages set paid_from = '?' {whose}"));
    format!("update messages set paid_from = '{paid_from}' {whose}")
}

#[tokio::test]
async fn a_receipt_that_cannot_be_stored_delays_no_other() {
    let ogene = Setup::new()
        .set("carriers.mtn.binds", "1")
        .script(script())
        .start()
        .await;
    let reference = json!({"customer_reference": "broken"});
    let broken = ogene
        .sent_id(with(to("2348031234511", "Hello"), reference))
        .await;
    let other = ogene.sent_id(to("2348031234611", "Hello")).await;
    let received = ogene.received(2).await;
    let mend = break_message(&ogene, "broken");
    for one in &received {
        ogene.smsc().send("ogene", wire::written(one, "UNDELIV"));
    }
    assert_eq!(ogene.outcome(&other).await, ["undeliv"]);
    until("the other receipt is answered", async || {
        (ogene.smsc().stats().answered >= 1).then_some(())
    })
    .await;
    let later = ogene.sent_id(to("2348031234711", "Hello")).await;
    ogene.received(3).await;
    assert_eq!(ogene.statuses(&later).await, ["sent awaiting status"]);
    assert_eq!(ogene.smsc().stats().answered, 1, "it is not kept");
    ogene.sql(&mend);
    assert_eq!(ogene.outcome(&broken).await, ["undeliv"]);
    until("it is answered", async || {
        (ogene.smsc().stats().answered == 2).then_some(())
    })
    .await;
    assert_eq!(ogene.total().await.to_string(), "994");
    ogene.end().await;
}

#[tokio::test]
async fn a_response_that_cannot_be_stored_delays_no_other() {
    let slow = Script {
        rules: vec![wire::rule("4511", Fate::Refuse(CommandStatus::RINVDSTADR))],
        response_delay: Delay::fixed(Duration::from_secs(2)),
        ..wire::good()
    };
    let ogene = Setup::new().script(slow).start().await;
    let reference = json!({"customer_reference": "broken"});
    let broken = ogene
        .sent_id(with(to("2348031234511", "Hello"), reference))
        .await;
    let mend = break_message(&ogene, "broken");
    let other = ogene.sent_id(to("2348031234611", "Hello")).await;
    assert_eq!(ogene.outcome(&other).await, ["delivrd"]);
    assert_eq!(ogene.statuses(&broken).await, ["sent awaiting status"]);
    ogene.sql(&mend);
    assert_eq!(ogene.outcome(&broken).await, ["rejectd"]);
    assert_eq!(ogene.total().await.to_string(), "994");
    assert_eq!(wire::count(&ogene.smsc().received(), "2348031234511"), 1);
    ogene.end().await;
}

#[tokio::test]
async fn a_handset_message_is_answered_and_changes_nothing() {
    let ogene = Setup::new().script(script()).start().await;
    let id = ogene.sent_id(to("2348031234511", "Hello")).await;
    let received = ogene.received(1).await.remove(0);
    let reply = DeliverSm {
        esm_class: 0,
        short_message: "STOP".into(),
        ..wire::written(&received, "DELIVRD")
    };
    ogene.smsc().send("ogene", reply);
    until("it is answered", async || {
        (ogene.smsc().stats().answered == 1).then_some(())
    })
    .await;
    assert_eq!(ogene.statuses(&id).await, ["sent awaiting status"]);
    assert_eq!(wire::count(&ogene.smsc().received(), "2348031234511"), 1);
    ogene.end().await;
}

/// Returns a simulator whose receipts have these oddities.
fn odd(form: ReceiptForm, quirks: &[Quirk]) -> Script {
    Script {
        receipts: ReceiptStyle {
            form,
            quirks: quirks.to_vec(),
            ..ReceiptStyle::default()
        },
        ..script()
    }
}

#[tokio::test]
async fn every_odd_receipt_settles_its_recipient() {
    use Quirk::{
        DataSm, NoStat, NulBeforeTlvs, OneIdForAll, OneIdPerMessage, OwnParameterId, OwnTextId,
        Payload, Shuffle, StateAccepted, StateEnroute, StateScheduled, TwoParts, TwoPartsSar, Ucs2,
        Unmarked, WideState,
    };
    use ReceiptForm::{Both, Text, Tlv};
    let cases: &[(ReceiptForm, &[Quirk])] = &[
        (Text, &[Ucs2]),
        (Text, &[Ucs2, Payload]),
        (Both, &[StateScheduled]),
        (Both, &[StateEnroute]),
        (Both, &[StateAccepted]),
        (Both, &[StateEnroute, WideState]),
        (Tlv, &[WideState]),
        (Both, &[WideState, NoStat]),
        (Both, &[OwnParameterId]),
        (Both, &[OwnTextId]),
        (Both, &[NoStat]),
        (Tlv, &[NulBeforeTlvs]),
        (Both, &[NulBeforeTlvs, NoStat]),
        (Text, &[TwoParts]),
        (Text, &[TwoParts, Ucs2, Shuffle]),
        (Text, &[TwoParts, Unmarked]),
        (Text, &[TwoPartsSar]),
        (Text, &[TwoPartsSar, DataSm]),
        (Both, &[OneIdPerMessage]),
        (Both, &[OneIdForAll]),
    ];
    let ogene = Setup::new().script(script()).start().await;
    let mut expected = 0;
    for (round, (form, quirks)) in (100..).zip(cases) {
        ogene.smsc().set_script(odd(*form, quirks));
        // Each message has three pages.
        let numbers = format!("2348031{round}501,2348031{round}502");
        let id = ogene.sent_id(to(&numbers, &"x".repeat(400))).await;
        let outcome = ogene.outcome(&id).await;
        assert_eq!(outcome, ["delivrd", "undeliv"], "{form:?} {quirks:?}");
        expected += 18;
    }
    assert_eq!(
        ogene.total().await.to_string(),
        (1_000 - expected).to_string()
    );
    ogene.end().await;
}

#[tokio::test]
async fn a_carrier_that_waits_for_the_answer_of_a_segment_gets_it() {
    let ogene = Setup::new()
        .set("carriers.mtn.binds", "1")
        .script(Script {
            receipt_window: 1,
            ..odd(ReceiptForm::Text, &[Quirk::TwoParts])
        })
        .start()
        .await;
    let id = ogene.sent_id(to("2348031234501", "Hello")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    until("both segments are answered", async || {
        (ogene.smsc().stats().answered == 2).then_some(())
    })
    .await;
    ogene.end().await;
}

#[tokio::test]
async fn a_receipt_without_a_state_is_counted_and_settles_none() {
    let ogene = Setup::new()
        .script(odd(ReceiptForm::Text, &[Quirk::NoStat]))
        .start()
        .await;
    let id = ogene.sent_id(to("2348031234501", "Hello")).await;
    until("it is answered", async || {
        (ogene.smsc().stats().answered == 1).then_some(())
    })
    .await;
    assert_eq!(ogene.statuses(&id).await, ["sent awaiting status"]);
    let unreadable = ogene.metric("ogene_receipts_unreadable_total", &[]).await;
    assert!(unreadable >= 1);
    ogene.end().await;
}

#[tokio::test]
async fn an_unmarked_receipt_from_a_name_settles_none() {
    let quirks = [Quirk::Unmarked, Quirk::NamedSource];
    let ogene = Setup::new()
        .set("carriers.mtn.binds", "1")
        .script(odd(ReceiptForm::Text, &quirks))
        .start()
        .await;
    let id = ogene.sent_id(to("2348031234502", "Hello")).await;
    let received = ogene.received(1).await.remove(0);
    // A receipt of another number or of none does not settle it.
    for source in [
        Address::international("2348039999999"),
        Address::alphanumeric("Ogene"),
        Address::default(),
    ] {
        let forged = DeliverSm {
            source,
            esm_class: 0,
            ..wire::written(&received, "UNDELIV")
        };
        ogene.smsc().send("ogene", forged);
    }
    until("all are answered", async || {
        (ogene.smsc().stats().answered == 4).then_some(())
    })
    .await;
    assert_eq!(ogene.statuses(&id).await, ["sent awaiting status"]);
    assert_eq!(ogene.total().await.to_string(), "994");
    // The receipt of its own recipient does.
    let own = DeliverSm {
        esm_class: 0,
        ..wire::written(&received, "UNDELIV")
    };
    ogene.smsc().send("ogene", own);
    assert_eq!(ogene.outcome(&id).await, ["undeliv"]);
    ogene.end().await;
}

#[tokio::test]
async fn a_receipt_that_could_mean_several_pages_is_counted() {
    let quirks = [Quirk::OneIdForAll, Quirk::NamedSource];
    let ogene = Setup::new()
        .script(odd(ReceiptForm::Both, &quirks))
        .start()
        .await;
    let counted = "ogene_receipts_unclear_total";
    let before = ogene.metric(counted, &[]).await;
    let id = ogene
        .sent_id(to("2348031234511,2348031234611", "Hello"))
        .await;
    let received = ogene.received(2).await;
    // A receipt that arrives while only one page has its id belongs to that page.
    until("both ids are recorded", async || {
        (ogene.sql("select count(*) from deliveries where status = 'sent'") == "2").then_some(())
    })
    .await;
    for _ in 0..2 {
        let unclear = DeliverSm {
            source: Address::alphanumeric("Receipts"),
            ..wire::written(&received[0], "UNDELIV")
        };
        ogene.smsc().send("ogene", unclear);
    }
    until("they are answered", async || {
        (ogene.smsc().stats().answered == 2).then_some(())
    })
    .await;
    let pending = "sent awaiting status";
    assert_eq!(ogene.statuses(&id).await, [pending; 2]);
    assert!(ogene.metric(counted, &[]).await >= before + 2);
    // A receipt with a number settles it.
    for one in &received {
        ogene.smsc().send("ogene", wire::written(one, "DELIVRD"));
    }
    assert_eq!(ogene.outcome(&id).await, ["delivrd"; 2]);
    ogene.end().await;
}
