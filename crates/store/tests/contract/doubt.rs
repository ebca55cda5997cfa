//! Recipients in doubt: written to a connection, without a known response.

use domain::DeliveryStatus;
use store::{Batch, Claim, Claimed, Progress, Receipt, ReceiptStatus};
use storekit::{
    CARRIER, Kit, NOW, OTHER_CARRIER, Sending, backup, claim, delivered, doubted, elsewhere, naira,
    number, page_id, receipt, refused, report, report_elsewhere, sending, spread, taken, twins,
    two_legs, undelivered,
};

twins!(
    what_is_in_doubt_is_told_as_pending,
    a_recipient_in_doubt_is_listed_with_its_carrier,
    who_is_in_doubt_is_counted_by_carrier_until_it_ends,
    a_receipt_adopts_a_recipient_in_doubt,
    a_receipt_that_came_before_the_doubt_ends_it,
    a_receipt_that_adopted_counts_once,
    only_the_same_number_sender_and_carrier_adopt,
    one_report_adopts_doubts_of_two_carriers,
    two_receipts_adopt_two_messages_in_doubt,
    all_pages_of_a_message_in_doubt_are_adopted,
    only_those_still_in_doubt_are_sent_again,
    a_resend_that_is_taken_ends_the_doubt,
    a_resend_that_is_refused_leaves_the_doubt,
    receipts_of_both_carriers_of_a_copy_in_doubt_adopt,
    pages_in_doubt_are_adopted_report_by_report,
    the_first_leg_stays_in_doubt_whatever_becomes_of_the_second,
    a_receipt_adopts_the_leg_that_its_carrier_may_have,
    a_leg_that_has_failed_is_not_sent_again,
    the_id_of_a_response_replaces_a_guessed_one,
    pages_that_were_guessed_are_those_that_the_response_says,
    a_guess_for_a_younger_message_is_worth_less_than_a_response,
    a_receipt_that_comes_twice_at_once_is_about_one_page,
    a_receipt_that_comes_twice_at_once_ends_one_doubt,
    receipts_without_an_id_are_about_a_page_each,
    a_copy_of_the_first_leg_does_not_follow_the_second,
    a_row_that_cannot_be_read_keeps_nobody_else_in_doubt,
);
spread!(
    a_receipt_adopts_a_recipient_in_doubt,
    a_receipt_that_came_before_the_doubt_ends_it,
    two_receipts_adopt_two_messages_in_doubt,
    a_receipt_that_comes_twice_at_once_is_about_one_page,
    a_receipt_that_comes_twice_at_once_ends_one_doubt,
    pages_that_were_guessed_are_those_that_the_response_says,
    a_row_that_cannot_be_read_keeps_nobody_else_in_doubt,
);

pub(crate) async fn doubt(kit: &Kit, sending: &Sending) -> store::NewMessage {
    let message = sending.message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    kit.report(report(claimed.iter().map(doubted).collect(), vec![]))
        .await;
    message
}

async fn resends(kit: &Kit) -> Vec<Claimed> {
    let later = Claim {
        now_ms: NOW + 10_000,
        ..claim(100)
    };
    kit.store.claims().claim(later).await.unwrap()
}

async fn a_recipient_in_doubt_is_listed_with_its_carrier(kit: &Kit) {
    let sending = sending(kit.account(100).await);
    let message = doubt(kit, &sending).await;
    let mut listed = Vec::new();
    for bucket in kit.store.buckets() {
        listed.extend(kit.store.queues().doubtful(bucket, 5).await.unwrap());
    }
    let [one] = &listed[..] else {
        panic!("{listed:?}");
    };
    assert_eq!((one.message, &*one.carrier), (message.id, CARRIER));
}

async fn what_is_in_doubt_is_told_as_pending(kit: &Kit) {
    let message = doubt(kit, &sending(kit.account(100).await)).await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::InDoubt)]
    );
    assert_eq!(kit.numbers("select count(*) from carrier_ids").await, [0]);
}

