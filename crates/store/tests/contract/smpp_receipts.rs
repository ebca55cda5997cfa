//! The receipts that wait for SMPP users.

use database::{Server, Target, TestConnection};
use domain::smpp_receipt::{KEPT_MS, RecipientEnd, WantedReceipts};
use domain::smpp_user::{Dialect, SmppLimits, SmppUser};
use domain::{AccountId, Bucket, DeliveryStatus, NodeId};
use store::{AttemptOutcome, Callback, CallbackEvent, Finished, MessageKey, OriginKey, Requested};
use store::{Receipt, StopKind, Store};
use storekit::{
    Kit, NODE, NOW, Sending, administer, by, delivered, fresh, message_key, report, sending, twins,
    undelivered,
};

twins!(
    an_end_has_a_receipt_where_the_user_wants_one,
    a_cancelled_recipient_has_a_receipt,
    a_receipt_is_claimed_with_sender_and_text,
    callbacks_and_receipts_are_claimed_apart,
    receipts_of_a_message_are_claimed_one_after_the_other,
    a_receipt_without_an_answer_is_claimed_alone_and_first,
    a_claim_of_a_lost_node_is_free_again,
    receipts_that_wait_too_long_are_dead_and_replayed,
    a_receipt_that_is_being_delivered_is_not_ended,
    waiting_receipts_are_counted_by_user,
);

const UNTIL: i64 = NOW + 30_000;
/// Receipts are due a second after the acceptance of their messages.
const DUE: i64 = NOW + 1_000;

/// An account with an SMPP user, and the place of its receipts.
async fn customer(kit: &Kit) -> (AccountId, String, OriginKey) {
    let id = kit.account(1_000).await;
    let system_id = format!("og{}", fresh());
    let user = SmppUser {
        system_id: system_id.clone(),
        account: id,
        sandbox: false,
        limits: SmppLimits::default(),
        allowed: "".parse().unwrap(),
        gateway: None,
        dialect: Dialect::default(),
        created_at_ms: NOW,
        revoked_at_ms: None,
    };
    let users = kit.store.smpp_users();
    let of = kit.store.outbox().of_user(&user);
    users.add(user, "hash".to_owned(), by(NOW)).await.unwrap();
    (id, system_id, of)
}

fn asking(account: AccountId, system_id: &str, wanted: WantedReceipts) -> Sending {
    let system_id: &'static str = system_id.to_owned().leak();
    Sending {
        receipts: Some((system_id, wanted)),
        ..sending(account)
    }
}

/// Submits a message to some recipients, and settles them.
async fn settle(kit: &Kit, sending: &Sending, fate: fn(domain::Recipient) -> Receipt) {
    let message = sending.message(&kit.store);
    kit.submit(&message).await;
    let receipts = message.draft.recipients.iter().map(|&to| fate(to));
    let (settled, _) = kit.report(report(vec![], receipts.collect())).await;
    assert!(settled.callbacks.is_empty() && !settled.more_callbacks);
}

async fn claim(kit: &Kit, of: &OriginKey, now_ms: i64, limit: usize) -> Vec<Callback> {
    let outbox = kit.store.outbox();
    let claimed = outbox.claim_in_order(of.clone(), now_ms, limit, NODE, UNTIL);
    claimed.await.unwrap()
}

async fn finish(kit: &Kit, receipts: &[Callback], finished: Finished) {
    let outcomes = receipts.iter();
    let outcomes = outcomes.map(|receipt| AttemptOutcome::new(receipt.clone(), finished));
    let finish = kit.store.outbox().finish(NODE, outcomes.collect());
    finish.await.unwrap();
}

async fn an_end_has_a_receipt_where_the_user_wants_one(kit: &Kit) {
    let (id, user, of) = customer(kit).await;
    let fates: [fn(domain::Recipient) -> Receipt; 2] = [delivered, undelivered];
    let (mut first_number, mut expected) = (1, 0);
    for (wanted, made) in [
        (WantedReceipts::All, [true, true]),
        (WantedReceipts::Failures, [false, true]),
        (WantedReceipts::Successes, [true, false]),
    ] {
        for (fate, made) in fates.into_iter().zip(made) {
            let sending = Sending {
                first_number,
                ..asking(id, &user, wanted)
            };
            first_number += 1;
            let message = sending.message(&kit.store);
            kit.submit(&message).await;
            let receipt = fate(message.draft.recipients[0]);
            let (settled, _) = kit.report(report(vec![], vec![receipt])).await;
            assert_eq!(settled.receipts_to.contains(&user), made, "{wanted:?}");
            expected += i64::from(made);
            assert_eq!(kit.store.outbox().waiting(&of).await.unwrap(), expected);
        }
    }
}

