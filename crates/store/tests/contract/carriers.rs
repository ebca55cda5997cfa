//! The control of carriers by operators.

use domain::carrier_control::{CarrierChange, CarrierControl, CarrierMode};
use storekit::{Kit, NOW, by, twins};

twins!(
    a_carrier_keeps_its_control_until_it_is_changed,
    a_change_of_control_is_in_the_audit_once,
);

async fn change(kit: &Kit, carrier: &str, change: CarrierChange) -> CarrierControl {
    let controls = kit.store.carrier_controls();
    let changed = controls.change(carrier.to_owned(), change, by(NOW));
    changed.await.unwrap()
}

async fn all(kit: &Kit) -> Vec<(String, CarrierControl)> {
    let all = kit.store.carrier_controls().all().await.unwrap();
    let all = all.into_iter();
    all.map(|one| {
        assert_eq!(one.changed_at_ms, NOW);
        assert!(!one.changed_by.is_empty());
        (one.carrier, one.control)
    })
    .collect()
}

async fn a_carrier_keeps_its_control_until_it_is_changed(kit: &Kit) {
    let paused = change(kit, "mtn", CarrierChange::Pause).await;
    let slow = change(kit, "glo", CarrierChange::Throttle(Some(7))).await;
    assert_eq!(paused.mode, CarrierMode::Paused);
    assert_eq!(
        (slow.mode, slow.max_per_second),
        (CarrierMode::Running, Some(7))
    );
    let both = [("glo".to_owned(), slow), ("mtn".to_owned(), paused)];
    assert_eq!(all(kit).await, both);
    let drained = change(kit, "glo", CarrierChange::Drain).await;
    assert_eq!(
        (drained.mode, drained.max_per_second),
        (CarrierMode::Drained, Some(7))
    );
    change(kit, "mtn", CarrierChange::Resume).await;
    change(kit, "glo", CarrierChange::Resume).await;
    assert_eq!(all(kit).await, [("glo".to_owned(), slow)]);
    change(kit, "glo", CarrierChange::Throttle(None)).await;
    assert_eq!(all(kit).await, []);
}

async fn a_change_of_control_is_in_the_audit_once(kit: &Kit) {
    let revision = async || kit.store.revisions().current().await.unwrap().number;
    let before = revision().await;
    change(kit, "mtn", CarrierChange::Pause).await;
    assert!(revision().await > before);
    change(kit, "mtn", CarrierChange::Pause).await;
    let entries = kit.store.audit().list(None, None, 9).await.unwrap();
    let told: Vec<_> = entries
        .iter()
        .map(|entry| {
            let (verb, object) = (&entry.verb, &entry.object);
            format!("{verb} {object} {} {}", entry.before, entry.after)
        })
        .collect();
    let [running, paused] = ["running", "paused"]
        .map(|mode| serde_json::json!({ "mode": mode, "max_per_second": null }));
    assert_eq!(told, [format!("carrier.pause mtn {running} {paused}")]);
}
