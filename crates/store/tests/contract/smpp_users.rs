//! SMPP users.

use domain::smpp_user::{Dialect, MAX_USERS, SmppLimits, SmppUser};
use domain::{AccountId, Gateway, NodeId};
use store::Outcome;
use storekit::{Kit, NOW, by, fresh, twins};

twins!(
    a_user_is_found_with_its_hash_until_it_is_revoked,
    limits_are_set_of_a_user_that_is_not_revoked,
    users_are_listed_by_account_newest_first,
    each_change_of_a_user_raises_the_revision_for_its_account,
    requests_at_the_same_time_keep_to_the_maximum_of_users,
    the_connections_of_a_node_that_is_gone_do_not_count,
);

fn user(account: AccountId, system_id: &str, created_at_ms: i64) -> SmppUser {
    SmppUser {
        system_id: system_id.to_owned(),
        account,
        sandbox: true,
        limits: SmppLimits {
            binds: 1,
            per_second: 2,
            window: 3,
        },
        allowed: "203.0.113.0/24,2001:db8::/32".parse().unwrap(),
        gateway: Some(Gateway::DirectCorporate),
        dialect: Dialect {
            vendor_statuses: true,
            latin_1: false,
        },
        created_at_ms,
        revoked_at_ms: None,
    }
}

async fn add(kit: &Kit, user: &SmppUser) {
    let users = kit.store.smpp_users();
    let added = users.add(user.clone(), "hash".to_owned(), by(NOW));
    added.await.unwrap();
}

async fn a_user_is_found_with_its_hash_until_it_is_revoked(kit: &Kit) {
    let id = kit.account(0).await;
    assert_eq!(kit.store.smpp_users().find("og").await.unwrap(), None);
    let one = user(id, "og", NOW);
    add(kit, &one).await;
    let found = kit.store.smpp_users().find("og").await.unwrap();
    assert_eq!(found, Some((one.clone(), "hash".to_owned())));
    assert_eq!(kit.store.smpp_users().find("OG").await.unwrap(), None);
    let plain = SmppUser {
        sandbox: false,
        gateway: None,
        allowed: "".parse().unwrap(),
        ..user(id, "plain", NOW)
    };
    add(kit, &plain).await;
    let found = kit.store.smpp_users().find("plain").await.unwrap();
    assert_eq!(found.map(|(user, _)| user), Some(plain));

    let revoke = async |id, at| kit.store.smpp_users().revoke(id, by(at)).await.unwrap();
    assert!(revoke("og", NOW + 1).await);
    assert!(!revoke("og", NOW + 2).await, "once is enough");
    assert!(!revoke("unknown", NOW).await);
    let (found, _) = kit.store.smpp_users().find("og").await.unwrap().unwrap();
    assert_eq!(found.revoked_at_ms, Some(NOW + 1));
    let nobody = user(AccountId(fresh()), "nobody", NOW);
    let users = kit.store.smpp_users();
    assert!(users.add(nobody, String::new(), by(NOW)).await.is_err());
    let users = kit.store.smpp_users();
    assert!(users.add(one, String::new(), by(NOW)).await.is_err());
}

async fn limits_are_set_of_a_user_that_is_not_revoked(kit: &Kit) {
    let id = kit.account(0).await;
    add(kit, &user(id, "og", NOW)).await;
    let limits = SmppLimits {
        binds: 7,
        per_second: 8,
        window: 9,
    };
    let set = async |id| {
        let users = kit.store.smpp_users();
        users.limit(id, limits, by(NOW)).await.unwrap()
    };
    assert!(set("og").await);
    let (found, _) = kit.store.smpp_users().find("og").await.unwrap().unwrap();
    assert_eq!(found.limits, limits);
    assert!(!set("unknown").await);
    assert!(kit.store.smpp_users().revoke("og", by(NOW)).await.unwrap());
    assert!(!set("og").await);
}

