//! Requests of customers for sender IDs, and their idempotency keys.

use domain::sender_request::{MAX_PENDING_SENDERS, SenderRequest};
use domain::{AccountId, Environment, ObjectRefusal, Refusal, SenderId, SenderStatus};
use std::sync::Arc;
use store::{KeyedChange, KeyedRequest, Outcome, StoredAnswer};
use storekit::{DAY_MS, Kit, NOW, by, key, twins};
use tokio::task::JoinSet;

twins!(
    a_requested_sender_id_is_pending_and_audited,
    a_sender_id_that_the_account_has_stays_as_it_is,
    a_rejected_sender_id_is_pending_again_with_its_new_purpose,
    the_sandbox_registers_nothing,
    at_most_20_requests_are_pending,
    one_key_requests_once,
    a_refused_request_leaves_its_key_free,
    requests_at_once_with_one_key_are_answered_alike,
    the_oldest_request_of_all_accounts_waits_first,
);

const LIVE: Environment = Environment::Live;

fn of(name: &str, purpose: &str) -> SenderRequest {
    SenderRequest {
        name: name.to_owned(),
        purpose: purpose.to_owned(),
    }
}

fn keyed(name: &str, request: u8) -> KeyedChange<SenderId> {
    KeyedChange {
        request: KeyedRequest {
            key: key(name),
            request: [request; 16],
            window_ms: DAY_MS,
        },
        answer: Arc::new(|sender: &SenderId| StoredAnswer {
            status: 200,
            body: format!("{} {}", sender.name, sender.purpose),
            message: None,
        }),
    }
}

type Requested = Outcome<SenderId>;

async fn request(
    kit: &Kit,
    place: (AccountId, Environment),
    of: SenderRequest,
    key: Option<KeyedChange<SenderId>>,
) -> Requested {
    let requested = kit.store.senders().request(place, of, key, by(NOW));
    requested.await.unwrap()
}

fn first(requested: Requested) -> SenderId {
    match requested {
        Outcome::Made(sender) => sender,
        other => panic!("{other:?}"),
    }
}

fn replay(body: &str) -> Requested {
    Outcome::Replay(StoredAnswer {
        status: 200,
        body: body.to_owned(),
        message: None,
    })
}

async fn a_requested_sender_id_is_pending_and_audited(kit: &Kit) {
    let id = kit.account(0).await;
    let before = kit.store.revisions().current().await.unwrap();
    let sender = first(request(kit, (id, LIVE), of("Acme", "News"), None).await);
    assert_eq!(sender.status, SenderStatus::Pending);
    assert_eq!(kit.store.senders().of(id).await.unwrap(), [sender]);
    let audit = kit.store.audit().list(Some(id), None, 1).await.unwrap();
    assert_eq!(
        (&*audit[0].verb, &*audit[0].object),
        ("sender-id.request", "Acme")
    );
    let now = kit.store.revisions().current().await.unwrap();
    let changed = kit.store.revisions().changed_accounts(before, now).await;
    assert_eq!(changed.unwrap(), Some([id].into()));
}

async fn a_sender_id_that_the_account_has_stays_as_it_is(kit: &Kit) {
    let id = kit.account(0).await;
    let pending = first(request(kit, (id, LIVE), of("Acme", "News"), None).await);
    let before = kit.store.revisions().current().await.unwrap();
    let again = first(request(kit, (id, LIVE), of("ACME", "Orders"), None).await);
    assert_eq!(again, pending);
    assert_eq!(kit.store.revisions().current().await.unwrap(), before);
    let other = kit.account(0).await;
    let own = first(request(kit, (other, LIVE), of("ACME", "Orders"), None).await);
    assert_eq!(own.name, "ACME");
}

async fn a_rejected_sender_id_is_pending_again_with_its_new_purpose(kit: &Kit) {
    let id = kit.account(0).await;
    first(request(kit, (id, LIVE), of("Acme", "News"), None).await);
    let senders = kit.store.senders();
    let reason = Some("Unclear");
    let reject = senders.set_status(id, "acme", SenderStatus::Rejected, reason, by(NOW));
    assert!(reject.await.unwrap());
    let again = first(request(kit, (id, LIVE), of("Acme", "Orders"), None).await);
    assert_eq!(
        (again.status, &*again.purpose, &again.rejection_reason),
        (SenderStatus::Pending, "Orders", &None)
    );
    assert_eq!(kit.store.senders().of(id).await.unwrap(), [again]);
}

