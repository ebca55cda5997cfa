//! Reports of a carrier: submits, receipts, refunds.

use domain::{Component, DeliveryStatus, Gateway, Purse};
use store::{Claimed, Progress, Receipt, ReceiptStatus, Settled};
use storekit::{
    CARRIER, Kit, NOW, Sending, delivered, elsewhere, naira, number, outcome, page_id, receipt,
    refused, report, report_elsewhere, sending, silence, spread, taken, twins, two_legs,
    undelivered,
};

twins!(
    a_submitted_recipient_has_a_delivery_and_its_pages,
    a_receipt_settles_its_recipient_once,
    duplicates_of_a_receipt_do_nothing,
    a_host_of_any_length_is_called_back,
    a_delivery_that_comes_again_alone_is_told_to_nobody,
    a_receipt_that_is_not_final_settles_nothing,
    a_receipt_before_its_response_is_parked_and_matched_later,
    a_receipt_in_the_same_report_as_its_response_is_matched,
    a_message_of_several_pages_is_delivered_with_its_last_page,
    a_longest_message_is_delivered_in_any_page_order,
    a_message_of_several_pages_fails_with_its_first_bad_page,
    a_receipt_with_an_unknown_id_is_parked,
    a_receipt_for_another_number_does_not_settle,
    a_receipt_without_a_number_is_matched_by_its_id,
    a_receipt_of_another_carrier_does_not_settle,
    equal_ids_of_two_carriers_settle_their_own_recipients,
    an_id_that_comes_again_means_the_youngest_page,
    a_refused_submit_is_refunded,
    a_refund_goes_back_to_the_component_that_paid,
    no_refund_exceeds_the_payment_of_its_component,
    a_gateway_without_refund_keeps_the_charge,
    many_receipts_settle_in_one_report,
    reports_at_the_same_moment_count_every_page_once,
    outcomes_name_gateway_and_carrier,
    pages_that_have_one_id_are_settled_together,
    a_receipt_with_two_ids_means_the_page_of_either,
    a_receipt_with_two_ids_waits_for_the_response_of_either,
    a_receipt_with_two_ids_adopts_one_page_under_both,
);
spread!(
    pages_that_have_one_id_are_settled_together,
    a_receipt_with_two_ids_means_the_page_of_either,
    a_receipt_with_two_ids_waits_for_the_response_of_either,
    a_receipt_with_two_ids_adopts_one_page_under_both,
    a_submitted_recipient_has_a_delivery_and_its_pages,
    a_receipt_settles_its_recipient_once,
    a_receipt_before_its_response_is_parked_and_matched_later,
    a_receipt_in_the_same_report_as_its_response_is_matched,
    a_refused_submit_is_refunded,
    many_receipts_settle_in_one_report,
    reports_at_the_same_moment_count_every_page_once,
);

async fn a_submitted_recipient_has_a_delivery_and_its_pages(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let message = Sending {
        recipients: 2,
        pages: 3,
        ..base
    }
    .message(&kit.store);
    assert_eq!(
        kit.accept(&message).await,
        store::Accepted::Yes { balance: naira(88) }
    );
    assert_eq!(kit.statuses(&message).await, [None, None]);
    let claimed = kit.claim(10).await;
    let (settled, parked) = kit
        .report(report(claimed.iter().map(taken).collect(), vec![]))
        .await;
    assert!(settled.callbacks.is_empty() && settled.outcomes.is_empty() && parked == 0);
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Sent); 2]
    );
    // The three pages of a recipient share a row: their ids differ in the last character.
    let prefixes = kit
        .texts("select prefix || length(pages) from carrier_ids order by prefix")
        .await;
    let octets = 16 + 3 + 3 * (1 + 1 + 6);
    let recipients = message.draft.recipients.iter();
    let wanted: Vec<String> = recipients
        .map(|recipient| format!("{}-{octets}", recipient.digits()))
        .collect();
    assert_eq!(prefixes, wanted);
    assert_eq!(kit.numbers("select count(*) from batches").await, [0]);
}