async fn who_is_in_doubt_is_counted_by_carrier_until_it_ends(kit: &Kit) {
    let base = sending(kit.account(100).await);
    kit.accept_and_claim(&base.message(&kit.store)).await;
    assert_eq!(kit.doubt_counts().await, [].into(), "in hand");
    let first = doubt(kit, &base).await;
    doubt(kit, &base).await;
    assert_eq!(kit.doubt_counts().await, [(CARRIER.to_owned(), 2)].into());
    let heard = receipt(
        "lost-1",
        first.draft.recipients[0],
        DeliveryStatus::Delivered,
    );
    kit.report(report(vec![], vec![heard])).await;
    assert_eq!(kit.doubt_counts().await, [(CARRIER.to_owned(), 1)].into());
}

async fn a_receipt_adopts_a_recipient_in_doubt(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let message = doubt(kit, &base).await;
    let lost = Receipt {
        sender: "acme".to_owned(),
        error: Some("001".to_owned()),
        ..receipt(
            "lost-1",
            message.draft.recipients[0],
            DeliveryStatus::Undelivered,
        )
    };
    let (settled, parked) = kit.report(report(vec![], vec![lost])).await;
    assert_eq!((settled.outcomes.len(), parked), (1, 0));
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Undelivered)]
    );
    assert_eq!(kit.balance(base.account).await, naira(100));
    assert_eq!(kit.texts("select error from deliveries").await, ["001"]);
    assert!(resends(kit).await.is_empty());
}

async fn a_receipt_that_came_before_the_doubt_ends_it(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let early = receipt(
        "lost-1",
        message.draft.recipients[0],
        DeliveryStatus::Delivered,
    );
    let stranger = Receipt {
        carrier_id: "lost-2".to_owned(),
        other_id: None,
        sender: "OTHER".to_owned(),
        ..early.clone()
    };
    let (_, parked) = kit.report(report(vec![], vec![early, stranger])).await;
    assert_eq!(parked, 2);
    kit.report(report(claimed.iter().map(doubted).collect(), vec![]))
        .await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered)]
    );
    assert!(resends(kit).await.is_empty());
    let left = kit.numbers("select count(*) from parked_receipts").await;
    assert_eq!(left, [1], "the other sender's stays");
}

async fn a_receipt_that_adopted_counts_once(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let first = doubt(kit, &base).await;
    let second = doubt(kit, &base).await;
    let heard = receipt(
        "lost-1",
        first.draft.recipients[0],
        DeliveryStatus::Delivered,
    );
    kit.report(report(vec![], vec![heard.clone(), heard.clone()]))
        .await;
    kit.report(report(vec![], vec![heard])).await;
    assert_eq!(
        kit.statuses(&first).await,
        [Some(DeliveryStatus::Delivered)]
    );
    assert_eq!(kit.statuses(&second).await, [Some(DeliveryStatus::InDoubt)]);
}

async fn only_the_same_number_sender_and_carrier_adopt(kit: &Kit) {
    let message = doubt(kit, &sending(kit.account(100).await)).await;
    let heard = receipt(
        "lost-1",
        message.draft.recipients[0],
        DeliveryStatus::Delivered,
    );
    let strangers = vec![
        Receipt {
            recipient: Some(number(77)),
            ..heard.clone()
        },
        Receipt {
            sender: "OTHER".to_owned(),
            ..heard.clone()
        },
        Receipt {
            recipient: None,
            ..heard.clone()
        },
    ];
    let (_, parked) = kit.report(report(vec![], strangers)).await;
    assert_eq!(parked, 3);
    let elsewhere = report_elsewhere(vec![], vec![heard]);
    assert_eq!(kit.report(elsewhere).await.1, 1);
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::InDoubt)]
    );
}

