//! Pauses, resumes and other due times: unsent recipients wait, and their clocks stand still.

use domain::schedule::MessageState;
use domain::{DeliveryStatus, QuietHours, Refusal};
use store::{
    Batch, BatchKind, ChangedMessage, Claimed, NewMessage, Progress, Requested, Stop, StopKind,
};
use storekit::{
    Kit, NOW, Sending, backup, by, delivered, doubted, message_key, naira, put_back, report,
    sending, taken, twins, two_legs,
};

twins!(
    a_paused_message_is_not_claimed_until_it_is_resumed,
    a_pause_waits_for_the_nodes_and_comes_back_with_a_resume,
    the_validity_stands_still_while_a_message_is_paused,
    a_pause_before_the_due_time_does_not_move_it,
    a_resume_in_quiet_hours_sends_at_their_end,
    repeated_changes_have_no_effect,
    a_final_message_is_not_paused_or_resumed,
    a_rescheduled_message_is_due_at_its_new_time,
    a_message_that_a_node_has_is_not_rescheduled,
    a_paused_message_can_be_cancelled,
    recipients_that_a_carrier_has_go_on_during_a_pause,
    a_message_that_ends_while_it_is_paused_leaves_no_batch,
    a_cancel_of_a_paused_message_leaves_no_batch,
    a_change_by_an_operator_is_in_the_audit,
);

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

async fn request(kit: &Kit, message: &NewMessage, kind: StopKind, now_ms: i64) -> Requested {
    let changes = kit.store.changes();
    let requested = changes.request(message_key(message), kind, now_ms, None);
    requested.await.unwrap().unwrap().unwrap()
}

async fn complete(kit: &Kit, stop: &Stop, now_ms: i64) {
    let changes = kit.store.changes();
    while !changes.step(stop, now_ms).await.unwrap().is_done {}
    changes.forget_pause(stop).await.unwrap();
}

/// Pauses a message of which no node has unsent recipients.
async fn pause(kit: &Kit, message: &NewMessage, now_ms: i64) -> Stop {
    match request(kit, message, StopKind::Pause, now_ms).await {
        Requested::Stopping(stop) => {
            complete(kit, &stop, now_ms).await;
            stop
        }
        Requested::Nothing(changed) => panic!("no effect: {changed:?}"),
    }
}

async fn resume(kit: &Kit, message: &NewMessage, now_ms: i64) -> Result<ChangedMessage, Refusal> {
    let changes = kit.store.changes();
    let resumed = changes.resume(message_key(message), now_ms, None, None);
    resumed.await.unwrap().unwrap()
}

async fn reschedule(
    kit: &Kit,
    message: &NewMessage,
    due_at_ms: i64,
) -> Result<ChangedMessage, Refusal> {
    let changes = kit.store.changes();
    let moved = changes.reschedule(message_key(message), due_at_ms, NOW, None);
    moved.await.unwrap().unwrap()
}

async fn a_paused_message_is_not_claimed_until_it_is_resumed(kit: &Kit) {
    let account = kit.account(100).await;
    let two = Sending {
        recipients: 2,
        ..sending(account)
    };
    let message = kit.accepted(&two).await;
    pause(kit, &message, NOW).await;
    let paused = "select count(*) from batches where claimed_by = -2";
    assert_eq!(kit.numbers(paused).await, [1]);
    assert!(kit.claim(1_000).await.is_empty());
    assert_eq!(kit.numbers("select count(*) from stops").await, [0]);
    let changed = resume(kit, &message, NOW + 1).await.unwrap();
    assert_eq!(changed.progress.state(NOW + 1), MessageState::Sending);
    let claimed = kit.claim_at(NOW + 1).await;
    assert_eq!(claimed[0].batch.recipients, message.draft.recipients);
    kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Sent); 2]
    );
    assert_eq!(kit.balance(account).await, naira(88), "it is charged once");
}

async fn a_pause_waits_for_the_nodes_and_comes_back_with_a_resume(kit: &Kit) {
    let account = kit.account(100).await;
    let message = kit.accepted(&sending(account)).await;
    let claimed = kit.claim(1_000).await;
    let Requested::Stopping(stop) = request(kit, &message, StopKind::Pause, NOW).await else {
        panic!("it has an effect");
    };
    let changes = kit.store.changes();
    let first = changes.step(&stop, NOW).await.unwrap();
    assert!(!first.is_done && first.is_claimed);
    kit.report(report(vec![put_back(&claimed[0])], vec![]))
        .await;
    // A claim that meets it moves it apart as the pause does.
    assert!(kit.claim(1_000).await.is_empty());
    complete(kit, &stop, NOW).await;
    assert!(kit.late_batches(NOW + 9 * DAY).await.is_empty());
    resume(kit, &message, NOW).await.unwrap();
    assert_eq!(kit.claim(1_000).await.len(), 1);
}