async fn a_cancelled_recipient_has_a_receipt(kit: &Kit) {
    let (id, user, of) = customer(kit).await;
    let message = asking(id, &user, WantedReceipts::Failures).message(&kit.store);
    kit.accept(&message).await;
    let changes = kit.store.changes();
    let key: MessageKey = message_key(&message);
    let requested = changes.request(key, StopKind::Cancel, NOW, None);
    let Requested::Stopping(stop) = requested.await.unwrap().unwrap().unwrap() else {
        panic!("nothing is cancelled");
    };
    let done = kit.store.changes().step(&stop, NOW).await.unwrap();
    assert!(done.settled.receipts_to.contains(&user));
    let receipts = claim(kit, &of, DUE, 10).await;
    let [receipt] = &receipts[..] else {
        panic!("{receipts:?}");
    };
    assert_eq!(receipt.event.status(), Some("cancelled"));
}

async fn a_receipt_is_claimed_with_sender_and_text(kit: &Kit) {
    let (id, user, of) = customer(kit).await;
    settle(kit, &asking(id, &user, WantedReceipts::All), delivered).await;
    assert!(claim(kit, &of, DUE - 1, 10).await.is_empty(), "too early");
    let receipts = claim(kit, &of, DUE, 10).await;
    let CallbackEvent::Receipt(receipt) = &receipts[0].event else {
        panic!("{receipts:?}");
    };
    assert_eq!(receipt.sender, storekit::SENDER);
    assert_eq!(receipt.quoted, "Your order is ready");
    let end = RecipientEnd::new(DeliveryStatus::Delivered, NOW, None);
    assert_eq!(receipt.end, end);
    assert!(claim(kit, &of, DUE, 10).await.is_empty(), "claimed once");
    finish(kit, &receipts, Finished::Done).await;
    assert_eq!(kit.store.outbox().waiting(&of).await.unwrap(), 0);
}

async fn callbacks_and_receipts_are_claimed_apart(kit: &Kit) {
    let (id, user, of) = customer(kit).await;
    settle(kit, &asking(id, &user, WantedReceipts::All), delivered).await;
    let outbox = kit.store.outbox();
    let round = outbox.due_origins(DUE, None, 1_000).await.unwrap();
    let destinations = round.found.iter().map(|(.., origin)| origin);
    assert!(destinations.into_iter().all(|origin| *origin != of.3));
    assert_eq!(claim(kit, &of, DUE, 10).await.len(), 1);
}

async fn receipts_of_a_message_are_claimed_one_after_the_other(kit: &Kit) {
    let (id, user, of) = customer(kit).await;
    let two = Sending {
        recipients: 2,
        ..asking(id, &user, WantedReceipts::All)
    };
    settle(kit, &two, undelivered).await;
    // A recipient has two ends where a late delivery replaces an expiry.
    kit.run(&format!(
        "insert into outbox (bucket, state, account_id, sandbox, destination, due_at_ms, event_id, kind, subject,
             recipient, payload, attempts, claimed_by, claimed_until_ms)
         select bucket, state, account_id, sandbox, destination, due_at_ms + 1, event_id, kind, subject, recipient,
             'delivrd 1 0', 0, 0, 0 from outbox where account_id = {}",
        id.0
    ))
    .await
    .unwrap();
    let first = claim(kit, &of, DUE + 1, 10).await;
    assert_eq!(first.len(), 2, "one of each recipient");
    assert!(claim(kit, &of, DUE + 1, 10).await.is_empty());
    finish(kit, &first[..1], Finished::Done).await;
    let second = claim(kit, &of, DUE + 1, 10).await;
    assert_eq!(second.len(), 1);
    assert_eq!(second[0].recipient, first[0].recipient);
    assert_eq!(second[0].event.status(), Some("delivrd"));
}

async fn a_receipt_without_an_answer_is_claimed_alone_and_first(kit: &Kit) {
    let (id, user, of) = customer(kit).await;
    let three = Sending {
        recipients: 3,
        ..asking(id, &user, WantedReceipts::All)
    };
    settle(kit, &three, delivered).await;
    let first = claim(kit, &of, DUE, 1).await;
    let again = Finished::Retry {
        at_ms: first[0].due_at_ms,
    };
    finish(kit, &first, again).await;
    let alone = claim(kit, &of, DUE, 10).await;
    assert_eq!(alone.len(), 1);
    assert_eq!(alone[0].recipient, first[0].recipient);
    assert_eq!(alone[0].attempts, 1);
    finish(kit, &alone, Finished::Done).await;
    assert_eq!(claim(kit, &of, DUE, 10).await.len(), 2);
}

async fn a_claim_of_a_lost_node_is_free_again(kit: &Kit) {
    let (id, user, of) = customer(kit).await;
    settle(kit, &asking(id, &user, WantedReceipts::All), delivered).await;
    let claimed = claim(kit, &of, DUE, 10).await;
    let (bucket, ..) = of;
    let freed = kit.store.outbox().free(bucket, UNTIL + 1).await.unwrap();
    assert_eq!(freed, 1);
    // The lost node cannot finish it any more.
    finish(kit, &claimed, Finished::Done).await;
    let other = NodeId(NODE.0 + 1);
    let outbox = kit.store.outbox();
    let again = outbox.claim_in_order(of, DUE, 10, other, UNTIL);
    assert_eq!(again.await.unwrap(), claimed);
}

