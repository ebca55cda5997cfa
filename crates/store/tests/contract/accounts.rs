//! Accounts, tokens and sender IDs.

use domain::callback::signature::{RANDOM_BYTES, Secret, Signing};
use domain::token::TokenTerms;
use domain::{AccountId, AccountStatus, SenderId, SenderStatus, Verification};
use store::{CallbackSecret, TokenInfo};
use storekit::{Kit, NOW, account, by, fresh, twins};
use tokio::task::JoinSet;

twins!(
    an_account_is_kept_with_an_empty_wallet,
    an_account_is_made_once,
    standing_changes_and_an_unknown_account_is_told,
    every_change_raises_the_revision_and_is_of_its_account,
    each_request_to_reload_is_counted_beside_the_revision,
    a_token_opens_its_account_until_it_is_revoked,
    a_token_keeps_its_terms,
    a_token_keeps_its_last_use,
    tokens_are_listed_by_account_newest_first,
    a_secret_is_added_up_to_the_limit_of_the_account,
    of_first_secrets_added_at_once_one_is_kept,
    a_secret_that_is_replaced_ends_and_goes_with_the_next_change,
    secrets_are_revoked_one_by_one_or_all_of_an_account,
    a_sender_id_is_registered_once_however_it_is_written,
    a_sender_id_keeps_its_approval_and_its_rejection,
);

async fn an_account_is_kept_with_an_empty_wallet(kit: &Kit) {
    let id = AccountId(4_711);
    assert_eq!(kit.store.accounts().find(id).await.unwrap(), None);
    assert_eq!(kit.store.wallets().find(id).await.unwrap(), None);
    kit.store
        .accounts()
        .create(account(id), by(NOW))
        .await
        .unwrap();
    assert_eq!(
        kit.store.accounts().find(id).await.unwrap(),
        Some(account(id))
    );
    assert!(kit.balance(id).await.is_zero());
    let other = kit.account(0).await;
    let ids: Vec<_> = kit
        .store
        .accounts()
        .list(None, 9)
        .await
        .unwrap()
        .iter()
        .map(|account| account.id)
        .collect();
    assert_eq!(ids.len(), 2);
    assert!(ids.contains(&other) && ids.is_sorted_by(|newer, older| newer > older));
}

async fn each_request_to_reload_is_counted_beside_the_revision(kit: &Kit) {
    let before = kit.store.revisions().current().await.unwrap();
    for asked in 1..=2 {
        let reloads = kit.store.revisions().ask_reload(by(NOW)).await.unwrap();
        assert_eq!(reloads, before.reloads + asked);
        let now = kit.store.revisions().current().await.unwrap();
        assert_eq!((now.number, now.reloads), (before.number, reloads));
    }
}

async fn an_account_is_made_once(kit: &Kit) {
    let id = kit.account(10).await;
    assert!(
        kit.store
            .accounts()
            .create(account(id), by(NOW))
            .await
            .is_err()
    );
    assert_eq!(kit.balance(id).await, storekit::naira(10));
}

async fn standing_changes_and_an_unknown_account_is_told(kit: &Kit) {
    let (id, nobody) = (kit.account(0).await, AccountId(1));
    for &status in AccountStatus::ALL {
        assert!(
            kit.store
                .accounts()
                .set_status(id, status, domain::Queued::Hold, by(NOW))
                .await
                .unwrap()
        );
        assert_eq!(
            kit.store.accounts().find(id).await.unwrap().unwrap().status,
            status
        );
        assert!(
            !kit.store
                .accounts()
                .set_status(nobody, status, domain::Queued::Hold, by(NOW))
                .await
                .unwrap()
        );
    }
    for &verification in Verification::ALL {
        assert!(
            kit.store
                .accounts()
                .set_verification(id, verification, by(NOW))
                .await
                .unwrap()
        );
        let account = kit.store.accounts().find(id).await.unwrap().unwrap();
        assert_eq!(account.verification, verification);
        assert!(
            !kit.store
                .accounts()
                .set_verification(nobody, verification, by(NOW))
                .await
                .unwrap()
        );
    }
}