async fn the_validity_stands_still_while_a_message_is_paused(kit: &Kit) {
    let account = kit.account(100).await;
    let message = kit.accepted(&sending(account)).await;
    let expires_ms = message.batches[0].expires_at_ms;
    pause(kit, &message, NOW + 1_000).await;
    assert!(kit.late_batches(NOW + 30 * DAY).await.is_empty());
    resume(kit, &message, NOW + 30 * DAY).await.unwrap();
    let claimed = kit.claim_at(NOW + 30 * DAY).await;
    assert_eq!(claimed.len(), 1);
    let stood_ms = 30 * DAY - 1_000;
    assert_eq!(claimed[0].batch.expires_at_ms, expires_ms + stood_ms);
    assert_eq!(claimed[0].batch.message_due_at_ms, NOW + stood_ms);
    let info = kit
        .store
        .search()
        .info(None, message.draft.environment, message.id);
    let info = info.await.unwrap().unwrap();
    assert_eq!(
        (info.due_at_ms, info.paused_for_ms),
        (Some(NOW + stood_ms), stood_ms)
    );
    let changes = format!("paused {},resumed {}", NOW + 1_000, NOW + 30 * DAY);
    assert_eq!(info.changes, Some(changes));
}

async fn a_pause_before_the_due_time_does_not_move_it(kit: &Kit) {
    let account = kit.account(100).await;
    let later = Sending {
        scheduled_ms: Some(NOW + DAY),
        due_at_ms: NOW + DAY,
        ..sending(account)
    };
    let message = kit.accepted(&later).await;
    pause(kit, &message, NOW).await;
    let changed = resume(kit, &message, NOW + HOUR).await.unwrap();
    assert_eq!(changed.progress.due_at_ms, NOW + DAY);
    assert_eq!(changed.progress.state(NOW + HOUR), MessageState::Scheduled);
    assert!(kit.claim_at(NOW + DAY - 1).await.is_empty());
    assert_eq!(kit.claim_at(NOW + DAY).await.len(), 1);
}

async fn a_resume_in_quiet_hours_sends_at_their_end(kit: &Kit) {
    let account = kit.account(100).await;
    let message = kit.accepted(&sending(account)).await;
    pause(kit, &message, NOW).await;
    // The minute of NOW in Lagos, one hour ahead of UTC.
    let minute_now = NOW.div_euclid(60_000) + 60;
    let minute = u16::try_from(minute_now.rem_euclid(24 * 60)).unwrap();
    let quiet = QuietHours {
        from_minute: minute,
        until_minute: (minute + 60) % (24 * 60),
    };
    let end_ms = quiet.due(NOW + 1);
    assert!(end_ms > NOW + 1);
    let changes = kit.store.changes();
    let resumed = changes.resume(message_key(&message), NOW + 1, Some(quiet), None);
    assert!(resumed.await.unwrap().unwrap().is_ok());
    assert!(kit.claim_at(end_ms - 1).await.is_empty());
    assert_eq!(kit.claim_at(end_ms).await.len(), 1);
}

async fn repeated_changes_have_no_effect(kit: &Kit) {
    let account = kit.account(100).await;
    let message = kit.accepted(&sending(account)).await;
    assert!(resume(kit, &message, NOW).await.is_ok(), "it is not paused");
    pause(kit, &message, NOW).await;
    let again = request(kit, &message, StopKind::Pause, NOW + 5).await;
    assert!(matches!(again, Requested::Nothing(_)), "{again:?}");
    resume(kit, &message, NOW + 9).await.unwrap();
    let before = kit.texts("select changes from messages").await;
    resume(kit, &message, NOW + 10).await.unwrap();
    assert_eq!(kit.texts("select changes from messages").await, before);
}

async fn a_final_message_is_not_paused_or_resumed(kit: &Kit) {
    let account = kit.account(100).await;
    let message = kit.accepted(&sending(account)).await;
    let claimed = kit.claim(1_000).await;
    kit.report(report(vec![storekit::refused(&claimed[0])], vec![]))
        .await;
    let changes = kit.store.changes();
    let paused = changes.request(message_key(&message), StopKind::Pause, NOW, None);
    let refused = paused.await.unwrap().unwrap();
    assert!(matches!(refused, Err(Refusal::TooLate(_))), "{refused:?}");
    for refused in [
        resume(kit, &message, NOW).await,
        reschedule(kit, &message, NOW + HOUR).await,
    ] {
        assert!(matches!(refused, Err(Refusal::TooLate(_))), "{refused:?}");
    }
}

