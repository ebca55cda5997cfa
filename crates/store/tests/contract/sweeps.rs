//! Sweeps: changes that only time causes.

use domain::{DeliveryStatus, Gateway};
use store::{CarrierReport, Expiry};
use storekit::{
    Kit, NOW, Sending, backup_planner, delivered, doubted, naira, number, receipt, report, sending,
    taken, twins, two_legs, undelivered,
};

twins!(
    a_recipient_without_an_outcome_expires_and_is_refunded,
    a_message_sent_after_a_clock_step_expires_in_time,
    an_expiry_is_called_back_once_and_only_of_its_gateway,
    a_row_that_cannot_be_read_keeps_nobody_else_from_expiring,
    a_late_delivery_corrects_an_expiry_and_moves_no_money,
    a_late_failure_after_an_expiry_changes_nothing,
    an_expiry_of_many_goes_in_steps,
    what_was_submitted_just_before_its_end_expires_too,
    what_was_submitted_long_after_its_end_expires_too,
    expiries_at_the_same_moment_settle_once,
    tidying_forgets_closed_windows_and_old_parked_receipts,
    a_report_counts_as_delivered_what_was_given_up_before,
);

const TIMEOUT: i64 = 48 * 3_600_000;

fn expiry(gateway: Gateway, now_ms: i64) -> Expiry {
    Expiry {
        gateway,
        over_before_ms: now_ms - TIMEOUT,
        now_ms,
        planner: backup_planner(),
    }
}

async fn a_recipient_without_an_outcome_expires_and_is_refunded(kit: &Kit) {
    let base = Sending {
        recipients: 3,
        ..sending(kit.account(100).await)
    };
    let message = base.message(&kit.store);
    kit.submit(&message).await;
    kit.report(report(vec![], vec![delivered(message.draft.recipients[0])]))
        .await;
    let doubt = Sending {
        recipients: 1,
        first_number: 50,
        ..base.clone()
    }
    .message(&kit.store);
    let claimed = kit.accept_and_claim(&doubt).await;
    kit.report(report(vec![doubted(&claimed[0])], vec![])).await;
    let (early, more) = kit
        .expire(&expiry(Gateway::DirectRefund, NOW + TIMEOUT))
        .await;
    assert!(early.outcomes.is_empty() && !more);
    let (settled, more) = kit
        .expire(&expiry(Gateway::DirectRefund, NOW + TIMEOUT + 1))
        .await;
    assert!(!more);
    assert_eq!(settled.outcomes.len(), 3);
    let ends = [
        DeliveryStatus::Delivered,
        DeliveryStatus::Expired,
        DeliveryStatus::Expired,
    ];
    assert_eq!(kit.statuses(&message).await, ends.map(Some));
    assert_eq!(kit.statuses(&doubt).await, [Some(DeliveryStatus::Expired)]);
    assert_eq!(kit.balance(base.account).await, naira(94));
}

async fn a_message_sent_after_a_clock_step_expires_in_time(kit: &Kit) {
    let at = |now_ms| expiry(Gateway::DirectRefund, now_ms);
    for is_swept in [true, false] {
        kit.expire(&at(NOW + 5 * TIMEOUT)).await;
        if is_swept {
            kit.expire(&at(NOW)).await;
        } else {
            let set_by_ms = -5 * TIMEOUT;
            kit.store
                .upkeep()
                .follow_clock(NOW, set_by_ms)
                .await
                .unwrap();
        }
        let message = sending(kit.account(100).await).message(&kit.store);
        kit.submit(&message).await;
        kit.expire(&at(NOW + TIMEOUT)).await;
        assert_eq!(kit.statuses(&message).await, [Some(DeliveryStatus::Sent)]);
        kit.expire(&at(NOW + TIMEOUT + 1)).await;
        let expired = [Some(DeliveryStatus::Expired)];
        assert_eq!(kit.statuses(&message).await, expired);
        assert_eq!(kit.balance(message.draft.account).await, naira(100));
    }
}