async fn every_change_raises_the_revision_and_is_of_its_account(kit: &Kit) {
    let _another = kit.account(0).await;
    let mut last = kit.store.revisions().current().await.unwrap();
    let id = kit.account(0).await;
    let mut raised = async |what: &str| {
        let now = kit.store.revisions().current().await.unwrap();
        assert!(now.number > last.number, "{what}");
        let changed = kit
            .store
            .revisions()
            .changed_accounts(last, now)
            .await
            .unwrap();
        assert_eq!(changed, Some([id].into()), "{what}");
        last = now;
    };
    raised("create_account").await;
    kit.store
        .accounts()
        .set_status(id, AccountStatus::Restricted, domain::Queued::Hold, by(NOW))
        .await
        .unwrap();
    raised("set_account_status").await;
    kit.store
        .accounts()
        .set_verification(id, Verification::Verified, by(NOW))
        .await
        .unwrap();
    raised("set_verification").await;
    kit.store
        .callback_secrets()
        .add(secret(id, 1, NOW), 0..=0, NOW, by(NOW))
        .await
        .unwrap();
    raised("add_callback_secret").await;
    kit.store
        .callback_secrets()
        .revoke(id, None, by(NOW))
        .await
        .unwrap();
    raised("revoke_callback_secrets").await;
    kit.store
        .tokens()
        .add(token(id, "t1", NOW), [1; 32], by(NOW))
        .await
        .unwrap();
    raised("add_token").await;
    kit.store.tokens().revoke("t1", by(NOW)).await.unwrap();
    raised("revoke_token").await;
    kit.store
        .senders()
        .add(id, sender("Acme"), by(NOW))
        .await
        .unwrap();
    raised("add_sender").await;
    kit.store
        .senders()
        .set_status(id, "Acme", SenderStatus::Suspended, None, by(NOW))
        .await
        .unwrap();
    raised("set_sender_status").await;
}

pub(crate) fn token(account: AccountId, id: &str, created_at_ms: i64) -> TokenInfo {
    TokenInfo {
        id: id.to_owned(),
        account,
        name: "web shop".to_owned(),
        terms: TokenTerms::default(),
        created_at_ms,
        revoked_at_ms: None,
    }
}

async fn a_token_opens_its_account_until_it_is_revoked(kit: &Kit) {
    let (id, hash) = (kit.account(0).await, [7; 32]);
    assert_eq!(kit.store.tokens().account_of(&hash).await.unwrap(), None);
    kit.store
        .tokens()
        .add(token(id, "t", NOW), hash, by(NOW))
        .await
        .unwrap();
    assert_eq!(
        kit.store.tokens().account_of(&hash).await.unwrap(),
        Some((id, "t".to_owned(), TokenTerms::default()))
    );
    assert!(kit.store.tokens().revoke("t", by(NOW + 1)).await.unwrap());
    assert_eq!(kit.store.tokens().account_of(&hash).await.unwrap(), None);
    assert!(
        !kit.store.tokens().revoke("t", by(NOW + 2)).await.unwrap(),
        "once is enough"
    );
    assert!(!kit.store.tokens().revoke("unknown", by(NOW)).await.unwrap());
    let listed = kit.store.tokens().list(None, None, 9).await.unwrap();
    assert_eq!(listed[0].revoked_at_ms, Some(NOW + 1));
    let nobody = AccountId(fresh());
    assert!(
        kit.store
            .tokens()
            .add(token(nobody, "n", NOW), [8; 32], by(NOW))
            .await
            .is_err()
    );
}

async fn a_token_keeps_its_terms(kit: &Kit) {
    let (id, hash) = (kit.account(0).await, [9; 32]);
    let terms = TokenTerms {
        expires_at_ms: Some(NOW + 1),
        allowed: "203.0.113.0/24,2001:db8::/32".parse().unwrap(),
        scopes: "read,manage".parse().unwrap(),
        per_minute: Some(600),
    };
    let token = TokenInfo {
        terms: terms.clone(),
        ..token(id, "t", NOW)
    };
    kit.store
        .tokens()
        .add(token.clone(), hash, by(NOW))
        .await
        .unwrap();
    assert_eq!(
        kit.store.tokens().account_of(&hash).await.unwrap(),
        Some((id, "t".to_owned(), terms))
    );
    assert_eq!(
        kit.store.tokens().list(Some(id), None, 9).await.unwrap(),
        [token]
    );
}

