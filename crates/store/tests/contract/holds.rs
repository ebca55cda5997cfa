//! The queue of an account that may not send: an operator holds, cancels or releases it.

use domain::{AccountId, AccountStatus, BatchId, DeliveryStatus, Queued, Refusal};
use std::time::{Duration, Instant};
use store::{Accepted, Settled};
use storekit::{
    Kit, NOW, OTHER_CARRIER, Sending, by, claim, fresh, naira, put_back, report, sending, taken,
    twins,
};

twins!(
    the_choice_for_what_is_queued_is_kept_until_it_is_active,
    a_submitted_second_leg_is_not_cancelled_with_its_batch,
    what_is_queued_of_a_held_account_waits_until_it_is_active,
    what_comes_back_to_the_queue_does_not_escape_the_hold,
    what_is_cancelled_is_refunded_and_called_back_once,
    what_was_in_hand_is_cancelled_when_it_comes_back,
    queued_messages_of_a_held_account_still_go_out,
    a_send_that_was_let_in_before_the_hold_is_refused,
    a_recipient_is_either_sent_or_refunded_when_both_race,
);

const URL: &str = "https://ada.example.ng/delivery";
/// Duration of the race of claims against cancellations.
const RACE: Duration = Duration::from_secs(8);
/// Longest time until a cancellation meets a claim.
const MAX_RACE: Duration = Duration::from_mins(1);

async fn set(kit: &Kit, account: AccountId, status: AccountStatus, queued: Queued) -> Settled {
    let set = kit
        .store
        .accounts()
        .set_status(account, status, queued, by(NOW));
    assert!(set.await.unwrap());
    kit.store
        .held_batches()
        .settle_queued(account, NOW)
        .await
        .unwrap()
}

async fn disable(kit: &Kit, account: AccountId, queued: Queued) -> Settled {
    set(kit, account, AccountStatus::Disabled, queued).await
}

/// The number of batches with this holder. The constants are the stored holders of a held batch,
/// and of a queued one.
const HELD: i64 = -1;
const WAITING: i64 = 0;

async fn marked(kit: &Kit, claimed_by: i64) -> i64 {
    let sql = format!("select count(*) from batches where claimed_by = {claimed_by}");
    kit.numbers(&sql).await[0]
}

async fn callbacks(kit: &Kit) -> i64 {
    kit.numbers("select count(*) from outbox").await[0]
}

/// Settles held recipients, as a node does periodically.
async fn sweep(kit: &Kit, account: AccountId) -> Settled {
    let bucket = kit.store.bucket_of(account);
    kit.store
        .held_batches()
        .settle_held(bucket, NOW)
        .await
        .unwrap()
}

async fn the_choice_for_what_is_queued_is_kept_until_it_is_active(kit: &Kit) {
    let account = kit.account(0).await;
    for queued in [Queued::Hold, Queued::Cancel] {
        disable(kit, account, queued).await;
        let holds = kit.store.accounts().holds().await.unwrap();
        assert_eq!(holds.get(&account), Some(&queued));
        set(kit, account, AccountStatus::Active, Queued::Send).await;
        assert_eq!(
            kit.store.accounts().holds().await.unwrap().get(&account),
            None
        );
    }
}

async fn what_is_queued_of_a_held_account_waits_until_it_is_active(kit: &Kit) {
    let (account, other) = (kit.account(100).await, kit.account(100).await);
    let message = kit
        .accepted(&Sending {
            recipients: 3,
            ..sending(account)
        })
        .await;
    let later = Sending {
        due_at_ms: NOW + 60_000,
        ..sending(account)
    };
    kit.accepted(&later).await;
    kit.accepted(&sending(other)).await;
    disable(kit, account, Queued::Hold).await;
    let claimed = kit.claim(1_000).await;
    assert_eq!(claimed.len(), 1, "another account goes on");
    assert_eq!(claimed[0].content.account, other);
    assert_eq!(kit.statuses(&message).await, [None; 3]);
    assert_eq!(
        kit.balance(account).await,
        naira(76),
        "nothing is given back"
    );
    sweep(kit, account).await;
    assert!(kit.claim(1_000).await.is_empty());
    assert_eq!(marked(kit, HELD).await, 2);
    set(kit, account, AccountStatus::Active, Queued::Send).await;
    let claimed = kit.claim(1_000).await;
    assert_eq!(claimed.len(), 1, "what is due");
    assert_eq!(claimed[0].batch.recipients, message.draft.recipients);
    assert_eq!(
        [marked(kit, HELD).await, marked(kit, WAITING).await],
        [0, 1]
    );
}

