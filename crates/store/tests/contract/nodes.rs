//! Several nodes on one database: one takes over what another loses.

use domain::{Bucket, DeliveryStatus, NodeId};
use std::sync::Arc;
use store::{Bind, Claim, Ended, Settled};
use storekit::{
    CARRIER, Kit, NOW, Sending, claim, delivered, doubted, naira, number, refused, report, sending,
    taken, twins,
};

twins!(
    what_a_lost_batch_was_answered_ends_the_doubt,
    a_lost_batch_that_was_refused_is_refunded_once,
    a_refusal_that_is_told_late_leaves_the_copy_that_was_taken,
    a_batch_that_waits_again_is_not_touched_by_who_lost_it,
    a_receipt_beside_its_response_is_not_missed,
    what_was_settled_is_told_where_the_rest_fails,
    a_report_that_is_made_again_changes_nothing,
    a_node_lives_until_it_is_buried_or_leaves,
    connections_are_held_by_one_node_at_a_time,
    connections_of_a_dead_node_are_free,
    the_clock_of_the_server_is_told_where_there_is_one,
);

/// A node is stopped. Another marks its batches as in doubt. Then the first one reports responses.
async fn what_a_lost_batch_was_answered_ends_the_doubt(kit: &Kit) {
    let base = Sending {
        recipients: 3,
        ..sending(kit.account(100).await)
    };
    let message = base.message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    kit.report(report(vec![doubted(&claimed[0])], vec![])).await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::InDoubt); 3]
    );
    let (settled, _) = kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    assert!(settled.work.is_empty());
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Sent); 3]
    );
    let receipts = message.draft.recipients.iter().map(|&to| delivered(to));
    let (settled, parked) = kit.report(report(vec![], receipts.collect())).await;
    assert_eq!((settled.outcomes.len(), parked), (3, 0));
    // The node that took the batches over reports them a second time.
    kit.report(report(vec![doubted(&claimed[0])], vec![])).await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered); 3]
    );
}

async fn a_lost_batch_that_was_refused_is_refunded_once(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let message = base.message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    kit.report(report(vec![doubted(&claimed[0])], vec![])).await;
    for _ in 0..2 {
        kit.report(report(vec![refused(&claimed[0])], vec![])).await;
        assert_eq!(kit.balance(base.account).await, naira(100));
    }
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Rejected)]
    );
}

async fn a_refusal_that_is_told_late_leaves_the_copy_that_was_taken(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let message = base.message(&kit.store);
    let lost = kit.accept_and_claim(&message).await;
    kit.report(report(vec![doubted(&lost[0])], vec![])).await;
    let copy = Claim {
        now_ms: NOW + 10_000,
        ..claim(10)
    };
    let copy = kit.store.claims().claim(copy).await.unwrap();
    kit.report(report(vec![taken(&copy[0])], vec![])).await;
    let (settled, _) = kit.report(report(vec![refused(&lost[0])], vec![])).await;
    assert_eq!(settled.outcomes, []);
    assert_eq!(kit.statuses(&message).await, [Some(DeliveryStatus::Sent)]);
    assert_eq!(kit.balance(base.account).await, naira(94));
}

async fn a_batch_that_waits_again_is_not_touched_by_who_lost_it(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let batches = claimed.iter().map(|one| one.batch.clone()).collect();
    kit.store
        .claims()
        .release(batches, NOW, None, NOW)
        .await
        .unwrap();
    kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    assert_eq!(kit.statuses(&message).await, [None]);
    assert_eq!(kit.claim(10).await.len(), 1);
}

async fn what_was_settled_is_told_where_the_rest_fails(kit: &Kit) {
    let base = Sending {
        callback_url: Some("https://ada.example.ng/"),
        ..sending(kit.account(100).await)
    };
    let message = base.message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    let to = message.draft.recipients[0];
    let heard = Arc::new(report(vec![], vec![delivered(to), delivered(number(99))]));
    let mut settled = Settled::default();
    kit.plant("alter table parked_receipts rename to elsewhere")
        .await;
    let kept = kit
        .store
        .carrier_reports()
        .commit(Arc::clone(&heard), &mut settled)
        .await;
    assert!(kept.is_err());
    // On SQLite a report is stored as a whole or not at all.
    let told = usize::from(!kit.is_sqlite());
    assert_eq!(settled.callbacks.len(), told, "claimed for this node");
    kit.plant("alter table elsewhere rename to parked_receipts")
        .await;
    let kept = kit
        .store
        .carrier_reports()
        .commit(heard, &mut settled)
        .await;
    assert_eq!((kept.unwrap().len(), settled.callbacks.len()), (1, 1));
}

