//! Delivery reports, as a customer reads them.

use domain::{DeliveryStatus, Environment, Recipient};
use std::sync::atomic::{AtomicBool, Ordering};
use store::{Claimed, MessageReport, StatusCounts};
use storekit::{
    Kit, NOW, Sending, delivered, message_id, report, sending, taken, twins, undelivered,
};

twins!(
    a_report_is_a_slice_of_the_list_in_the_order_of_the_request,
    a_report_past_the_end_is_empty,
    a_report_of_all_recipients_counts_whom_it_shows,
    a_report_of_another_account_or_world_is_not_found,
);

async fn a_report_is_a_slice_of_the_list_in_the_order_of_the_request(kit: &Kit) {
    let id = kit.account(1_000).await;
    let mut message = Sending {
        recipients: 6,
        ..sending(id)
    }
    .message(&kit.store);
    let draft = std::sync::Arc::make_mut(&mut message.draft);
    draft.recipients.reverse();
    kit.accept(&message).await;
    let claimed = kit.claim(4).await;
    kit.report(report(claimed.iter().map(taken).collect(), vec![]))
        .await;
    let sent: Vec<Recipient> = batch_recipients(&claimed);
    kit.report(report(
        vec![],
        vec![delivered(sent[0]), undelivered(sent[1])],
    ))
    .await;
    let read = async |from, until| -> MessageReport {
        let report = kit
            .store
            .messages()
            .report(id, Environment::Live, message.id, from, until);
        report.await.unwrap().unwrap()
    };
    let whole = read(0, 100).await;
    let counts = StatusCounts {
        total: 6,
        delivered: 1,
        failed: 1,
        handed_over: 4,
        cancelled: 0,
    };
    assert_eq!(whole.counts, counts);
    assert_eq!(whole.customer_reference.as_deref(), Some("order-1"));
    let order: Vec<Recipient> = whole.recipients.iter().map(|&(to, _)| to).collect();
    assert_eq!(order, message.draft.recipients);
    for (to, status) in &whole.recipients {
        let wanted = match sent.iter().position(|sent| sent == to) {
            Some(0) => Some(DeliveryStatus::Delivered),
            Some(1) => Some(DeliveryStatus::Undelivered),
            Some(_) => Some(DeliveryStatus::Sent),
            None => None,
        };
        assert_eq!(*status, wanted);
    }
    for (from, until) in [(0, 2), (2, 4), (4, 6), (5, 60), (3, 3)] {
        let slice = read(from, until).await;
        assert_eq!(slice.recipients, whole.recipients[from..until.min(6)]);
        assert_eq!(slice.counts, counts);
    }
}

fn batch_recipients(claimed: &[Claimed]) -> Vec<Recipient> {
    claimed
        .iter()
        .flat_map(|claimed| claimed.batch.recipients.clone())
        .collect()
}

async fn a_report_past_the_end_is_empty(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.accept(&message).await;
    let account = message.draft.account;
    let past = kit
        .store
        .messages()
        .report(account, Environment::Live, message.id, 50, usize::MAX);
    let past = past.await.unwrap().unwrap();
    assert_eq!((past.recipients.len(), past.counts.total), (0, 1));
}

async fn a_report_of_another_account_or_world_is_not_found(kit: &Kit) {
    let (id, other) = (kit.account(100).await, kit.account(100).await);
    let message = sending(id).message(&kit.store);
    kit.accept(&message).await;
    for (account, environment, message) in [
        (other, Environment::Live, message.id),
        (id, Environment::Sandbox, message.id),
        (id, Environment::Live, message_id(NOW)),
    ] {
        let found = kit
            .store
            .messages()
            .report(account, environment, message, 0, 10)
            .await;
        assert_eq!(found.unwrap(), None);
    }
}

async fn a_report_of_all_recipients_counts_whom_it_shows(kit: &Kit) {
    let base = Sending {
        recipients: 40,
        ..sending(kit.account(1_000).await)
    };
    let message = base.message(&kit.store);
    kit.submit(&message).await;
    let draft = &message.draft;
    let is_over = AtomicBool::new(false);
    let outcomes = async {
        for &to in &draft.recipients {
            kit.report(report(vec![], vec![delivered(to)])).await;
        }
        is_over.store(true, Ordering::Relaxed);
    };
    let reading = async {
        loop {
            let is_last = is_over.load(Ordering::Relaxed);
            let read = kit.store.messages().report(
                draft.account,
                draft.environment,
                message.id,
                0,
                draft.recipients.len(),
            );
            let read = read.await.unwrap().unwrap();
            let shown = read.recipients.iter();
            let shown = shown.filter(|(_, end)| *end == Some(DeliveryStatus::Delivered));
            assert_eq!(read.counts.delivered, shown.count() as u64);
            if is_last {
                assert_eq!(read.counts.delivered, read.counts.total);
                break;
            }
        }
    };
    tokio::join!(outcomes, reading);
}
