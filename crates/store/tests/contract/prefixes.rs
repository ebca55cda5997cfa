//! Pages with consecutive ids share a row (decision 0024), and each is found by its own id.

use domain::{DeliveryStatus, Recipient};
use std::ops::Range;
use std::sync::Arc;
use store::{CarrierReport, Claimed, NewMessage, Progress, Receipt};
use storekit::{CARRIER, Kit, NOW, Sending, receipt, report, sending, silence, spread, twins};

const HOUR: i64 = 3_600_000;

twins!(
    ids_that_count_share_rows_and_each_means_its_own_page,
    a_row_holds_the_pages_submitted_in_an_hour,
    an_id_that_comes_again_and_again_makes_no_row_without_end,
    a_campaign_under_one_id_makes_no_row_without_end,
    what_is_told_again_and_again_changes_nothing,
    a_receipt_reads_a_bound_of_pages_however_many_have_its_id,
    a_receipt_that_could_mean_too_many_pages_settles_none,
    a_receipt_of_a_recipient_with_too_many_pages_settles_none,
    pages_of_one_id_are_told_apart_by_number_at_any_count,
    receipts_that_wait_under_one_id_have_a_bound,
);
spread!(
    a_receipt_that_could_mean_too_many_pages_settles_none,
    pages_of_one_id_are_told_apart_by_number_at_any_count,
    receipts_that_wait_under_one_id_have_a_bound,
    ids_that_count_share_rows_and_each_means_its_own_page,
    an_id_that_comes_again_and_again_makes_no_row_without_end,
);

/// A message to so many recipients, which a carrier accepted with these ids.
async fn taken_under(
    kit: &Kit,
    base: &Sending,
    recipients: usize,
    id: impl Fn(usize) -> String,
) -> (NewMessage, Vec<Progress>) {
    let base = Sending {
        recipients,
        ..base.clone()
    };
    let message = base.message(&kit.store);
    let place = |recipient: &Recipient| {
        let all = &message.draft.recipients;
        all.iter().position(|other| other == recipient).unwrap()
    };
    let taken = |claimed: &Claimed| {
        let recipients = claimed.batch.recipients.iter();
        Progress {
            submitted: recipients
                .map(|recipient| (*recipient, vec![id(place(recipient))]))
                .collect(),
            ..silence(claimed)
        }
    };
    let claimed = kit.accept_and_claim(&message).await;
    let progress: Vec<Progress> = claimed.iter().map(taken).collect();
    let submit = CarrierReport {
        now_ms: base.accepted_at_ms,
        ..report(progress.clone(), vec![])
    };
    kit.report(submit).await;
    (message, progress)
}

/// Reports a receipt of one id, without a number.
fn unnumbered(id: &str, status: DeliveryStatus) -> Receipt {
    Receipt {
        recipient: None,
        ..receipt(id, Recipient::from_digits(0), status)
    }
}

async fn ids_that_count_share_rows_and_each_means_its_own_page(kit: &Kit) {
    let base = sending(kit.account(1_000).await);
    let id = |place: usize| (1_000 + place).to_string();
    let (message, _) = taken_under(kit, &base, 25, id).await;
    let prefixes = kit
        .texts("select prefix from carrier_ids order by prefix")
        .await;
    assert_eq!(prefixes, ["100", "101", "102"]);

    // An id that no page has, between ids of pages, matches nothing.
    let end = |place: usize| {
        if place.is_multiple_of(2) {
            DeliveryStatus::Delivered
        } else {
            DeliveryStatus::Undelivered
        }
    };
    let all = (0..30)
        .rev()
        .map(|place| unnumbered(&id(place), end(place)));
    let (settled, parked) = kit.report(report(vec![], all.collect())).await;
    assert_eq!((settled.outcomes.len(), parked), (25, 5));
    let ends: Vec<_> = (0..25).map(|place| Some(end(place))).collect();
    assert_eq!(kit.statuses(&message).await, ends);
}

async fn a_row_holds_the_pages_submitted_in_an_hour(kit: &Kit) {
    let id = kit.account(1_000).await;
    for (hours, first) in [(0, 0), (0, 5), (1, 8)] {
        let base = Sending {
            accepted_at_ms: NOW + hours * HOUR,
            first_number: first,
            ..sending(id)
        };
        taken_under(kit, &base, 2, |place| (first + place).to_string()).await;
    }
    let hour = NOW - NOW.rem_euclid(HOUR);
    let rows = "select submitted_hour_ms from carrier_ids order by submitted_hour_ms";
    assert_eq!(kit.numbers(rows).await, [hour, hour + HOUR]);
}