async fn a_receipt_settles_its_recipient_once(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let message = Sending {
        recipients: 4,
        ..base
    }
    .message(&kit.store);
    kit.submit(&message).await;
    let ends = [
        DeliveryStatus::Delivered,
        DeliveryStatus::Undelivered,
        DeliveryStatus::Expired,
        DeliveryStatus::Rejected,
    ];
    let receipts = message.draft.recipients.iter().zip(ends);
    let receipts: Vec<Receipt> = receipts.map(|(&to, status)| outcome(to, status)).collect();
    let (settled, _) = kit.report(report(vec![], receipts)).await;
    assert_eq!(settled.outcomes.len(), 4);
    assert_eq!(kit.statuses(&message).await, ends.map(Some));
    assert_eq!(kit.balance(message.draft.account).await, naira(94));
    // A final status never changes.
    let other: Vec<Receipt> = message
        .draft
        .recipients
        .iter()
        .map(|&to| undelivered(to))
        .collect();
    let (settled, parked) = kit.report(report(vec![], other)).await;
    assert!(settled.outcomes.is_empty() && parked == 0);
    assert_eq!(kit.statuses(&message).await, ends.map(Some));
}

async fn duplicates_of_a_receipt_do_nothing(kit: &Kit) {
    let base = Sending {
        callback_url: Some("https://example.ng/r"),
        ..sending(kit.account(100).await)
    };
    let message = base.message(&kit.store);
    kit.submit(&message).await;
    let to = message.draft.recipients[0];
    let (settled, _) = kit
        .report(report(vec![], vec![undelivered(to), undelivered(to)]))
        .await;
    assert_eq!((settled.callbacks.len(), settled.outcomes.len()), (1, 1));
    let (settled, parked) = kit
        .report(report(vec![], vec![undelivered(to), delivered(to)]))
        .await;
    assert_eq!(
        (settled.callbacks.len(), settled.outcomes.len(), parked),
        (0, 0, 0)
    );
    assert_eq!(kit.balance(base.account).await, naira(100));
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Undelivered)]
    );
}

/// A short URL of Chinese letters becomes too long for an index of PostgreSQL.
async fn a_host_of_any_length_is_called_back(kit: &Kit) {
    // The letters are mixed, because they could be compressed otherwise.
    let label = |step: u32| -> String {
        let all = (1..=1_000).map(|place| 0x4E00 + place * step % 20_000);
        all.filter_map(char::from_u32).collect()
    };
    let url = format!("https://{}.{}/", label(7_919), label(6_007));
    let base = Sending {
        callback_url: Some(url.leak()),
        ..sending(kit.account(100).await)
    };
    let message = base.message(&kit.store);
    kit.submit(&message).await;
    let to = message.draft.recipients[0];
    let (settled, _) = kit.report(report(vec![], vec![undelivered(to)])).await;
    let [callback] = &settled.callbacks[..] else {
        panic!("{:?}", settled.callbacks);
    };
    assert_eq!(
        &*callback.url,
        message.draft.callback_url.as_deref().unwrap()
    );
    assert!((1..=domain::MAX_KEY_OCTETS).contains(&callback.origin.len()));
    let origins = kit.texts("select destination from outbox").await;
    assert_eq!(origins, std::slice::from_ref(&callback.origin));
}

async fn a_delivery_that_comes_again_alone_is_told_to_nobody(kit: &Kit) {
    let base = Sending {
        recipients: 2,
        callback_url: Some("https://example.ng/r"),
        ..sending(kit.account(100).await)
    };
    let message = base.message(&kit.store);
    kit.submit(&message).await;
    for &to in &message.draft.recipients {
        let (settled, _) = kit.report(report(vec![], vec![delivered(to)])).await;
        assert_eq!((settled.callbacks.len(), settled.outcomes.len()), (1, 1));
        let (settled, parked) = kit.report(report(vec![], vec![delivered(to)])).await;
        let told = (settled.callbacks.len(), settled.outcomes.len(), parked);
        assert_eq!(told, (0, 0, 0));
    }
    assert_eq!(kit.numbers("select count(*) from outbox").await, [2]);
}

