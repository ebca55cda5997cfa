//! Lists that are read page by page, while rows are added between the pages.

use super::accounts::{secret, sender, token};
use super::outbox::{die, taken_at_last, to_shop};
use domain::AccountId;
use domain::velocity::Block;
use std::fmt::Debug;
use store::{ListRow, PausedBlock};
use storekit::{Kit, NOW, by, fresh, sending, twins};

twins!(
    accounts_have_pages,
    tokens_have_pages,
    sender_ids_have_pages,
    callback_secrets_have_pages,
    paused_blocks_have_pages,
    audit_entries_have_pages,
    ledger_entries_have_pages,
    callback_attempts_have_pages,
    dead_callbacks_have_pages,
    receivers_of_dead_callbacks_have_pages,
);

/// The number is larger than any list here.
const ALL: u32 = 1_000;

/// Reads a list in pages of two rows, and adds rows after each page. Each first row must appear
/// once, in the same order, and no row twice.
async fn check<T>(read: impl AsyncFn(Option<T::Key>, u32) -> Vec<T>, add: impl AsyncFn())
where
    T: ListRow<Key: Clone + Debug + PartialEq>,
{
    let keys = |rows: &[T]| rows.iter().map(ListRow::key).collect::<Vec<_>>();
    let first = keys(&read(None, ALL).await);
    assert!(first.len() >= 4, "{first:?}");
    let (mut found, mut pages): (Vec<T::Key>, usize) = (Vec::new(), 0);
    loop {
        let page = keys(&read(found.last().cloned(), 2).await);
        assert!(page.len() <= 2, "{page:?}");
        assert!(page.iter().all(|key| !found.contains(key)), "{page:?}");
        if page.is_empty() {
            break;
        }
        found.extend(page);
        pages += 1;
        // Rows that are added behind the page are read later, and the list must end.
        if pages <= 2 {
            add().await;
        }
    }
    found.retain(|key| first.contains(key));
    assert_eq!(found, first);
}

async fn accounts_have_pages(kit: &Kit) {
    for _ in 0..5 {
        kit.account(0).await;
    }
    check(
        async |behind, limit| kit.store.accounts().list(behind, limit).await.unwrap(),
        async || {
            kit.account(0).await;
        },
    )
    .await;
}

/// Two accounts, and a function that adds a row to each.
async fn two(kit: &Kit) -> [AccountId; 2] {
    [kit.account(0).await, kit.account(0).await]
}

async fn tokens_have_pages(kit: &Kit) {
    let accounts = two(kit).await;
    let add = async || {
        for account in accounts {
            let number = fresh();
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&number.to_be_bytes());
            // Some rows are made at the same time.
            let token = token(account, &format!("t{number}"), NOW + number % 2);
            kit.store.tokens().add(token, hash, by(NOW)).await.unwrap();
        }
    };
    for _ in 0..3 {
        add().await;
    }
    for account in [None, Some(accounts[0])] {
        check(
            async |behind, limit| {
                kit.store
                    .tokens()
                    .list(account, behind, limit)
                    .await
                    .unwrap()
            },
            add,
        )
        .await;
    }
    let tokens = kit.store.tokens().list(Some(accounts[0]), None, ALL).await;
    let is_own = |token: &store::TokenInfo| token.account == accounts[0];
    assert!(tokens.unwrap().iter().all(is_own));
}

async fn sender_ids_have_pages(kit: &Kit) {
    let accounts = two(kit).await;
    let add = async || {
        for account in accounts {
            let number = fresh();
            let sender = sender(&format!("Shop{number}"));
            let added = kit
                .store
                .senders()
                .add(account, sender, by(NOW + number % 2));
            assert!(added.await.unwrap());
        }
    };
    for _ in 0..3 {
        add().await;
    }
    for account in [None, Some(accounts[1])] {
        check(
            async |behind, limit| {
                kit.store
                    .senders()
                    .list(account, behind, limit)
                    .await
                    .unwrap()
            },
            add,
        )
        .await;
    }
}

