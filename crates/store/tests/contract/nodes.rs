//! Several nodes on one database: what one loses, another has.

use super::kit::{
    Kit, NOW, Sending, delivered, doubted, naira, refused, report, sending, taken, twins,
};
use domain::{Bucket, DeliveryStatus};

twins!(
    what_a_lost_batch_was_answered_ends_the_doubt,
    a_lost_batch_that_was_refused_is_refunded_once,
    a_batch_that_waits_again_is_not_touched_by_who_lost_it,
    a_parked_receipt_is_looked_at_again,
);

/// A node stands still; another takes its batches for in doubt; then it comes back with answers.
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
    // Who took the batches over says it a second time.
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

async fn a_batch_that_waits_again_is_not_touched_by_who_lost_it(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let batches = claimed.iter().map(|one| one.batch.clone()).collect();
    kit.store.release(batches, NOW, None).await.unwrap();
    kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    assert_eq!(kit.statuses(&message).await, [None]);
    assert_eq!(kit.claim(10).await.len(), 1);
}

async fn a_parked_receipt_is_looked_at_again(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let to = message.draft.recipients[0];
    let (_, parked) = kit.report(report(vec![], vec![delivered(to)])).await;
    assert_eq!(parked, 1);
    // As if the receipt had been parked while the response was on its way into the database.
    kit.plant("create table elsewhere as select * from parked_receipts")
        .await;
    kit.plant("delete from parked_receipts").await;
    kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    kit.plant("insert into parked_receipts select * from elsewhere")
        .await;
    assert_eq!(kit.statuses(&message).await, [Some(DeliveryStatus::Sent)]);
    let mut outcomes = 0;
    for bucket in 0..16 {
        let again = report(vec![], vec![]).into();
        let settled = kit.store.look_again(again, Bucket(bucket), NOW - 10_000);
        outcomes += settled.await.unwrap().outcomes.len();
    }
    assert_eq!(outcomes, 1);
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered)]
    );
    let left = kit.numbers("select count(*) from parked_receipts").await;
    assert_eq!(left, [0]);
}