async fn an_id_that_comes_again_and_again_makes_no_row_without_end(kit: &Kit) {
    let id = kit.account(10_000).await;
    let mut messages = Vec::new();
    for message in 0..60 {
        let base = Sending {
            accepted_at_ms: NOW + i64::try_from(message).unwrap(),
            first_number: message * 4,
            ..sending(id)
        };
        let ids = |place: usize| if place < 3 { "7" } else { "8" }.to_owned();
        messages.push(taken_under(kit, &base, 4, ids).await.0);
    }
    let longest = kit
        .numbers("select cast(max(length(pages)) as bigint) from carrier_ids")
        .await;
    assert!(longest[0] < 2_200, "{longest:?}");
    let rows = kit.numbers("select count(*) from carrier_ids").await;
    assert!((2..=240).contains(&rows[0]), "{rows:?}");

    // The number of the receipt selects one of all.
    let receipts = messages.iter().flat_map(|message| {
        let ids = ["7", "7", "7", "8"]
            .into_iter()
            .zip(&message.draft.recipients);
        ids.map(|(id, &to)| receipt(id, to, DeliveryStatus::Delivered))
    });
    let (settled, parked) = kit.report(report(vec![], receipts.collect())).await;
    assert_eq!((settled.outcomes.len(), parked), (240, 0));
    for message in messages {
        let ends = [Some(DeliveryStatus::Delivered); 4];
        assert_eq!(kit.statuses(&message).await, ends);
    }
}

/// All pages are of one message, so their time is the same too.
async fn a_campaign_under_one_id_makes_no_row_without_end(kit: &Kit) {
    let base = Sending {
        recipients: 400,
        ..sending(kit.account(10_000).await)
    };
    let message = base.message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let recipients: Vec<Recipient> = claimed
        .iter()
        .flat_map(|claimed| claimed.batch.recipients.clone())
        .collect();
    for (round, some) in recipients.chunks(20).enumerate() {
        let progress = Progress {
            submitted: some.iter().map(|&to| (to, vec!["7".to_owned()])).collect(),
            remaining: recipients[20 * (round + 1)..].to_vec(),
            ..silence(&claimed[0])
        };
        kit.report(report(vec![progress], vec![])).await;
    }
    let longest = "select cast(max(length(pages)) as bigint) from carrier_ids";
    assert!(kit.numbers(longest).await[0] < 2_400);
    let receipts = recipients
        .iter()
        .map(|&to| receipt("7", to, DeliveryStatus::Delivered));
    let (settled, parked) = kit.report(report(vec![], receipts.collect())).await;
    assert_eq!((settled.outcomes.len(), parked), (400, 0));
}

async fn what_is_told_again_and_again_changes_nothing(kit: &Kit) {
    let base = sending(kit.account(1_000).await);
    let id = |place: usize| place.to_string();
    let (message, progress) = taken_under(kit, &base, 3, id).await;
    let octets = "select cast(sum(length(pages)) as bigint) from carrier_ids";
    let before = kit.numbers(octets).await;
    for _ in 0..100 {
        kit.report(report(progress.clone(), vec![])).await;
    }
    assert_eq!(kit.numbers(octets).await, before);
    let ends = [Some(DeliveryStatus::Sent); 3];
    assert_eq!(kit.statuses(&message).await, ends);
    let receipts = (0..3).map(|place| unnumbered(&id(place), DeliveryStatus::Delivered));
    let (settled, parked) = kit.report(report(vec![], receipts.collect())).await;
    assert_eq!((settled.outcomes.len(), parked), (3, 0));
    let named = format!("select count(*) from carrier_ids where carrier = '{CARRIER}'");
    assert_eq!(kit.numbers(&named).await, [1]);
}

/// A carrier that gives every page this id.
const CONSTANT: &str = "constant";

async fn a_receipt_reads_a_bound_of_pages_however_many_have_its_id(kit: &Kit) {
    let id = kit.account(100_000).await;
    let mut first_number = 0;
    let mut recipients = Vec::new();
    for count in [100, 500, 1_000] {
        let base = Sending {
            first_number,
            ..sending(id)
        };
        let (message, _) = taken_under(kit, &base, count, |_| CONSTANT.to_owned()).await;
        first_number += count;
        recipients.extend(message.draft.recipients.iter().copied());
        let prefix = &CONSTANT[..CONSTANT.len() - 1];
        let read = format!(
            "select cast(sum(length(pages)) as bigint) from carrier_ids where prefix = '{prefix}'"
        );
        let read = kit.numbers(&read).await;
        assert!(read[0] < 4_400, "{read:?} octets of {count}");
        let apart = kit
            .numbers(
                "select coalesce(cast(max(length(pages)) as bigint), 0) from carrier_ids where prefix like 'constan_2%'",
            )
            .await;
        assert!(apart[0] < 100, "{apart:?}");
    }
    // All rows exist: those of the prefix, and those of each recipient.
    let receipts = recipients.iter();
    let receipts = receipts.map(|&to| receipt(CONSTANT, to, DeliveryStatus::Delivered));
    let (settled, parked) = kit.report(report(vec![], receipts.collect())).await;
    assert_eq!((settled.outcomes.len(), parked), (1_600, 0));
}

