//! The search for messages, their totals and their recipients.

use domain::{AccountId, DeliveryStatus, Environment, MessageId, Recipient};
use std::sync::Arc;
use store::{Candidate, IdRange, MessageTotals, NewMessage, NewRun, SearchScope, Store};
use storekit::{
    Kit, NOW, SENDER, Sending, delivered, naira, number, report, sending, taken, twins, undelivered,
};

twins!(
    messages_are_found_newest_first_within_a_range,
    a_search_shows_one_account_and_environment,
    a_reference_finds_its_messages,
    a_sender_finds_its_messages_among_many,
    pages_hide_and_repeat_nothing_while_rows_come,
    a_recipient_is_found_in_and_after_the_index,
    a_run_that_is_not_complete_is_not_read,
    merged_runs_find_messages_that_came_late,
    a_list_has_no_time_left_of_removed_messages,
    an_operator_finds_the_messages_of_all_accounts,
    a_recipient_is_found_before_and_after_its_submit,
    totals_count_recipients_pages_and_refunds,
    recipients_are_listed_whether_answered_or_not,
    recipients_of_many_messages_are_those_of_each,
);

fn scope(account: Option<AccountId>) -> SearchScope {
    SearchScope {
        account,
        environment: Environment::Live,
        customer_reference: None,
        sender_key: None,
        recipient: None,
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

async fn recipients_of_many_messages_are_those_of_each(kit: &Kit) {
    let (account, other) = (kit.account(1_000).await, kit.account(1_000).await);
    let mut keys = Vec::new();
    for (first_number, recipients) in [(0, 1), (10, 3), (20, 2)] {
        let sending = Sending {
            recipients,
            first_number,
            ..sending(account)
        };
        keys.push((account, accepted(kit, &sending).await.id));
    }
    let claimed = kit.claim(4).await;
    kit.report(report(claimed.iter().map(taken).collect(), vec![]))
        .await;
    let sent: Vec<Recipient> = claimed
        .iter()
        .flat_map(|one| one.batch.recipients.clone())
        .collect();
    let receipts = vec![undelivered(sent[0]), delivered(sent[1])];
    kit.report(report(vec![], receipts)).await;
    keys.push((other, keys[0].1));

    let recipients = kit.store.recipients();
    let all = recipients.of_messages(&keys).await.unwrap();
    assert_eq!(all.len(), 3);
    for (account, message) in &keys[..3] {
        let alone = recipients.list(*account, *message, 0, 100).await;
        assert_eq!(all.get(message), alone.unwrap().as_ref());
    }
    let refunded = all.values().flatten().map(|one| one.refunded.units());
    assert_eq!(refunded.filter(|units| *units > 0).count(), 1);
    let foreign = recipients.of_messages(&keys[3..]).await.unwrap();
    assert_eq!(foreign.len(), 0);
}

/// Accepts a message of a sender at a time.
async fn shown_as(kit: &Kit, sender: &str, accepted_at_ms: i64, of: &Sending) -> MessageId {
    let sending = Sending {
        accepted_at_ms,
        ..of.clone()
    };
    let mut message = sending.message(&kit.store);
    Arc::make_mut(&mut message.draft).sender = sender.to_owned();
    kit.accept(&message).await;
    message.id
}

async fn a_sender_finds_its_messages_among_many(kit: &Kit) {
    let account = kit.account(1_000).await;
    let other = kit.account(1_000).await;
    let (minute, own) = (60_000, sending(account));
    let mut rare = Vec::new();
    for at in 0..80 {
        // Ten minutes of one sender, each with messages of the other and of another account.
        if at % 8 == 0 {
            rare.insert(0, shown_as(kit, " Rare", NOW + at * minute, &own).await);
        }
        shown_as(kit, "Usual", NOW + at * minute + 20, &own).await;
        shown_as(kit, "Rare", NOW + at * minute + 5, &sending(other)).await;
    }
    let scope = SearchScope {
        sender_key: Some("rare".to_owned()),
        ..scope(Some(account))
    };
    for limit in [1, 3, 7, 100] {
        let (mut found, mut range) = (Vec::new(), everything());
        loop {
            let page = kit.store.search().newest(&scope, range, limit).await;
            let page = page.unwrap();
            let last = page.last().map(|last| last.id);
            found.extend(
                page.iter()
                    .filter(|one| one.sender == " Rare")
                    .map(|one| one.id),
            );
            assert!(page.iter().all(|one| one.account == account));
            match last.filter(|_| page.len() == limit) {
                Some(last) => range = range.before(last),
                None => break,
            }
        }
        assert_eq!(found, rare, "in pages of {limit}");
    }
    let found = newest(&kit.store, &scope, everything(), 100).await;
    assert!(found.len() <= 20, "{} for ten minutes", found.len());
}

async fn pages_hide_and_repeat_nothing_while_rows_come(kit: &Kit) {
    let account = kit.account(10_000).await;
    let own = sending(account);
    let mut ids = Vec::new();
    // Several messages in a millisecond, in a span and in a minute.
    for at in 0..60 {
        let at_ms = NOW + at / 2 + 10_000 * (at / 20);
        ids.push(shown_as(kit, "Usual", at_ms, &own).await);
    }
    ids.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
    let scope = scope(Some(account));
    let (mut found, mut range, mut now_ms) = (Vec::new(), everything(), NOW + 100_000);
    loop {
        let page = newest(&kit.store, &scope, range, 7).await;
        now_ms += 3;
        shown_as(kit, "Usual", now_ms, &own).await;
        let Some(last) = page.last() else { break };
        range = range.before(*last);
        found.extend(page);
    }
    assert_eq!(found, ids);
}

async fn a_list_has_no_time_left_of_removed_messages(kit: &Kit) {
    let account = kit.account(1_000).await;
    let day = 86_400_000;
    let mut kept = None;
    for (at, first_number) in [0, 1, 500, 2 * day].into_iter().zip(1..) {
        let sending = Sending {
            accepted_at_ms: NOW + at,
            first_number,
            ..sending(account)
        };
        let message = sending.message(&kit.store);
        kit.submit(&message).await;
        kept = Some(message.id);
    }
    let receipts = (1..=4).map(|one| delivered(number(one)));
    kit.report(report(vec![], receipts.collect())).await;
    let times = "select from_ms from message_times";
    let count = kit.test_connection().await.column::<i64>(times).await;
    assert_eq!(count.unwrap().len(), 5, "three spans and two minutes");
    let bucket = kit.store.bucket_of(account);
    let removal = kit.store.retention();
    removal
        .remove_messages(bucket, NOW + day, None)
        .await
        .unwrap();
    let left = newest(&kit.store, &scope(Some(account)), everything(), 9).await;
    assert_eq!(left, Vec::from_iter(kept));
    let count = kit.test_connection().await.column::<i64>(times).await;
    assert_eq!(count.unwrap().len(), 2);
}

/// Puts the messages of a time into a run of the index.
async fn index(kit: &Kit, account: AccountId, id: i64, from_ms: i64, replaces: &[i64]) -> u64 {
    let run = NewRun {
        id,
        from_ms,
        until_ms: NOW + 1_000 * id,
        max_recipients: usize::MAX,
        replaces: replaces.to_vec(),
    };
    let bucket = kit.store.bucket_of(account);
    let built = kit.store.recipient_index().build(bucket, run).await;
    built.unwrap().0
}

async fn to_recipient(kit: &Kit, account: Option<AccountId>, to: usize) -> Vec<MessageId> {
    let scope = SearchScope {
        recipient: Some(number(to)),
        ..scope(account)
    };
    newest(&kit.store, &scope, everything(), 100).await
}

async fn a_recipient_is_found_in_and_after_the_index(kit: &Kit) {
    let account = kit.account(100_000).await;
    let other = kit.account(100_000).await;
    let mut found = Vec::new();
    for at in 0..6 {
        let campaign = Sending {
            recipients: 500,
            first_number: 1_000 * usize::try_from(at).unwrap(),
            accepted_at_ms: NOW + 1_000 * at,
            ..sending(account)
        };
        accepted(kit, &campaign).await;
        let single = Sending {
            first_number: 7,
            accepted_at_ms: NOW + 1_000 * at + 500,
            ..sending(account)
        };
        found.insert(0, accepted(kit, &single).await.id);
        accepted(
            kit,
            &Sending {
                account: other,
                ..single
            },
        )
        .await;
    }
    let before = to_recipient(kit, Some(account), 7).await;
    let (first, own) = (before.last().copied(), &found);
    assert_eq!(before[..6], own[..], "without an index");
    assert_eq!(before.len(), 7, "one number of the first campaign too");
    for bucket in kit.store.buckets() {
        let of = [account, other]
            .into_iter()
            .find(|one| kit.store.bucket_of(*one) == bucket);
        if let Some(of) = of {
            index(kit, of, 2, 0, &[]).await;
            index(kit, of, 4, NOW + 2_000, &[]).await;
        }
    }
    assert_eq!(to_recipient(kit, Some(account), 7).await, before);
    let all = to_recipient(kit, None, 7).await;
    assert_eq!(all.len(), 13, "an operator finds those of all accounts");
    let scope = SearchScope {
        recipient: Some(number(7)),
        ..scope(Some(account))
    };
    let last = newest(&kit.store, &scope, everything().before(found[5]), 9).await;
    assert_eq!(last, Vec::from_iter(first));
    let range = IdRange::accepted(Some(NOW + 1_000), Some(NOW + 3_000));
    assert_eq!(newest(&kit.store, &scope, range, 9).await, found[3..5]);
    assert_eq!(
        newest(&kit.store, &scope, everything(), 2).await,
        found[..2]
    );
    assert!(to_recipient(kit, Some(account), 99_999).await.is_empty());
}

async fn a_run_that_is_not_complete_is_not_read(kit: &Kit) {
    let account = kit.account(1_000).await;
    let sent = accepted(kit, &sending(account)).await;
    assert_eq!(index(kit, account, 1, 0, &[]).await, 1);
    let bucket = kit.store.bucket_of(account);
    kit.run("update recipient_runs set state = 0, until_ms = 9000000000000")
        .await
        .unwrap();
    assert_eq!(to_recipient(kit, Some(account), 1).await, [sent.id]);
    let runs = kit.store.recipient_index();
    assert!(runs.runs(bucket).await.unwrap().is_empty());
    runs.remove_unread(bucket).await.unwrap();
    for table in ["recipient_runs", "recipient_postings"] {
        let left = format!("select run_id from {table}");
        let left = kit.test_connection().await.column::<i64>(&left).await;
        assert!(left.unwrap().is_empty(), "{table}");
    }
}

async fn merged_runs_find_messages_that_came_late(kit: &Kit) {
    let account = kit.account(1_000).await;
    let at = |at_ms| Sending {
        accepted_at_ms: NOW + at_ms,
        ..sending(account)
    };
    let mut ids = Vec::new();
    for second in 0..3 {
        ids.insert(0, accepted(kit, &at(1_000 * second)).await.id);
        let from_ms = NOW + 1_000 * second;
        assert_eq!(index(kit, account, second + 1, from_ms, &[]).await, 1);
    }
    let late = accepted(kit, &at(1_500)).await.id;
    assert_eq!(to_recipient(kit, Some(account), 1).await, ids);
    let bucket = kit.store.bucket_of(account);
    let runs = kit.store.recipient_index();
    assert_eq!(runs.count(bucket, NOW, NOW + 3_000).await.unwrap(), 4);
    assert_eq!(index(kit, account, 3_000, NOW, &[1, 2, 3]).await, 4);
    ids.insert(1, late);
    assert_eq!(to_recipient(kit, Some(account), 1).await, ids);
    runs.remove_unread(bucket).await.unwrap();
    let left = runs.runs(bucket).await.unwrap();
    assert_eq!((left.len(), left[0].recipients), (1, 4));
    kit.run("delete from messages").await.unwrap();
    runs.expire(bucket, i64::MAX).await.unwrap();
    assert!(runs.runs(bucket).await.unwrap().is_empty());
}