async fn what_comes_back_to_the_queue_does_not_escape_the_hold(kit: &Kit) {
    let account = kit.account(100).await;
    kit.accepted(&sending(account)).await;
    let reported = kit.claim(1_000).await;
    kit.accepted(&sending(account)).await;
    let released = kit.claim(1_000).await;
    kit.accepted(&sending(account)).await;
    let moved = kit.claim(1_000).await;
    disable(kit, account, Queued::Hold).await;
    // The changes are a put-back, a takeover from a dead node, and a move to another carrier.
    kit.report(report(vec![put_back(&reported[0])], vec![]))
        .await;
    let batches = released.into_iter().map(|one| one.batch).collect();
    kit.store
        .claims()
        .release(batches, NOW, None, NOW)
        .await
        .unwrap();
    assert!(kit.move_elsewhere(moved).await.is_empty());
    assert!(kit.claim(1_000).await.is_empty());
    assert!(kit.claim(1_000).await.is_empty());
    assert_eq!(
        [marked(kit, HELD).await, marked(kit, WAITING).await],
        [3, 0]
    );
    set(kit, account, AccountStatus::Active, Queued::Send).await;
    assert_eq!(kit.claim(1_000).await.len(), 2);
    assert_eq!(kit.claim_elsewhere(1_000).await.len(), 1, "{OTHER_CARRIER}");
}

async fn what_is_cancelled_is_refunded_and_called_back_once(kit: &Kit) {
    let account = kit.account(100).await;
    let corporate = Sending {
        recipients: 4,
        callback_url: Some(URL),
        terms: domain::Terms {
            refund_undelivered: false,
            two_legs: false,
        },
        ..sending(account)
    };
    let message = kit.accepted(&corporate).await;
    let claimed = kit.claim(1).await;
    kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    assert_eq!(kit.balance(account).await, naira(76));
    let settled = disable(kit, account, Queued::Cancel).await;
    assert_eq!(settled.outcomes.len(), 3);
    let [sent, failed] = [DeliveryStatus::Sent, DeliveryStatus::Failed].map(Some);
    let statuses = kit.statuses(&message).await;
    assert_eq!(statuses, [sent, failed, failed, failed]);
    assert_eq!(kit.balance(account).await, naira(94), "three of four");
    assert_eq!(callbacks(kit).await, 3);
    // A repetition changes nothing, nor does the end of the hold.
    assert!(
        disable(kit, account, Queued::Cancel)
            .await
            .outcomes
            .is_empty()
    );
    assert!(sweep(kit, account).await.outcomes.is_empty());
    set(kit, account, AccountStatus::Active, Queued::Send).await;
    assert!(kit.claim(1_000).await.is_empty());
    assert_eq!(kit.balance(account).await, naira(94));
    assert_eq!(callbacks(kit).await, 3);
}

async fn what_was_in_hand_is_cancelled_when_it_comes_back(kit: &Kit) {
    let account = kit.account(100).await;
    let message = kit.accepted(&sending(account)).await;
    let in_hand = kit.claim(1_000).await;
    assert!(
        disable(kit, account, Queued::Cancel)
            .await
            .outcomes
            .is_empty()
    );
    kit.report(report(vec![put_back(&in_hand[0])], vec![]))
        .await;
    assert!(kit.claim(1_000).await.is_empty());
    assert_eq!(sweep(kit, account).await.outcomes.len(), 1);
    assert_eq!(kit.statuses(&message).await, [Some(DeliveryStatus::Failed)]);
    assert_eq!(kit.balance(account).await, naira(100));
    assert_eq!(kit.numbers("select count(*) from batches").await, [0]);
}

async fn queued_messages_of_a_held_account_still_go_out(kit: &Kit) {
    let account = kit.account(100).await;
    kit.accepted(&sending(account)).await;
    disable(kit, account, Queued::Send).await;
    assert_eq!(kit.claim(1_000).await.len(), 1);
    // The choice may be changed afterwards, and changed back.
    kit.accepted(&sending(account)).await;
    disable(kit, account, Queued::Hold).await;
    assert!(kit.claim(1_000).await.is_empty());
    disable(kit, account, Queued::Send).await;
    assert_eq!(kit.claim(1_000).await.len(), 1);
}

async fn a_send_that_was_let_in_before_the_hold_is_refused(kit: &Kit) {
    let account = kit.account(100).await;
    disable(kit, account, Queued::Hold).await;
    let answer = kit.accept(&sending(account).message(&kit.store)).await;
    assert!(
        matches!(answer, Accepted::No(Refusal::AccountDisabled)),
        "{answer:?}"
    );
    assert_eq!(kit.balance(account).await, naira(100));
    assert_eq!(kit.numbers("select count(*) from batches").await, [0]);
}