async fn one_report_adopts_doubts_of_two_carriers(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let here = doubt(kit, &base).await;
    let there = base.message(&kit.store);
    let claimed = kit.accept_and_claim(&there).await;
    let claimed = kit.move_elsewhere(claimed).await;
    let lost = claimed.iter().map(doubted).collect();
    kit.report(report_elsewhere(lost, vec![])).await;
    let to = here.draft.recipients[0];
    let heard = vec![
        elsewhere(receipt("lost", to, DeliveryStatus::Delivered)),
        receipt("lost", to, DeliveryStatus::Undelivered),
    ];
    let (settled, parked) = kit.report(report(vec![], heard)).await;
    assert_eq!((settled.outcomes.len(), parked), (2, 0));
    for (message, end) in [
        (here, DeliveryStatus::Undelivered),
        (there, DeliveryStatus::Delivered),
    ] {
        assert_eq!(kit.statuses(&message).await, [Some(end)]);
    }
}

async fn two_receipts_adopt_two_messages_in_doubt(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let messages = [doubt(kit, &base).await, doubt(kit, &base).await];
    let to = messages[0].draft.recipients[0];
    let heard = ["lost-1", "lost-2"].map(|id| receipt(id, to, DeliveryStatus::Delivered));
    let (settled, parked) = kit.report(report(vec![], heard.to_vec())).await;
    assert_eq!((settled.outcomes.len(), parked), (2, 0));
    for message in &messages {
        assert_eq!(
            kit.statuses(message).await,
            [Some(DeliveryStatus::Delivered)]
        );
    }
}

async fn all_pages_of_a_message_in_doubt_are_adopted(kit: &Kit) {
    let base = Sending {
        pages: 3,
        ..sending(kit.account(100).await)
    };
    let message = doubt(kit, &base).await;
    let to = message.draft.recipients[0];
    let heard = ["p1", "p2", "p3"].map(|id| receipt(id, to, DeliveryStatus::Delivered));
    let (settled, parked) = kit.report(report(vec![], heard.to_vec())).await;
    assert_eq!((settled.outcomes.len(), parked), (1, 0));
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered)]
    );
}

async fn only_those_still_in_doubt_are_sent_again(kit: &Kit) {
    let base = Sending {
        recipients: 4,
        ..sending(kit.account(100).await)
    };
    let message = doubt(kit, &base).await;
    let [one, two, three, four] = message.draft.recipients[..] else {
        unreachable!()
    };
    let pending = Receipt {
        status: ReceiptStatus::Pending,
        ..receipt("lost-3", three, DeliveryStatus::Delivered)
    };
    let heard = vec![
        receipt("lost-1", one, DeliveryStatus::Delivered),
        receipt("lost-2", two, DeliveryStatus::Undelivered),
        pending,
    ];
    kit.report(report(vec![], heard)).await;
    let again = resends(kit).await;
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].batch.recipients, [four]);
}

async fn a_resend_that_is_taken_ends_the_doubt(kit: &Kit) {
    let base = Sending {
        recipients: 2,
        ..sending(kit.account(100).await)
    };
    let message = doubt(kit, &base).await;
    let again = resends(kit).await;
    kit.report(report(again.iter().map(taken).collect(), vec![]))
        .await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Sent); 2]
    );
    let [one, two] = message.draft.recipients[..] else {
        unreachable!()
    };
    kit.report(report(vec![], vec![delivered(one), undelivered(two)]))
        .await;
    let ends = [
        Some(DeliveryStatus::Delivered),
        Some(DeliveryStatus::Undelivered),
    ];
    assert_eq!(kit.statuses(&message).await, ends);
    assert_eq!(kit.balance(base.account).await, naira(94));
}

async fn a_resend_that_is_refused_leaves_the_doubt(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let message = doubt(kit, &base).await;
    let again = resends(kit).await;
    let (settled, _) = kit
        .report(report(again.iter().map(refused).collect(), vec![]))
        .await;
    assert_eq!(settled.outcomes.len(), 0);
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::InDoubt)]
    );
    let charged = kit.balance(base.account).await;
    assert!(resends(kit).await.is_empty());
    let to = message.draft.recipients[0];
    let first = receipt("lost-1", to, DeliveryStatus::Delivered);
    kit.report(report(vec![], vec![first])).await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered)]
    );
    assert_eq!(kit.balance(base.account).await, charged);
}

