//! `dual-backup`: a second leg after the first fails or has no receipt in time.

use domain::{DeliveryStatus, Recipient};
use store::{Batch, BatchKind, CarrierReport, Claim, Claimed, NewMessage, Progress};
use storekit::{
    Kit, NOW, Sending, backup, claim, delivered, naira, put_back, receipt, refused, report,
    report_elsewhere, silence, taken, twins, two_legs, undelivered,
};

twins!(
    a_second_leg_is_planned_when_the_first_fails,
    a_first_leg_that_delivers_gives_the_reserve_back,
    a_second_leg_that_delivers_keeps_the_charge,
    the_first_delivery_of_either_leg_wins,
    a_silent_first_leg_is_backed_up_when_its_time_is_over,
    a_second_leg_goes_out_once,
    a_second_leg_given_back_unsent_still_goes_out,
    a_second_leg_put_back_unsent_costs_nothing,
    a_second_leg_put_back_after_a_delivery_costs_nothing,
    a_second_leg_put_back_whose_time_ends_costs_nothing,
    a_second_leg_claimed_when_its_time_is_over_costs_nothing,
    a_second_leg_put_back_early_makes_no_delivery,
    a_second_leg_never_submitted_gives_the_reserve_back,
    a_first_leg_that_was_overtaken_by_its_backup_is_not_sent,
    both_legs_in_hand_at_once_are_accounted_for,
    an_accepted_second_leg_survives_late_reports_of_the_first,
    a_delivery_names_the_carrier_and_the_error_of_its_last_leg,
);

fn to(message: &NewMessage) -> Recipient {
    message.draft.recipients[0]
}

/// Reports that the carrier accepted a second leg. Its pages have ids of their own.
fn taken_second(claimed: &Claimed) -> Progress {
    let submitted = claimed.batch.recipients.iter();
    Progress {
        submitted: submitted
            .map(|&to| (to, vec![format!("second-{}", to.digits())]))
            .collect(),
        ..silence(claimed)
    }
}

fn second_delivered(to: Recipient) -> store::Receipt {
    receipt(
        &format!("second-{}", to.digits()),
        to,
        DeliveryStatus::Delivered,
    )
}

async fn a_second_leg_is_planned_when_the_first_fails(kit: &Kit) {
    let base = two_legs(kit.account(100).await);
    let message = base.message(&kit.store);
    kit.submit(&message).await;
    let (settled, _) = kit
        .report(report(vec![], vec![undelivered(to(&message))]))
        .await;
    assert!(settled.outcomes.is_empty() && settled.callbacks.is_empty());
    assert_eq!(settled.work, [(storekit::CARRIER.into(), NOW)]);
    assert_eq!(kit.statuses(&message).await, [Some(DeliveryStatus::Sent)]);
    let second = kit.claim(10).await;
    assert_eq!(
        (second[0].batch.kind, second[0].batch.leg),
        (BatchKind::Backup, domain::Leg::Second)
    );
    assert_eq!(second[0].batch.recipients, message.draft.recipients);
    assert_eq!(kit.balance(base.account).await, naira(90));
}

async fn a_first_leg_that_delivers_gives_the_reserve_back(kit: &Kit) {
    let base = Sending {
        recipients: 2,
        ..two_legs(kit.account(100).await)
    };
    let message = base.message(&kit.store);
    kit.submit(&message).await;
    kit.report(report(vec![], vec![delivered(to(&message))]))
        .await;
    assert_eq!(kit.balance(base.account).await, naira(84));
    kit.report(report(vec![], vec![delivered(to(&message))]))
        .await;
    assert_eq!(kit.balance(base.account).await, naira(84));
}

async fn a_second_leg_that_delivers_keeps_the_charge(kit: &Kit) {
    let base = two_legs(kit.account(100).await);
    let message = base.message(&kit.store);
    kit.submit(&message).await;
    kit.report(report(vec![], vec![undelivered(to(&message))]))
        .await;
    let second = kit.claim(10).await;
    kit.report(report(vec![taken_second(&second[0])], vec![]))
        .await;
    kit.report(report(vec![], vec![second_delivered(to(&message))]))
        .await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered)]
    );
    assert_eq!(kit.balance(base.account).await, naira(90));
}

