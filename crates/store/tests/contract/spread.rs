//! Changes of many accounts: one for all of them if one server has all buckets, and one for each
//! bucket if several servers may have them.

use domain::{AccountId, Bucket, Component};
use std::collections::HashSet;
use store::{Accepted, Claimed, NewMessage, Settled, Store};
use storekit::{
    Kit, NOW, Sending, delivered, naira, refused, report, sending, spread, taken, twins,
    undelivered,
};

/// The number is larger than that of buckets.
const ACCOUNTS: usize = 20;

twins!(
    accounts_of_all_buckets_are_accepted_together,
    recipients_of_all_buckets_are_settled_in_one_report,
    accounts_are_charged_and_refunded_at_the_same_moment,
);
spread!(
    recipients_of_all_buckets_are_settled_in_one_report,
    a_transaction_keeps_to_one_bucket_where_buckets_are_spread,
);

/// A message to one number from each of some accounts, which have 10 naira. Each message costs 6.
async fn messages(kit: &Kit) -> Vec<(AccountId, NewMessage)> {
    let mut messages = Vec::new();
    for index in 0..ACCOUNTS {
        let account = kit.account(10).await;
        let one = Sending {
            first_number: index,
            ..sending(account)
        };
        messages.push((account, one.message(&kit.store)));
    }
    messages
}

async fn accounts_of_all_buckets_are_accepted_together(kit: &Kit) {
    let all = messages(kit).await;
    assert_eq!(parts(&kit.store, &all), 1);
    let twice = all.iter().flat_map(|(account, message)| {
        let more = Sending {
            first_number: 100,
            ..sending(*account)
        };
        [message.clone(), more.message(&kit.store)]
    });
    let answers = kit
        .store
        .messages()
        .accept(NOW, twice.collect())
        .await
        .unwrap();
    for pair in answers.chunks(2) {
        assert_eq!(pair[0], Accepted::Yes { balance: naira(4) });
        assert!(matches!(pair[1], Accepted::No(_)), "{pair:?}");
    }
    for (account, _) in all {
        assert_eq!(kit.balance(account).await, naira(4));
    }
}

/// Returns the number of transactions that accept these messages.
fn parts(store: &Store, messages: &[(AccountId, NewMessage)]) -> usize {
    let accounts = messages.iter().map(|(account, _)| *account);
    let parts = store.split_by_transaction(accounts, |account| store.bucket_of(*account));
    assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), messages.len());
    parts.len()
}

async fn a_transaction_keeps_to_one_bucket_where_buckets_are_spread(kit: &Kit) {
    let all = messages(kit).await;
    let buckets: HashSet<Bucket> = all.iter().map(|(id, _)| kit.store.bucket_of(*id)).collect();
    assert_eq!(parts(&kit.store, &all), buckets.len());
}

/// Half of the receipts confirm deliveries and come with the responses. The others cause refunds.
async fn recipients_of_all_buckets_are_settled_in_one_report(kit: &Kit) {
    let all = messages(kit).await;
    for (_, message) in &all {
        assert_eq!(
            kit.accept(message).await,
            Accepted::Yes { balance: naira(4) }
        );
    }
    let claimed = kit.claim(ACCOUNTS).await;
    assert_eq!(claimed.len(), ACCOUNTS);
    let to = all.iter().map(|(_, message)| message.draft.recipients[0]);
    let (good, bad): (Vec<_>, Vec<_>) = to.enumerate().partition(|(index, _)| index % 2 == 0);
    let good = good.into_iter().map(|(_, to)| delivered(to)).collect();
    let (settled, parked) = kit
        .report(report(claimed.iter().map(taken).collect(), good))
        .await;
    assert_eq!((settled.outcomes.len(), parked), (ACCOUNTS / 2, 0));
    let bad = bad.into_iter().map(|(_, to)| undelivered(to)).collect();
    let (settled, parked) = kit.report(report(vec![], bad)).await;
    assert_eq!((settled.outcomes.len(), parked), (ACCOUNTS / 2, 0));
    for (index, (account, _)) in all.into_iter().enumerate() {
        let left = if index % 2 == 0 { 4 } else { 10 };
        assert_eq!(kit.balance(account).await, naira(left), "{index}");
    }
}

/// Some reports refund accounts for refused submits, and others for failed receipts, while all
/// accounts are charged.
async fn accounts_are_charged_and_refunded_at_the_same_moment(kit: &Kit) {
    let first = messages(kit).await;
    for (account, message) in &first {
        kit.credit(*account, Component::MainBalance, 90).await;
        kit.accept(message).await;
    }
    let claimed = kit.claim(ACCOUNTS).await;
    let (ours, theirs) = claimed.split_at(ACCOUNTS / 2);
    kit.report(report(ours.iter().map(taken).collect(), vec![]))
        .await;
    let numbers = |claimed: &[Claimed]| -> Vec<_> {
        let to = claimed.iter().map(|claimed| claimed.batch.recipients[0]);
        to.collect()
    };
    let mut receipts = numbers(ours).into_iter().map(undelivered);
    let mut running = tokio::task::JoinSet::new();
    for pair in theirs.chunks(2) {
        let refused = pair.iter().map(refused).collect();
        let heard = report(refused, receipts.by_ref().take(2).collect());
        let store = kit.store.clone();
        running.spawn(async move {
            let mut settled = Settled::default();
            store
                .carrier_reports()
                .commit(heard.into(), &mut settled)
                .await
                .unwrap();
        });
    }
    for round in 1..=5 {
        let group = first.iter().map(|(account, _)| {
            let more = Sending {
                first_number: 100 * round,
                ..sending(*account)
            };
            more.message(&kit.store)
        });
        let (store, group) = (kit.store.clone(), group.collect());
        running.spawn(async move {
            let answers = store.messages().accept(NOW, group).await.unwrap();
            let is_charged = |answer: &Accepted| matches!(answer, Accepted::Yes { .. });
            assert!(answers.iter().all(is_charged), "{answers:?}");
        });
    }
    running.join_all().await;
    for (account, _) in first {
        assert_eq!(kit.balance(account).await, naira(100 - 5 * 6));
    }
}