async fn users_are_listed_by_account_newest_first(kit: &Kit) {
    let (one, two) = (kit.account(0).await, kit.account(0).await);
    let (older, newer) = (one.min(two), one.max(two));
    let users = [
        user(newer, "b", NOW + 1),
        user(older, "c", NOW + 3),
        user(older, "a", NOW + 2),
    ];
    for user in users.iter().rev() {
        add(kit, user).await;
    }
    let listed = async |account, behind, limit| {
        let list = kit.store.smpp_users().list(account, behind, limit);
        list.await.unwrap()
    };
    assert_eq!(listed(None, None, 9).await, users);
    assert_eq!(listed(Some(older), None, 9).await, users[1..]);
    let behind = Some(store::ListRow::key(&users[1]));
    assert_eq!(listed(None, behind, 9).await, users[2..]);
    assert_eq!(listed(None, None, 1).await, users[..1]);
}

async fn each_change_of_a_user_raises_the_revision_for_its_account(kit: &Kit) {
    let id = kit.account(0).await;
    let mut then = kit.store.revisions().current().await.unwrap();
    let mut raised = async |what| {
        let now = kit.store.revisions().current().await.unwrap();
        assert!(now.is_another_than(then), "{what}");
        let changed = kit.store.revisions().changed_accounts(then, now).await;
        assert_eq!(changed.unwrap(), Some([id].into()), "{what}");
        then = now;
    };
    add(kit, &user(id, "og", NOW)).await;
    raised("add").await;
    let limits = SmppLimits::default();
    let users = kit.store.smpp_users();
    assert!(users.limit("og", limits, by(NOW)).await.unwrap());
    raised("limit").await;
    assert!(kit.store.smpp_users().revoke("og", by(NOW)).await.unwrap());
    raised("revoke").await;
}

async fn requests_at_the_same_time_keep_to_the_maximum_of_users(kit: &Kit) {
    let id = kit.account(0).await;
    for number in 1..MAX_USERS {
        add(kit, &user(id, &format!("og{number}"), NOW)).await;
    }
    let request = async |system_id: &str| {
        let users = kit.store.smpp_users();
        let new = user(id, system_id, NOW);
        let made = users.request(new, "hash".to_owned(), None, by(NOW)).await;
        matches!(made.unwrap(), Outcome::Made(_))
    };
    let (one, other) = tokio::join!(request("one"), request("other"));
    assert_ne!(one, other, "there is room for one more");
    let users = kit.store.smpp_users();
    assert!(users.revoke("og1", by(NOW)).await.unwrap());
    let then = kit.store.revisions().current().await.unwrap();
    assert!(request("third").await, "a revoked one does not count");
    let now = kit.store.revisions().current().await.unwrap();
    let changed = kit.store.revisions().changed_accounts(then, now).await;
    assert_eq!(changed.unwrap(), Some([id].into()));
    // A refused request changes nothing that is cached.
    assert!(!request("fourth").await);
    let given_up = users.give_up(id, "og1", None, by(NOW)).await.unwrap();
    assert!(matches!(given_up, Outcome::Refused(_)), "{given_up:?}");
    let after = kit.store.revisions().current().await.unwrap();
    assert!(!after.is_another_than(now));
}

async fn the_connections_of_a_node_that_is_gone_do_not_count(kit: &Kit) {
    let (owner, other) = (kit.account(0).await, kit.account(0).await);
    add(kit, &user(owner, "og", NOW)).await;
    add(kit, &user(other, "idle", NOW)).await;
    let users = kit.store.smpp_users();
    let (here, gone) = (NodeId(1), NodeId(2));
    kit.store.nodes().beat(here, "here").await.unwrap();
    for (node, connections) in [(here, 2), (gone, 3)] {
        let bound = vec![("og".to_owned(), connections)];
        users.publish(node, bound).await.unwrap();
    }
    for account in [None, Some(owner)] {
        let bound = users.bound(account).await.unwrap();
        assert_eq!(bound, [("og".to_owned(), 2)].into());
    }
    assert_eq!(users.bound(Some(other)).await.unwrap(), [].into());
    let rows = "select count(*) from smpp_binds";
    assert_eq!(kit.numbers(rows).await, [2]);
    // The next publication of any node removes them.
    users.publish(here, Vec::new()).await.unwrap();
    assert_eq!(kit.numbers(rows).await, [0]);
}