async fn a_receipt_that_is_not_final_settles_nothing(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.submit(&message).await;
    let to = message.draft.recipients[0];
    let pending = Receipt {
        status: ReceiptStatus::Pending,
        ..delivered(to)
    };
    let (settled, parked) = kit
        .report(report(vec![], vec![pending.clone(), pending]))
        .await;
    assert!(settled.outcomes.is_empty() && parked == 0);
    assert_eq!(kit.statuses(&message).await, [Some(DeliveryStatus::Sent)]);
    kit.report(report(vec![], vec![delivered(to)])).await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered)]
    );
}

async fn a_receipt_before_its_response_is_parked_and_matched_later(kit: &Kit) {
    let message = Sending {
        recipients: 2,
        ..sending(kit.account(100).await)
    }
    .message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let [one, two] = message.draft.recipients[..] else {
        unreachable!()
    };
    let early = vec![delivered(one), undelivered(two)];
    let (settled, parked) = kit.report(report(vec![], early)).await;
    assert!(settled.outcomes.is_empty());
    assert_eq!(parked, 2);
    let (settled, parked) = kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    assert_eq!((settled.outcomes.len(), parked), (2, 0));
    let ends = [
        Some(DeliveryStatus::Delivered),
        Some(DeliveryStatus::Undelivered),
    ];
    assert_eq!(kit.statuses(&message).await, ends);
    assert_eq!(
        kit.numbers("select count(*) from parked_receipts").await,
        [0]
    );
}

async fn a_receipt_in_the_same_report_as_its_response_is_matched(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let receipts = vec![delivered(message.draft.recipients[0])];
    let (settled, parked) = kit.report(report(vec![taken(&claimed[0])], receipts)).await;
    assert_eq!((settled.outcomes.len(), parked), (1, 0));
}

async fn a_message_of_several_pages_is_delivered_with_its_last_page(kit: &Kit) {
    let message = Sending {
        pages: 3,
        ..sending(kit.account(100).await)
    }
    .message(&kit.store);
    kit.submit(&message).await;
    let to = message.draft.recipients[0];
    let page = |page| receipt(&page_id(to, page), to, DeliveryStatus::Delivered);
    for receipts in [
        vec![page(1), page(1)],
        vec![page(1)],
        vec![page(3), page(1)],
        vec![page(3)],
    ] {
        kit.report(report(vec![], receipts)).await;
        assert_eq!(kit.statuses(&message).await, [Some(DeliveryStatus::Sent)]);
    }
    let (settled, _) = kit.report(report(vec![], vec![page(2)])).await;
    assert_eq!(settled.outcomes.len(), 1);
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered)]
    );
}

/// 1,530 characters outside of the basic plane are 46 pages.
async fn a_longest_message_is_delivered_in_any_page_order(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let message = Sending {
        pages: 46,
        price: 92,
        ..base
    }
    .message(&kit.store);
    kit.submit(&message).await;
    let to = message.draft.recipients[0];
    for page in (1..=46).rev() {
        assert_eq!(kit.statuses(&message).await, [Some(DeliveryStatus::Sent)]);
        let receipt = receipt(&page_id(to, page), to, DeliveryStatus::Delivered);
        kit.report(report(vec![], vec![receipt])).await;
    }
    let ended = [Some(DeliveryStatus::Delivered)];
    assert_eq!(kit.statuses(&message).await, ended);
}

