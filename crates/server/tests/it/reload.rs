//! The configuration is reloaded while the service runs.

use crate::kit::http::Request;
use crate::kit::{AIRTEL, CARRIER, MTN, Ogene, SENDER, Setup, numbers, operations, to, until};
use serde_json::json;
use smpp::CommandStatus;
use smpp::simulator::{Fault, Script};
use std::sync::atomic::{AtomicU32, Ordering};

/// Waits until a reload with a price of so many naira holds: each try costs that much.
async fn until_it_costs(ogene: &Ogene, naira: f64) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    until("the price holds", async || {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let data = ogene.sent(to(MTN, &format!("Try {number}"))).await;
        (data["cost"].as_f64() == Some(naira)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_changed_price_holds_for_what_is_sent_after_a_reload() {
    let mut ogene = Ogene::start().await;
    until_it_costs(&ogene, 6.0).await;
    let price = "gateways.direct-refund.price";
    ogene.reload(&[(price, r#""9.00""#)]).await;
    until_it_costs(&ogene, 9.0).await;
    assert_eq!(ogene.smsc().stats().binds, 2, "the carrier stays bound");

    // A fault in the file changes nothing, and does not prevent the next reload.
    ogene
        .reload(&[(price, r#""12.00""#), ("http.lisen", "1")])
        .await;
    ogene
        .reload(&[("http.lisen", "1"), ("limits.max_recipients", "1")])
        .await;
    assert_eq!(ogene.sent(to(MTN, "Once more")).await["cost"], 9.0);
    ogene.reload(&[("http.lisen", "")]).await;
    until_it_costs(&ogene, 12.0).await;
    ogene.end().await;
}

#[tokio::test]
async fn limits_hold_after_a_reload() {
    let mut ogene = Ogene::start().await;
    ogene
        .reload(&[
            ("limits.max_recipients", "2"),
            ("limits.sends_per_minute", "3"),
        ])
        .await;
    let three = json!({"from": SENDER, "to": numbers(3), "body": "Dear customer"});
    until("the limits hold", async || {
        let answer = ogene.send(three.clone()).await;
        (answer.status == 400 || answer.status == 429).then_some(())
    })
    .await;
    until("a send too many is refused", async || {
        let answer = ogene.send(to(MTN, "Dear customer")).await;
        (answer.status == 429).then_some(())
    })
    .await;
    ogene.end().await;
}

#[tokio::test]
async fn a_new_carrier_binds_and_one_that_did_not_change_stays_bound() {
    let mut ogene = Ogene::start().await;
    ogene.bound(CARRIER, 2).await;
    let lists = r#"{ airtel = ["airtel"], default = ["mtn"] }"#;
    let address = ogene.simulate("airtel", Script::default()).await;
    ogene
        .reload(&[
            ("carriers.airtel.address", &address),
            ("carriers.airtel.system_id", r#""ogene""#),
            ("carriers.airtel.password", r#""secret""#),
            ("gateways.direct-refund.carriers", lists),
        ])
        .await;
    ogene.bound("airtel", 2).await;
    let both = json!({"from": SENDER, "to": [MTN, AIRTEL], "body": "Dear customer"});
    let id = ogene.sent_id(both).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"; 2]);
    assert_eq!(ogene.received_by("airtel", 1).await.len(), 1);
    assert_eq!(ogene.received(1).await.len(), 1);
    let stats = ogene.smsc().stats();
    assert_eq!(stats.binds, 2, "neither unbound nor bound again");
    assert_eq!(ogene.smsc().bound("ogene"), 2);
    ogene.end().await;
}

#[tokio::test]
async fn a_changed_carrier_unbinds_and_binds_as_it_is_configured_now() {
    let mut ogene = Ogene::start().await;
    ogene.bound(CARRIER, 2).await;
    ogene
        .reload(&[
            ("carriers.mtn.system_id", r#""other""#),
            ("carriers.mtn.binds", "1"),
        ])
        .await;
    until("it is bound otherwise", async || {
        let smsc = ogene.smsc();
        (smsc.bound("other") == 1 && smsc.bound("ogene") == 0).then_some(())
    })
    .await;
    let id = ogene.campaign(50).await;
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 50]);
    assert_eq!(ogene.smsc().stats().binds, 3);
    ogene.end().await;
}

#[tokio::test]
async fn what_waits_for_a_carrier_that_is_removed_goes_to_the_next() {
    let throttling = Script {
        faults: vec![(1, Fault::Refuse(CommandStatus::RTHROTTLED))],
        ..Script::default()
    };
    let mut ogene = Setup::new()
        .carrier("airtel", Script::default())
        .script(throttling)
        .start()
        .await;
    ogene.bound(CARRIER, 2).await;
    let id = ogene.campaign(30).await;
    ogene
        .reload(&[
            ("carriers.mtn.address", ""),
            ("carriers.mtn.system_id", ""),
            ("carriers.mtn.password", ""),
            ("gateways.direct-refund.carriers", r#"["airtel"]"#),
            ("gateways.direct-corporate.carriers", r#"["airtel"]"#),
            ("gateways.otp.carriers", r#"["airtel"]"#),
            ("gateways.international.carriers", r#"["airtel"]"#),
        ])
        .await;
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 30]);
    assert_eq!(ogene.received_by("airtel", 30).await.len(), 30);
    assert_eq!(ogene.smsc().bound("ogene"), 0, "it has unbound");
    assert_eq!(ogene.total().await.to_string(), "820", "charged once");
    until("its queue is told to be empty", async || {
        let queued = ogene.metric("ogene_queued_recipients", &["mtn"]).await;
        (queued == 0).then_some(())
    })
    .await;
    ogene.end().await;
}

/// Sends go on while the configuration is reloaded repeatedly, each time with a changed carrier.
#[tokio::test]
async fn nothing_is_lost_or_sent_twice_while_carriers_change() {
    let mut ogene = Setup::new()
        .carrier("airtel", Script::default())
        .set("gateways.direct-refund.carriers", r#"["mtn", "airtel"]"#)
        .start()
        .await;
    ogene.bound(CARRIER, 2).await;
    let mut ids = Vec::new();
    for round in 0..10 {
        let body = format!("Round {round}");
        let campaign = json!({"from": SENDER, "to": numbers(10), "body": body});
        ids.push(ogene.sent_id(campaign).await);
        let window = (10 + round).to_string();
        let lists = [r#"["airtel", "mtn"]"#, r#"["mtn", "airtel"]"#];
        ogene
            .reload(&[
                ("carriers.mtn.window", &window),
                ("gateways.direct-refund.carriers", lists[round % 2]),
            ])
            .await;
    }
    for id in &ids {
        assert_eq!(ogene.outcome(id).await, vec!["delivrd"; 10]);
    }
    let received = ogene.smsc().received().len() + ogene.smsc_of("airtel").received().len();
    assert_eq!(received, 10 * 10);
    assert_eq!(ogene.total().await.to_string(), "400");
    ogene.end().await;
}

#[tokio::test]
async fn a_reload_of_all_nodes_is_noticed_beside_the_running_service() {
    let mut ogene = Ogene::start().await;
    until_it_costs(&ogene, 6.0).await;
    ogene.edit(&[("gateways.direct-refund.price", r#""9.00""#)]);
    let store = ogene.store().await;
    let asked = operations(&store).configuration().reload().await;
    assert_eq!(asked.expect("asked"), 1);
    let entries = store
        .audit()
        .list(None, None, 1)
        .await
        .expect("it can be read");
    store.close().await;
    assert_eq!(entries[0].verb, "config.reload");
    until_it_costs(&ogene, 9.0).await;
    let ready = ogene.ask(&Request::get("/readyz")).await;
    assert_eq!(ready.status, 200);
    ogene.end().await;
}
