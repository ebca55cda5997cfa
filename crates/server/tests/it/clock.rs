//! The clock is set back and forth by hours while everything runs: nothing is sent, charged or
//! refunded twice, and windows keep their length.

use crate::kit::http::Request;
use crate::kit::wire::{count, good};
use crate::kit::{AIRTEL, GLO, MTN, Ogene, SENDER, Setup, to, until};
use serde_json::json;
use smpp::CommandStatus;
use smpp::simulator::{Fate, Fault, Script};

const SECOND: i64 = 1_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;

/// Sets the clock forward or back by so many hours.
fn pass(ogene: &Ogene, hours: i64) {
    ogene.clock.set(ogene.clock.now_ms() + hours * HOUR);
}

/// Eight in the evening of the next day in Lagos, and eight in the morning after it. At any hour of
/// the test the clock is set forward.
pub(crate) fn night(ogene: &Ogene) -> (i64, i64) {
    let midnight = (ogene.clock.now_ms().div_euclid(DAY) + 1) * DAY;
    (midnight + 19 * HOUR, midnight + 31 * HOUR)
}

/// A carrier that accepts all submits and sends no receipt.
fn silent() -> Script {
    Script {
        mix: vec![(1, Fate::Pending)],
        ..Script::default()
    }
}

#[tokio::test]
async fn nobody_is_sent_or_charged_twice_however_the_clock_is_set() {
    let faults = vec![
        (17, Fault::Refuse(CommandStatus::RTHROTTLED)),
        (14, Fault::Refuse(CommandStatus::RMSGQFUL)),
    ];
    let ogene = Setup::new()
        .set("carriers.mtn.window", "5")
        .script(Script {
            faults,
            ..Script::default()
        })
        .start()
        .await;
    let numbers: Vec<u64> = (0..40).map(|last| 2_348_031_000_000 + last).collect();
    let campaign = json!({"from": SENDER, "to": numbers, "body": "Dear customer"});
    let id = ogene.sent_id(campaign.clone()).await;
    // The last time is later than all others, so that nothing waits for its time.
    for (step, hours) in [3, -5, 7, -6, 9].into_iter().enumerate() {
        ogene.received(1 + step).await;
        pass(&ogene, hours);
        let probe = to(GLO, &format!("Probe {step}"));
        assert_eq!(ogene.send(probe).await.status, 200);
        assert_eq!(ogene.send(campaign.clone()).await.code(), "API-2012");
    }
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 40]);
    until("the probes have arrived", async || {
        let received = ogene.smsc().received().into_iter();
        let taken: Vec<_> = received.filter(|one| one.message_id.is_some()).collect();
        (count(&taken, GLO) == 5).then_some(())
    })
    .await;
    let received = ogene.smsc().received().into_iter();
    let taken: Vec<_> = received.filter(|one| one.message_id.is_some()).collect();
    for number in numbers {
        assert_eq!(count(&taken, &number.to_string()), 1, "{number}");
    }
    let spent = 6 * (40 + 5);
    assert_eq!(ogene.total().await.to_string(), (1_000 - spent).to_string());
    ogene.end().await;
}

#[tokio::test]
async fn windows_last_as_long_as_they_should_however_the_clock_is_set() {
    let ogene = Setup::new()
        .set("limits.sends_per_minute", "6")
        .start()
        .await;
    let hello = to(MTN, "Hello");
    ogene.sent(hello.clone()).await;
    for hours in [-3, 7, -100, 96] {
        pass(&ogene, hours);
        let again = ogene.send(hello.clone()).await;
        assert_eq!(again.code(), "API-2012", "{hours} hours");
    }
    assert_eq!(ogene.send(to(AIRTEL, "Hello")).await.status, 200);
    for hours in [0, 5, -9] {
        pass(&ogene, hours);
        let refused = ogene.send(to(GLO, "Hello")).await;
        assert_eq!(refused.code(), "API-3004", "{hours} hours");
        let wait = refused.header("retry-after").expect("a wait");
        let wait: u64 = wait.parse().expect("seconds");
        assert!((1..=61).contains(&wait), "{wait}");
    }
    assert_eq!(ogene.total().await.to_string(), "988");
    ogene.end().await;
}

#[tokio::test]
async fn who_is_held_back_by_quiet_hours_is_counted_until_their_end() {
    // The carrier has its own name, because metrics are of the whole process.
    let ogene = Setup::new()
        .carrier("quiet", good())
        .set("gateways.direct-refund.carriers", r#"["quiet"]"#)
        .set("gateways.direct-refund.quiet_hours", r#""20:00-08:00""#)
        .start()
        .await;
    let held = async |many: u64| {
        until("so many are held", async || {
            let labels = ["carrier=\"quiet\""];
            let count = ogene.metric("ogene_held_recipients{", &labels).await;
            (count == many).then_some(())
        })
        .await;
    };
    let (evening, morning) = night(&ogene);
    ogene.clock.set(evening + HOUR);
    let id = ogene.campaign(3).await;
    held(3).await;
    ogene.clock.set(morning);
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 3]);
    held(0).await;
    ogene.end().await;
}