async fn the_sandbox_registers_nothing(kit: &Kit) {
    let id = kit.account(0).await;
    let place = (id, Environment::Sandbox);
    let sender = first(request(kit, place, of("Acme", "News"), Some(keyed("one", 1))).await);
    assert_eq!(sender.status, SenderStatus::Pending);
    assert!(kit.store.senders().of(id).await.unwrap().is_empty());
    let again = request(kit, place, of("Acme", "News"), Some(keyed("one", 1))).await;
    assert_eq!(again, replay("Acme News"));
    // The live environment has keys of its own.
    let live = request(kit, (id, LIVE), of("Acme", "News"), Some(keyed("one", 1))).await;
    assert_eq!(first(live).status, SenderStatus::Pending);
}

async fn at_most_20_requests_are_pending(kit: &Kit) {
    let id = kit.account(0).await;
    for number in 0..MAX_PENDING_SENDERS {
        first(request(kit, (id, LIVE), of(&format!("Shop {number}"), "News"), None).await);
    }
    let refused = request(kit, (id, LIVE), of("Acme", "News"), None).await;
    assert_eq!(
        refused,
        Outcome::Refused(Refusal::Object(ObjectRefusal::SendersPending { limit: 20 }))
    );
}

async fn one_key_requests_once(kit: &Kit) {
    let id = kit.account(0).await;
    let ask = async |name: &str, meaning| {
        let key = Some(keyed("one", meaning));
        request(kit, (id, LIVE), of(name, "News"), key).await
    };
    assert_eq!(first(ask("Acme", 1).await).name, "Acme");
    assert_eq!(ask("Acme", 1).await, replay("Acme News"));
    assert_eq!(ask("Other", 2).await, Outcome::Refused(Refusal::KeyUsed));
    assert_eq!(kit.store.senders().of(id).await.unwrap().len(), 1);
}

async fn a_refused_request_leaves_its_key_free(kit: &Kit) {
    let id = kit.account(0).await;
    for number in 0..MAX_PENDING_SENDERS {
        first(request(kit, (id, LIVE), of(&format!("Shop {number}"), "News"), None).await);
    }
    let ask = async || {
        let key = Some(keyed("one", 1));
        request(kit, (id, LIVE), of("Acme", "News"), key).await
    };
    assert_eq!(
        ask().await,
        Outcome::Refused(Refusal::Object(ObjectRefusal::SendersPending { limit: 20 }))
    );
    let senders = kit.store.senders();
    let approve = senders.set_status(id, "Shop 0", SenderStatus::Approved, None, by(NOW));
    assert!(approve.await.unwrap());
    assert_eq!(first(ask().await).name, "Acme");
}

/// On PostgreSQL each request may be another node's.
async fn requests_at_once_with_one_key_are_answered_alike(kit: &Kit) {
    let id = kit.account(0).await;
    let mut asked = JoinSet::new();
    for number in 0..8 {
        let store = kit.store.clone();
        asked.spawn(async move {
            let senders = store.senders();
            let of = of("Acme", "News");
            let requested =
                senders.request((id, LIVE), of, Some(keyed("one", 1)), by(NOW + number));
            requested.await.unwrap()
        });
    }
    let mut firsts = 0;
    while let Some(requested) = asked.join_next().await {
        match requested.unwrap() {
            Outcome::Made(_) => firsts += 1,
            other => assert_eq!(other, replay("Acme News")),
        }
    }
    assert_eq!(firsts, 1);
}

async fn the_oldest_request_of_all_accounts_waits_first(kit: &Kit) {
    let (ada, bola) = (kit.account(0).await, kit.account(0).await);
    let senders = || kit.store.senders();
    for (place, name, at_ms) in [(ada, "Late", 2), (bola, "Early", 1), (ada, "Done", 0)] {
        let asked = of(name, "News");
        let requested = senders().request((place, LIVE), asked, None, by(NOW + at_ms));
        first(requested.await.unwrap());
    }
    let approved = senders().set_status(ada, "Done", SenderStatus::Approved, None, by(NOW));
    assert!(approved.await.unwrap());
    let waiting = senders().pending(10).await.unwrap();
    let names: Vec<_> = waiting.iter().map(|one| one.sender.name.as_str()).collect();
    assert_eq!(names, ["Early", "Late"]);
    assert_eq!(senders().pending(1).await.unwrap().len(), 1);
}
