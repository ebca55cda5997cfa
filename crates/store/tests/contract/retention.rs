//! Retention: the removed rows, the kept rows, and the steps.

use super::plans::all_statements;
use domain::{DeliveryStatus, Environment};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use store::{Body, CarrierReport, Claim, NewMessage, Removed};
use storekit::{
    CARRIER, DAY, Fate, Kit, NOW, Sending, URL, claim, delivered, fresh, naira, refused, report,
    sending, taken, twins,
};

twins!(
    what_is_settled_and_older_goes_whole_and_nothing_else_goes,
    a_large_message_is_deleted_in_steps_and_hidden_at_once,
    a_text_goes_once_its_message_is_settled_and_the_report_stays,
    a_text_that_had_to_stay_is_found_again,
    a_text_stored_after_a_clock_step_is_removed_in_time,
    pages_and_dead_callbacks_go_by_age_along_their_keys,
    sandbox_messages_go_by_age_with_their_callbacks,
);

/// Messages accepted before this are old.
const BEFORE: i64 = NOW - 10 * DAY;

/// Runs steps to the end. Returns the numbers of removed messages and of steps.
async fn all<C: Clone>(
    kit: &Kit,
    mut step: impl AsyncFnMut(domain::Bucket, Option<C>) -> Removed<C>,
) -> (u64, usize) {
    let (mut count, mut steps) = (0, 0);
    for bucket in kit.store.buckets() {
        let mut next = None;
        loop {
            let removed = step(bucket, next).await;
            (count, steps) = (count + removed.count, steps + 1);
            next = removed.next;
            if next.is_none() {
                break;
            }
        }
    }
    (count, steps)
}

async fn remove_messages(kit: &Kit, before_ms: i64) -> (u64, usize) {
    all(kit, async |bucket, after| {
        let step = kit
            .store
            .retention()
            .remove_messages(bucket, before_ms, after);
        step.await.unwrap()
    })
    .await
}

async fn remove_texts(kit: &Kit, before_ms: i64) -> u64 {
    let removed = all(kit, async |bucket, cursor| {
        let step = kit
            .store
            .retention()
            .remove_texts(bucket, before_ms, cursor);
        step.await.unwrap()
    });
    removed.await.0
}

async fn remove_parts(kit: &Kit, before_ms: i64) -> (u64, usize) {
    all(kit, async |bucket, after| {
        let step = kit
            .store
            .retention()
            .remove_parts(bucket, before_ms, after, None);
        step.await.unwrap()
    })
    .await
}

async fn remove_dead(kit: &Kit, before_ms: i64) -> (u64, usize) {
    all(kit, async |bucket, after| {
        let step = kit
            .store
            .retention()
            .remove_dead_callbacks(bucket, before_ms, after);
        step.await.unwrap()
    })
    .await
}

async fn count(kit: &Kit, of: &str) -> i64 {
    kit.numbers(&format!("select count(*) from {of}")).await[0]
}

/// Returns the states of a message's recipients, or `None` if the message does not exist.
async fn known(kit: &Kit, message: &NewMessage) -> Option<Vec<Option<DeliveryStatus>>> {
    let draft = &message.draft;
    let report =
        kit.store
            .messages()
            .report(draft.account, draft.environment, message.id, 0, 10_000);
    let recipients = report.await.unwrap()?.recipients;
    Some(recipients.into_iter().map(|(_, status)| status).collect())
}

