//! Receipts as they came: kept if they change a recipient, shown with its events, and removed.

use domain::{AccountId, DeliveryStatus, RawReceipt};
use store::{NewMessage, Receipt};
use storekit::{
    CARRIER, DAY_MS, Kit, NOW, Sending, delivered, outcome, page_id, receipt, report, sending,
    taken, twins, two_legs, undelivered,
};

twins!(
    a_receipt_that_settles_is_kept_as_it_came,
    a_receipt_that_changes_nothing_is_not_kept,
    a_receipt_before_its_response_is_kept_as_it_came,
    receipts_of_one_commit_are_found_by_their_recipients,
    old_receipts_are_removed,
    old_receipts_are_found_behind_many_young_ones,
    receipts_are_removed_with_their_message_in_steps,
    a_receipt_of_nobody_is_found,
);

fn raw(text: &str) -> RawReceipt {
    RawReceipt::of(text.as_bytes(), [(0x0427, &[2][..])].into_iter())
}

fn with(receipt: Receipt, text: &str) -> Receipt {
    Receipt {
        raw: Some(raw(text).pack()),
        ..receipt
    }
}

/// Returns the kept texts of the first recipient of a message.
async fn kept(kit: &Kit, message: &NewMessage) -> Vec<RawReceipt> {
    let (account, to) = (message.draft.account, message.draft.recipients[0]);
    let recipients = kit.store.recipients();
    let found = recipients.receipts(account, message.id, to).await.unwrap();
    assert!(
        found
            .iter()
            .all(|one| (one.at_ms, &*one.carrier) == (NOW, CARRIER))
    );
    found.into_iter().map(|one| one.raw).collect()
}

async fn a_receipt_that_settles_is_kept_as_it_came(kit: &Kit) {
    let account = kit.account(100).await;
    // The fast path, a refund, and the first of two legs.
    let one = sending(account).message(&kit.store);
    let to = one.draft.recipients[0];
    kit.submit(&one).await;
    let receipt = with(delivered(to), "id:1 stat:DELIVRD err:000");
    kit.report(report(vec![], vec![receipt])).await;
    assert_eq!(kept(kit, &one).await, [raw("id:1 stat:DELIVRD err:000")]);
    for base in [sending(account), two_legs(account)] {
        let base = Sending {
            first_number: 2,
            ..base
        };
        let message = base.message(&kit.store);
        kit.submit(&message).await;
        let receipt = with(
            undelivered(message.draft.recipients[0]),
            "id:2 stat:UNDELIV",
        );
        kit.report(report(vec![], vec![receipt])).await;
        assert_eq!(kept(kit, &message).await, [raw("id:2 stat:UNDELIV")]);
    }
    let verified = kit.store.upkeep().verify().await.unwrap();
    assert_eq!(verified.violations, Vec::<String>::new());
}

async fn a_receipt_that_changes_nothing_is_not_kept(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    let to = message.draft.recipients[0];
    kit.submit(&message).await;
    kit.report(report(vec![], vec![with(delivered(to), "first")]))
        .await;
    for again in [delivered(to), outcome(to, DeliveryStatus::Failed)] {
        kit.report(report(vec![], vec![with(again, "again")])).await;
    }
    assert_eq!(kept(kit, &message).await, [raw("first")]);
}

async fn a_receipt_before_its_response_is_kept_as_it_came(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    let to = message.draft.recipients[0];
    let claimed = kit.accept_and_claim(&message).await;
    let early = receipt(&page_id(to, 1), to, DeliveryStatus::Delivered);
    let (_, parked) = kit.report(report(vec![], vec![with(early, "early")])).await;
    assert_eq!(parked, 1);
    kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    assert_eq!(kept(kit, &message).await, [raw("early")]);
}

async fn receipts_of_one_commit_are_found_by_their_recipients(kit: &Kit) {
    let base = Sending {
        recipients: 450,
        ..sending(kit.account(10_000).await)
    };
    let message = base.message(&kit.store);
    kit.submit(&message).await;
    let recipients = message.draft.recipients.clone();
    let receipts = recipients.iter().map(|to| {
        let text = format!("id:{} stat:DELIVRD", to.digits());
        with(delivered(*to), &text)
    });
    kit.report(report(vec![], receipts.collect())).await;
    for to in recipients {
        let found = kit
            .store
            .recipients()
            .receipts(message.draft.account, message.id, to)
            .await
            .unwrap();
        let [one] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(one.raw, raw(&format!("id:{} stat:DELIVRD", to.digits())));
    }
    let rows = kit.numbers("select count(*) from raw_receipts").await;
    assert_eq!(rows, [3], "at most 200 in a row");
}