/// The state is that after a commit without an answer, or after a failed commit of another bucket.
async fn a_report_that_is_made_again_changes_nothing(kit: &Kit) {
    let base = Sending {
        recipients: 4,
        ..sending(kit.account(100).await)
    };
    let message = base.message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let mut progress = taken(&claimed[0]);
    let (waiting, _) = progress.submitted.pop().unwrap();
    let (unknown, _) = progress.submitted.pop().unwrap();
    let (bad, _) = progress.submitted.pop().unwrap();
    progress.remaining = vec![waiting];
    progress.doubted = vec![unknown];
    progress.ended = vec![Ended {
        recipient: bad,
        status: DeliveryStatus::Rejected,
        error: "refused".to_owned(),
    }];
    let statuses = [
        Some(DeliveryStatus::Sent),
        Some(DeliveryStatus::Rejected),
        Some(DeliveryStatus::InDoubt),
        None,
    ];
    for _ in 0..2 {
        kit.report(report(vec![progress.clone()], vec![])).await;
        assert_eq!(kit.statuses(&message).await, statuses);
        assert_eq!(kit.balance(base.account).await, naira(82));
    }
}

/// Retries all parked receipts. Returns the number of recipients that they ended. SQLite never
/// needs it.
async fn look_again(kit: &Kit) -> usize {
    let mut outcomes = 0;
    for bucket in 0..16 {
        let again = report(vec![], vec![]).into();
        let mut settled = Settled::default();
        let store = &kit.store;
        let looked =
            store
                .carrier_reports()
                .look_again(again, Bucket(bucket), NOW - 10_000, &mut settled);
        looked.await.unwrap();
        outcomes += settled.outcomes.len();
    }
    outcomes
}

async fn a_receipt_beside_its_response_is_not_missed(kit: &Kit) {
    let account = kit.account(1_000).await;
    for first_number in 1..=20 {
        let base = Sending {
            first_number,
            ..sending(account)
        };
        let message = base.message(&kit.store);
        let claimed = kit.accept_and_claim(&message).await;
        let receipt = delivered(message.draft.recipients[0]);
        tokio::join!(
            kit.report(report(vec![], vec![receipt])),
            kit.report(report(vec![taken(&claimed[0])], vec![])),
        );
        look_again(kit).await;
        assert_eq!(
            kit.statuses(&message).await,
            [Some(DeliveryStatus::Delivered)]
        );
        let left = kit.numbers("select count(*) from parked_receipts").await;
        assert_eq!(left, [0]);
    }
}

async fn a_node_lives_until_it_is_buried_or_leaves(kit: &Kit) {
    assert!(
        !kit.store.nodes().beat(NodeId(1), "one").await.unwrap(),
        "it was unknown"
    );
    assert!(kit.store.nodes().beat(NodeId(1), "one").await.unwrap());
    let [seen] = kit.store.nodes().all().await.unwrap()[..] else {
        unreachable!()
    };
    assert_eq!((seen.node, seen.beat), (NodeId(1), 1));
    kit.store.nodes().beat(NodeId(1), "one").await.unwrap();
    assert!(
        !kit.store.nodes().remove_dead(seen).await.unwrap(),
        "it has a new beat"
    );
    let [seen] = kit.store.nodes().all().await.unwrap()[..] else {
        unreachable!()
    };
    assert!(kit.store.nodes().remove_dead(seen).await.unwrap());
    assert!(
        !kit.store.nodes().beat(NodeId(1), "one").await.unwrap(),
        "it was buried"
    );
    kit.store.nodes().leave(NodeId(1)).await.unwrap();
    assert_eq!(kit.store.nodes().all().await.unwrap(), []);
}

/// The node of each connection of the carrier.
async fn holders(kit: &Kit) -> Vec<i64> {
    let binds = kit.store.nodes().binds().await.unwrap();
    binds[CARRIER]
        .iter()
        .filter_map(|bind| Some(bind.node?.0))
        .collect()
}

async fn connections_are_held_by_one_node_at_a_time(kit: &Kit) {
    assert_eq!(kit.store.is_shared(), !kit.is_sqlite());
    if !kit.store.is_shared() {
        return;
    }
    let carrier = std::sync::Arc::from(CARRIER);
    for node in [1, 2, 3].map(NodeId) {
        kit.store.nodes().beat(node, "node").await.unwrap();
    }
    let mut tasks = tokio::task::JoinSet::new();
    for node in [1, 2, 3].map(NodeId) {
        let (store, carrier) = (kit.store.clone(), std::sync::Arc::clone(&carrier));
        tasks.spawn(async move {
            store
                .nodes()
                .take_binds(&carrier, node, 6, 2)
                .await
                .unwrap();
        });
    }
    tasks.join_all().await;
    let mut held = holders(kit).await;
    held.sort_unstable();
    assert_eq!(held, [1, 1, 2, 2, 3, 3]);
    kit.store
        .nodes()
        .take_binds(&carrier, NodeId(1), 6, 6)
        .await
        .unwrap();
    assert_eq!(
        holders(kit).await.iter().filter(|&&node| node == 1).count(),
        2
    );
    let binds = kit.store.nodes().binds().await.unwrap();
    let given = binds[CARRIER]
        .iter()
        .find(|bind| bind.node == Some(NodeId(2)))
        .unwrap();
    kit.store.nodes().free_bind(given.clone()).await.unwrap();
    kit.store
        .nodes()
        .take_binds(&carrier, NodeId(1), 6, 6)
        .await
        .unwrap();
    assert_eq!(
        holders(kit).await.iter().filter(|&&node| node == 1).count(),
        3
    );
    // A node that no longer holds it cannot report it.
    let bound = Bind {
        bound: true,
        ..given.clone()
    };
    kit.store.nodes().note_bind(bound).await.unwrap();
    let bound = kit.numbers("select count(*) from binds where bound").await;
    assert_eq!(bound, [0]);
}