async fn receipts_of_both_carriers_of_a_copy_in_doubt_adopt(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let messages = [doubt(kit, &base).await, doubt(kit, &base).await];
    let copies = kit.move_elsewhere(resends(kit).await).await;
    let lost = copies.iter().map(doubted_for_good).collect();
    kit.report(report_elsewhere(lost, vec![])).await;
    let heard = receipt(
        "lost-1",
        messages[0].draft.recipients[0],
        DeliveryStatus::Delivered,
    );
    kit.report(report_elsewhere(vec![], vec![heard.clone()]))
        .await;
    kit.report(report(vec![], vec![heard])).await;
    for message in &messages {
        assert_eq!(
            kit.statuses(message).await,
            [Some(DeliveryStatus::Delivered)]
        );
    }
}

async fn pages_in_doubt_are_adopted_report_by_report(kit: &Kit) {
    let base = Sending {
        pages: 3,
        ..sending(kit.account(100).await)
    };
    let message = doubt(kit, &base).await;
    let to = message.draft.recipients[0];
    let acknowledged = Receipt {
        status: ReceiptStatus::Pending,
        ..receipt("p1", to, DeliveryStatus::Delivered)
    };
    let later = ["p2", "p3", "p1"].map(|id| receipt(id, to, DeliveryStatus::Delivered));
    let mut statuses = Vec::new();
    for heard in [acknowledged].into_iter().chain(later) {
        let (_, parked) = kit.report(report(vec![], vec![heard])).await;
        assert_eq!(parked, 0);
        statuses.extend(kit.statuses(&message).await);
    }
    let expected = [
        DeliveryStatus::InDoubt,
        DeliveryStatus::InDoubt,
        DeliveryStatus::Sent,
        DeliveryStatus::Delivered,
    ];
    assert_eq!(statuses, expected.map(Some));
}

/// Makes a recipient whose first leg is in doubt and whose second is in flight.
async fn on_both_legs(kit: &Kit) -> (store::NewMessage, Vec<Claimed>) {
    let message = two_legs(kit.account(100).await).message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let mut lost = doubted(&claimed[0]);
    let Batch {
        bucket,
        charge,
        reserve,
        ..
    } = claimed[0].batch;
    let to = message.draft.recipients[0];
    lost.again.push(Batch {
        carrier: OTHER_CARRIER.into(),
        ..backup(bucket, message.id, to, charge, reserve)
    });
    kit.report(report(vec![lost], vec![])).await;
    (message, kit.claim_elsewhere(100).await)
}

async fn the_first_leg_stays_in_doubt_whatever_becomes_of_the_second(kit: &Kit) {
    let answers = [
        ("lost-1", taken as fn(&Claimed) -> Progress),
        ("lost-2", refused),
        ("lost-3", doubted_for_good),
    ];
    for (id, answer) in answers {
        let (message, second) = on_both_legs(kit).await;
        kit.report(report_elsewhere(
            second.iter().map(answer).collect(),
            vec![],
        ))
        .await;
        assert_eq!(
            kit.statuses(&message).await,
            [Some(DeliveryStatus::InDoubt)]
        );
        let first = receipt(id, message.draft.recipients[0], DeliveryStatus::Delivered);
        let (_, parked) = kit.report(report(vec![], vec![first])).await;
        assert_eq!(parked, 0);
        assert_eq!(
            kit.statuses(&message).await,
            [Some(DeliveryStatus::Delivered)]
        );
    }
}

fn doubted_for_good(claimed: &Claimed) -> Progress {
    Progress {
        again: vec![],
        ..doubted(claimed)
    }
}

async fn a_receipt_adopts_the_leg_that_its_carrier_may_have(kit: &Kit) {
    let (message, second) = on_both_legs(kit).await;
    let lost = second.iter().map(doubted_for_good).collect();
    kit.report(report_elsewhere(lost, vec![])).await;
    let to = message.draft.recipients[0];
    let failed = receipt("lost-2", to, DeliveryStatus::Undelivered);
    kit.report(report_elsewhere(vec![], vec![failed])).await;
    let legs = "select cast(failed_legs as bigint) from deliveries";
    assert_eq!(kit.numbers(legs).await, [2], "the second has failed");
    assert_eq!(
        kit.texts("select doubts from deliveries").await,
        ["1:1:mtn"]
    );
}