/// Every fate is at the border of the age, and others are random.
async fn what_is_settled_and_older_goes_whole_and_nothing_else_goes(kit: &Kit) {
    let borders = [BEFORE - 1, BEFORE, NOW];
    let mut cases: Vec<(Fate, i64)> = Fate::ALL
        .into_iter()
        .flat_map(|fate| borders.map(|at_ms| (fate, at_ms)))
        .collect();
    let age = (proptest::sample::select(&Fate::ALL[..]), 0..20 * DAY);
    let mut runner = TestRunner::new(Config::default());
    let chance = proptest::collection::vec(age, 40).new_tree(&mut runner);
    let chance = chance.unwrap().current().into_iter();
    cases.extend(chance.map(|(fate, age)| (fate, NOW - age)));
    let accounts = [kit.account(10_000).await, kit.account(10_000).await];
    let mut messages = Vec::new();
    for (index, (fate, at_ms)) in cases.into_iter().enumerate() {
        let message = fate.of(kit, accounts[index % 2], at_ms).await;
        let before = known(kit, &message).await;
        assert!(before.is_some(), "{fate:?}");
        messages.push((fate, at_ms, message, before));
    }
    let balances = [
        kit.balance(accounts[0]).await,
        kit.balance(accounts[1]).await,
    ];
    let (batches, entries) = (count(kit, "batches").await, count(kit, "ledger").await);

    let (gone, _) = remove_messages(kit, BEFORE).await;
    let mut expected = 0;
    let mut deliveries = 0;
    for (fate, at_ms, message, before) in &messages {
        let is_old = *at_ms < BEFORE && fate.is_settled();
        let after = known(kit, message).await;
        let what = format!("{fate:?} at {at_ms}");
        assert_eq!(after.is_none(), is_old, "{what}");
        expected += u64::from(is_old);
        if let Some(after) = after {
            deliveries += after.iter().flatten().count();
            assert_eq!(Some(after), *before, "{what}");
        }
    }
    assert_eq!(gone, expected);
    assert_eq!(
        count(kit, "deliveries").await,
        i64::try_from(deliveries).unwrap()
    );
    assert_eq!(count(kit, "batches").await, batches);
    assert_eq!(count(kit, "ledger").await, entries);
    for (account, balance) in accounts.into_iter().zip(balances) {
        assert_eq!(kit.balance(account).await, balance);
    }
    assert_eq!(remove_messages(kit, BEFORE).await.0, 0);
}

async fn a_large_message_is_deleted_in_steps_and_hidden_at_once(kit: &Kit) {
    let id = kit.account(100_000).await;
    let small = Fate::Delivered.of(kit, id, BEFORE - 2).await;
    let base = Sending {
        recipients: 1_300,
        first_number: 5_000,
        accepted_at_ms: BEFORE - 1,
        ..sending(id)
    };
    let message = base.message(&kit.store);
    kit.accept(&message).await;
    let claimed = kit.store.claims().claim(Claim {
        recipients: 2_000,
        ..claim(2_000)
    });
    for claimed in claimed.await.unwrap() {
        kit.report(report(vec![refused(&claimed)], vec![])).await;
    }
    let balance = kit.balance(id).await;
    let bucket = kit.store.bucket_of(id);
    let (mut left, mut after, mut steps) = (1_302, None, 0);
    loop {
        let step = kit
            .store
            .retention()
            .remove_messages(bucket, BEFORE, after)
            .await
            .unwrap();
        let now = count(kit, "deliveries").await;
        assert!(left - now <= 500, "{left} became {now}");
        left = now;
        steps += 1;
        after = step.next;
        // A concurrent reader sees neither half a message nor unbalanced books.
        if steps > 1 {
            assert_eq!(known(kit, &message).await, None);
        }
        let violations = kit.store.upkeep().verify().await.unwrap().violations;
        assert_eq!(violations, Vec::<String>::new());
        if after.is_none() {
            break;
        }
    }
    assert!(steps >= 4, "{steps}");
    assert_eq!((left, count(kit, "messages").await), (0, 0));
    assert_eq!(known(kit, &small).await, None);
    assert_eq!(kit.balance(id).await, balance);
    let statement = kit
        .store
        .wallets()
        .statement(id, None, 10_000)
        .await
        .unwrap();
    assert_eq!(statement.len(), 1 + 2 + 1_300, "credit, charges, refunds");
}

async fn texts(kit: &Kit) -> i64 {
    count(kit, "messages where body <> ''").await
}

async fn a_text_goes_once_its_message_is_settled_and_the_report_stays(kit: &Kit) {
    let id = kit.account(10_000).await;
    let mut messages = Vec::new();
    for fate in Fate::ALL {
        for at_ms in [BEFORE - 1, BEFORE] {
            messages.push((fate, at_ms, fate.of(kit, id, at_ms).await));
        }
    }
    let settled = Fate::ALL.iter().filter(|fate| fate.is_settled()).count();
    let mut before = Vec::new();
    for (_, _, message) in &messages {
        before.push(known(kit, message).await);
    }
    let total = texts(kit).await;
    assert_eq!(remove_texts(kit, BEFORE).await, settled as u64);
    assert_eq!(texts(kit).await, total - i64::try_from(settled).unwrap());
    for ((fate, at_ms, message), before) in messages.iter().zip(before) {
        assert_eq!(known(kit, message).await, before, "{fate:?} at {at_ms}");
    }
    assert_eq!(remove_texts(kit, BEFORE).await, 0);
    // A claim returns the text, and messages that may still be sent have theirs.
    let waiting = Claim {
        now_ms: NOW + 2 * DAY,
        ..claim(1_000)
    };
    for claimed in kit.store.claims().claim(waiting).await.unwrap() {
        assert_ne!(claimed.content.body, Body::Shared(String::new()));
    }
}