async fn a_receipt_that_could_mean_too_many_pages_settles_none(kit: &Kit) {
    let base = sending(kit.account(10_000).await);
    let (message, _) = taken_under(kit, &base, 500, |_| CONSTANT.to_owned()).await;
    let receipts = vec![unnumbered(CONSTANT, DeliveryStatus::Undelivered); 3];
    let (settled, parked) = kit.report(report(vec![], receipts)).await;
    assert_eq!((settled.outcomes.len(), parked), (0, 0));
    assert_eq!(settled.unclear, [CARRIER; 3].map(Arc::from));
    let ends = [Some(DeliveryStatus::Sent); 500];
    assert_eq!(kit.statuses(&message).await, ends);
    // A few pages of several recipients are as ambiguous.
    let base = Sending {
        first_number: 1_000,
        ..base
    };
    let (message, _) = taken_under(kit, &base, 2, |_| "few".to_owned()).await;
    let receipts = vec![unnumbered("few", DeliveryStatus::Undelivered)];
    let (settled, parked) = kit.report(report(vec![], receipts)).await;
    assert_eq!(
        (settled.outcomes.len(), settled.unclear.len(), parked),
        (0, 1, 0)
    );
    assert_eq!(kit.statuses(&message).await, ends[..2]);
}

async fn a_receipt_of_a_recipient_with_too_many_pages_settles_none(kit: &Kit) {
    let id = kit.account(10_000).await;
    let mut messages = Vec::new();
    for place in 0..250 {
        let base = Sending {
            accepted_at_ms: NOW + place,
            ..sending(id)
        };
        messages.push(taken_under(kit, &base, 1, |_| CONSTANT.to_owned()).await.0);
    }
    let octets = "select cast(max(length(pages)) as bigint) from carrier_ids";
    assert!(kit.numbers(octets).await[0] < 2_100);
    let rows = kit.numbers("select count(*) from carrier_ids").await;
    assert_eq!(rows, [2], "those of the prefix, and those of the recipient");
    let to = messages[0].draft.recipients[0];
    let receipts = vec![receipt(CONSTANT, to, DeliveryStatus::Undelivered)];
    let (settled, parked) = kit.report(report(vec![], receipts)).await;
    assert_eq!(
        (settled.outcomes.len(), settled.unclear.len(), parked),
        (0, 1, 0)
    );
}

async fn pages_of_one_id_are_told_apart_by_number_at_any_count(kit: &Kit) {
    let base = Sending {
        pages: 3,
        ..sending(kit.account(10_000).await)
    };
    let message = Sending {
        recipients: 300,
        ..base
    }
    .message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let recipients = claimed[0].batch.recipients.iter();
    let ids = || vec![CONSTANT.to_owned(); 3];
    let progress = Progress {
        submitted: recipients.map(|&to| (to, ids())).collect(),
        ..silence(&claimed[0])
    };
    kit.report(report(vec![progress], vec![])).await;
    // One receipt each, for all three pages.
    let (good, bad) = message.draft.recipients.split_at(200);
    let good = good
        .iter()
        .map(|&to| receipt(CONSTANT, to, DeliveryStatus::Delivered));
    let bad = bad
        .iter()
        .map(|&to| receipt(CONSTANT, to, DeliveryStatus::Undelivered));
    let (settled, parked) = kit.report(report(vec![], good.chain(bad).collect())).await;
    assert_eq!((settled.outcomes.len(), parked), (300, 0));
    let ends = [
        vec![Some(DeliveryStatus::Delivered); 200],
        vec![Some(DeliveryStatus::Undelivered); 100],
    ];
    assert_eq!(kit.statuses(&message).await, ends.concat());
}

async fn receipts_that_wait_under_one_id_have_a_bound(kit: &Kit) {
    let base = sending(kit.account(100_000).await);
    // The receipts are of another platform, and one of ours that came too early.
    let message = base.message(&kit.store);
    let to = message.draft.recipients[0];
    let early = receipt(CONSTANT, to, DeliveryStatus::Delivered);
    let (_, parked) = kit.report(report(vec![], vec![early])).await;
    assert_eq!(parked, 1);
    let others = |numbers: Range<u64>| {
        let numbers = numbers.map(|number| Recipient::from_digits(2_348_099_000_000 + number));
        let others = numbers.map(|to| receipt(CONSTANT, to, DeliveryStatus::Delivered));
        report(vec![], others.collect())
    };
    // A transaction has a limit of time, which a busy machine needs for all of them.
    for first in (0..4_999).step_by(500) {
        let some = first..(first + 500).min(4_999);
        let count = usize::try_from(some.end - some.start).unwrap();
        let (settled, parked) = kit.report(others(some)).await;
        assert_eq!((settled.unclear.len(), parked), (0, count));
    }
    let (settled, parked) = kit.report(others(0..50)).await;
    assert_eq!((settled.unclear.len(), parked), (50, 0));
    let waiting = "select count(*) from parked_receipts";
    assert_eq!(kit.numbers(waiting).await, [5_000]);
    // Its response finds the receipt.
    let claimed = kit.accept_and_claim(&message).await;
    let progress = Progress {
        submitted: vec![(to, vec![CONSTANT.to_owned()])],
        ..silence(&claimed[0])
    };
    let (settled, _) = kit.report(report(vec![progress], vec![])).await;
    assert_eq!(settled.outcomes.len(), 1);
    assert_eq!(kit.numbers(waiting).await, [4_999]);
}
