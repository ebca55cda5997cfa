//! The window of a connection: what fills it, who has a place in it, and that one which is stuck keeps nobody else.

use crate::kit::wire::{count, good};
use crate::kit::{MTN, Setup, numbers, to, until, with};
use serde_json::json;
use smpp::simulator::{Delay, Fault, Script};
use std::time::Duration;

#[tokio::test]
async fn no_more_than_the_window_is_ever_unanswered() {
    let ogene = Setup::new()
        .set("carriers.mtn.binds", "1")
        .set("carriers.mtn.window", "10")
        .script(Script {
            response_delay: Delay::fixed(Duration::from_millis(300)),
            ..Script::default()
        })
        .start()
        .await;
    ogene.bound("mtn", 1).await;
    let id = ogene.campaign(35).await;
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 35]);
    // One of the ten places is kept free for one-time passwords.
    let most = ogene.smsc().stats().most_unanswered;
    assert!((2..=9).contains(&most), "{most}");
    ogene.end().await;
}

#[tokio::test]
async fn a_campaign_leaves_window_slots_to_one_time_passwords() {
    let slow = Script {
        response_delay: Delay::fixed(Duration::from_hours(1)),
        ..Script::default()
    };
    let ogene = Setup::new()
        .set("carriers.mtn.binds", "1")
        .set("carriers.mtn.window", "10")
        .script(slow)
        .start()
        .await;
    ogene.bound("mtn", 1).await;
    ogene.campaign(35).await;
    ogene.received(9).await;
    let otp = with(to(MTN, "Your OTP is 483920"), json!({"gateway": "otp"}));
    ogene.sent_id(otp).await;
    let received = ogene.received(10).await;
    assert_eq!(count(&received, MTN), 1, "the tenth place is its own");
    ogene.smsc().drop_connections().await;
    ogene.end().await;
}

#[tokio::test]
async fn a_connection_that_is_stuck_holds_no_more_than_its_window() {
    let mute = Script {
        faults: vec![(1, Fault::HalfOpen)],
        ..good()
    };
    let ogene = Setup::new()
        .set("carriers.mtn.binds", "2")
        .set("carriers.mtn.window", "5")
        .set("carriers.mtn.enquire_link", r#""1h""#)
        .set("carriers.mtn.response_timeout", r#""1h""#)
        .script(mute)
        .start()
        .await;
    ogene.bound("mtn", 2).await;
    ogene.sent_id(to(MTN, "The first of five")).await;
    ogene.received(1).await;
    ogene.smsc().set_script(good());
    let id = ogene.campaign(60).await;
    until("the other connection has sent the rest", async || {
        let report = ogene.report(&id).await;
        (report["summary"]["delivered"] == json!(60 - 4)).then_some(())
    })
    .await;
    let received = ogene.smsc().received();
    let heard = numbers(60)
        .iter()
        .filter(|to| count(&received, to) == 1)
        .count();
    assert_eq!(heard, 60 - 4, "once each");
    ogene.smsc().drop_connections().await;
    ogene.end().await;
}