async fn a_text_that_had_to_stay_is_found_again(kit: &Kit) {
    let id = kit.account(10_000).await;
    // The first is settled late, the second within the time, and the third never.
    let [late, soon, never] = [
        Fate::Sent.of(kit, id, BEFORE - DAY - 5).await,
        Fate::Sent.of(kit, id, BEFORE - 5).await,
        Fate::Sent.of(kit, id, BEFORE - 4).await,
    ];
    Fate::Delivered.of(kit, id, BEFORE - 3).await;
    assert_eq!(remove_texts(kit, BEFORE).await, 1);
    for message in [&late, &soon] {
        let receipts = message.draft.recipients.iter();
        let heard = CarrierReport {
            now_ms: BEFORE,
            ..report(vec![], receipts.map(|&to| delivered(to)).collect())
        };
        kit.report(heard).await;
    }
    assert_eq!(remove_texts(kit, BEFORE).await, 1, "the second alone");
    assert_eq!(texts(kit).await, 2);
    assert!(known(kit, &never).await.is_some());
    assert_eq!(remove_messages(kit, BEFORE).await.0, 3, "text or not");
}

async fn a_text_stored_after_a_clock_step_is_removed_in_time(kit: &Kit) {
    let id = kit.account(10_000).await;
    assert_eq!(remove_texts(kit, BEFORE + 10 * DAY).await, 0);
    assert_eq!(remove_texts(kit, BEFORE - DAY).await, 0);
    Fate::Delivered.of(kit, id, BEFORE - 1).await;
    assert_eq!(remove_texts(kit, BEFORE).await, 1);
}

/// The state of recipients and callbacks does not matter. Unsubmitted messages stay.
async fn sandbox_messages_go_by_age_with_their_callbacks(kit: &Kit) {
    let id = kit.account(100_000).await;
    let old = |environment, first_number, recipients| Sending {
        environment,
        recipients,
        first_number,
        accepted_at_ms: BEFORE - 1,
        callback_url: Some(URL),
        ..sending(id)
    };
    let mut messages = Vec::new();
    for (environment, first_number) in [
        (Environment::Sandbox, 100_000),
        (Environment::Live, 200_000),
        (Environment::Sandbox, 300_000),
    ] {
        let message = old(environment, first_number, 700).message(&kit.store);
        kit.accept(&message).await;
        let claimed = kit.claim(5_000).await;
        let taken = CarrierReport {
            now_ms: BEFORE,
            ..report(claimed.iter().map(taken).collect(), vec![])
        };
        kit.report(taken).await;
        // The others stay without an outcome.
        let receipts = message.draft.recipients.iter().skip(200);
        let heard = CarrierReport {
            now_ms: BEFORE,
            callback_room: store::CallbackRoom::default(),
            ..report(vec![], receipts.map(|&to| delivered(to)).collect())
        };
        kit.report(heard).await;
        messages.push(message);
    }
    let waiting = old(Environment::Sandbox, 400_000, 3).message(&kit.store);
    kit.accept(&waiting).await;
    let young = Sending {
        accepted_at_ms: BEFORE,
        ..old(Environment::Sandbox, 500_000, 3)
    };
    let young = young.message(&kit.store);
    kit.accept(&young).await;
    let half = "update outbox set state = 'dead' where recipient % 2 = 0";
    kit.run(half).await.unwrap();
    let removed = all(kit, async |bucket, after| {
        let step = kit
            .store
            .retention()
            .remove_simulated(bucket, CARRIER, BEFORE, after);
        step.await.unwrap()
    });
    assert_eq!(removed.await.0, 2);
    let [simulated, live, other] = &messages[..] else {
        unreachable!()
    };
    for (message, is_known) in [
        (simulated, false),
        (live, true),
        (other, false),
        (&waiting, true),
        (&young, true),
    ] {
        assert_eq!(known(kit, message).await.is_some(), is_known);
    }
    assert_eq!(count(kit, "deliveries").await, 700);
    assert_eq!(count(kit, "outbox").await, 500);
    assert_eq!(count(kit, "outbox where sandbox").await, 0);
}