async fn a_rescheduled_message_is_due_at_its_new_time(kit: &Kit) {
    let account = kit.account(100).await;
    let message = kit.accepted(&sending(account)).await;
    let expires_ms = message.batches[0].expires_at_ms;
    let changed = reschedule(kit, &message, NOW + DAY).await.unwrap();
    assert_eq!(changed.progress.state(NOW), MessageState::Scheduled);
    assert!(kit.claim_at(NOW + DAY - 1).await.is_empty());
    // A paused one stays paused.
    pause(kit, &message, NOW + 1).await;
    let changed = reschedule(kit, &message, NOW + HOUR).await.unwrap();
    assert_eq!(changed.progress.state(NOW), MessageState::Paused);
    assert!(kit.claim_at(NOW + 2 * HOUR).await.is_empty());
    resume(kit, &message, NOW + 2).await.unwrap();
    assert!(kit.claim_at(NOW + HOUR - 1).await.is_empty());
    let claimed = kit.claim_at(NOW + HOUR).await;
    assert_eq!(claimed[0].batch.expires_at_ms, expires_ms + HOUR);
    assert_eq!(claimed[0].batch.message_due_at_ms, NOW + HOUR);
}

async fn a_message_that_a_node_has_is_not_rescheduled(kit: &Kit) {
    let account = kit.account(100).await;
    let message = kit.accepted(&sending(account)).await;
    let claimed = kit.claim(1_000).await;
    let refused = reschedule(kit, &message, NOW + HOUR).await;
    assert!(matches!(refused, Err(Refusal::TooLate(_))), "{refused:?}");
    kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    let refused = reschedule(kit, &message, NOW + HOUR).await;
    assert!(matches!(refused, Err(Refusal::TooLate(_))), "{refused:?}");
}

async fn a_paused_message_can_be_cancelled(kit: &Kit) {
    let account = kit.account(100).await;
    let message = kit.accepted(&sending(account)).await;
    pause(kit, &message, NOW).await;
    let Requested::Stopping(stop) = request(kit, &message, StopKind::Cancel, NOW + 1).await else {
        panic!("it has an effect");
    };
    let refused = resume(kit, &message, NOW + 2).await;
    assert!(matches!(refused, Err(Refusal::TooLate(_))), "{refused:?}");
    let changes = kit.store.changes();
    while !changes.step(&stop, NOW + 3).await.unwrap().is_done {}
    let finished = changes.finish_cancel(stop.bucket, stop.message, NOW + 3);
    assert!(finished.await.unwrap());
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Cancelled)]
    );
    assert_eq!(kit.balance(account).await, naira(100));
}

/// The carrier accepted a first leg, and its second leg waits for its receipt.
fn with_second_leg(claimed: &Claimed) -> Progress {
    let first = &claimed.batch;
    let (to, charge, reserve) = (first.recipients[0], first.charge, first.reserve);
    let second = Batch {
        due_at_ms: NOW + 10_000,
        ..backup(first.bucket, first.message, to, charge, reserve)
    };
    Progress {
        again: vec![second],
        ..taken(claimed)
    }
}

/// A send that a carrier has, its outcome, and the kind of batch that waits for its receipt.
type Waiting = (Sending, fn(&Claimed) -> Progress, BatchKind);

fn waiting(kit_account: domain::AccountId) -> [Waiting; 2] {
    [
        (sending(kit_account), doubted, BatchKind::Resend),
        (two_legs(kit_account), with_second_leg, BatchKind::Backup),
    ]
}

/// Pauses a message with two recipients, while a carrier has one of them. Returns the message and
/// what was claimed.
async fn half_sent_and_paused(
    kit: &Kit,
    one: Sending,
    progress: fn(&Claimed) -> Progress,
) -> (NewMessage, Vec<Claimed>) {
    let two = Sending {
        recipients: 2,
        ..one
    };
    let message = kit.accepted(&two).await;
    let claimed = kit.claim(1).await;
    kit.report(report(vec![progress(&claimed[0])], vec![]))
        .await;
    pause(kit, &message, NOW).await;
    (message, claimed)
}