async fn a_message_of_several_pages_fails_with_its_first_bad_page(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let message = Sending { pages: 3, ..base }.message(&kit.store);
    kit.submit(&message).await;
    let to = message.draft.recipients[0];
    let page = |page, status| receipt(&page_id(to, page), to, status);
    let receipts = vec![
        page(1, DeliveryStatus::Delivered),
        page(2, DeliveryStatus::Failed),
        page(3, DeliveryStatus::Delivered),
    ];
    kit.report(report(vec![], receipts)).await;
    assert_eq!(kit.statuses(&message).await, [Some(DeliveryStatus::Failed)]);
    assert_eq!(kit.balance(message.draft.account).await, naira(100));
}

async fn a_receipt_with_an_unknown_id_is_parked(kit: &Kit) {
    let unknown = ["x1", "x2", "x3"].map(|id| receipt(id, number(1), DeliveryStatus::Delivered));
    let (settled, parked) = kit.report(report(vec![], unknown.to_vec())).await;
    assert!(settled.outcomes.is_empty());
    assert_eq!(parked, 3);
    assert_eq!(
        kit.numbers("select count(*) from parked_receipts").await,
        [3]
    );
}

async fn a_receipt_for_another_number_does_not_settle(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.submit(&message).await;
    let to = message.draft.recipients[0];
    let stranger = Receipt {
        recipient: Some(number(99)),
        ..undelivered(to)
    };
    let (settled, parked) = kit.report(report(vec![], vec![stranger])).await;
    assert_eq!((settled.outcomes.len(), parked), (0, 1));
    assert_eq!(kit.statuses(&message).await, [Some(DeliveryStatus::Sent)]);
}

async fn a_receipt_without_a_number_is_matched_by_its_id(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.submit(&message).await;
    let bare = Receipt {
        recipient: None,
        ..delivered(message.draft.recipients[0])
    };
    kit.report(report(vec![], vec![bare])).await;
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered)]
    );
}

async fn a_receipt_of_another_carrier_does_not_settle(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.submit(&message).await;
    let heard = delivered(message.draft.recipients[0]);
    let (_, parked) = kit.report(report_elsewhere(vec![], vec![heard])).await;
    assert_eq!(parked, 1);
    assert_eq!(kit.statuses(&message).await, [Some(DeliveryStatus::Sent)]);
}

async fn equal_ids_of_two_carriers_settle_their_own_recipients(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let [here, other] = [1, 2].map(|first_number| {
        let sending = Sending {
            first_number,
            ..base.clone()
        };
        sending.message(&kit.store)
    });
    let unnumbered = |status| Receipt {
        recipient: None,
        ..receipt("7", number(1), status)
    };
    let early = elsewhere(unnumbered(DeliveryStatus::Delivered));
    assert_eq!(kit.report(report(vec![], vec![early])).await.1, 1);
    let moved = kit.accept_and_claim(&other).await;
    let moved = kit.move_elsewhere(moved).await;
    let kept = kit.accept_and_claim(&here).await;
    let taken = |claimed: &Claimed| Progress {
        submitted: vec![(claimed.batch.recipients[0], vec!["7".to_owned()])],
        ..silence(claimed)
    };
    let both = vec![taken(&kept[0]), taken(&moved[0])];
    let heard = vec![unnumbered(DeliveryStatus::Undelivered)];
    let (settled, parked) = kit.report(report(both, heard)).await;
    assert_eq!((settled.outcomes.len(), parked), (2, 0));
    for (message, end) in [
        (here, DeliveryStatus::Undelivered),
        (other, DeliveryStatus::Delivered),
    ] {
        assert_eq!(kit.statuses(&message).await, [Some(end)]);
    }
    assert_eq!(
        kit.numbers("select count(*) from parked_receipts").await,
        [0]
    );
}

async fn an_id_that_comes_again_means_the_youngest_page(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let old = Sending {
        accepted_at_ms: NOW - 86_400_000,
        ..base.clone()
    }
    .message(&kit.store);
    let young = base.message(&kit.store);
    for message in [&old, &young] {
        kit.submit(message).await;
    }
    kit.report(report(vec![], vec![delivered(old.draft.recipients[0])]))
        .await;
    assert_eq!(kit.statuses(&old).await, [Some(DeliveryStatus::Sent)]);
    assert_eq!(
        kit.statuses(&young).await,
        [Some(DeliveryStatus::Delivered)]
    );
}

