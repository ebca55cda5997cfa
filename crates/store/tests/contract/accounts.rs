//! Accounts, tokens and sender IDs.

use super::kit::{Kit, NOW, account, fresh, twins};
use domain::token::Terms;
use domain::{AccountId, AccountStatus, SenderId, SenderStatus, Verification};
use store::TokenInfo;

twins!(
    an_account_is_kept_with_an_empty_wallet,
    an_account_is_made_once,
    standing_changes_and_an_unknown_account_is_told,
    every_change_raises_the_revision,
    a_token_opens_its_account_until_it_is_revoked,
    a_token_keeps_its_terms,
    tokens_are_listed_oldest_first,
    a_sender_id_is_registered_once_however_it_is_written,
    a_sender_id_keeps_its_approval_and_its_rejection,
);

async fn an_account_is_kept_with_an_empty_wallet(kit: &Kit) {
    let id = AccountId(4_711);
    assert_eq!(kit.store.account(id).await.unwrap(), None);
    assert_eq!(kit.store.wallet(id).await.unwrap(), None);
    kit.store.create_account(account(id)).await.unwrap();
    assert_eq!(kit.store.account(id).await.unwrap(), Some(account(id)));
    assert!(kit.balance(id).await.is_zero());
    let other = kit.account(0).await;
    let ids: Vec<_> = kit
        .store
        .accounts()
        .await
        .unwrap()
        .iter()
        .map(|account| account.id)
        .collect();
    assert_eq!(ids.len(), 2);
    assert!(ids.contains(&other) && ids.is_sorted());
}

async fn an_account_is_made_once(kit: &Kit) {
    let id = kit.account(10).await;
    assert!(kit.store.create_account(account(id)).await.is_err());
    assert_eq!(kit.balance(id).await, super::kit::naira(10));
}

async fn standing_changes_and_an_unknown_account_is_told(kit: &Kit) {
    let (id, nobody) = (kit.account(0).await, AccountId(1));
    for &status in AccountStatus::ALL {
        assert!(kit.store.set_account_status(id, status).await.unwrap());
        assert_eq!(kit.store.account(id).await.unwrap().unwrap().status, status);
        assert!(!kit.store.set_account_status(nobody, status).await.unwrap());
    }
    for &verification in Verification::ALL {
        assert!(kit.store.set_verification(id, verification).await.unwrap());
        let account = kit.store.account(id).await.unwrap().unwrap();
        assert_eq!(account.verification, verification);
        assert!(
            !kit.store
                .set_verification(nobody, verification)
                .await
                .unwrap()
        );
    }
}

async fn every_change_raises_the_revision(kit: &Kit) {
    let mut last = kit.store.revision().await.unwrap();
    let id = kit.account(0).await;
    let mut raised = async |what: &str| {
        let now = kit.store.revision().await.unwrap();
        assert!(now > last, "{what}");
        last = now;
    };
    raised("create_account").await;
    kit.store
        .set_account_status(id, AccountStatus::Restricted)
        .await
        .unwrap();
    raised("set_account_status").await;
    kit.store
        .set_verification(id, Verification::Verified)
        .await
        .unwrap();
    raised("set_verification").await;
    kit.store
        .add_token(token(id, "t1", NOW), [1; 32])
        .await
        .unwrap();
    raised("add_token").await;
    kit.store.revoke_token("t1", NOW).await.unwrap();
    raised("revoke_token").await;
    kit.store.add_sender(id, sender("Acme"), NOW).await.unwrap();
    raised("add_sender").await;
    kit.store
        .set_sender_status(id, "Acme", SenderStatus::Suspended, None, NOW)
        .await
        .unwrap();
    raised("set_sender_status").await;
}

fn token(account: AccountId, id: &str, created_at_ms: i64) -> TokenInfo {
    TokenInfo {
        id: id.to_owned(),
        account,
        name: "web shop".to_owned(),
        terms: Terms::default(),
        created_at_ms,
        revoked_at_ms: None,
    }
}