/// A claimed recipient is sent, and a cancelled one is refunded. Each recipient is exactly one of
/// both.
async fn a_recipient_is_either_sent_or_refunded_when_both_race(kit: &Kit) {
    let (since, mut tries, mut both) = (Instant::now(), 0_u32, 0);
    // The cancellation begins at each tenth of the time that the claims took before, so that they
    // meet at any speed of the machine.
    let mut claiming = Duration::from_millis(3);
    // A busy machine may give no meeting in the usual time.
    while since.elapsed() < RACE || (both == 0 && since.elapsed() < MAX_RACE) {
        let account = kit.account(10_000).await;
        let four = Sending {
            recipients: 4,
            callback_url: Some(URL),
            ..sending(account)
        };
        let mut messages = Vec::new();
        for _ in 0..3 {
            messages.push(kit.accepted(&four).await);
        }
        let before = callbacks(kit).await;
        let began = Instant::now();
        let claims = async {
            let mut claimed = Vec::new();
            for _ in 0..4 {
                let next_id = BatchId(fresh() * 1_000_000);
                let some = store::Claim {
                    next_id,
                    ..claim(3)
                };
                claimed.extend(kit.store.claims().claim(some).await.unwrap());
                tokio::task::yield_now().await;
            }
            (claimed, began.elapsed())
        };
        let pause = claiming * (tries % 10) / 10;
        let cancel = async {
            tokio::time::sleep(pause).await;
            disable(kit, account, Queued::Cancel).await.outcomes.len()
        };
        let ((claimed, took), mut cancelled) = tokio::join!(claims, cancel);
        claiming = took;
        let sent: usize = claimed.iter().map(|one| one.batch.recipients.len()).sum();
        let progress = claimed.iter().map(taken).collect();
        kit.report(report(progress, vec![])).await;
        assert!(kit.claim(1_000).await.is_empty(), "all is claimed or held");
        cancelled += sweep(kit, account).await.outcomes.len();
        assert_eq!(sent + cancelled, 12, "try {tries}");
        let back = naira(10_000 - 6 * i64::try_from(sent).unwrap());
        assert_eq!(kit.balance(account).await, back, "try {tries}");
        let called = i64::try_from(cancelled).unwrap();
        assert_eq!(callbacks(kit).await - before, called, "try {tries}");
        let mut ends = [0, 0];
        for message in &messages {
            for status in kit.statuses(message).await {
                ends[usize::from(status == Some(DeliveryStatus::Failed))] += 1;
            }
        }
        assert_eq!(ends, [sent, cancelled], "try {tries}");
        both += u64::from(sent > 0 && cancelled > 0);
        tries += 1;
    }
    assert!(both > 0, "no cancellation met a claim in {tries} tries");
}

/// Both the timer and the end of the first leg may have made a batch for the second leg of a
/// recipient.
async fn a_submitted_second_leg_is_not_cancelled_with_its_batch(kit: &Kit) {
    let id = kit.account(100).await;
    let message = storekit::two_legs(id).message(&kit.store);
    let claimed = kit.submit(&message).await;
    let (first, to) = (&claimed[0].batch, message.draft.recipients[0]);
    let timer = storekit::backup(first.bucket, message.id, to, first.charge, first.reserve);
    let told = store::Progress {
        again: vec![timer],
        ..taken(&claimed_of(kit, id).await)
    };
    kit.report(report(vec![told], vec![])).await;
    kit.report(report(vec![], vec![storekit::undelivered(to)]))
        .await;
    let second = kit.claim(1).await;
    kit.report(report(vec![taken(&second[0])], vec![])).await;
    let spent = kit.balance(id).await;
    disable(kit, id, Queued::Cancel).await;
    assert_eq!(kit.numbers("select count(*) from batches").await, [0]);
    assert_eq!(kit.statuses(&message).await, [Some(DeliveryStatus::Sent)]);
    assert_eq!(
        kit.balance(id).await,
        spent,
        "it was sent and is not given back"
    );
}

/// A batch in flight whose report may add others.
async fn claimed_of(kit: &Kit, account: AccountId) -> store::Claimed {
    let message = Sending {
        first_number: 900,
        environment: domain::Environment::Sandbox,
        ..sending(account)
    };
    let message = message.message(&kit.store);
    kit.accept_and_claim(&message).await.remove(0)
}
