//! The control of carriers by operators: pause, drain, resume and throttle, on a running service.

use crate::kit::wire::count;
use crate::kit::{
    CARRIER, MTN, Ogene, SENDER, Setup, numbers, operations, to, until, with_slow_carrier,
};
use domain::carrier_control::CarrierChange::{self, Drain, Pause, Resume, Throttle};
use serde_json::json;
use smpp::simulator::Script;
use std::time::{Duration, Instant};

/// The account at the simulator.
const SYSTEM_ID: &str = "ogene";

/// Makes a change as the command does, while the service runs.
pub(crate) async fn change(ogene: &Ogene, carrier: &str, change: CarrierChange) {
    let store = ogene.store().await;
    let carriers = operations(&store).carriers(ogene.rules());
    carriers.change(carrier, change).await.expect("a carrier");
    store.close().await;
}

pub(crate) async fn applied(ogene: &Ogene, carrier: &str, paused: u64) {
    let labels = [format!("carrier=\"{carrier}\"")];
    until("the service knows the change", async || {
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let now = ogene.metric("ogene_carrier_paused", &labels).await;
        (now == paused).then_some(())
    })
    .await;
}

/// Waits until no submit is without a response.
async fn window_is_empty(ogene: &Ogene) {
    until("the window is empty", async || {
        let open = ogene.metric("ogene_window_used", &["mtn"]).await;
        (open == 0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_pause_of_a_carrier_holds_over_a_restart() {
    const MANY: u64 = 200;
    let mut ogene = with_slow_carrier().await;
    let fields = json!({"from": SENDER, "to": numbers(MANY), "body": "Dear customer"});
    let id = ogene.sent_id(fields).await;
    ogene.received(20).await;
    change(&ogene, CARRIER, Pause).await;
    applied(&ogene, CARRIER, 1).await;
    window_is_empty(&ogene).await;
    // The connections stay, and receipts are read.
    assert_eq!(ogene.smsc().bound(SYSTEM_ID), 2);
    let submitted = ogene.smsc().received().len();
    assert!(submitted < 200, "{submitted}");
    let delivered = async || {
        let statuses = ogene.statuses(&id).await;
        statuses.iter().filter(|one| *one == "delivrd").count()
    };
    until("all receipts are read", async || {
        (delivered().await == submitted).then_some(())
    })
    .await;
    let binds = ogene.smsc().stats().binds;
    ogene.restart().await;
    ogene.bound(CARRIER, binds + 2).await;
    applied(&ogene, CARRIER, 1).await;
    // A new send waits too, although the carrier is bound.
    let later = ogene.sent_id(to(MTN, "Later")).await;
    assert_eq!(ogene.statuses(&later).await, ["sent awaiting status"]);
    assert_eq!(ogene.smsc().received().len(), submitted);
    change(&ogene, CARRIER, Resume).await;
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 200]);
    assert_eq!(ogene.outcome(&later).await, ["delivrd"]);
    let received = ogene.smsc().received();
    for number in numbers(MANY) {
        assert_eq!(count(&received, &number), 1, "{number}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_drained_carrier_is_unbound_and_bound_at_a_resume() {
    let ogene = Ogene::start().await;
    ogene.bound(CARRIER, 2).await;
    let first = ogene.sent_id(to(MTN, "Before")).await;
    assert_eq!(ogene.outcome(&first).await, ["delivrd"]);
    change(&ogene, CARRIER, Drain).await;
    until("no connection is bound", async || {
        (ogene.smsc().bound(SYSTEM_ID) == 0).then_some(())
    })
    .await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    assert_eq!(ogene.statuses(&id).await, ["sent awaiting status"]);
    change(&ogene, CARRIER, Resume).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    assert_eq!(count(&ogene.smsc().received(), MTN), 2);
    ogene.end().await;
}

#[tokio::test]
async fn messages_of_a_paused_carrier_go_to_the_next() {
    let ogene = Setup::new()
        .carrier("second", Script::default())
        .set("gateways.direct-refund.carriers", r#"["mtn", "second"]"#)
        .start()
        .await;
    ogene.bound("second", 2).await;
    change(&ogene, CARRIER, Pause).await;
    applied(&ogene, CARRIER, 1).await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    assert_eq!(count(&ogene.smsc_of("second").received(), MTN), 1);
    // Both are paused, so the message waits.
    change(&ogene, "second", Pause).await;
    applied(&ogene, "second", 1).await;
    let id = ogene.sent_id(to(MTN, "Hello again")).await;
    assert_eq!(ogene.statuses(&id).await, ["sent awaiting status"]);
    change(&ogene, CARRIER, Resume).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    assert_eq!(count(&ogene.smsc().received(), MTN), 1);
    assert_eq!(count(&ogene.smsc_of("second").received(), MTN), 1);
    ogene.end().await;
}

#[tokio::test]
async fn a_message_expires_while_its_carrier_is_paused() {
    let ogene = Ogene::start().await;
    ogene.bound(CARRIER, 2).await;
    change(&ogene, CARRIER, Pause).await;
    applied(&ogene, CARRIER, 1).await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    ogene.clock.set(ogene.clock.now_ms() + 49 * 3_600_000);
    assert_eq!(ogene.outcome(&id).await, ["expired"]);
    assert_eq!(ogene.total().await.to_string(), "1000");
    assert_eq!(ogene.smsc().received().len(), 0);
    ogene.end().await;
}

#[tokio::test]
async fn a_throttle_lowers_the_rate_until_it_is_ended() {
    const MANY: u64 = 60;
    let ogene = Ogene::start().await;
    ogene.bound(CARRIER, 2).await;
    change(&ogene, CARRIER, Throttle(Some(20))).await;
    until("the service knows the throttle", async || {
        let limit = ogene.metric("ogene_carrier_throttle", &["mtn"]).await;
        (limit == 20).then_some(())
    })
    .await;
    let began = Instant::now();
    ogene.campaign(MANY).await;
    ogene.received(60).await;
    // Ten go at once, and the others at 20 a second.
    let took = began.elapsed();
    assert!(took > Duration::from_secs(2), "{took:?}");
    change(&ogene, CARRIER, Throttle(None)).await;
    until("the throttle has ended", async || {
        let limit = ogene.metric("ogene_carrier_throttle", &["mtn"]).await;
        (limit == 0).then_some(())
    })
    .await;
    ogene.end().await;
}
