//! Messages that are due later than they were accepted. Every period begins at their due time or
//! their submission.

use domain::{AccountId, DeliveryStatus, Gateway};
use store::{CarrierReport, Expiry, NewMessage, SecondLeg};
use storekit::{
    CARRIER, Kit, NOW, Sending, backup_planner, delivered, doubted, number, report, sending, taken,
    twins,
};

twins!(
    a_scheduled_message_is_claimed_when_it_is_due,
    a_receipt_finds_a_message_due_in_two_weeks,
    an_id_that_comes_again_means_the_last_submission,
    validity_runs_from_the_due_time,
    a_sweep_step_ends_with_many_scheduled_recipients,
    a_lost_response_counts_receipts_from_the_due_time,
    the_second_leg_has_the_times_of_its_message,
    retention_counts_from_the_due_time,
    a_scheduled_sandbox_message_stays_until_it_is_old,
);

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// The time is two weeks after the acceptance.
const DUE: i64 = NOW + 14 * DAY;
const TIMEOUT: i64 = 2 * DAY;

fn scheduled(account: AccountId) -> Sending {
    Sending {
        scheduled_ms: Some(DUE),
        due_at_ms: DUE,
        ..sending(account)
    }
}

/// Accepts a message, and submits it at its due time.
async fn submitted(kit: &Kit, sending: &Sending) -> NewMessage {
    let message = sending.message(&kit.store);
    kit.accept(&message).await;
    let claimed = kit.claim_at(DUE).await;
    let progress = claimed.iter().map(taken).collect();
    let submit = CarrierReport {
        now_ms: DUE,
        ..report(progress, vec![])
    };
    kit.report(submit).await;
    message
}

async fn expire(kit: &Kit, now_ms: i64) -> usize {
    let expiry = Expiry {
        gateway: Gateway::DirectRefund,
        over_before_ms: now_ms - TIMEOUT,
        now_ms,
        planner: backup_planner(),
    };
    let mut expired = 0;
    for _ in 0..10 {
        let (settled, more) = kit.expire(&expiry).await;
        expired += settled.outcomes.len();
        if !more {
            return expired;
        }
    }
    panic!("the sweep does not end");
}

async fn a_scheduled_message_is_claimed_when_it_is_due(kit: &Kit) {
    let message = scheduled(kit.account(100).await).message(&kit.store);
    kit.accept(&message).await;
    assert!(kit.claim_at(DUE - 1).await.is_empty());
    assert!(kit.late_batches(DUE).await.is_empty());
    let claimed = kit.claim_at(DUE).await;
    assert_eq!(claimed.len(), 1);
    assert_eq!(claimed[0].batch.message_due_at_ms, DUE);
    let at_once = sending(message.draft.account).message(&kit.store);
    kit.accept(&at_once).await;
    let claimed = kit.claim_at(DUE).await;
    assert_eq!(claimed[0].batch.message_due_at_ms, NOW);
}

async fn a_receipt_finds_a_message_due_in_two_weeks(kit: &Kit) {
    let message = submitted(kit, &scheduled(kit.account(100).await)).await;
    let hours = kit
        .numbers("select submitted_hour_ms from carrier_ids")
        .await;
    assert_eq!(hours, [DUE - DUE.rem_euclid(HOUR)]);
    // A carrier may have used the id again after seven days.
    for (now_ms, found) in [(DUE + 7 * DAY + HOUR, (0, 1)), (DUE + 6 * DAY, (1, 0))] {
        let receipt = CarrierReport {
            now_ms,
            ..report(vec![], vec![delivered(message.draft.recipients[0])])
        };
        let (settled, parked) = kit.report(receipt).await;
        assert_eq!((settled.outcomes.len(), parked), found);
    }
    let delivered = [Some(DeliveryStatus::Delivered)];
    assert_eq!(kit.statuses(&message).await, delivered);
}

/// The scheduled message has the lower id, and was submitted later.
async fn an_id_that_comes_again_means_the_last_submission(kit: &Kit) {
    let account = kit.account(100).await;
    let first = scheduled(account).message(&kit.store);
    kit.accept(&first).await;
    let second = Sending {
        accepted_at_ms: DUE - 2 * DAY,
        due_at_ms: DUE - 2 * DAY,
        ..sending(account)
    };
    let second = second.message(&kit.store);
    kit.accept(&second).await;
    for now_ms in [DUE - 2 * DAY, DUE] {
        let progress = kit.claim_at(now_ms).await.iter().map(taken).collect();
        let submit = CarrierReport {
            now_ms,
            ..report(progress, vec![])
        };
        kit.report(submit).await;
    }
    let receipt = CarrierReport {
        now_ms: DUE + 1,
        ..report(vec![], vec![delivered(first.draft.recipients[0])])
    };
    kit.report(receipt).await;
    let delivered = [Some(DeliveryStatus::Delivered)];
    assert_eq!(kit.statuses(&first).await, delivered);
    let sent = [Some(DeliveryStatus::Sent)];
    assert_eq!(kit.statuses(&second).await, sent);
}

