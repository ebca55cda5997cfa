//! `ogene carrier test`: one message over one carrier, outside of all accounts.

use crate::controlling::change;
use crate::kit::{CARRIER, MTN, Ogene, Setup, operations, to, until};
use domain::carrier_control::CarrierChange;
use domain::{DeliveryStatus, parse_international};
use engine::System;
use engine::operators::{OperationError, TestEnd, TestMessage, TestStep};
use smpp::CommandStatus;
use smpp::simulator::{BindRules, Delay, Script, parse_fault, parse_rule};
use std::time::Duration;

/// Sends a test message as the command does. Returns its end, and the names of its steps.
pub(crate) async fn test(
    ogene: &Ogene,
    carrier: &str,
    wait: Duration,
) -> Result<(TestEnd, Vec<TestStep>), OperationError> {
    let store = ogene.store().await;
    let message = TestMessage {
        to: parse_international(MTN).expect("a number"),
        from: "Tester".to_owned(),
        body: "A test of {carrier}".to_owned(),
        wait,
    };
    let system = System::from_os().expect("a system");
    let settings = ogene.carrier_settings(carrier);
    let carriers = operations(&store).carriers(ogene.rules());
    let mut steps = Vec::new();
    let note = |step| steps.push(step);
    let system = (system, ogene.serves_embedded());
    let ended = carriers.test(system, settings, carrier, &message, note);
    let ended = ended.await;
    store.close().await;
    Ok((ended?, steps))
}

pub(crate) fn names(steps: &[TestStep]) -> Vec<&'static str> {
    steps.iter().map(|step| step.name).collect()
}

const WAIT: Duration = Duration::from_secs(30);

#[tokio::test]
async fn beside_a_service_the_receipt_is_found_at_its_node() {
    let ogene = Ogene::start().await;
    ogene.bound(CARRIER, 2).await;
    let (end, steps) = test(&ogene, CARRIER, WAIT).await.expect("a test");
    assert_eq!(
        names(&steps),
        ["bound", "node", "submitted", "response", "receipt"],
        "{steps:?}"
    );
    assert!(end.is_good(), "{end:?}");
    assert_eq!(end.status, Some(DeliveryStatus::Delivered));
    let received = ogene.received(1).await;
    assert_eq!(received[0].submit.source.digits, "Tester");
    assert_eq!(Some(&end.ids[0]), received[0].message_id.as_ref());
    // Nobody pays, and no list has the message. The service sends as before.
    assert_eq!(ogene.total().await.to_string(), "1000");
    assert_eq!(ogene.sql("select count(*) from messages"), "0");
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    let entry = "select object, after from audit where verb = 'carrier.test'";
    let entry = ogene.sql(entry);
    assert_eq!(entry, r#"mtn|{"recipient":"234803123****"}"#);
    ogene.end().await;
}

#[tokio::test]
async fn without_a_service_the_test_takes_its_own_receipt_alone() {
    let mut ogene = Setup::new()
        .set("carriers.mtn.bind_mode", r#""transmitter-and-receiver""#)
        .script(Script {
            receipt_delay: Delay::fixed(Duration::from_millis(300)),
            ..Script::default()
        })
        .start()
        .await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    ogene.received(1).await;
    ogene.kill().await;
    let (end, steps) = test(&ogene, CARRIER, WAIT).await.expect("a test");
    assert!(end.is_good(), "{steps:?}");
    let found = names(&steps);
    assert_eq!(found[..4], ["bound", "bound", "submitted", "response"]);
    assert!(found.contains(&"receipt"), "{steps:?}");
    // The receipt of the other message still arrives.
    ogene.serve().await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    ogene.end().await;
}

#[tokio::test]
async fn each_failure_of_a_test_is_a_step() {
    let refused = Script {
        binds: BindRules {
            refuse: Some(CommandStatus::RINVPASWD),
            ..BindRules::default()
        },
        ..Script::default()
    };
    let rejected = Script {
        rules: vec![parse_rule("4567=refuse:0x0B").expect("a rule")],
        ..Script::default()
    };
    let silent = Script {
        faults: vec![parse_fault("1=silence").expect("a fault")],
        ..Script::default()
    };
    let undelivered = Script {
        rules: vec![parse_rule("4567=undeliv").expect("a rule")],
        ..Script::default()
    };
    let pending = Script {
        rules: vec![parse_rule("4567=pending").expect("a rule")],
        ..Script::default()
    };
    let mut ogene = Setup::new()
        .set("carriers.mtn.response_timeout", r#""1s""#)
        .start()
        .await;
    ogene.stop().await;
    for (script, last, about, is_good) in [
        (refused, "failed", "ESME_RINVPASWD", false),
        (rejected, "response", "ESME_RINVDSTADR", false),
        (
            silent,
            "response",
            "the carrier may have the message",
            false,
        ),
        (undelivered, "receipt", "undeliv", false),
        (pending, "waited", "no receipt within 2 s", true),
    ] {
        ogene.smsc().set_script(script);
        let tested = test(&ogene, CARRIER, Duration::from_secs(2)).await;
        let (end, steps) = tested.expect("a test");
        let step = steps.last().expect("a step");
        assert_eq!(step.name, last, "{steps:?}");
        assert!(step.about.contains(about), "{steps:?}");
        assert_eq!(end.is_good(), is_good, "{end:?}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_stopped_or_unknown_carrier_is_not_tested() {
    let ogene = Ogene::start().await;
    let refused = async |carrier| {
        let tested = test(&ogene, carrier, WAIT).await;
        tested.expect_err("a refusal").to_string()
    };
    assert!(refused("glo").await.contains("there is no carrier `glo`"));
    for (control, mode) in [
        (CarrierChange::Pause, "is paused"),
        (CarrierChange::Drain, "is drained"),
    ] {
        change(&ogene, CARRIER, control).await;
        let text = refused(CARRIER).await;
        assert!(text.contains(mode), "{text}");
        assert!(text.contains("ogene carrier resume mtn"), "{text}");
    }
    assert!(ogene.smsc().received().is_empty());
    let tests = "select count(*) from audit where verb = 'carrier.test'";
    assert_eq!(ogene.sql(tests), "0");
    change(&ogene, CARRIER, CarrierChange::Resume).await;
    until("a test succeeds", async || {
        let tested = test(&ogene, CARRIER, Duration::ZERO).await;
        tested.expect("a test").0.is_good().then_some(())
    })
    .await;
    ogene.end().await;
}