async fn a_row_that_cannot_be_read_keeps_nobody_else_from_expiring(kit: &Kit) {
    let mut damages = vec!["doubts = '1:x:mtn'"];
    if kit.is_sqlite() {
        damages.push("charge = 'much'");
    }
    for (first_number, damage) in (0..).step_by(10).zip(damages) {
        let base = Sending {
            recipients: 3,
            first_number,
            ..sending(kit.account(100).await)
        };
        let message = base.message(&kit.store);
        kit.submit(&message).await;
        kit.damage(message.draft.recipients[1], damage).await;
        let late = expiry(Gateway::DirectRefund, NOW + TIMEOUT + 1);
        let before = store::unreadable_deliveries();
        let (settled, more) = kit.expire(&late).await;
        assert_eq!((settled.outcomes.len(), more), (2, false), "{damage}");
        assert!(store::unreadable_deliveries() > before, "it is counted");
        assert_eq!(kit.balance(base.account).await, naira(94));
    }
}

async fn what_was_submitted_long_after_its_end_expires_too(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let message = base.message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    // The batch stays claimed while sweeps pass it: a carrier throttles, or a clock was wrong.
    let now_ms = NOW + TIMEOUT + 3_600_000;
    kit.expire(&expiry(Gateway::DirectRefund, now_ms)).await;
    let late = CarrierReport {
        now_ms,
        ..report(vec![taken(&claimed[0])], vec![])
    };
    kit.report(late).await;
    kit.expire(&expiry(Gateway::DirectRefund, now_ms + 1)).await;
    let ends = kit.statuses(&message).await;
    assert!(ends.iter().all(|end| *end == Some(DeliveryStatus::Expired)));
}

async fn an_expiry_is_called_back_once_and_only_of_its_gateway(kit: &Kit) {
    let url = Some("https://example.ng/r");
    let base = Sending {
        callback_url: url,
        ..sending(kit.account(100).await)
    };
    kit.submit(&base.message(&kit.store)).await;
    let dual = Sending {
        callback_url: url,
        first_number: 9,
        ..two_legs(base.account)
    };
    kit.submit(&dual.message(&kit.store)).await;
    for wanted in [1, 0] {
        let (settled, _) = kit
            .expire(&expiry(Gateway::DualBackup, NOW + TIMEOUT + 1))
            .await;
        assert_eq!(settled.outcomes.len(), wanted);
        assert!(
            settled.callbacks.is_empty(),
            "they wait for a node that has room"
        );
        assert_eq!(settled.more_callbacks, wanted > 0);
    }
    assert_eq!(kit.numbers("select count(*) from outbox").await, [1]);
    assert_eq!(
        kit.balance(base.account).await,
        naira(88),
        "the second leg was never submitted"
    );
}

async fn expired(kit: &Kit, base: &Sending) -> store::NewMessage {
    let message = base.message(&kit.store);
    kit.submit(&message).await;
    kit.expire(&expiry(base.gateway, NOW + TIMEOUT + 1)).await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Expired)]
    );
    message
}

async fn a_late_delivery_corrects_an_expiry_and_moves_no_money(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let message = expired(kit, &base).await;
    let (settled, parked) = kit
        .report(report(vec![], vec![delivered(message.draft.recipients[0])]))
        .await;
    assert!(settled.outcomes.is_empty() && settled.callbacks.is_empty() && parked == 0);
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered)]
    );
    assert_eq!(kit.balance(base.account).await, naira(100));
}

async fn a_late_failure_after_an_expiry_changes_nothing(kit: &Kit) {
    let message = expired(kit, &sending(kit.account(100).await)).await;
    kit.report(report(
        vec![],
        vec![undelivered(message.draft.recipients[0])],
    ))
    .await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Expired)]
    );
}