async fn the_first_delivery_of_either_leg_wins(kit: &Kit) {
    let base = two_legs(kit.account(100).await);
    let message = backed_up(kit, &base).await;
    let second = later(kit).await;
    kit.report(report(
        vec![taken_second(&second[0])],
        vec![delivered(to(&message))],
    ))
    .await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered)]
    );
    let (settled, _) = kit
        .report(report(vec![], vec![second_delivered(to(&message))]))
        .await;
    assert!(settled.outcomes.is_empty());
    assert_eq!(kit.balance(base.account).await, naira(90));
}

/// A submitted message whose second leg waits for the timeout of the first.
async fn backed_up(kit: &Kit, sending: &Sending) -> NewMessage {
    let message = planned(kit, sending);
    kit.submit(&message).await;
    message
}

fn planned(kit: &Kit, sending: &Sending) -> NewMessage {
    let mut message = sending.message(&kit.store);
    let first = message.batches[0].clone();
    message.batches.push(Batch {
        due_at_ms: NOW + 120_000,
        ..backup(
            first.bucket,
            message.id,
            first.recipients[0],
            first.charge,
            first.reserve,
        )
    });
    message
}

async fn later(kit: &Kit) -> Vec<Claimed> {
    let later = Claim {
        now_ms: NOW + 120_000,
        ..claim(10)
    };
    kit.store.claims().claim(later).await.unwrap()
}

async fn a_silent_first_leg_is_backed_up_when_its_time_is_over(kit: &Kit) {
    let base = two_legs(kit.account(100).await);
    let delivered_in_time = backed_up(kit, &base).await;
    kit.report(report(vec![], vec![delivered(to(&delivered_in_time))]))
        .await;
    let silent = backed_up(
        kit,
        &Sending {
            first_number: 2,
            ..base
        },
    )
    .await;
    let second = later(kit).await;
    assert_eq!(second.len(), 1);
    assert_eq!(second[0].batch.message, silent.id);
    assert_eq!(kit.numbers("select count(*) from batches").await, [1]);
}

async fn a_second_leg_goes_out_once(kit: &Kit) {
    let message = backed_up(kit, &two_legs(kit.account(100).await)).await;
    kit.report(report(vec![], vec![undelivered(to(&message))]))
        .await;
    assert_eq!(kit.numbers("select count(*) from batches").await, [2]);
    assert_eq!(later(kit).await.len(), 1);
    assert_eq!(kit.numbers("select count(*) from batches").await, [1]);
}

async fn a_second_leg_given_back_unsent_still_goes_out(kit: &Kit) {
    let base = two_legs(kit.account(100).await);
    let message = backed_up(kit, &base).await;
    for _ in 0..2 {
        let batches = later(kit)
            .await
            .into_iter()
            .map(|claimed| claimed.batch)
            .collect();
        kit.store
            .claims()
            .release(batches, NOW, None, NOW)
            .await
            .unwrap();
    }
    // The second leg was never submitted, so its price is refunded when the first leg is delivered.
    let second = later(kit).await;
    assert_eq!(second.len(), 1, "it is still to be sent");
    let batches = vec![second[0].batch.clone()];
    kit.store
        .claims()
        .release(batches, NOW, None, NOW)
        .await
        .unwrap();
    kit.report(report(vec![], vec![delivered(to(&message))]))
        .await;
    assert_eq!(kit.balance(base.account).await, naira(94));
}

/// Both kinds are put back: claims that were not in flight, and claims that were.
#[derive(Clone, Copy)]
enum Back {
    Released,
    PutBack,
}