async fn validity_runs_from_the_due_time(kit: &Kit) {
    // A sweep of messages that are due at once has passed the time of acceptance.
    expire(kit, DUE).await;
    let message = submitted(kit, &scheduled(kit.account(100).await)).await;
    assert_eq!(expire(kit, DUE + TIMEOUT).await, 0);
    let sent = [Some(DeliveryStatus::Sent)];
    assert_eq!(kit.statuses(&message).await, sent);
    assert_eq!(expire(kit, DUE + TIMEOUT + 1).await, 1);
    let expired = [Some(DeliveryStatus::Expired)];
    assert_eq!(kit.statuses(&message).await, expired);
}

async fn a_sweep_step_ends_with_many_scheduled_recipients(kit: &Kit) {
    let account = kit.account(100_000).await;
    let many = Sending {
        recipients: 600,
        ..scheduled(account)
    };
    submitted(kit, &many).await;
    let at_once = Sending {
        accepted_at_ms: DUE,
        first_number: 2_000,
        recipients: 600,
        ..sending(account)
    };
    submitted(kit, &at_once).await;
    assert_eq!(expire(kit, DUE + TIMEOUT + 1).await, 1_200);
}

async fn a_lost_response_counts_receipts_from_the_due_time(kit: &Kit) {
    let message = scheduled(kit.account(100).await).message(&kit.store);
    kit.accept(&message).await;
    // Another platform sends to the number with the same sender.
    let early = CarrierReport {
        now_ms: DUE - HOUR,
        ..report(vec![], vec![delivered(message.draft.recipients[0])])
    };
    assert_eq!(kit.report(early).await.1, 1, "parked");
    let claimed = kit.claim_at(DUE).await;
    let doubt = CarrierReport {
        now_ms: DUE + 60_000,
        ..report(vec![doubted(&claimed[0])], vec![])
    };
    kit.report(doubt).await;
    let in_doubt = [Some(DeliveryStatus::InDoubt)];
    assert_eq!(kit.statuses(&message).await, in_doubt);
}

async fn the_second_leg_has_the_times_of_its_message(kit: &Kit) {
    let base = Sending {
        scheduled_ms: Some(DUE),
        due_at_ms: DUE,
        validity_s: Some(600),
        ..storekit::two_legs(kit.account(100).await)
    };
    let message = base.message(&kit.store);
    kit.accept(&message).await;
    let claimed = kit.claim_at(DUE).await;
    let seen = std::sync::Arc::new(std::sync::Mutex::new(None));
    let planned = std::sync::Arc::clone(&seen);
    let failed = CarrierReport {
        now_ms: DUE,
        planner: std::sync::Arc::new(move |leg: &SecondLeg| {
            *planned.lock().unwrap() = Some((leg.message_due_at_ms, leg.validity_s));
            None
        }),
        ..report(vec![storekit::refused(&claimed[0])], vec![])
    };
    kit.report(failed).await;
    assert_eq!(*seen.lock().unwrap(), Some((DUE, Some(600))));
}

async fn retention_counts_from_the_due_time(kit: &Kit) {
    let base = Sending {
        callback_url: Some("https://ada.example.ng/done"),
        ..scheduled(kit.account(100).await)
    };
    let message = submitted(kit, &base).await;
    let receipt = CarrierReport {
        now_ms: DUE + 1,
        ..report(vec![], vec![delivered(message.draft.recipients[0])])
    };
    kit.report(receipt).await;
    kit.run("update outbox set state = 'dead', claimed_by = 0")
        .await
        .unwrap();
    let bucket = kit.store.bucket_of(message.draft.account);
    for (before_ms, gone) in [(DUE, 0), (DUE + 1, 1)] {
        let texts = kit
            .store
            .retention()
            .remove_texts(bucket, before_ms, None)
            .await;
        assert_eq!(texts.unwrap().count, gone, "texts");
        let dead = kit
            .store
            .retention()
            .remove_dead_callbacks(bucket, before_ms, None);
        assert_eq!(dead.await.unwrap().count, gone, "dead callbacks");
        let messages = kit
            .store
            .retention()
            .remove_messages(bucket, before_ms, None)
            .await;
        assert_eq!(messages.unwrap().count, gone, "messages");
    }
    let pages = || kit.numbers("select count(*) from carrier_ids");
    assert_eq!(pages().await, [1]);
    for (before_ms, left) in [(DUE, 1), (DUE + HOUR, 0)] {
        for bucket in kit.store.buckets() {
            let step = kit
                .store
                .retention()
                .remove_parts(bucket, before_ms, None, Some(CARRIER));
            step.await.unwrap();
        }
        assert_eq!(pages().await, [left]);
    }
}

async fn a_scheduled_sandbox_message_stays_until_it_is_old(kit: &Kit) {
    let base = Sending {
        environment: domain::Environment::Sandbox,
        ..scheduled(kit.account(100).await)
    };
    let message = submitted(kit, &base).await;
    assert_eq!(message.draft.recipients, [number(1)]);
    let bucket = kit.store.bucket_of(message.draft.account);
    for (before_ms, gone) in [(DUE, 0), (DUE + 1, 1)] {
        let step = kit
            .store
            .retention()
            .remove_simulated(bucket, CARRIER, before_ms, None);
        assert_eq!(step.await.unwrap().count, gone);
    }
}