async fn a_leg_that_has_failed_is_not_sent_again(kit: &Kit) {
    let (message, second) = on_both_legs(kit).await;
    let lost = second.iter().map(doubted_for_good).collect();
    kit.report(report_elsewhere(lost, vec![])).await;
    let to = message.draft.recipients[0];
    let failed = receipt("lost-1", to, DeliveryStatus::Undelivered);
    kit.report(report(vec![], vec![failed])).await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::InDoubt)]
    );
    assert!(resends(kit).await.is_empty(), "the second is in doubt");
}

async fn the_id_of_a_response_replaces_a_guessed_one(kit: &Kit) {
    let base = Sending {
        pages: 2,
        ..sending(kit.account(100).await)
    };
    let message = doubt(kit, &base).await;
    let to = message.draft.recipients[0];
    let copy = resends(kit).await;
    let first = receipt("lost-1", to, DeliveryStatus::Delivered);
    kit.report(report(vec![], vec![first])).await;
    // The first page of the copy is acknowledged before its response, so only page 2 is in doubt.
    let early = Receipt {
        status: ReceiptStatus::Pending,
        ..receipt(&page_id(to, 1), to, DeliveryStatus::Delivered)
    };
    kit.report(report(vec![], vec![early])).await;
    kit.report(report(copy.iter().map(taken).collect(), vec![]))
        .await;
    let again = receipt(&page_id(to, 1), to, DeliveryStatus::Delivered);
    kit.report(report(vec![], vec![again])).await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Sent)],
        "page 1 is delivered, not page 2"
    );
    let second = receipt(&page_id(to, 2), to, DeliveryStatus::Delivered);
    kit.report(report(vec![], vec![second])).await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered)]
    );
}

/// Receipts of a copy may also arrive before its response while the first page is in doubt.
async fn pages_that_were_guessed_are_those_that_the_response_says(kit: &Kit) {
    let orders = [&[2][..], &[3], &[3, 2], &[2, 3], &[3, 1]];
    for (first_number, early) in (0..).zip(orders) {
        let base = Sending {
            pages: 3,
            first_number,
            ..sending(kit.account(100).await)
        };
        let message = doubt(kit, &base).await;
        let to = message.draft.recipients[0];
        let settle_joined = async |page| {
            let heard = receipt(&page_id(to, page), to, DeliveryStatus::Delivered);
            kit.report(report(vec![], vec![heard])).await;
            kit.statuses(&message).await[0]
        };
        let copy = resends(kit).await;
        for &page in early {
            assert_eq!(settle_joined(page).await, Some(DeliveryStatus::InDoubt));
        }
        kit.report(report(copy.iter().map(taken).collect(), vec![]))
            .await;
        let mut status = kit.statuses(&message).await[0];
        for page in (1..=3).filter(|page| !early.contains(page)) {
            assert_eq!(status, Some(DeliveryStatus::Sent), "{early:?}, {page}");
            status = settle_joined(page).await;
        }
        assert_eq!(status, Some(DeliveryStatus::Delivered), "{early:?}");
    }
}

async fn a_guess_for_a_younger_message_is_worth_less_than_a_response(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let older = base.message(&kit.store);
    let claimed = kit.accept_and_claim(&older).await;
    let younger = doubt(kit, &base).await;
    let to = older.draft.recipients[0];
    let early = Receipt {
        status: ReceiptStatus::Pending,
        ..receipt(&page_id(to, 1), to, DeliveryStatus::Delivered)
    };
    kit.report(report(vec![], vec![early])).await;
    kit.report(report(claimed.iter().map(taken).collect(), vec![]))
        .await;
    kit.report(report(vec![], vec![delivered(to)])).await;
    assert_eq!(
        kit.statuses(&older).await,
        [Some(DeliveryStatus::Delivered)]
    );
    assert_eq!(kit.statuses(&younger).await, [Some(DeliveryStatus::Sent)]);
}