async fn callback_secrets_have_pages(kit: &Kit) {
    let accounts = two(kit).await;
    let add = async || {
        for account in accounts {
            let number = fresh();
            let byte = u8::try_from(number % 251).unwrap();
            let secret = secret(account, byte, NOW + number % 2);
            let added = kit
                .store
                .callback_secrets()
                .add(secret, 0..=99, i64::MAX, by(NOW));
            added.await.unwrap();
        }
    };
    for _ in 0..3 {
        add().await;
    }
    let read = async |behind, limit| {
        let page = kit.store.callback_secrets().list(NOW, None, behind, limit);
        page.await.unwrap()
    };
    check(read, add).await;
    let ended = kit
        .store
        .callback_secrets()
        .list(i64::MAX, None, None, ALL)
        .await;
    let ended = ended.unwrap();
    assert_eq!(ended.len(), 2, "the newest of each account has no end");
}

async fn paused_blocks_have_pages(kit: &Kit) {
    let accounts = two(kit).await;
    let add = async || {
        for account in accounts {
            let number = fresh();
            let paused = PausedBlock {
                account,
                block: Block::from_digits(2_348_031_000 + number.unsigned_abs()),
                paused_at_ms: NOW + number % 2,
                until_ms: NOW + 1_000,
            };
            let added = kit.store.paused_blocks().pause(paused, by(NOW)).await;
            assert!(added.unwrap());
        }
    };
    for _ in 0..3 {
        add().await;
    }
    let read = async |behind, limit| {
        let page = kit.store.paused_blocks().list(NOW, behind, limit);
        page.await.unwrap()
    };
    check(read, add).await;
    let over = kit.store.paused_blocks().list(NOW + 1_000, None, ALL).await;
    assert_eq!(over.unwrap(), []);
}

async fn audit_entries_have_pages(kit: &Kit) {
    let id = kit.account(1).await;
    for _ in 0..5 {
        kit.account(1).await;
        kit.credit(id, domain::Component::SmsWallet, 1).await;
    }
    for account in [None, Some(id)] {
        check(
            async |behind, limit| {
                kit.store
                    .audit()
                    .list(account, behind, limit)
                    .await
                    .unwrap()
            },
            async || kit.credit(id, domain::Component::SmsWallet, 1).await,
        )
        .await;
    }
}

async fn ledger_entries_have_pages(kit: &Kit) {
    let (id, other) = (kit.account(1_000).await, kit.account(1_000).await);
    let add = async || {
        for account in [id, other] {
            kit.submit(&sending(account).message(&kit.store)).await;
        }
        kit.credit(id, domain::Component::MainBalance, 1).await;
    };
    for _ in 0..3 {
        add().await;
    }
    let read = async |behind, limit| {
        kit.store
            .wallets()
            .statement(id, behind, limit)
            .await
            .unwrap()
    };
    check(read, add).await;
    let entries = read(None, ALL).await;
    assert!(entries.iter().all(|entry| entry.account == id));
}

async fn callback_attempts_have_pages(kit: &Kit) {
    let (id, other) = (kit.account(1_000).await, kit.account(1_000).await);
    let add = async || {
        for account in [id, other] {
            taken_at_last(kit, &to_shop(account, 1), NOW).await;
        }
    };
    for _ in 0..3 {
        add().await;
    }
    let read = async |behind, limit| {
        let page = kit.store.attempts().list(id, None, behind, limit);
        page.await.unwrap()
    };
    check(read, add).await;
    assert_eq!(read(None, ALL).await.len(), 2 * (3 + 2), "each has two");
}

async fn dead_callbacks_have_pages(kit: &Kit) {
    let (id, other) = (kit.account(1_000).await, kit.account(1_000).await);
    let add = async || {
        for account in [id, other] {
            die(kit, &to_shop(account, 2)).await;
        }
    };
    for _ in 0..3 {
        add().await;
    }
    let read = async |behind, limit| {
        let page = kit.store.dead_callbacks().list(id, behind, limit);
        page.await.unwrap()
    };
    check(read, add).await;
    assert!(read(None, ALL).await.iter().all(|dead| dead.account == id));
}

async fn receivers_of_dead_callbacks_have_pages(kit: &Kit) {
    let add = async || drop(die(kit, &to_shop(kit.account(100).await, 2)).await);
    for _ in 0..5 {
        add().await;
    }
    let read = async |behind, limit| {
        kit.store
            .dead_callbacks()
            .origins(behind, limit)
            .await
            .unwrap()
    };
    check(read, add).await;
    assert!(read(None, ALL).await.iter().all(|dead| dead.callbacks == 2));
}