async fn pages_and_dead_callbacks_go_by_age_along_their_keys(kit: &Kit) {
    let id = kit.account(100_000).await;
    // The pages of an hour are removed together.
    let before = BEFORE - BEFORE.rem_euclid(3_600_000);
    for (at_ms, recipients) in [(before - 1, 2_500), (before, 700), (NOW, 30)] {
        let base = Sending {
            recipients,
            first_number: usize::try_from(fresh()).unwrap() * 10_000,
            accepted_at_ms: at_ms,
            callback_url: Some(URL),
            ..sending(id)
        };
        let message = base.message(&kit.store);
        kit.accept(&message).await;
        let claimed = kit.claim(5_000).await;
        let progress = claimed.iter().map(taken).collect();
        let submit = CarrierReport {
            now_ms: at_ms,
            ..report(progress, vec![])
        };
        kit.report(submit).await;
        let receipts = message.draft.recipients.iter();
        let heard = CarrierReport {
            now_ms: at_ms + 1,
            callback_room: store::CallbackRoom::default(),
            ..report(vec![], receipts.map(|&to| delivered(to)).collect())
        };
        kit.report(heard).await;
    }
    // All callbacks but the youngest are dead, and the youngest are due.
    kit.run(&format!(
        "update outbox set state = 'dead' where due_at_ms < {NOW}"
    ))
    .await
    .unwrap();
    assert_eq!(count(kit, "carrier_ids").await, 3_230);
    let (gone, steps) = remove_parts(kit, before).await;
    assert_eq!(gone, 2_500);
    assert!(steps >= 3, "{steps}");
    assert_eq!(count(kit, "carrier_ids").await, 730);
    assert_eq!(remove_parts(kit, before + 3_599_999).await.0, 0);
    let (gone, steps) = remove_dead(kit, before).await;
    assert_eq!(gone, 2_500);
    assert!(steps >= 3, "{steps}");
    assert_eq!(count(kit, "outbox where state = 'dead'").await, 700);
    assert_eq!(count(kit, "outbox where state = 'due'").await, 30);
    for (removed, _) in [
        remove_parts(kit, before).await,
        remove_dead(kit, before).await,
    ] {
        assert_eq!(removed, 0);
    }
    assert_eq!(remove_messages(kit, before).await.0, 1);
    let named = format!("carrier_ids where carrier = '{CARRIER}'");
    assert_eq!(count(kit, &named).await, 730);
    assert!(kit.balance(id).await > naira(0));
}

/// Tables whose rows are never removed, with the reason.
const NEVER_REMOVED: [(&str, &str); 15] = [
    ("accounts", "ledger and audit name them"),
    (
        "tokens",
        "the audit names them, and a revoked one stays known",
    ),
    (
        "smpp_users",
        "the audit names them, and a revoked one stays known",
    ),
    ("sender_ids", "a suspended one stays known"),
    ("users", "the audit names them"),
    ("wallets", "money"),
    ("ledger", "money"),
    ("top_ups", "money"),
    ("sub_accounts", "as their accounts"),
    ("transfers", "money"),
    ("opt_out_accounts", "one for each account"),
    ("answer_texts", "one for each account"),
    ("server_keys", "one for each purpose"),
    (
        "binds",
        "one for each connection that the configuration allows",
    ),
    ("audit", "evidence"),
];

#[test]
fn the_rows_of_every_table_are_removed_or_stay_for_a_reason() {
    let schema = include_str!("../../migrations/sqlite/0001_initial.sql");
    let tables: Vec<&str> = schema
        .lines()
        .filter_map(|line| line.strip_prefix("create table "))
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(tables.len() > 30, "{tables:?}");
    let statements = all_statements();
    for table in &tables {
        let removal = format!("delete from {table} ");
        let is_removed = statements.iter().any(|one| one.text.contains(&removal));
        let reason = NEVER_REMOVED.iter().find(|(kept, _)| kept == table);
        assert_ne!(is_removed, reason.is_some(), "{table}");
    }
    for (table, _) in NEVER_REMOVED {
        assert!(tables.contains(&table), "{table}");
    }
}