async fn a_refused_submit_is_refunded(kit: &Kit) {
    let base = Sending {
        recipients: 3,
        ..sending(kit.account(100).await)
    };
    let message = base.message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let (settled, _) = kit.report(report(vec![refused(&claimed[0])], vec![])).await;
    assert_eq!(settled.outcomes.len(), 3);
    assert_eq!(kit.balance(base.account).await, naira(100));
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Rejected); 3]
    );
    let errors = kit.texts("select distinct error from deliveries").await;
    assert_eq!(errors, ["0x0B"]);
}

async fn a_refund_goes_back_to_the_component_that_paid(kit: &Kit) {
    let id = kit.account(100).await;
    kit.credit(id, Component::PromoBonus, 6).await;
    let first = sending(id).message(&kit.store);
    let second = Sending {
        first_number: 50,
        ..sending(id)
    }
    .message(&kit.store);
    kit.submit(&first).await;
    kit.submit(&second).await;
    kit.report(report(vec![], vec![undelivered(first.draft.recipients[0])]))
        .await;
    let wallet = kit.store.wallets().find(id).await.unwrap().unwrap();
    assert_eq!(wallet.get(Component::PromoBonus), naira(6));
    assert_eq!(wallet.get(Component::SmsWallet), naira(94));
    kit.report(report(
        vec![],
        vec![undelivered(second.draft.recipients[0])],
    ))
    .await;
    let wallet = kit.store.wallets().find(id).await.unwrap().unwrap();
    assert_eq!(wallet.get(Component::SmsWallet), naira(100));
}

async fn no_refund_exceeds_the_payment_of_its_component(kit: &Kit) {
    let id = kit.account(100).await;
    kit.credit(id, Component::PromoBonus, 10).await;
    let before = kit.store.wallets().find(id).await.unwrap().unwrap();
    let message = Sending {
        recipients: 5,
        ..sending(id)
    }
    .message(&kit.store);
    kit.submit(&message).await;
    let [one, two, three, four, five] = message.draft.recipients[..] else {
        unreachable!()
    };
    // 10 came from the bonus and 20 from the credit. Refunds fill the credit first, over several
    // reports.
    kit.report(report(vec![], vec![undelivered(one), undelivered(two)]))
        .await;
    let wallet = kit.store.wallets().find(id).await.unwrap().unwrap();
    let wanted: Purse = [(Component::SmsWallet, naira(92))].into_iter().collect();
    assert_eq!(wallet, wanted);
    kit.report(report(vec![], vec![undelivered(three), undelivered(four)]))
        .await;
    let wallet = kit.store.wallets().find(id).await.unwrap().unwrap();
    assert_eq!(wallet.get(Component::SmsWallet), naira(100));
    assert_eq!(wallet.get(Component::PromoBonus), naira(4));
    kit.report(report(vec![], vec![undelivered(five)])).await;
    assert_eq!(kit.store.wallets().find(id).await.unwrap().unwrap(), before);
    let refunds = kit
        .numbers("select count(*) from ledger where kind = 'refund'")
        .await;
    assert_eq!(refunds, [6], "the fourth went to two components");
}

async fn a_gateway_without_refund_keeps_the_charge(kit: &Kit) {
    let mut base = sending(kit.account(100).await);
    base.terms.refund_undelivered = false;
    let message = base.message(&kit.store);
    kit.submit(&message).await;
    kit.report(report(
        vec![],
        vec![undelivered(message.draft.recipients[0])],
    ))
    .await;
    assert_eq!(kit.balance(base.account).await, naira(94));
}