#[tokio::test]
async fn quiet_hours_end_when_the_clock_says_so() {
    let ogene = Setup::new()
        .set("gateways.direct-refund.quiet_hours", r#""20:00-08:00""#)
        .start()
        .await;
    ogene.bound("mtn", 2).await;
    let (evening, morning) = night(&ogene);
    ogene.clock.set(evening - 30 * SECOND);
    let before = ogene.sent_id(to(MTN, "Hello")).await;
    assert_eq!(ogene.outcome(&before).await, ["delivrd"]);
    ogene.clock.set(evening);
    let held = ogene.sent_id(to(AIRTEL, "Hello")).await;
    for at_ms in [evening - 2 * HOUR, evening + 5 * HOUR, morning - 2 * SECOND] {
        ogene.clock.set(at_ms);
        if at_ms < morning - HOUR {
            // A message that is due now would have been submitted before that message.
            let otp = crate::kit::with(to(GLO, "Your OTP is 483920"), json!({"gateway": "otp"}));
            let body = json!({"body": format!("Your OTP is {at_ms}")});
            let otp = ogene.sent_id(crate::kit::with(otp, body)).await;
            assert_eq!(ogene.outcome(&otp).await, ["delivrd"]);
        }
        assert_eq!(count(&ogene.smsc().received(), AIRTEL), 0);
    }
    until("it has arrived", async || {
        (count(&ogene.smsc().received(), AIRTEL) == 1).then_some(())
    })
    .await;
    let late_ms = ogene.clock.now_ms() - morning;
    assert!((0..10 * SECOND).contains(&late_ms), "{late_ms}");
    assert_eq!(ogene.outcome(&held).await, ["delivrd"]);
    assert_eq!(count(&ogene.smsc().received(), AIRTEL), 1);
    ogene.end().await;
}

#[tokio::test]
async fn what_quiet_hours_held_has_its_time_from_their_end() {
    let ogene = Setup::new()
        .set("gateways.direct-refund.quiet_hours", r#""20:00-08:00""#)
        .set("gateways.direct-refund.receipt_timeout", r#""2h""#)
        .script(silent())
        .start()
        .await;
    let (evening, morning) = night(&ogene);
    ogene.clock.set(evening - 30 * SECOND);
    let before = ogene.sent_id(to(MTN, "Hello")).await;
    ogene.received(1).await;
    ogene.clock.set(evening);
    let held = ogene.sent_id(to(AIRTEL, "Hello")).await;
    ogene.clock.set(morning);
    ogene.received(2).await;
    ogene.clock.set(morning + HOUR);
    assert_eq!(ogene.outcome(&before).await, ["expired"]);
    assert_eq!(ogene.report(&held).await["summary"]["pending"], 1);
    assert_eq!(ogene.total().await.to_string(), "994");
    ogene.clock.set(morning + 3 * HOUR);
    assert_eq!(ogene.outcome(&held).await, ["expired"]);
    assert_eq!(ogene.total().await.to_string(), "1000");
    ogene.end().await;
}

#[tokio::test]
async fn what_expires_is_refunded_once_however_the_clock_is_set() {
    let ogene = Setup::new()
        // The time is longer than any step back of the clock: a sweep that began earlier may end
        // later.
        .set("gateways.direct-refund.receipt_timeout", r#""12h""#)
        .script(silent())
        .start()
        .await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    ogene.received(1).await;
    pass(&ogene, -5);
    let later = ogene.sent_id(to(AIRTEL, "Hello")).await;
    ogene.received(2).await;
    pass(&ogene, 18);
    assert_eq!(ogene.outcome(&id).await, ["expired"]);
    assert_eq!(ogene.outcome(&later).await, ["expired"]);
    for (hours, submits) in [(-6, 3), (9, 4)] {
        pass(&ogene, hours);
        let one = ogene.sent_id(to(GLO, &format!("Hello {hours}"))).await;
        ogene.received(submits).await;
        pass(&ogene, 13);
        assert_eq!(ogene.outcome(&one).await, ["expired"], "{hours}");
    }
    assert_eq!(ogene.total().await.to_string(), "1000");
    assert_eq!(ogene.smsc().stats().submits, 4);
    let request = Request::get("/readyz");
    assert_eq!(ogene.ask(&request).await.status, 200);
    ogene.end().await;
}
