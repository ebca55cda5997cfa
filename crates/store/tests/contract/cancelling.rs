//! Cancels of messages: a recipient that no carrier has ends and is refunded, and the others go on.

use domain::{AccountId, BatchId, DeliveryStatus, Environment, Refusal, fingerprint};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{
    Accepted, ChangedMessage, Claimed, MessageKey, NewMessage, Progress, Requested, Stop, StopKind,
    StopStep,
};
use storekit::{
    Kit, NOW, Sending, claim, fresh, message_key, naira, put_back, report, sending, taken, twins,
    two_legs,
};

twins!(
    a_waiting_message_is_refunded_whole_on_every_gateway,
    recipients_that_a_carrier_has_go_on,
    unsent_recipients_in_memory_end_when_they_are_put_back,
    recipients_on_the_wire_are_not_cancelled,
    a_stopped_message_is_not_claimed,
    a_second_leg_of_a_submitted_recipient_goes_on,
    a_whole_cancel_opens_the_duplicate_window,
    a_cancel_in_part_leaves_the_duplicate_window,
    a_message_of_another_account_or_environment_is_unknown,
    a_retry_after_the_cancel_goes_on,
    each_recipient_is_sent_or_refunded_when_both_race,
);

const URL: &str = "https://ada.example.ng/delivery";
/// Duration of the race between claims and cancels.
const RACE: Duration = Duration::from_secs(8);

async fn request(kit: &Kit, message: &NewMessage) -> Requested {
    let changes = kit.store.changes();
    let requested = changes.request(message_key(message), StopKind::Cancel, NOW, None);
    requested.await.unwrap().unwrap().unwrap()
}

/// Requests a cancel that has an effect.
async fn stop(kit: &Kit, message: &NewMessage) -> Stop {
    match request(kit, message).await {
        Requested::Stopping(stop) => stop,
        Requested::Nothing(changed) => panic!("no effect: {changed:?}"),
    }
}

async fn step(kit: &Kit, stop: &Stop) -> StopStep {
    kit.store.changes().step(stop, NOW).await.unwrap()
}

async fn finish(kit: &Kit, stop: &Stop) -> bool {
    let changes = kit.store.changes();
    changes
        .finish_cancel(stop.bucket, stop.message, NOW)
        .await
        .unwrap()
}

async fn after(kit: &Kit, message: &NewMessage) -> ChangedMessage {
    let changes = kit.store.changes();
    changes
        .changed(message_key(message))
        .await
        .unwrap()
        .unwrap()
}

/// Cancels a message of which no node has unsent recipients.
pub(crate) async fn cancel(kit: &Kit, message: &NewMessage) -> ChangedMessage {
    let stop = stop(kit, message).await;
    while !step(kit, &stop).await.is_done {}
    assert!(finish(kit, &stop).await);
    after(kit, message).await
}

/// The report of a node that has no unsent recipient of a batch any more.
fn stopped(claimed: &Claimed) -> Progress {
    Progress {
        remaining: claimed.batch.recipients.clone(),
        stopped: true,
        ..Progress::of(claimed.clone())
    }
}

async fn callbacks(kit: &Kit) -> i64 {
    kit.numbers("select count(*) from outbox").await[0]
}

const CANCELLED: Option<DeliveryStatus> = Some(DeliveryStatus::Cancelled);
const SENT: Option<DeliveryStatus> = Some(DeliveryStatus::Sent);

async fn a_waiting_message_is_refunded_whole_on_every_gateway(kit: &Kit) {
    let account = kit.account(100).await;
    let corporate = Sending {
        terms: domain::Terms {
            refund_undelivered: false,
            two_legs: false,
        },
        ..sending(account)
    };
    for (one, price) in [
        (sending(account), 6),
        (corporate, 6),
        (two_legs(account), 10),
    ] {
        let three = Sending {
            recipients: 3,
            callback_url: Some(URL),
            ..one
        };
        let before = callbacks(kit).await;
        let message = kit.accepted(&three).await;
        let changed = cancel(kit, &message).await;
        assert_eq!(changed.progress.cancelled, 3);
        assert_eq!(changed.refunded, naira(3 * price));
        assert_eq!(kit.statuses(&message).await, [CANCELLED; 3]);
        assert_eq!(kit.balance(account).await, naira(100));
        assert_eq!(callbacks(kit).await - before, 3);
        let again = request(kit, &message).await;
        assert_eq!(again, Requested::Nothing(changed));
    }
    assert_eq!(kit.numbers("select count(*) from batches").await, [0]);
    assert_eq!(kit.numbers("select count(*) from stops").await, [0]);
}