async fn give_back(kit: &Kit, claimed: &Claimed, back: Back) {
    match back {
        Back::Released => {
            let batches = vec![claimed.batch.clone()];
            let released = kit
                .store
                .claims()
                .release(batches, NOW, None, NOW + 150_000);
            released.await.unwrap();
        }
        Back::PutBack => {
            let report = CarrierReport {
                now_ms: NOW + 150_000,
                ..report(vec![put_back(claimed)], vec![])
            };
            kit.report(report).await;
        }
    }
}

async fn a_second_leg_put_back_unsent_costs_nothing(kit: &Kit) {
    for back in [Back::Released, Back::PutBack] {
        let base = two_legs(kit.account(100).await);
        let message = backed_up(kit, &base).await;
        for _ in 0..2 {
            give_back(kit, &later(kit).await[0], back).await;
        }
        kit.report(report(vec![], vec![delivered(to(&message))]))
            .await;
        assert_eq!(kit.balance(base.account).await, naira(94));
        assert!(later(kit).await.is_empty(), "nobody needs it");
    }
}

async fn a_second_leg_put_back_after_a_delivery_costs_nothing(kit: &Kit) {
    for back in [Back::Released, Back::PutBack] {
        let base = two_legs(kit.account(100).await);
        let message = backed_up(kit, &base).await;
        let second = later(kit).await;
        kit.report(report(vec![], vec![delivered(to(&message))]))
            .await;
        assert_eq!(kit.balance(base.account).await, naira(90), "it may be sent");
        let times = "select cast(settled_at_s as bigint) from deliveries order by message_id";
        let ended = kit.numbers(times).await;
        for _ in 0..2 {
            give_back(kit, &second[0], back).await;
            assert_eq!(kit.balance(base.account).await, naira(94));
        }
        assert_eq!(kit.numbers(times).await, ended);
        assert!(later(kit).await.is_empty(), "nobody needs it");
    }
}

async fn a_second_leg_put_back_whose_time_ends_costs_nothing(kit: &Kit) {
    for back in [Back::Released, Back::PutBack] {
        let base = two_legs(kit.account(100).await);
        let message = base.message(&kit.store);
        kit.submit(&message).await;
        kit.report(report(vec![], vec![undelivered(to(&message))]))
            .await;
        give_back(kit, &kit.claim(10).await[0], back).await;
        let late = kit.late_batches(NOW + 3_600_000).await;
        kit.report(report(vec![refused(&late[0])], vec![])).await;
        let end = Some(DeliveryStatus::Rejected);
        assert_eq!(kit.statuses(&message).await, [end]);
        assert_eq!(kit.balance(base.account).await, naira(94));
    }
}

async fn a_second_leg_claimed_when_its_time_is_over_costs_nothing(kit: &Kit) {
    let base = two_legs(kit.account(100).await);
    let message = base.message(&kit.store);
    kit.submit(&message).await;
    kit.report(report(vec![], vec![undelivered(to(&message))]))
        .await;
    let late = Claim {
        now_ms: NOW + 3_600_000,
        ..claim(10)
    };
    let second = kit.store.claims().claim(late).await.unwrap();
    kit.report(report(vec![refused(&second[0])], vec![])).await;
    let end = Some(DeliveryStatus::Rejected);
    assert_eq!(kit.statuses(&message).await, [end]);
    assert_eq!(kit.balance(base.account).await, naira(94));
}

async fn a_second_leg_put_back_early_makes_no_delivery(kit: &Kit) {
    for back in [Back::Released, Back::PutBack] {
        let base = two_legs(kit.account(100).await);
        let message = planned(kit, &base);
        let first = kit.accept_and_claim(&message).await;
        give_back(kit, &later(kit).await[0], back).await;
        assert_eq!(kit.statuses(&message).await, [None]);
        kit.report(report(
            vec![taken(&first[0])],
            vec![delivered(to(&message))],
        ))
        .await;
        assert_eq!(kit.balance(base.account).await, naira(94));
    }
}