async fn an_expiry_of_many_goes_in_steps(kit: &Kit) {
    let base = sending(kit.account(100_000).await);
    for index in 0..3 {
        let base = Sending {
            recipients: 400,
            first_number: index * 1_000,
            ..base.clone()
        };
        kit.submit(&base.message(&kit.store)).await;
    }
    let (mut expired, mut steps) = (0, 0);
    loop {
        let (settled, more) = kit
            .expire(&expiry(Gateway::DirectRefund, NOW + TIMEOUT + 1))
            .await;
        (expired, steps) = (expired + settled.outcomes.len(), steps + 1);
        if !more {
            break;
        }
    }
    assert_eq!(expired, 1_200);
    assert!(steps > 1);
    assert_eq!(kit.balance(base.account).await, naira(100_000));
}

/// A batch may be in flight while the sweep passes its message.
async fn what_was_submitted_just_before_its_end_expires_too(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    kit.expire(&expiry(Gateway::DirectRefund, NOW + TIMEOUT + 1))
        .await;
    kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    kit.expire(&expiry(Gateway::DirectRefund, NOW + TIMEOUT + 5_000))
        .await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Expired)]
    );
}

async fn expiries_at_the_same_moment_settle_once(kit: &Kit) {
    let base = Sending {
        recipients: 20,
        callback_url: Some("https://example.ng/r"),
        ..sending(kit.account(1_000).await)
    };
    kit.submit(&base.message(&kit.store)).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let (store, bucket) = (kit.store.clone(), kit.store.bucket_of(base.account));
        tasks.spawn(async move {
            let expiry = expiry(Gateway::DirectRefund, NOW + TIMEOUT + 1);
            store
                .sweep()
                .expire(bucket, &expiry)
                .await
                .unwrap()
                .0
                .outcomes
                .len()
        });
    }
    assert_eq!(tasks.join_all().await.iter().sum::<usize>(), 20);
    assert_eq!(kit.numbers("select count(*) from outbox").await, [20]);
    assert_eq!(kit.balance(base.account).await, naira(1_000));
}

async fn tidying_forgets_closed_windows_and_old_parked_receipts(kit: &Kit) {
    let base = sending(kit.account(100).await);
    kit.accept(&base.message(&kit.store)).await;
    let unknown = receipt("nobody", number(1), DeliveryStatus::Delivered);
    kit.report(report(vec![], vec![unknown.clone()])).await;
    let young = CarrierReport {
        now_ms: NOW + 3_600_000,
        ..report(vec![], vec![unknown])
    };
    kit.report(young).await;
    let left = async |now_ms| {
        assert!(!kit.tidy(now_ms).await);
        let windows = kit.numbers("select count(*) from recent_sends").await[0];
        (
            windows,
            kit.numbers("select count(*) from parked_receipts").await[0],
        )
    };
    assert_eq!(left(NOW + 59_999).await, (1, 2));
    assert_eq!(left(NOW + 60_000).await, (0, 2));
    assert_eq!(left(NOW + 6 * 3_600_000 + 1).await, (0, 1));
}

async fn a_report_counts_as_delivered_what_was_given_up_before(kit: &Kit) {
    let base = Sending {
        recipients: 3,
        ..sending(kit.account(100).await)
    };
    let message = base.message(&kit.store);
    kit.submit(&message).await;
    let to = &message.draft.recipients;
    kit.report(report(vec![], vec![undelivered(to[0]), delivered(to[1])]))
        .await;
    kit.expire(&expiry(Gateway::DirectRefund, NOW + TIMEOUT + 1))
        .await;
    let counts = async || {
        let page =
            kit.store
                .messages()
                .report(base.account, message.draft.environment, message.id, 0, 1);
        let counts = page.await.unwrap().unwrap().counts;
        (counts.delivered, counts.failed)
    };
    assert_eq!(counts().await, (1, 2), "all have come to an end");
    kit.report(report(vec![], vec![delivered(to[2])])).await;
    for _ in 0..2 {
        assert_eq!(counts().await, (2, 1), "the end that was ours is corrected");
    }
    // The row of a settled recipient stays, and is not read again.
    kit.run("update deliveries set status = 'undeliv'")
        .await
        .unwrap();
    assert_eq!(counts().await, (2, 1));
    let failed = to[0].digits();
    kit.run(&format!(
        "update deliveries set status = 'delivrd' where recipient <> {failed}"
    ))
    .await
    .unwrap();
}