async fn recipients_that_a_carrier_has_go_on(kit: &Kit) {
    let account = kit.account(100).await;
    let four = Sending {
        recipients: 4,
        callback_url: Some(URL),
        ..sending(account)
    };
    let message = kit.accepted(&four).await;
    let claimed = kit.claim(1).await;
    kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    let changed = cancel(kit, &message).await;
    assert_eq!(
        kit.statuses(&message).await,
        [SENT, CANCELLED, CANCELLED, CANCELLED]
    );
    assert_eq!(
        (changed.progress.cancelled, changed.refunded),
        (3, naira(18))
    );
    assert_eq!(kit.balance(account).await, naira(94));
    let to = message.draft.recipients[0];
    kit.report(report(vec![], vec![storekit::undelivered(to)]))
        .await;
    assert_eq!(kit.balance(account).await, naira(100));
    assert_eq!(callbacks(kit).await, 4);
    // A repeated cancel counts the same recipients.
    let Requested::Nothing(again) = request(kit, &message).await else {
        panic!("it has no effect");
    };
    assert_eq!((again.progress.cancelled, again.refunded), (3, naira(18)));
    assert_eq!(again.progress.ended, 4);
}

async fn unsent_recipients_in_memory_end_when_they_are_put_back(kit: &Kit) {
    let account = kit.account(100).await;
    let two = Sending {
        recipients: 2,
        ..sending(account)
    };
    let message = kit.accepted(&two).await;
    let claimed = kit.claim(1_000).await;
    let stop = stop(kit, &message).await;
    for _ in 0..3 {
        let made = step(kit, &stop).await;
        assert!(!made.is_done && made.is_claimed);
        assert!(!finish(kit, &stop).await, "a node may send them");
    }
    assert_eq!(kit.statuses(&message).await, [None; 2]);
    kit.report(report(vec![put_back(&claimed[0])], vec![]))
        .await;
    assert!(!finish(kit, &stop).await, "they wait");
    assert_eq!(step(kit, &stop).await.settled.outcomes.len(), 2);
    assert!(step(kit, &stop).await.is_done);
    assert!(finish(kit, &stop).await);
    assert_eq!(kit.statuses(&message).await, [CANCELLED; 2]);
    assert_eq!(kit.balance(account).await, naira(100));
}

async fn recipients_on_the_wire_are_not_cancelled(kit: &Kit) {
    let account = kit.account(100).await;
    let message = kit.accepted(&sending(account)).await;
    let claimed = kit.claim(1_000).await;
    let stop = stop(kit, &message).await;
    assert!(!step(kit, &stop).await.is_done);
    kit.report(report(vec![stopped(&claimed[0])], vec![])).await;
    assert!(step(kit, &stop).await.is_done);
    assert!(finish(kit, &stop).await);
    let changed = after(kit, &message).await;
    assert_eq!((changed.progress.cancelled, changed.progress.ended), (0, 0));
    assert!(!changed.progress.is_paused && changed.progress.was_cancelled);
    // Its response comes later.
    kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    assert_eq!(kit.statuses(&message).await, [SENT]);
    assert_eq!(kit.balance(account).await, naira(94));
}

async fn a_stopped_message_is_not_claimed(kit: &Kit) {
    let account = kit.account(100).await;
    let message = kit.accepted(&sending(account)).await;
    let other = kit.accepted(&sending(account)).await;
    let stop = stop(kit, &message).await;
    let listed = kit.store.changes().stops(10).await.unwrap();
    assert_eq!(listed, [stop]);
    let claimed = kit.claim(1_000).await;
    let messages: Vec<_> = claimed.iter().map(|one| one.batch.message).collect();
    assert_eq!(messages, [other.id]);
    assert!(kit.late_batches(NOW + 10 * 86_400_000).await.is_empty());
    while !step(kit, &stop).await.is_done {}
    assert!(finish(kit, &stop).await);
    assert_eq!(kit.statuses(&message).await, [CANCELLED]);
}