async fn many_receipts_settle_in_one_report(kit: &Kit) {
    let base = Sending {
        recipients: 500,
        ..sending(kit.account(10_000).await)
    };
    let message = base.message(&kit.store);
    kit.submit(&message).await;
    let half = message.draft.recipients.iter().enumerate();
    let receipts = half.map(|(index, &to)| {
        if index % 2 == 0 {
            delivered(to)
        } else {
            undelivered(to)
        }
    });
    let (settled, parked) = kit.report(report(vec![], receipts.collect())).await;
    assert_eq!((settled.outcomes.len(), parked), (500, 0));
    assert_eq!(kit.balance(base.account).await, naira(10_000 - 1_500));
}

/// Two nodes receive the responses of the pages of one recipient, and both receive the same
/// receipts.
async fn reports_at_the_same_moment_count_every_page_once(kit: &Kit) {
    let base = Sending {
        callback_url: Some("https://example.ng/r"),
        ..sending(kit.account(1_000).await)
    };
    for round in 0..10 {
        let message = Sending {
            pages: 4,
            first_number: round,
            ..base.clone()
        }
        .message(&kit.store);
        kit.submit(&message).await;
        let to = message.draft.recipients[0];
        let mut tasks = tokio::task::JoinSet::new();
        for page in [1, 2, 3, 4, 1, 2, 3, 4] {
            let store = kit.store.clone();
            let heard = receipt(&page_id(to, page), to, DeliveryStatus::Delivered);
            tasks.spawn(async move {
                let mut settled = Settled::default();
                let heard = report(vec![], vec![heard]).into();
                store
                    .carrier_reports()
                    .commit(heard, &mut settled)
                    .await
                    .unwrap();
                settled
            });
        }
        let callbacks: usize = tasks
            .join_all()
            .await
            .iter()
            .map(|done| done.callbacks.len())
            .sum();
        assert_eq!(
            kit.statuses(&message).await,
            [Some(DeliveryStatus::Delivered)]
        );
        assert_eq!(callbacks, 1);
    }
}

async fn outcomes_name_gateway_and_carrier(kit: &Kit) {
    let message = two_legs(kit.account(100).await).message(&kit.store);
    kit.submit(&message).await;
    let (settled, _) = kit
        .report(report(vec![], vec![delivered(message.draft.recipients[0])]))
        .await;
    let wanted = (
        Gateway::DualBackup,
        CARRIER.to_owned(),
        DeliveryStatus::Delivered,
    );
    assert_eq!(settled.outcomes, [wanted]);
}

async fn pages_that_have_one_id_are_settled_together(kit: &Kit) {
    let base = Sending {
        recipients: 2,
        pages: 3,
        ..sending(kit.account(100).await)
    };
    let message = base.message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let with_id = |claimed: &Claimed| {
        let recipients = claimed.batch.recipients.iter();
        let ids = |to| vec![page_id(to, 1); 3];
        Progress {
            submitted: recipients.map(|&to| (to, ids(to))).collect(),
            ..silence(claimed)
        }
    };
    let progress = claimed.iter().map(with_id).collect();
    kit.report(report(progress, vec![])).await;
    // The receipts come with and without its number.
    let [first, second] = message.draft.recipients[..] else {
        panic!()
    };
    let nameless = Receipt {
        recipient: None,
        ..delivered(second)
    };
    let (settled, parked) = kit
        .report(report(vec![], vec![delivered(first), nameless]))
        .await;
    assert_eq!((settled.outcomes.len(), parked), (2, 0));
    let ends = [Some(DeliveryStatus::Delivered); 2];
    assert_eq!(kit.statuses(&message).await, ends);
    // A repeated receipt of each page changes nothing.
    let (settled, parked) = kit
        .report(report(vec![], vec![undelivered(first); 2]))
        .await;
    assert_eq!((settled.outcomes.len(), parked), (0, 0));
    assert_eq!(kit.statuses(&message).await, ends);
}

