//! The database in memory, and its disk.

use database::{Commit, CommitVerdict};
use domain::{Account, AccountId, AccountStatus, Verification};
use std::sync::{Arc, Mutex};
use store::Store;
use storekit::by;

fn account(number: i64) -> Account {
    Account {
        id: AccountId(number),
        email: "a@example.com".to_owned(),
        name: "x".repeat(50_000),
        status: AccountStatus::Active,
        verification: Verification::Unverified,
        created_at_ms: 0,
    }
}

#[tokio::test]
async fn a_memory_database_fails_as_its_simulated_disk_does() {
    let verdict = Arc::new(Mutex::new(CommitVerdict::Made));
    let disk = {
        let verdict = Arc::clone(&verdict);
        Arc::new(move || Commit {
            verdict: *verdict.lock().unwrap(),
            ..Commit::default()
        })
    };
    let store = Store::in_memory("contract", disk).await.unwrap();
    store.accounts().create(account(1), by(0)).await.unwrap();
    for ill in [CommitVerdict::Full, CommitVerdict::Failed] {
        *verdict.lock().unwrap() = ill;
        assert!(
            store.accounts().create(account(2), by(0)).await.is_err(),
            "{ill:?}"
        );
    }
    *verdict.lock().unwrap() = CommitVerdict::Made;
    store.accounts().create(account(3), by(0)).await.unwrap();
    let well = Arc::new(Commit::default);
    let other = Store::in_memory("contract", well).await.unwrap();
    store.close().await;
    let ids = other.accounts().list(None, 9).await.unwrap().into_iter();
    assert_eq!(ids.map(|account| account.id.0).collect::<Vec<_>>(), [3, 1]);
}
