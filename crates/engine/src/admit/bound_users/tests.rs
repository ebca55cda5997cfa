//! Tests of the users that are bound to this node.

use super::*;
use crate::context::clock::Clock;
use crate::operators::{Actor, NewSmppUser, Operations};
use database::Target;

const NOW: i64 = 1_795_000_000_000;

#[tokio::test]
async fn a_user_is_read_after_the_reading_before_it() {
    let directory = tempfile::tempdir().unwrap();
    let target = Target::Directory(directory.path().to_owned());
    let store = Store::open(&target).await.unwrap();
    let operations = Operations::new(store.clone(), Actor::new(Clock::manual(NOW), "cli:ada"));
    let account = operations.accounts().create("Shop", "shop@shop.example");
    let id = account.await.unwrap().id;
    let created = operations.smpp_users().create(id, NewSmppUser::default());
    let (user, _) = created.await.unwrap();
    let callers = Arc::new(Callers::new(store.clone(), 10).await.unwrap());
    let users = BoundUsers::new(store, callers);
    let bound = users.enter(&user).unwrap();
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