/// The receipt has the carrier's own id besides that of the response, in either place.
fn with_two_ids(receipt: Receipt, own: &str, own_first: bool) -> Receipt {
    if own_first {
        Receipt {
            carrier_id: own.to_owned(),
            other_id: Some(receipt.carrier_id),
            ..receipt
        }
    } else {
        Receipt {
            other_id: Some(own.to_owned()),
            ..receipt
        }
    }
}

async fn a_receipt_with_two_ids_means_the_page_of_either(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let message = Sending {
        recipients: 4,
        ..base
    }
    .message(&kit.store);
    kit.submit(&message).await;
    let receipts = message.draft.recipients.iter().enumerate();
    let receipts = receipts.map(|(place, &to)| {
        let receipt = Receipt {
            // The same holds without a number.
            recipient: (place < 2).then_some(to),
            ..delivered(to)
        };
        with_two_ids(receipt, &format!("own-{place}"), place % 2 == 0)
    });
    let (settled, parked) = kit.report(report(vec![], receipts.collect())).await;
    assert_eq!((settled.outcomes.len(), parked), (4, 0));
    let ends = [Some(DeliveryStatus::Delivered); 4];
    assert_eq!(kit.statuses(&message).await, ends);
}

async fn a_receipt_with_two_ids_waits_for_the_response_of_either(kit: &Kit) {
    let base = sending(kit.account(100).await);
    let message = Sending {
        recipients: 2,
        ..base
    }
    .message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let receipts = message.draft.recipients.iter().enumerate();
    let receipts: Vec<Receipt> = receipts
        .map(|(place, &to)| with_two_ids(delivered(to), &format!("own-{place}"), place == 0))
        .collect();
    let (_, parked) = kit.report(report(vec![], receipts)).await;
    assert_eq!(parked, 2);
    let waiting = "select count(*) from parked_receipts";
    assert_eq!(kit.numbers(waiting).await, [4], "each under both ids");
    let progress = claimed.iter().map(taken).collect();
    let (settled, _) = kit.report(report(progress, vec![])).await;
    assert_eq!(settled.outcomes.len(), 2);
    let ends = [Some(DeliveryStatus::Delivered); 2];
    assert_eq!(kit.statuses(&message).await, ends);
    assert_eq!(kit.numbers(waiting).await, [0]);
}

async fn a_receipt_with_two_ids_adopts_one_page_under_both(kit: &Kit) {
    let base = Sending {
        pages: 2,
        ..sending(kit.account(100).await)
    };
    let message = base.message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let to = message.draft.recipients[0];
    let receipts = |own_first| vec![with_two_ids(delivered(to), "own-1", own_first)];
    // The receipt arrives before the timeout of the response, so it waits under both ids.
    let (_, parked) = kit.report(report(vec![], receipts(true))).await;
    assert_eq!(parked, 1);
    let lost: Vec<Progress> = claimed.iter().map(doubted_alone).collect();
    kit.report(report(lost, vec![])).await;
    assert_eq!(
        kit.numbers("select count(*) from parked_receipts").await,
        [0]
    );
    // Both ids mean the same page.
    kit.report(report(vec![], receipts(false))).await;
    kit.report(report(
        vec![],
        vec![receipt("own-1", to, DeliveryStatus::Delivered)],
    ))
    .await;
    let statuses = kit.statuses(&message).await;
    assert_ne!(
        statuses,
        [Some(DeliveryStatus::Delivered)],
        "one page of two"
    );
    kit.report(report(
        vec![],
        vec![receipt("second", to, DeliveryStatus::Delivered)],
    ))
    .await;
    let ends = [Some(DeliveryStatus::Delivered)];
    assert_eq!(kit.statuses(&message).await, ends);
}

/// The response was lost, and nothing is sent again.
fn doubted_alone(claimed: &Claimed) -> Progress {
    Progress {
        doubted: claimed.batch.recipients.clone(),
        ..silence(claimed)
    }
}