async fn a_receipt_that_comes_twice_at_once_is_about_one_page(kit: &Kit) {
    let base = Sending {
        pages: 2,
        ..sending(kit.account(1_000).await)
    };
    for round in 0..20 {
        let message = doubt(
            kit,
            &Sending {
                first_number: 10 + round,
                ..base
            },
        )
        .await;
        let to = message.draft.recipients[0];
        let heard = receipt(&format!("lost-{round}"), to, DeliveryStatus::Delivered);
        let twice = || kit.report(report(vec![], vec![heard.clone()]));
        tokio::join!(twice(), twice());
        assert_eq!(
            kit.statuses(&message).await,
            [Some(DeliveryStatus::InDoubt)]
        );
    }
}

async fn a_receipt_that_comes_twice_at_once_ends_one_doubt(kit: &Kit) {
    let base = sending(kit.account(1_000).await);
    for round in 0..20 {
        let sending = Sending {
            first_number: 10 + round,
            ..base
        };
        let messages = [doubt(kit, &sending).await, doubt(kit, &sending).await];
        let to = messages[0].draft.recipients[0];
        let heard = receipt(&format!("lost-{round}"), to, DeliveryStatus::Delivered);
        let twice = || kit.report(report(vec![], vec![heard.clone()]));
        tokio::join!(twice(), twice());
        let [first, second] = &messages;
        let stand = [kit.statuses(first).await[0], kit.statuses(second).await[0]];
        let expected = [DeliveryStatus::Delivered, DeliveryStatus::InDoubt];
        assert_eq!(stand, expected.map(Some), "{round}");
    }
}

async fn receipts_without_an_id_are_about_a_page_each(kit: &Kit) {
    let base = Sending {
        pages: 2,
        ..sending(kit.account(100).await)
    };
    let message = doubt(kit, &base).await;
    let unnamed = receipt("", message.draft.recipients[0], DeliveryStatus::Delivered);
    let (settled, parked) = kit
        .report(report(vec![], vec![unnamed.clone(), unnamed]))
        .await;
    assert_eq!((settled.outcomes.len(), parked), (1, 0));
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered)]
    );
}

async fn a_copy_of_the_first_leg_does_not_follow_the_second(kit: &Kit) {
    let (message, second) = on_both_legs(kit).await;
    kit.report(report_elsewhere(second.iter().map(taken).collect(), vec![]))
        .await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::InDoubt)]
    );
    assert!(resends(kit).await.is_empty());
}

async fn a_row_that_cannot_be_read_keeps_nobody_else_in_doubt(kit: &Kit) {
    let base = Sending {
        recipients: 3,
        ..sending(kit.account(100).await)
    };
    let message = base.message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    kit.report(report(claimed.iter().map(doubted).collect(), vec![]))
        .await;
    let [one, two, three] = message.draft.recipients[..] else {
        unreachable!()
    };
    kit.damage(two, "doubts = '1:x:mtn'").await;
    let heard = [one, two].map(|to| receipt(&page_id(to, 1), to, DeliveryStatus::Undelivered));
    let (settled, parked) = kit.report(report(vec![], heard.to_vec())).await;
    assert_eq!((settled.outcomes.len(), parked), (1, 1));
    let again = resends(kit).await;
    assert_eq!(again[0].batch.recipients, [three]);
    // The node that lost the batch reports its responses.
    kit.report(report(claimed.iter().map(taken).collect(), vec![]))
        .await;
    let stand = kit.texts("select status from deliveries order by recipient");
    assert_eq!(stand.await, ["undeliv", "in_doubt", "sent"]);
    let heard = message.draft.recipients.iter().map(|&to| undelivered(to));
    let (settled, _) = kit.report(report(vec![], heard.collect())).await;
    assert_eq!(settled.outcomes.len(), 1);
    assert_eq!(kit.balance(base.account).await, naira(94));
}
