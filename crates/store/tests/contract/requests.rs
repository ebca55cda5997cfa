//! The refused requests of accounts.

use domain::AccountId;
use store::{ListRow, RefusedRequest};
use storekit::{Kit, NOW, twins};

twins!(
    requests_are_listed_by_account_newest_first,
    old_requests_are_removed,
);

fn refused(account: AccountId, at_ms: i64, id: &str) -> RefusedRequest {
    RefusedRequest {
        account,
        at_ms,
        request_id: id.to_owned(),
        token_id: "tok_1".to_owned(),
        method: "POST".to_owned(),
        route: "/api/v2/sms".to_owned(),
        status: 422,
        code: "API-2001".to_owned(),
        message: "The text is empty.".to_owned(),
        took_ms: 3,
    }
}

async fn ids(kit: &Kit, account: AccountId) -> Vec<String> {
    let all = kit.store.refused_requests().list(account, None, 99).await;
    all.unwrap().into_iter().map(|one| one.request_id).collect()
}

async fn requests_are_listed_by_account_newest_first(kit: &Kit) {
    let (one, two) = (AccountId(1), AccountId(2));
    let log = kit.store.refused_requests();
    let all = [(one, 1, "a"), (two, 1, "b"), (one, 2, "c"), (one, 2, "d")];
    let all = all.map(|(account, after, id)| refused(account, NOW + after, id));
    log.keep(all.to_vec()).await.unwrap();
    // The same id at the same time is the same request.
    log.keep(vec![all[0].clone()]).await.unwrap();
    assert_eq!(ids(kit, one).await, ["d", "c", "a"]);
    assert_eq!(ids(kit, two).await, ["b"]);
    let first = log.list(one, None, 2).await.unwrap();
    let behind = first.last().map(ListRow::key);
    assert_eq!(log.list(one, behind, 2).await.unwrap(), [all[0].clone()]);
    let found = log.find(one, NOW + 1, "a").await.unwrap();
    assert_eq!(found.as_ref(), Some(&all[0]));
    assert_eq!(log.find(two, NOW + 1, "a").await.unwrap(), None);
}

async fn old_requests_are_removed(kit: &Kit) {
    let one = AccountId(1);
    let log = kit.store.refused_requests();
    let all = [("old", NOW), ("new", NOW + 1)].map(|(id, at_ms)| refused(one, at_ms, id));
    log.keep(all.to_vec()).await.unwrap();
    assert!(!log.remove(NOW + 1).await.unwrap());
    assert_eq!(ids(kit, one).await, ["new"]);
}
