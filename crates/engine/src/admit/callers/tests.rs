//! Tests of the cache of callers. A cached caller is the same `Arc` as before, and a reloaded one
//! is not.

use super::*;
use crate::context::clock::Clock;
use crate::operators::{Actor, Operations};
use database::Target;
use domain::{AccountStatus, Component, Money};
use std::net::Ipv4Addr;
use tempfile::TempDir;

const NOW: i64 = 1_795_000_000_000;

struct Kit {
    callers: Callers,
    operations: Operations,
    _directory: TempDir,
}

impl Kit {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let target = Target::Directory(directory.path().to_owned());
        let store = Store::open(&target).await.unwrap();
        Self {
            operations: Operations::new(store.clone(), Actor::new(Clock::manual(NOW), "cli:ada")),
            callers: Callers::new(store, 10).await.unwrap(),
            _directory: directory,
        }
    }

    /// Creates an account with a token. Returns the id of the account, the id of the token and its
    /// text.
    async fn account(&self) -> (AccountId, String, String) {
        let operations = &self.operations;
        let account = operations.accounts().create("Shop", "shop@shop.example");
        let id = account.await.unwrap().id;
        let token = operations.tokens().create(id, "web", TokenTerms::default());
        let (info, text) = token.await.unwrap();
        (id, info.id, text)
    }

    async fn caller(&self, token: &str) -> Result<Arc<Caller>, Error> {
        let client = Ipv4Addr::LOCALHOST.into();
        self.callers.caller(Some(token), client, NOW).await
    }

    /// Returns `true` if the account of the token was loaded again since `before`.
    async fn is_read_again(&self, token: &str, before: &Arc<Caller>) -> bool {
        !Arc::ptr_eq(before, &self.caller(token).await.unwrap())
    }
}

#[tokio::test]
async fn a_change_of_one_account_keeps_the_others_cached() {
    let kit = Kit::start().await;
    let (one, _, token) = kit.account().await;
    let (_, others_token_id, others) = kit.account().await;
    kit.callers.look().await.unwrap();
    let (before, other) = (
        kit.caller(&token).await.unwrap(),
        kit.caller(&others).await.unwrap(),
    );
    let operations = &kit.operations;
    let restricted = AccountStatus::Restricted;
    operations
        .accounts()
        .set_status(one, restricted, None)
        .await
        .unwrap();
    kit.callers.look().await.unwrap();
    assert!(kit.is_read_again(&token, &before).await);
    assert_eq!(
        kit.caller(&token).await.unwrap().customer.account.status,
        restricted
    );
    assert!(!kit.is_read_again(&others, &other).await);
    // A new phrase changes nothing that is cached of a customer.
    operations.content().add("free money").await.unwrap();
    kit.callers.look().await.unwrap();
    assert!(!kit.is_read_again(&others, &other).await);
    operations.tokens().revoke(&others_token_id).await.unwrap();
    kit.callers.look().await.unwrap();
    assert!(kit.caller(&others).await.is_err());
}

#[tokio::test]
async fn an_unknown_token_is_looked_up_again_after_any_change() {
    let kit = Kit::start().await;
    let (_, _, token) = kit.account().await;
    // The token is cached as unknown, as if it had been used before it was created.
    let none = (token::hash(&token), None);
    kit.callers.known().tokens.extend([none]);
    assert!(kit.caller(&token).await.is_err());
    kit.callers.look().await.unwrap();
    kit.caller(&token).await.unwrap();
}

#[tokio::test]
async fn a_credit_notifies_no_reader_and_is_read_once() {
    let kit = Kit::start().await;
    let (id, _, token) = kit.account().await;
    kit.callers.look().await.unwrap();
    let before = kit.caller(&token).await.unwrap();
    let mut revision = kit.callers.revision();
    let seen = *revision.borrow_and_update();
    let operations = &kit.operations;
    let credit =
        operations
            .wallets()
            .credit(id, Money::from_naira(1), "transfer 1", Component::SmsWallet);
    credit.await.unwrap();
    kit.callers.look().await.unwrap();
    assert!(!revision.has_changed().unwrap());
    assert!(!kit.is_read_again(&token, &before).await);
    let now = *revision.borrow();
    assert_eq!((now.number, now.audited), (seen.number, seen.audited + 1));
}

#[tokio::test]
async fn the_last_use_of_a_token_is_stored() {
    let kit = Kit::start().await;
    let (account, id, token) = kit.account().await;
    kit.account().await;
    assert_eq!(kit.callers.uses_since(0), []);
    kit.caller(&token).await.unwrap();
    let uses = kit.callers.uses_since(NOW - 1);
    assert_eq!(uses, [(id.clone(), NOW)]);
    assert_eq!(kit.callers.uses_since(NOW), []);
    kit.callers.store.tokens().note_uses(uses).await.unwrap();
    let stored = kit.operations.tokens().uses(account).await.unwrap();
    assert_eq!(stored.get(&id), Some(&NOW));
}