async fn connections_of_a_dead_node_are_free(kit: &Kit) {
    let carrier = std::sync::Arc::from(CARRIER);
    kit.store.nodes().beat(NodeId(1), "dead").await.unwrap();
    kit.store
        .nodes()
        .take_binds(&carrier, NodeId(1), 2, 2)
        .await
        .unwrap();
    kit.store.nodes().leave(NodeId(1)).await.unwrap();
    kit.store
        .nodes()
        .take_binds(&carrier, NodeId(9), 2, 1)
        .await
        .unwrap();
    kit.store.nodes().beat(NodeId(2), "alive").await.unwrap();
    kit.store
        .nodes()
        .take_binds(&carrier, NodeId(2), 2, 2)
        .await
        .unwrap();
    assert_eq!(holders(kit).await, [2, 2]);
}

#[tokio::test]
async fn a_hint_reaches_the_other_nodes() {
    testkit::needs!(Postgres);
    let kit = Kit::postgres().await;
    let mut hints = kit
        .store
        .nodes()
        .listen()
        .await
        .unwrap()
        .expect("a shared database");
    kit.store
        .nodes()
        .notify(&["mtn-hinted".to_owned()])
        .await
        .unwrap();
    // Other tests on the same server may notify too.
    while hints.next().await.unwrap() != "mtn-hinted" {}
    // The listener holds a connection.
    drop(hints);
    kit.finish().await;
}

#[tokio::test]
async fn a_parked_receipt_is_looked_at_again() {
    testkit::needs!(Postgres);
    let kit = Kit::postgres().await;
    let message = sending(kit.account(100).await).message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let to = message.draft.recipients[0];
    let (_, parked) = kit.report(report(vec![], vec![delivered(to)])).await;
    assert_eq!(parked, 1);
    // The state is that of a receipt that was parked while the response was being committed.
    kit.plant("create table elsewhere as select * from parked_receipts")
        .await;
    kit.plant("delete from parked_receipts").await;
    kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    kit.plant("insert into parked_receipts select * from elsewhere")
        .await;
    assert_eq!(kit.statuses(&message).await, [Some(DeliveryStatus::Sent)]);
    assert_eq!(look_again(&kit).await, 1);
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered)]
    );
    let left = kit.numbers("select count(*) from parked_receipts").await;
    assert_eq!(left, [0]);
    kit.finish().await;
}

const DELIVERIES_KNOWN: &str =
    "select count(*) from pg_class where oid = 'deliveries'::regclass and reltuples > 2";

#[tokio::test]
async fn a_table_that_has_filled_is_known_to_the_planner_at_once() {
    testkit::needs!(Postgres);
    let kit = Kit::postgres().await;
    let base = Sending {
        recipients: 2_000,
        ..sending(kit.account(100_000).await)
    };
    kit.submit(&base.message(&kit.store)).await;
    kit.store.upkeep().gather_statistics().await.unwrap();
    assert_eq!(kit.numbers(DELIVERIES_KNOWN).await, [1]);
    kit.finish().await;
}

#[tokio::test]
async fn a_filled_table_is_analyzed_again() {
    testkit::needs!(Postgres);
    let kit = Kit::postgres().await;
    let base = Sending {
        recipients: 2_000,
        ..sending(kit.account(100_000).await)
    };
    kit.submit(&base.message(&kit.store)).await;
    kit.plant("delete from deliveries").await;
    kit.plant("analyze deliveries").await;
    assert_eq!(kit.numbers(DELIVERIES_KNOWN).await, [0]);
    kit.submit(&base.message(&kit.store)).await;
    // The server counts rows with a delay of about a second.
    while kit.numbers(DELIVERIES_KNOWN).await != [1] {
        kit.store.upkeep().gather_statistics().await.unwrap();
    }
    kit.finish().await;
}

async fn the_clock_of_the_server_is_told_where_there_is_one(kit: &Kit) {
    let first = kit.store.server_ms().await.unwrap();
    let second = kit.store.server_ms().await.unwrap();
    if kit.is_sqlite() {
        assert_eq!((first, second), (None, None));
        return;
    }
    let (first, second) = (first.unwrap(), second.unwrap());
    let years = 50 * 365 * 86_400_000;
    assert!(years < first && first <= second && second < first + 60_000);
}