async fn a_token_opens_its_account_until_it_is_revoked(kit: &Kit) {
    let (id, hash) = (kit.account(0).await, [7; 32]);
    assert_eq!(kit.store.token_account(&hash).await.unwrap(), None);
    kit.store
        .add_token(token(id, "t", NOW), hash)
        .await
        .unwrap();
    assert_eq!(
        kit.store.token_account(&hash).await.unwrap(),
        Some((id, Terms::default()))
    );
    assert!(kit.store.revoke_token("t", NOW + 1).await.unwrap());
    assert_eq!(kit.store.token_account(&hash).await.unwrap(), None);
    assert!(
        !kit.store.revoke_token("t", NOW + 2).await.unwrap(),
        "once is enough"
    );
    assert!(!kit.store.revoke_token("unknown", NOW).await.unwrap());
    let listed = kit.store.tokens(None).await.unwrap();
    assert_eq!(listed[0].revoked_at_ms, Some(NOW + 1));
    let nobody = AccountId(fresh());
    assert!(
        kit.store
            .add_token(token(nobody, "n", NOW), [8; 32])
            .await
            .is_err()
    );
}

async fn a_token_keeps_its_terms(kit: &Kit) {
    let (id, hash) = (kit.account(0).await, [9; 32]);
    let terms = Terms {
        expires_at_ms: Some(NOW + 1),
        allowed: "203.0.113.0/24,2001:db8::/32".parse().unwrap(),
    };
    let token = TokenInfo {
        terms: terms.clone(),
        ..token(id, "t", NOW)
    };
    kit.store.add_token(token.clone(), hash).await.unwrap();
    assert_eq!(
        kit.store.token_account(&hash).await.unwrap(),
        Some((id, terms))
    );
    assert_eq!(kit.store.tokens(Some(id)).await.unwrap(), [token]);
}

async fn tokens_are_listed_oldest_first(kit: &Kit) {
    let (one, two) = (kit.account(0).await, kit.account(0).await);
    let tokens = [
        token(two, "b", NOW + 1),
        token(one, "c", NOW + 2),
        token(one, "a", NOW + 3),
    ];
    for (count, token) in tokens.iter().rev().enumerate() {
        let hash = [u8::try_from(count).unwrap(); 32];
        kit.store.add_token(token.clone(), hash).await.unwrap();
    }
    assert_eq!(kit.store.tokens(None).await.unwrap(), tokens);
    assert_eq!(kit.store.tokens(Some(one)).await.unwrap(), tokens[1..]);
}

fn sender(name: &str) -> SenderId {
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
    assert!(kit.store.add_sender(id, sender("Acme"), NOW).await.unwrap());
    assert!(!kit.store.add_sender(id, sender("ACME"), NOW).await.unwrap());
    assert!(
        kit.store
            .add_sender(other, sender("ACME"), NOW)
            .await
            .unwrap()
    );
    assert!(
        kit.store
            .add_sender(id, sender("Abc"), NOW + 1)
            .await
            .unwrap()
    );
    let names = |senders: Vec<(AccountId, SenderId)>| -> Vec<String> {
        senders.into_iter().map(|(_, sender)| sender.name).collect()
    };
    assert_eq!(
        names(kit.store.senders(Some(id)).await.unwrap()),
        ["Acme", "Abc"]
    );
    assert_eq!(kit.store.senders(None).await.unwrap().len(), 3);
}

async fn a_sender_id_keeps_its_approval_and_its_rejection(kit: &Kit) {
    let id = kit.account(0).await;
    let approved = SenderId {
        status: SenderStatus::Approved,
        approved_at_ms: Some(NOW),
        ..sender("Demo")
    };
    kit.store
        .add_sender(id, approved.clone(), NOW)
        .await
        .unwrap();
    assert_eq!(kit.store.senders(Some(id)).await.unwrap(), [(id, approved)]);
    let set = async |status, reason: Option<&str>, at_ms| {
        assert!(
            kit.store
                .set_sender_status(id, "DEMO", status, reason, at_ms)
                .await
                .unwrap()
        );
        let (_, sender) = kit.store.senders(Some(id)).await.unwrap().pop().unwrap();
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
        .set_sender_status(id, "Nix", SenderStatus::Approved, None, NOW);
    assert!(!unknown.await.unwrap());
}
