//! Changes that arrive together: each is committed or fails alone.

use database::{Error, Target};
use domain::{AccountId, Refusal};
use std::fs;
use store::{Accepted, Store};
use storekit::{Kit, NOW, Sending, account, by, naira, report, sending, taken, twins};
use tokio::task::JoinSet;

twins!(
    fifty_concurrent_sends_never_overdraw_the_wallet,
    the_same_send_at_once_from_many_is_accepted_once,
    changes_committed_together_where_one_fails_leave_the_others,
    what_was_accepted_is_there_after_closing_and_opening_again,
    a_closed_store_says_so,
);

/// Changes until the log starts again, which is far more than it takes.
const MANY_CHANGES: u64 = 5_000;

/// The log would grow for ever otherwise.
#[tokio::test(flavor = "multi_thread")]
async fn the_log_begins_anew_while_commits_go_on() {
    let kit = Kit::sqlite().await;
    let Target::Directory(directory) = &kit.target else {
        unreachable!("it has one")
    };
    let begun = || {
        // The header of a log has the number of its starts (fileformat2.html, section 4.1).
        let log = fs::read(directory.join("ogene.db-wal")).unwrap();
        u32::from_be_bytes(log[12..16].try_into().unwrap())
    };
    let base = Sending {
        recipients: 100,
        ..sending(kit.account(10_000_000).await)
    };
    let (first, mut made) = (begun(), 0);
    while begun() < first + 2 {
        assert!(made < MANY_CHANGES, "it grows");
        for claimed in kit.accept_and_claim(&base.message(&kit.store)).await {
            kit.report(report(vec![taken(&claimed)], vec![])).await;
        }
        made += 1;
    }
    kit.finish().await;
}

async fn fifty_concurrent_sends_never_overdraw_the_wallet(kit: &Kit) {
    let base = sending(kit.account(20 * 6 + 5).await);
    let mut tasks = JoinSet::new();
    for _ in 0..50 {
        let (store, message) = (kit.store.clone(), base.message(&kit.store));
        tasks.spawn(async move {
            store
                .messages()
                .accept(NOW, vec![message])
                .await
                .unwrap()
                .remove(0)
        });
    }
    let answers = tasks.join_all().await;
    let accepted = answers
        .iter()
        .filter(|answer| matches!(answer, Accepted::Yes { .. }))
        .count();
    assert_eq!(accepted, 20);
    let short =
        |answer: &&Accepted| matches!(answer, Accepted::No(Refusal::InsufficientFunds { .. }));
    assert_eq!(answers.iter().filter(short).count(), 30);
    assert_eq!(kit.balance(base.account).await, naira(5));
    assert_eq!(kit.numbers("select count(*) from messages").await, [20]);
}

async fn the_same_send_at_once_from_many_is_accepted_once(kit: &Kit) {
    let base = sending(kit.account(1_000).await);
    let message = base.message(&kit.store);
    let mut tasks = JoinSet::new();
    for _ in 0..20 {
        let mut same = base.message(&kit.store);
        same.draft = message.draft.clone();
        let store = kit.store.clone();
        tasks.spawn(async move {
            store
                .messages()
                .accept(NOW, vec![same])
                .await
                .unwrap()
                .remove(0)
        });
    }
    let answers = tasks.join_all().await;
    assert_eq!(
        answers
            .iter()
            .filter(|answer| matches!(answer, Accepted::Yes { .. }))
            .count(),
        1
    );
    assert_eq!(kit.balance(base.account).await, naira(994));
}

async fn changes_committed_together_where_one_fails_leave_the_others(kit: &Kit) {
    let base = sending(kit.account(1_000).await);
    let mut tasks = JoinSet::new();
    for index in 0..40_i64 {
        let (store, message) = (kit.store.clone(), base.message(&kit.store));
        tasks.spawn(async move {
            match index % 4 {
                // This account exists, so the whole change fails.
                0 => store
                    .accounts()
                    .create(account(base.account), by(NOW))
                    .await
                    .is_ok(),
                // This account does not exist, so it has no wallet.
                1 => {
                    let nobody = sending(AccountId(index)).message(&store);
                    store.messages().accept(NOW, vec![nobody]).await.is_ok()
                }
                2 => store
                    .accounts()
                    .create(account(AccountId(1_000_000_000 + index)), by(NOW))
                    .await
                    .is_ok(),
                _ => store.messages().accept(NOW, vec![message]).await.is_ok(),
            }
        });
    }
    let done = tasks
        .join_all()
        .await
        .into_iter()
        .filter(|&done| done)
        .count();
    assert_eq!(done, 20);
    assert_eq!(kit.numbers("select count(*) from messages").await, [10]);
    assert_eq!(kit.numbers("select count(*) from recent_sends").await, [10]);
    assert_eq!(kit.store.accounts().list(None, 99).await.unwrap().len(), 11);
    assert_eq!(kit.balance(base.account).await, naira(940));
}

async fn what_was_accepted_is_there_after_closing_and_opening_again(kit: &Kit) {
    let base = Sending {
        recipients: 3,
        ..sending(kit.account(100).await)
    };
    kit.accept(&base.message(&kit.store)).await;
    let again = Store::open(&kit.target).await.unwrap();
    assert_eq!(
        again
            .wallets()
            .find(base.account)
            .await
            .unwrap()
            .unwrap()
            .total(),
        naira(82)
    );
    let claimed = again.claims().claim(storekit::claim(10)).await.unwrap();
    assert_eq!(claimed[0].batch.recipients.len(), 3);
    again.close().await;
    assert!(kit.claim(10).await.is_empty(), "two of us on one database");
}

async fn a_closed_store_says_so(kit: &Kit) {
    let id = kit.account(100).await;
    let other = Store::open(&kit.target).await.unwrap();
    other.close().await;
    other.ended().await;
    let error: Error = other
        .messages()
        .accept(NOW, vec![sending(id).message(&other)])
        .await
        .unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    let error = other.wallets().find(id).await.unwrap_err();
    assert!(error.is_unavailable(), "{error}");
}
