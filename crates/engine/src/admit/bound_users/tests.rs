//! Tests of the users that are bound to this node.

use super::*;
use crate::context::clock::Clock;
use crate::operators::{Actor, NewSmppUser, Operations};
use database::Target;
use domain::AccountStatus;
use domain::resale::SubAccountRequest;
use domain::token::TokenTerms;
use std::path::Path;
use store::{By, Outcome, TokenInfo};

const NOW: i64 = 1_795_000_000_000;

/// Returns the users of an installation with one.
async fn installation(directory: &Path) -> (Operations, BoundUsers, SmppUser) {
    let target = Target::Directory(directory.to_owned());
    let store = Store::open(&target).await.unwrap();
    let operations = Operations::new(store.clone(), Actor::new(Clock::manual(NOW), "cli:ada"));
    let account = operations.accounts().create("Shop", "shop@shop.example");
    let id = account.await.unwrap().id;
    let created = operations.smpp_users().create(id, NewSmppUser::default());
    let (user, _) = created.await.unwrap();
    let callers = Arc::new(Callers::new(store.clone(), 10).await.unwrap());
    (operations, BoundUsers::new(store, callers), user)
}

#[tokio::test]
async fn a_user_that_binds_again_has_no_new_allowance() {
    let directory = tempfile::tempdir().unwrap();
    let (_, users, user) = installation(directory.path()).await;
    let bound = users.enter(&user, 0).unwrap();
    assert!(bound.admit_submit(1, 1, 0) && bound.admit_other(1, 0));
    users.leave(&bound);
    for (steady_ms, is_admitted) in [(999, false), (1_000, true)] {
        let bound = users.enter(&user, steady_ms).unwrap();
        assert_eq!(bound.admit_submit(1, 1, steady_ms), is_admitted);
        assert_eq!(bound.admit_other(1, steady_ms), is_admitted);
        users.leave(&bound);
    }
    assert_eq!(users.left.lock().len(), 1);
    assert!(users.pace_before("another", 2_000).is_idle(2_000));
    assert!(users.left.lock().is_empty());
}

#[tokio::test]
async fn a_user_is_read_after_the_reading_before_it() {
    let directory = tempfile::tempdir().unwrap();
    let (operations, users, user) = installation(directory.path()).await;
    let bound = users.enter(&user, 0).unwrap();
    users.refresh(&bound).await.unwrap();
    assert!(bound.current().is_some());

    let turn = bound.reading.lock().await;
    let revoked = async {
        let users = operations.smpp_users();
        users.revoke(&user.system_id).await.unwrap();
        drop(turn);
    };
    let (read, ()) = tokio::join!(users.refresh(&bound), revoked);
    read.unwrap();
    assert!(bound.current().is_none());
}

/// Makes a sub-account of an account.
async fn sub_account(store: &Store, parent: AccountId) -> AccountId {
    let by = By {
        actor: "cli:ada".into(),
        at_ms: NOW,
    };
    let token = TokenInfo {
        id: "tok_sub".to_owned(),
        account: AccountId::of_sub(parent, NOW, 0),
        name: "first token".to_owned(),
        terms: TokenTerms::default(),
        created_at_ms: NOW,
        revoked_at_ms: None,
    };
    let request = SubAccountRequest {
        name: "Sub".to_owned(),
        email: "sub@shop.example".to_owned(),
    };
    let accounts = store.sub_accounts();
    let made = accounts.request((parent, request), (token, [7; 32]), None, by);
    match made.await.unwrap() {
        Outcome::Made(made) => made.account.id,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_user_of_a_sub_account_follows_the_status_of_the_parent() {
    let directory = tempfile::tempdir().unwrap();
    let (operations, users, of_parent) = installation(directory.path()).await;
    let parent = of_parent.account;
    let sub = sub_account(&users.store, parent).await;
    let created = operations.smpp_users().create(sub, NewSmppUser::default());
    let (user, _) = created.await.unwrap();
    let bound = users.enter(&user, 0).unwrap();
    users.refresh(&bound).await.unwrap();
    for status in [AccountStatus::Restricted, AccountStatus::Active] {
        let then = users.store.revisions().current().await.unwrap();
        let accounts = operations.accounts();
        accounts.set_status(parent, status, None).await.unwrap();
        let now = users.store.revisions().current().await.unwrap();
        users.look(then, now).await.unwrap();
        let current = bound.current().unwrap();
        let resale = current.caller.customer.resale.as_ref().unwrap();
        assert_eq!(resale.parent_status, status);
    }
}