async fn receipts_that_wait_too_long_are_dead_and_replayed(kit: &Kit) {
    let (id, user, of) = customer(kit).await;
    let three = Sending {
        recipients: 3,
        ..asking(id, &user, WantedReceipts::All)
    };
    settle(kit, &three, delivered).await;
    let end = async |before_ms, limit| {
        let outbox = kit.store.outbox();
        let ended = outbox.end_waiting(of.clone(), before_ms, limit);
        ended.await.unwrap()
    };
    assert_eq!(end(DUE, 10).await, 0);
    assert_eq!(end(DUE + 1, 2).await, 2, "some at a time");
    assert_eq!(end(DUE + 1, 2).await, 1);
    assert!(claim(kit, &of, DUE + KEPT_MS, 10).await.is_empty());
    let dead = kit.store.dead_callbacks();
    let listed = dead.list(id, None, 10).await.unwrap();
    assert_eq!(listed.len(), 3);
    assert!(
        listed
            .iter()
            .all(|one| one.event.status() == Some("delivrd"))
    );
    let origins = kit.store.dead_callbacks().origins(None, 1_000).await;
    let origins = origins.unwrap();
    let dead = origins.iter().find(|one| one.origin == of.3).unwrap();
    let later = DUE + KEPT_MS;
    let replayed = kit.store.dead_callbacks().replay(dead, None, by(later));
    assert_eq!(replayed.await.unwrap(), 3);
    assert_eq!(claim(kit, &of, later, 10).await.len(), 3);
}

async fn a_receipt_that_is_being_delivered_is_not_ended(kit: &Kit) {
    let (id, user, of) = customer(kit).await;
    let three = Sending {
        recipients: 3,
        ..asking(id, &user, WantedReceipts::All)
    };
    settle(kit, &three, delivered).await;
    let claimed = claim(kit, &of, DUE, 2).await;
    assert_eq!(claimed.len(), 2);
    let end = async || {
        let outbox = kit.store.outbox();
        outbox.end_waiting(of.clone(), i64::MAX, 10).await.unwrap()
    };
    assert_eq!(end().await, 1);
    finish(kit, &claimed[..1], Finished::Done).await;
    assert_eq!(kit.store.outbox().waiting(&of).await.unwrap(), 1);
    finish(kit, &claimed[1..], Finished::Untouched).await;
    assert_eq!((end().await, end().await), (1, 0));
    let dead = kit.store.dead_callbacks().list(id, None, 10).await.unwrap();
    assert_eq!(dead.len(), 2, "the delivered one is not dead");
}

async fn waiting_receipts_are_counted_by_user(kit: &Kit) {
    let (id, user, of) = customer(kit).await;
    let three = Sending {
        recipients: 3,
        ..asking(id, &user, WantedReceipts::All)
    };
    settle(kit, &three, delivered).await;
    claim(kit, &of, DUE, 1).await;
    assert_eq!(kit.store.outbox().waiting(&of).await.unwrap(), 3);
    let (bucket, .., destination) = of;
    let counted = kit.store.outbox().waiting_by_user(bucket).await.unwrap();
    assert!(counted.contains(&(destination, 3)), "{counted:?}");
}

/// A collation of a language ignores punctuation at first.
#[tokio::test]
async fn receipts_are_counted_whatever_the_collation() {
    testkit::needs!(Postgres);
    let server = testkit::postgres_url();
    let name = format!("collation_{}_{}", std::process::id(), fresh());
    let create =
        format!("create database {name} template template0 locale_provider icu icu_locale 'en-US'");
    administer(&server, &create).await;
    let url = server.replacen("/postgres", &format!("/{name}"), 1);
    let target = Target::Postgres(Server::new(&url, 4).unwrap());
    let store = Store::open(&target).await.unwrap();
    let mut connection = TestConnection::postgres(&url).await.unwrap();
    for destination in ["smpp:og7mk2x4pa", "smppp", "https://smpp:1", "smpp"] {
        let insert = format!(
            "insert into outbox (bucket, state, account_id, sandbox, destination, due_at_ms,
                 event_id, kind, subject, recipient, payload, attempts, claimed_by, claimed_until_ms)
             values (0, 'due', 1, false, '{destination}', 1, 'a', 'receipt', 'b', 3, '', 0, 0, 0)"
        );
        connection.run(insert.leak()).await.unwrap();
    }
    let counted = store.outbox().waiting_by_user(Bucket(0)).await.unwrap();
    assert_eq!(counted, [("smpp:og7mk2x4pa".to_owned(), 1)]);
    connection.close().await.unwrap();
    store.close().await;
    administer(&server, &format!("drop database {name}")).await;
}