async fn a_token_keeps_its_last_use(kit: &Kit) {
    let (id, other) = (kit.account(0).await, kit.account(0).await);
    for (account, name, hash) in [(id, "t1", 11), (id, "t2", 12), (other, "t3", 13)] {
        let token = token(account, name, NOW);
        let added = kit.store.tokens().add(token, [hash; 32], by(NOW)).await;
        added.unwrap();
    }
    let revision = kit.store.revisions().current().await.unwrap();
    let note = async |uses: &[(&str, i64)]| {
        let uses = uses.iter().map(|(id, at_ms)| ((*id).to_owned(), *at_ms));
        kit.store.tokens().note_uses(uses.collect()).await.unwrap();
    };
    note(&[]).await;
    assert!(kit.store.tokens().uses(id).await.unwrap().is_empty());
    note(&[("t3", NOW), ("t1", NOW + 5), ("unknown", NOW)]).await;
    // Another node stores an older use.
    note(&[("t1", NOW + 4)]).await;
    let uses = kit.store.tokens().uses(id).await.unwrap();
    assert_eq!(
        uses.into_iter().collect::<Vec<_>>(),
        [("t1".to_owned(), NOW + 5)]
    );
    // No node reads its accounts again for it.
    assert_eq!(kit.store.revisions().current().await.unwrap(), revision);
}

async fn tokens_are_listed_by_account_newest_first(kit: &Kit) {
    let (one, two) = (kit.account(0).await, kit.account(0).await);
    let (older, newer) = (one.min(two), one.max(two));
    let tokens = [
        token(newer, "b", NOW + 1),
        token(older, "c", NOW + 3),
        token(older, "a", NOW + 2),
    ];
    for (count, token) in tokens.iter().rev().enumerate() {
        let hash = [u8::try_from(count).unwrap(); 32];
        kit.store
            .tokens()
            .add(token.clone(), hash, by(NOW))
            .await
            .unwrap();
    }
    let listed = async |account| kit.store.tokens().list(account, None, 9).await.unwrap();
    assert_eq!(listed(None).await, tokens);
    assert_eq!(listed(Some(older)).await, tokens[1..]);
}

pub(crate) fn secret(account: AccountId, byte: u8, created_at_ms: i64) -> CallbackSecret {
    CallbackSecret {
        account,
        created_at_ms,
        signing: Signing {
            secret: Secret::make(&[byte; RANDOM_BYTES]),
            ends_at_ms: None,
        },
    }
}

async fn a_secret_is_added_up_to_the_limit_of_the_account(kit: &Kit) {
    let (one, two) = (kit.account(0).await, kit.account(0).await);
    let add = async |secret, others| {
        let added = kit
            .store
            .callback_secrets()
            .add(secret, others, NOW + 99, by(NOW));
        added.await.unwrap()
    };
    let first = secret(one, 1, NOW);
    assert_eq!(add(first.clone(), 1..=3).await, 0, "there is none");
    assert_eq!(kit.store.callback_secrets().all().await.unwrap(), []);
    assert_eq!(add(first.clone(), 0..=0).await, 0);
    assert_eq!(add(secret(one, 2, NOW), 0..=0).await, 1, "there is one");
    let other = secret(two, 1, NOW + 1);
    assert_eq!(add(other.clone(), 0..=0).await, 0, "of another account");
    let all = kit.store.callback_secrets().all().await.unwrap();
    assert!(all.len() == 2 && all.contains(&first) && all.contains(&other));
    let of_two = kit
        .store
        .callback_secrets()
        .list(NOW, Some(two), None, 9)
        .await;
    assert_eq!(of_two.unwrap(), [other]);
    let nobody = secret(AccountId(fresh()), 1, NOW);
    let added = kit
        .store
        .callback_secrets()
        .add(nobody, 0..=0, NOW, by(NOW))
        .await;
    assert!(added.is_err());
}

async fn of_first_secrets_added_at_once_one_is_kept(kit: &Kit) {
    let id = kit.account(0).await;
    let mut adding = JoinSet::new();
    for byte in 1..=8 {
        let store = kit.store.clone();
        adding.spawn(async move {
            let added = store
                .callback_secrets()
                .add(secret(id, byte, NOW), 0..=0, NOW, by(NOW));
            added.await.unwrap()
        });
    }
    let had = adding.join_all().await;
    assert_eq!(had.iter().filter(|&&had| had == 0).count(), 1, "{had:?}");
    assert_eq!(kit.store.callback_secrets().all().await.unwrap().len(), 1);
}

