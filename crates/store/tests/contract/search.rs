//! The search for messages, their totals and their recipients.

use domain::{AccountId, DeliveryStatus, Environment, MessageId, Recipient};
use std::sync::Arc;
use store::{Candidate, IdRange, MessageTotals, NewMessage, SearchScope, Store};
use storekit::{
    Kit, NOW, SENDER, Sending, delivered, naira, number, report, sending, taken, twins, undelivered,
};

twins!(
    messages_are_found_newest_first_within_a_range,
    a_search_shows_one_account_and_environment,
    a_reference_finds_its_messages,
    an_operator_finds_the_messages_of_all_accounts,
    a_recipient_is_found_before_and_after_its_submit,
    totals_count_recipients_pages_and_refunds,
    recipients_are_listed_whether_answered_or_not,
);

fn scope(account: Option<AccountId>) -> SearchScope {
    SearchScope {
        account,
        environment: Environment::Live,
        customer_reference: None,
    }
}

fn everything() -> IdRange {
    IdRange::accepted(None, None)
}

async fn accepted(kit: &Kit, sending: &Sending) -> NewMessage {
    let message = sending.message(&kit.store);
    kit.accept(&message).await;
    message
}

async fn newest(
    store: &Store,
    scope: &SearchScope,
    range: IdRange,
    limit: usize,
) -> Vec<MessageId> {
    let found = store.search().newest(scope, range, limit).await.unwrap();
    found.into_iter().map(|found| found.id).collect()
}

async fn messages_are_found_newest_first_within_a_range(kit: &Kit) {
    let account = kit.account(1_000).await;
    let mut ids = Vec::new();
    for second in 0..5 {
        let sending = Sending {
            accepted_at_ms: NOW + 1_000 * second,
            ..sending(account)
        };
        ids.insert(0, accepted(kit, &sending).await.id);
    }
    let scope = scope(Some(account));
    assert_eq!(newest(&kit.store, &scope, everything(), 100).await, ids);
    assert_eq!(newest(&kit.store, &scope, everything(), 2).await, ids[..2]);
    let next = everything().before(ids[1]);
    assert_eq!(newest(&kit.store, &scope, next, 2).await, ids[2..4]);
    let between = IdRange::accepted(Some(NOW + 1_000), Some(NOW + 3_000));
    assert_eq!(newest(&kit.store, &scope, between, 100).await, ids[2..4]);
    let found = kit
        .store
        .search()
        .newest(&scope, everything(), 1)
        .await
        .unwrap();
    let Candidate {
        sender, recipients, ..
    } = &found[0];
    assert_eq!((sender.as_str(), *recipients), (SENDER, 1));
}

async fn a_search_shows_one_account_and_environment(kit: &Kit) {
    let account = kit.account(100).await;
    let other = kit.account(100).await;
    let live = accepted(kit, &sending(account)).await;
    accepted(kit, &sending(other)).await;
    let simulated = Sending {
        environment: Environment::Sandbox,
        ..sending(account)
    };
    let simulated = accepted(kit, &simulated).await;
    let store = &kit.store;
    assert_eq!(
        newest(store, &scope(Some(account)), everything(), 9).await,
        [live.id]
    );
    let sandbox = SearchScope {
        environment: Environment::Sandbox,
        ..scope(Some(account))
    };
    assert_eq!(
        newest(store, &sandbox, everything(), 9).await,
        [simulated.id]
    );
    let of_other = store
        .search()
        .info(Some(other), Environment::Live, live.id)
        .await;
    assert_eq!(of_other.unwrap(), None);
    let of_sandbox = store
        .search()
        .info(Some(account), Environment::Sandbox, live.id)
        .await;
    assert_eq!(of_sandbox.unwrap(), None);
    let own = store
        .search()
        .info(Some(account), Environment::Live, live.id)
        .await;
    let own = own.unwrap().unwrap();
    assert_eq!((own.cost, own.page_count, own.recipients), (naira(6), 1, 1));
    let of_any = store.search().info(None, Environment::Live, live.id).await;
    assert_eq!(of_any.unwrap(), Some(own));
}

async fn a_reference_finds_its_messages(kit: &Kit) {
    let account = kit.account(100).await;
    accepted(kit, &sending(account)).await;
    let mut other = sending(account).message(&kit.store);
    Arc::make_mut(&mut other.draft).customer_reference = Some("order-2".to_owned());
    kit.accept(&other).await;
    let mut without = sending(account).message(&kit.store);
    Arc::make_mut(&mut without.draft).customer_reference = None;
    kit.accept(&without).await;
    for account in [Some(account), None] {
        let scope = SearchScope {
            customer_reference: Some("order-2".to_owned()),
            ..scope(account)
        };
        assert_eq!(
            newest(&kit.store, &scope, everything(), 9).await,
            [other.id]
        );
    }
}