async fn a_second_leg_of_a_submitted_recipient_goes_on(kit: &Kit) {
    let account = kit.account(100).await;
    let two = Sending {
        recipients: 2,
        ..two_legs(account)
    };
    let message = kit.accepted(&two).await;
    let claimed = kit.claim(1).await;
    kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    let to = message.draft.recipients[0];
    kit.report(report(vec![], vec![storekit::undelivered(to)]))
        .await;
    let changed = cancel(kit, &message).await;
    assert_eq!(
        (changed.progress.cancelled, changed.refunded),
        (1, naira(10))
    );
    let second = kit.claim(1_000).await;
    assert_eq!(second.len(), 1, "the second leg");
    assert_eq!(second[0].batch.recipients, [to]);
    kit.report(report(vec![taken(&second[0])], vec![])).await;
    assert_eq!(kit.statuses(&message).await, [SENT, CANCELLED]);
    assert_eq!(kit.balance(account).await, naira(90));
}

/// A message whose fingerprint is that of its content, as a draft has it.
fn with_fingerprint(kit: &Kit, sending: &Sending) -> NewMessage {
    let mut message = sending.message(&kit.store);
    let mut draft = (*message.draft).clone();
    let recipients = draft.recipients.clone();
    let text = draft.text.as_str().to_owned();
    draft.fingerprint = fingerprint::of_text(draft.account, draft.environment, &text, &recipients);
    message.draft = Arc::new(draft);
    message
}

async fn a_whole_cancel_opens_the_duplicate_window(kit: &Kit) {
    let account = kit.account(100).await;
    let two = Sending {
        recipients: 2,
        ..sending(account)
    };
    let message = with_fingerprint(kit, &two);
    kit.accept(&message).await;
    let again = || with_fingerprint(kit, &two);
    let refused = kit.accept(&again()).await;
    assert!(
        matches!(refused, Accepted::No(Refusal::Duplicate)),
        "{refused:?}"
    );
    cancel(kit, &message).await;
    let second = again();
    assert!(matches!(kit.accept(&second).await, Accepted::Yes { .. }));
    // The window of the second send is its own.
    let refused = kit.accept(&again()).await;
    assert!(matches!(refused, Accepted::No(Refusal::Duplicate)));
}

async fn a_cancel_in_part_leaves_the_duplicate_window(kit: &Kit) {
    let account = kit.account(100).await;
    let two = Sending {
        recipients: 2,
        ..sending(account)
    };
    let message = with_fingerprint(kit, &two);
    kit.accept(&message).await;
    let claimed = kit.claim(1).await;
    kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    cancel(kit, &message).await;
    let refused = kit.accept(&with_fingerprint(kit, &two)).await;
    assert!(matches!(refused, Accepted::No(Refusal::Duplicate)));
}

async fn a_message_of_another_account_or_environment_is_unknown(kit: &Kit) {
    let (account, other) = (kit.account(100).await, kit.account(100).await);
    let message = kit.accepted(&sending(account)).await;
    let own = message_key(&message);
    let wrong: [MessageKey; 2] = [
        MessageKey {
            account: other,
            ..own
        },
        MessageKey {
            environment: Environment::Sandbox,
            ..own
        },
    ];
    for key in wrong {
        let changes = kit.store.changes();
        let requested = changes
            .request(key, StopKind::Cancel, NOW, None)
            .await
            .unwrap();
        assert_eq!(requested, None);
        assert_eq!(changes.changed(key).await.unwrap(), None);
    }
    assert_eq!(kit.claim(1_000).await.len(), 1);
}

async fn a_retry_after_the_cancel_goes_on(kit: &Kit) {
    let account = kit.account(100).await;
    let message = kit.accepted(&sending(account)).await;
    let claimed = kit.claim(1_000).await;
    let first = stop(kit, &message).await;
    kit.report(report(vec![stopped(&claimed[0])], vec![])).await;
    assert!(step(kit, &first).await.is_done && finish(kit, &first).await);
    // The carrier refused it for now, so it waits again.
    kit.report(report(vec![put_back(&claimed[0])], vec![]))
        .await;
    assert!(step(kit, &first).await.settled.outcomes.is_empty());
    let again = request(kit, &message).await;
    assert!(matches!(again, Requested::Nothing(_)), "{again:?}");
    assert_eq!(kit.claim(1_000).await.len(), 1);
}