/// Returns a settled message with a kept receipt.
async fn settled(kit: &Kit) -> NewMessage {
    settled_of(kit, kit.account(100).await).await
}

async fn settled_of(kit: &Kit, account: AccountId) -> NewMessage {
    let message = sending(account).message(&kit.store);
    kit.submit(&message).await;
    let receipt = with(delivered(message.draft.recipients[0]), "kept");
    kit.report(report(vec![], vec![receipt])).await;
    assert_eq!(kept(kit, &message).await, [raw("kept")]);
    message
}

/// Runs the removal of old receipts to its end. Returns how many were removed.
async fn remove_old(kit: &Kit, before_ms: i64) -> u64 {
    let mut count = 0;
    for bucket in kit.store.buckets() {
        let mut next = None;
        loop {
            let retention = kit.store.retention();
            let removed = retention.remove_receipts(bucket, before_ms, next);
            let removed = removed.await.unwrap();
            count += removed.count;
            next = removed.next;
            if next.is_none() {
                break;
            }
        }
    }
    count
}

async fn old_receipts_are_removed(kit: &Kit) {
    let message = settled(kit).await;
    // The message is older than its receipt.
    for (before_ms, removed) in [(NOW - DAY_MS, 0), (NOW, 0), (NOW + 1, 1), (NOW + 1, 0)] {
        assert_eq!(remove_old(kit, before_ms).await, removed, "{before_ms}");
    }
    assert_eq!(kept(kit, &message).await, []);
}

/// Adds copies of each receipt, whose columns differ by `i`.
async fn copy(kit: &Kit, copies: i64, values: &str) {
    let insert = format!(
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < {copies})
         insert into raw_receipts (bucket, message_id, received_at_ms, number, carrier,
             first_recipient, last_recipient, receipts)
         select bucket, message_id, {values}, carrier, first_recipient, last_recipient, receipts
         from raw_receipts cross join n"
    );
    kit.plant(&insert).await;
}

async fn old_receipts_are_found_behind_many_young_ones(kit: &Kit) {
    let account = kit.account(100).await;
    let young = settled_of(kit, account).await;
    copy(kit, 2_100, "received_at_ms + 1000, i").await;
    let original = format!("delete from raw_receipts where received_at_ms = {NOW}");
    kit.plant(&original).await;
    let message = settled_of(kit, account).await;
    assert!(young.id < message.id, "it is behind them");
    assert_eq!(remove_old(kit, NOW + 1).await, 1);
    assert_eq!(kept(kit, &message).await, []);
    assert_eq!(remove_old(kit, NOW + 1_001).await, 2_100);
}

async fn receipts_are_removed_with_their_message_in_steps(kit: &Kit) {
    let message = settled(kit).await;
    copy(kit, 1_200, "received_at_ms, number + i").await;
    let bucket = kit.store.bucket_of(message.draft.account);
    let (mut left, mut after) = (1_201, None);
    loop {
        let retention = kit.store.retention();
        let removed = retention.remove_messages(bucket, NOW + DAY_MS, after);
        after = removed.await.unwrap().next;
        let now = kit.numbers("select count(*) from raw_receipts").await[0];
        assert!(left - now <= 500, "{left} became {now}");
        left = now;
        let verified = kit.store.upkeep().verify().await.unwrap();
        assert_eq!(verified.violations, Vec::<String>::new());
        if after.is_none() {
            break;
        }
    }
    let messages = kit.numbers("select count(*) from messages").await[0];
    assert_eq!((left, messages), (0, 0));
}

async fn a_receipt_of_nobody_is_found(kit: &Kit) {
    let message = settled(kit).await;
    kit.plant("update raw_receipts set last_recipient = last_recipient + 1")
        .await;
    let verified = kit.store.upkeep().verify().await.unwrap();
    let sentence = format!(
        "a receipt of message {} is kept, and the message has no such recipient",
        message.id.0.simple()
    );
    assert_eq!(verified.violations, [sentence]);
}