async fn recipients_that_a_carrier_has_go_on_during_a_pause(kit: &Kit) {
    for (one, progress, kind) in waiting(kit.account(100).await) {
        let (message, claimed) = half_sent_and_paused(kit, one, progress).await;
        let late = kit.late_batches(NOW + 30 * DAY).await;
        let late: Vec<_> = late.iter().map(|one| one.batch.kind).collect();
        assert_eq!(late, [kind], "its clock runs");
        let second = kit.claim_at(NOW + 10_000).await;
        assert_eq!(second.len(), 1);
        assert_eq!(second[0].batch.kind, kind);
        assert_eq!(second[0].batch.recipients, claimed[0].batch.recipients);
        kit.report(report(vec![taken(&second[0])], vec![])).await;
        resume(kit, &message, NOW).await.unwrap();
        let rest = kit.claim_at(NOW + 10_000).await;
        assert_eq!(rest.len(), 1);
        kit.report(report(vec![taken(&rest[0])], vec![])).await;
        assert_eq!(
            kit.statuses(&message).await,
            [Some(DeliveryStatus::Sent); 2]
        );
    }
}

async fn a_message_that_ends_while_it_is_paused_leaves_no_batch(kit: &Kit) {
    for (one, progress, _) in waiting(kit.account(100).await) {
        let message = kit.accepted(&one).await;
        let claimed = kit.claim(1_000).await;
        kit.report(report(vec![progress(&claimed[0])], vec![]))
            .await;
        pause(kit, &message, NOW).await;
        let receipt = delivered(message.draft.recipients[0]);
        kit.report(report(vec![], vec![receipt])).await;
        let end = [Some(DeliveryStatus::Delivered)];
        assert_eq!(kit.statuses(&message).await, end);
        let refused = resume(kit, &message, NOW + 1).await;
        assert!(matches!(refused, Err(Refusal::TooLate(_))), "{refused:?}");
        left_by_none(kit).await;
    }
}

/// Neither a batch nor a stop of an ended message is left once its time has passed.
async fn left_by_none(kit: &Kit) {
    assert!(kit.claim_at(NOW + 10_000).await.is_empty());
    for table in ["batches", "stops"] {
        let left = format!("select count(*) from {table}");
        assert_eq!(kit.numbers(&left).await, [0], "{table}");
    }
    let verified = kit.store.upkeep().verify().await.unwrap();
    assert_eq!(verified.violations, Vec::<String>::new());
}

async fn a_cancel_of_a_paused_message_leaves_no_batch(kit: &Kit) {
    for (one, progress, _) in waiting(kit.account(100).await) {
        let (message, claimed) = half_sent_and_paused(kit, one, progress).await;
        let Requested::Stopping(stop) = request(kit, &message, StopKind::Cancel, NOW + 1).await
        else {
            panic!("it has an effect");
        };
        let changes = kit.store.changes();
        while !changes.step(&stop, NOW + 1).await.unwrap().is_done {}
        let finished = changes.finish_cancel(stop.bucket, stop.message, NOW + 1);
        assert!(finished.await.unwrap());
        let receipt = delivered(claimed[0].batch.recipients[0]);
        kit.report(report(vec![], vec![receipt])).await;
        left_by_none(kit).await;
    }
}

async fn a_change_by_an_operator_is_in_the_audit(kit: &Kit) {
    let account = kit.account(100).await;
    let message = kit.accepted(&sending(account)).await;
    let changes = kit.store.changes();
    let key = message_key(&message);
    let own = || Some(by(NOW));
    let paused = changes.request(key, StopKind::Pause, NOW, own());
    assert!(paused.await.unwrap().unwrap().is_ok());
    assert!(
        changes
            .resume(key, NOW, None, own())
            .await
            .unwrap()
            .unwrap()
            .is_ok()
    );
    let moved = changes.reschedule(key, NOW + HOUR, NOW, own());
    assert!(moved.await.unwrap().unwrap().is_ok());
    let cancelled = changes.request(key, StopKind::Cancel, NOW, own());
    let Requested::Stopping(stop) = cancelled.await.unwrap().unwrap().unwrap() else {
        panic!("it has an effect");
    };
    while !changes.step(&stop, NOW).await.unwrap().is_done {}
    assert!(
        changes
            .finish_cancel(stop.bucket, stop.message, NOW)
            .await
            .unwrap()
    );
    let verbs = "select verb from audit where verb like 'message.%' order by number";
    let expected = [
        "message.pause",
        "message.resume",
        "message.reschedule",
        "message.cancel",
    ];
    assert_eq!(kit.texts(verbs).await, expected);
    let objects = kit
        .texts("select distinct object from audit where verb like 'message.%'")
        .await;
    assert_eq!(objects, [message.id.to_string()]);
}