/// A node as it works: it claims, hears of stops at some time, and puts back the unsent recipients.
async fn dispatch(
    kit: &Kit,
    account: AccountId,
    known: &tokio::sync::watch::Receiver<bool>,
) -> usize {
    let mut sent = 0;
    for turn in 0..6 {
        let some = store::Claim {
            next_id: BatchId(fresh() * 1_000_000),
            ..claim(3)
        };
        let claimed = kit.store.claims().claim(some).await.unwrap();
        for one in claimed {
            assert_eq!(one.content.account, account);
            // The first recipient is on the wire when the node hears of the stop.
            let mut on_wire = one.clone();
            let unsent = on_wire.batch.recipients.split_off(1);
            tokio::task::yield_now().await;
            if *known.borrow() && !unsent.is_empty() {
                let back = Claimed {
                    batch: store::Batch {
                        recipients: unsent,
                        ..one.batch.clone()
                    },
                    content: Arc::clone(&one.content),
                };
                let withdrawn = Progress {
                    again: put_back(&back).again,
                    remaining: on_wire.batch.recipients.clone(),
                    stopped: true,
                    ..Progress::of(one.clone())
                };
                kit.report(report(vec![withdrawn], vec![])).await;
                sent += 1;
                kit.report(report(vec![taken(&on_wire)], vec![])).await;
            } else {
                sent += one.batch.recipients.len();
                kit.report(report(vec![taken(&one)], vec![])).await;
            }
        }
        if turn % 2 == 0 {
            tokio::task::yield_now().await;
        }
    }
    sent
}

async fn each_recipient_is_sent_or_refunded_when_both_race(kit: &Kit) {
    let (since, mut tries, mut both) = (Instant::now(), 0_u32, 0);
    // The cancel begins at each tenth of the time that the claims took before, so that they meet at
    // any speed of the machine. A slow machine tries longer, until both have met.
    let mut dispatching = Duration::from_millis(3);
    while since.elapsed() < RACE || (both == 0 && since.elapsed() < 20 * RACE) {
        let account = kit.account(10_000).await;
        let twelve = Sending {
            recipients: 12,
            callback_url: Some(URL),
            ..sending(account)
        };
        let message = kit.accepted(&twelve).await;
        let before = callbacks(kit).await;
        let (told, known) = tokio::sync::watch::channel(false);
        let pause = dispatching * (tries % 10) / 10;
        let began = Instant::now();
        let cancelling = async {
            tokio::time::sleep(pause).await;
            let requested = request(kit, &message).await;
            told.send_replace(true);
            if let Requested::Stopping(stop) = requested {
                while !(step(kit, &stop).await.is_done && finish(kit, &stop).await) {
                    tokio::task::yield_now().await;
                }
            }
            after(kit, &message).await
        };
        let dispatched = async {
            let sent = dispatch(kit, account, &known).await;
            (sent, began.elapsed())
        };
        let ((sent, took), changed) = tokio::join!(dispatched, cancelling);
        dispatching = took;
        let cancelled = usize::try_from(changed.progress.cancelled).unwrap();
        let statuses = kit.statuses(&message).await;
        let ended = statuses.iter().filter(|&&status| status == CANCELLED);
        assert_eq!(ended.count(), cancelled, "try {tries}");
        assert_eq!(sent + cancelled, 12, "try {tries}: {statuses:?}");
        let back = naira(10_000 - 6 * i64::try_from(sent).unwrap());
        assert_eq!(kit.balance(account).await, back, "try {tries}");
        assert_eq!(changed.refunded, naira(6 * changed.progress.cancelled));
        let called = callbacks(kit).await - before;
        assert_eq!(called, changed.progress.cancelled, "try {tries}");
        assert_eq!(kit.numbers("select count(*) from batches").await, [0]);
        both += u64::from(sent > 0 && cancelled > 0);
        tries += 1;
    }
    assert!(both > 0, "no cancel met a claim in {tries} tries");
}