async fn a_secret_that_is_replaced_ends_and_goes_with_the_next_change(kit: &Kit) {
    let id = kit.account(0).await;
    let ends = async || {
        let all = kit.store.callback_secrets().all().await.unwrap();
        let ends = all.iter().map(|secret| secret.signing.ends_at_ms);
        ends.collect::<Vec<_>>()
    };
    for (byte, at_ms, had, ending) in [
        (1, NOW, 0, vec![None]),
        (2, NOW + 10, 1, vec![Some(NOW + 60), None]),
        (3, NOW + 20, 2, vec![Some(NOW + 60), Some(NOW + 70), None]),
        (4, NOW + 60, 2, vec![Some(NOW + 70), Some(NOW + 110), None]),
    ] {
        let added =
            kit.store
                .callback_secrets()
                .add(secret(id, byte, at_ms), 0..=3, at_ms + 50, by(at_ms));
        assert_eq!(added.await.unwrap(), had);
        assert_eq!(ends().await, ending);
    }
}

async fn secrets_are_revoked_one_by_one_or_all_of_an_account(kit: &Kit) {
    let (one, two) = (kit.account(0).await, kit.account(0).await);
    let secrets = [(one, 1), (one, 2), (one, 3), (two, 1)];
    for ((account, byte), at_ms) in secrets.into_iter().zip(NOW..) {
        let added = kit.store.callback_secrets().add(
            secret(account, byte, at_ms),
            0..=2,
            NOW + 99,
            by(NOW),
        );
        added.await.unwrap();
    }
    let revoke = async |account, id: Option<&str>| {
        let revoked = kit.store.callback_secrets().revoke(account, id, by(NOW));
        revoked.await.unwrap()
    };
    let id = secret(one, 2, NOW).signing.secret.id();
    assert_eq!(revoke(one, Some(&id)).await, 1);
    assert_eq!(revoke(one, Some(&id)).await, 0);
    assert_eq!(revoke(one, None).await, 2);
    assert_eq!(kit.store.callback_secrets().all().await.unwrap().len(), 1);
}

pub(crate) fn sender(name: &str) -> SenderId {
    SenderId {
        name: name.to_owned(),
        status: SenderStatus::Pending,
        purpose: "receipts".to_owned(),
        international: true,
        approved_at_ms: None,
        rejection_reason: None,
    }
}

async fn a_sender_id_is_registered_once_however_it_is_written(kit: &Kit) {
    let (id, other) = (kit.account(0).await, kit.account(0).await);
    assert!(
        kit.store
            .senders()
            .add(id, sender("Acme"), by(NOW))
            .await
            .unwrap()
    );
    assert!(
        !kit.store
            .senders()
            .add(id, sender("ACME"), by(NOW))
            .await
            .unwrap()
    );
    assert!(
        kit.store
            .senders()
            .add(other, sender("ACME"), by(NOW))
            .await
            .unwrap()
    );
    assert!(
        kit.store
            .senders()
            .add(id, sender("Abc"), by(NOW + 1))
            .await
            .unwrap()
    );
    let names = async |account| -> Vec<String> {
        let senders = kit.store.senders().list(account, None, 9).await.unwrap();
        senders.into_iter().map(|found| found.sender.name).collect()
    };
    assert_eq!(names(Some(id)).await, ["Abc", "Acme"]);
    assert_eq!(names(None).await.len(), 3);
}

async fn a_sender_id_keeps_its_approval_and_its_rejection(kit: &Kit) {
    let id = kit.account(0).await;
    let approved = SenderId {
        status: SenderStatus::Approved,
        approved_at_ms: Some(NOW),
        ..sender("Demo")
    };
    kit.store
        .senders()
        .add(id, approved.clone(), by(NOW))
        .await
        .unwrap();
    assert_eq!(kit.store.senders().of(id).await.unwrap(), [approved]);
    let set = async |status, reason: Option<&str>, at_ms| {
        assert!(
            kit.store
                .senders()
                .set_status(id, "DEMO", status, reason, by(at_ms))
                .await
                .unwrap()
        );
        let found = kit.store.senders().find(id, "DEmo").await.unwrap();
        let sender = found.unwrap().sender;
        assert_eq!(sender.status, status);
        (sender.approved_at_ms, sender.rejection_reason)
    };
    let rejected = set(SenderStatus::Rejected, Some("a bank's name"), NOW + 1).await;
    assert_eq!(rejected, (Some(NOW), Some("a bank's name".to_owned())));
    assert_eq!(
        set(SenderStatus::Approved, None, NOW + 2).await,
        (Some(NOW + 2), None)
    );
    let unknown = kit
        .store
        .senders()
        .set_status(id, "Nix", SenderStatus::Approved, None, by(NOW));
    assert!(!unknown.await.unwrap());
}