async fn an_operator_finds_the_messages_of_all_accounts(kit: &Kit) {
    let mut ids = Vec::new();
    for second in 0..6 {
        let sending = Sending {
            accepted_at_ms: NOW + 1_000 * second,
            ..sending(kit.account(100).await)
        };
        ids.insert(0, accepted(kit, &sending).await.id);
    }
    assert_eq!(
        newest(&kit.store, &scope(None), everything(), 4).await,
        ids[..4]
    );
    let next = everything().before(ids[3]);
    assert_eq!(newest(&kit.store, &scope(None), next, 4).await, ids[4..]);
}

async fn a_recipient_is_found_before_and_after_its_submit(kit: &Kit) {
    let account = kit.account(1_000).await;
    let sending = Sending {
        recipients: 3,
        ..sending(account)
    };
    let submitted = sending.message(&kit.store);
    kit.submit(&submitted).await;
    let waiting = accepted(kit, &sending).await;
    let elsewhere = Sending {
        first_number: 50,
        ..sending
    };
    let elsewhere = accepted(kit, &elsewhere).await;
    let keys = [submitted.id, waiting.id, elsewhere.id].map(|id| (account, id));
    let mut found: Vec<MessageId> = kit
        .store
        .recipients()
        .messages_with(&keys, number(2))
        .await
        .unwrap()
        .into_iter()
        .collect();
    found.sort_unstable();
    assert_eq!(found, [submitted.id, waiting.id]);
}

async fn totals_of(kit: &Kit, message: &NewMessage) -> MessageTotals {
    let draft = &message.draft;
    let key = (draft.account, message.id, draft.recipients.len() as u64);
    let totals = kit.store.search().totals(&[key]).await.unwrap();
    totals[&message.id]
}

async fn totals_count_recipients_pages_and_refunds(kit: &Kit) {
    let sending = Sending {
        recipients: 4,
        pages: 2,
        ..sending(kit.account(1_000).await)
    };
    let message = accepted(kit, &sending).await;
    assert_eq!(totals_of(kit, &message).await, MessageTotals::default());
    let claimed = kit.claim(1_000).await;
    kit.report(report(claimed.iter().map(taken).collect(), vec![]))
        .await;
    let totals = totals_of(kit, &message).await;
    let expected = MessageTotals {
        deliveries: 4,
        open: 4,
        charged: naira(24),
        ..MessageTotals::default()
    };
    assert_eq!(totals, expected);
    let failed = (1..=4).map(|one| undelivered(number(one))).collect();
    kit.report(report(vec![], failed)).await;
    let expected = MessageTotals {
        open: 0,
        undelivered: 4,
        refunded: naira(24),
        ..expected
    };
    // The second answer comes from the cache.
    for _ in 0..2 {
        assert_eq!(totals_of(kit, &message).await, expected);
    }
}

async fn recipients_are_listed_whether_answered_or_not(kit: &Kit) {
    let account = kit.account(1_000).await;
    let sending = Sending {
        recipients: 5,
        ..sending(account)
    };
    let message = accepted(kit, &sending).await;
    let claimed = kit.claim(3).await;
    kit.report(report(claimed.iter().map(taken).collect(), vec![]))
        .await;
    let sent: Vec<Recipient> = claimed
        .iter()
        .flat_map(|one| one.batch.recipients.clone())
        .collect();
    let receipts = vec![delivered(sent[0]), undelivered(sent[1])];
    kit.report(report(vec![], receipts)).await;

    let store = &kit.store;
    let all = store.recipients().list(account, message.id, 0, 100).await;
    let all = all.unwrap().unwrap();
    let order: Vec<Recipient> = all.iter().map(|one| one.recipient).collect();
    assert_eq!(order, message.draft.recipients);
    for (place, one) in all.iter().enumerate() {
        assert_eq!(one.place, place);
        let status = one.delivery.as_ref().map(|delivery| delivery.status);
        let (expected, refunded) = match sent.iter().position(|sent| *sent == one.recipient) {
            Some(0) => (Some(DeliveryStatus::Delivered), 0),
            Some(1) => (Some(DeliveryStatus::Undelivered), 6),
            Some(_) => (Some(DeliveryStatus::Sent), 0),
            None => (None, 0),
        };
        assert_eq!((status, one.refunded), (expected, naira(refunded)));
        let alone = store
            .recipients()
            .find(account, message.id, one.recipient)
            .await;
        assert_eq!(alone.unwrap().as_ref(), Some(one));
    }
    let slice = store.recipients().list(account, message.id, 1, 3).await;
    assert_eq!(slice.unwrap().unwrap(), all[1..3]);
    let refunds = store
        .recipients()
        .refunds(account, message.id, sent[1])
        .await
        .unwrap();
    assert_eq!((refunds.len(), refunds[0].amount), (1, naira(6)));
    let unknown = store
        .recipients()
        .find(account, message.id, number(99))
        .await;
    assert_eq!(unknown.unwrap(), None);
    let other = kit.account(0).await;
    let of_other = store.recipients().list(other, message.id, 0, 9).await;
    assert_eq!(of_other.unwrap(), None);
}