async fn a_second_leg_never_submitted_gives_the_reserve_back(kit: &Kit) {
    let base = two_legs(kit.account(100).await);
    let message = base.message(&kit.store);
    let first = kit.accept_and_claim(&message).await;
    let (settled, _) = kit.report(report(vec![refused(&first[0])], vec![])).await;
    assert_eq!(settled.work.len(), 1);
    assert_eq!(kit.statuses(&message).await, [Some(DeliveryStatus::Sent)]);
    let late = kit.late_batches(NOW + 3_600_000).await;
    let unsent = Claim {
        node: domain::NodeId(3),
        ..claim(0)
    };
    assert!(kit.store.claims().claim(unsent).await.unwrap().is_empty());
    kit.report(report(vec![refused(&late[0])], vec![])).await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Rejected)]
    );
    assert_eq!(kit.balance(base.account).await, naira(94));
}

async fn a_first_leg_that_was_overtaken_by_its_backup_is_not_sent(kit: &Kit) {
    let base = two_legs(kit.account(100).await);
    let mut message = planned(kit, &base);
    message.batches[0].due_at_ms = NOW + 300_000;
    kit.accept(&message).await;
    let second = later(kit).await;
    assert_eq!(second[0].batch.kind, BatchKind::Backup);
    kit.report(report(vec![taken_second(&second[0])], vec![]))
        .await;
    let first = Claim {
        now_ms: NOW + 300_000,
        ..claim(10)
    };
    assert!(kit.store.claims().claim(first).await.unwrap().is_empty());
    kit.report(report(vec![], vec![second_delivered(to(&message))]))
        .await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered)]
    );
}

async fn both_legs_in_hand_at_once_are_accounted_for(kit: &Kit) {
    let base = two_legs(kit.account(100).await);
    for together in [true, false] {
        let message = planned(kit, &base);
        let first = kit.accept_and_claim(&message).await;
        let second = later(kit).await;
        let (first, second) = (taken(&first[0]), taken_second(&second[0]));
        if together {
            kit.report(report(vec![second, first], vec![])).await;
        } else {
            kit.report(report(vec![second], vec![])).await;
            kit.report(report(vec![first], vec![])).await;
        }
        kit.report(report(vec![], vec![undelivered(to(&message))]))
            .await;
        assert_eq!(kit.statuses(&message).await, [Some(DeliveryStatus::Sent)]);
        kit.report(report(vec![], vec![second_delivered(to(&message))]))
            .await;
        assert_eq!(
            kit.statuses(&message).await,
            [Some(DeliveryStatus::Delivered)]
        );
    }
    assert_eq!(kit.balance(base.account).await, naira(80));
}

async fn an_accepted_second_leg_survives_late_reports_of_the_first(kit: &Kit) {
    let message = planned(kit, &two_legs(kit.account(100).await));
    let first = kit.accept_and_claim(&message).await;
    let second = later(kit).await;
    let batches = vec![first[0].batch.clone()];
    kit.store
        .claims()
        .release(batches, NOW, None, NOW)
        .await
        .unwrap();
    let both = vec![taken_second(&second[0]), taken(&first[0])];
    kit.report(report(both, vec![])).await;
    assert_eq!(kit.statuses(&message).await, [Some(DeliveryStatus::Sent)]);
    assert!(kit.claim(10).await.is_empty(), "both are on the wire");
    kit.report(report(vec![], vec![second_delivered(to(&message))]))
        .await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered)]
    );
}

async fn a_delivery_names_the_carrier_and_the_error_of_its_last_leg(kit: &Kit) {
    let message = two_legs(kit.account(100).await).message(&kit.store);
    kit.submit(&message).await;
    kit.report(report(vec![], vec![undelivered(to(&message))]))
        .await;
    let second = kit.move_elsewhere(kit.claim(10).await).await;
    let refused = second.iter().map(refused).collect();
    kit.report(report_elsewhere(refused, vec![])).await;
    let told = kit.texts("select carrier || ' ' || error from deliveries");
    assert_eq!(told.await, ["glo 0x0B"]);
}
