//! Callbacks: made with an outcome, claimed, finished.

use domain::{AccountId, DeliveryStatus, Environment, NodeId, Recipient};
use std::collections::{HashMap, HashSet};
use store::{
    AttemptOutcome, Attempted, Callback, CallbackEvent, CallbackRoom, CarrierReport, Finished,
    OriginKey, Receipt,
};
use storekit::{Kit, NODE, NOW, Sending, by, delivered, report, sending, twins, undelivered};

twins!(
    an_outcome_makes_one_callback_where_there_is_an_address,
    callbacks_beyond_the_room_wait_in_the_database,
    due_origins_name_each_account_and_origin_once,
    sandbox_callbacks_are_claimed_apart_from_others,
    many_origins_are_found_some_at_a_time_each_once_in_a_round,
    claimed_callbacks_are_in_hand_of_one_node,
    callbacks_are_claimed_in_the_order_they_are_due,
    a_delivered_callback_is_gone,
    a_callback_to_be_tried_again_waits_for_its_time,
    a_callback_that_was_not_tried_goes_back_as_it_was,
    a_dead_callback_is_kept_and_not_tried,
    a_callback_that_is_given_up_untried_counts_no_attempt,
    the_end_of_a_message_ends_all_its_callbacks,
    callbacks_that_nobody_holds_are_freed,
    a_callback_freed_under_its_node_is_not_doubled,
    a_callback_that_another_node_took_over_is_that_nodes_alone,
    dead_callbacks_are_shown_by_origin_and_one_by_one,
    a_replayed_callback_is_due_as_if_it_had_never_been_tried,
    dead_callbacks_of_one_message_are_replayed_alone,
    many_dead_callbacks_are_replayed_in_steps,
    a_dead_callback_whose_message_is_gone_is_not_replayed,
    attempts_that_are_kept_are_shown_the_latest_first,
    attempts_are_forgotten_by_their_own_age,
    attempts_go_with_their_message,
);

const URL: &str = "https://shop.example.ng/sms?key=1";
const ORIGIN: &str = "https://shop.example.ng:443";
const UNTIL: i64 = NOW + 30_000;

fn rooms(each: usize) -> CallbackRoom {
    CallbackRoom {
        live: each,
        sandbox: each,
    }
}

/// Settles a message with so many recipients. `room` of its callbacks are claimed at once.
async fn settle(kit: &Kit, sending: &Sending, room: usize) -> store::Settled {
    let message = sending.message(&kit.store);
    kit.submit(&message).await;
    let receipts: Vec<Receipt> = message
        .draft
        .recipients
        .iter()
        .map(|&to| delivered(to))
        .collect();
    let report = CarrierReport {
        callback_room: rooms(room),
        ..report(vec![], receipts)
    };
    kit.report(report).await.0
}

pub(crate) fn to_shop(account: AccountId, recipients: usize) -> Sending {
    Sending {
        recipients,
        callback_url: Some(URL),
        ..sending(account)
    }
}

async fn counts(kit: &Kit) -> HashMap<String, i64> {
    kit.callback_counts().await
}

fn counted<const N: usize>(counts: [(&str, i64); N]) -> HashMap<String, i64> {
    counts
        .into_iter()
        .map(|(state, count)| (state.to_owned(), count))
        .collect()
}

/// The origin of the shop, for real messages of an account.
fn live(bucket: domain::Bucket, account: AccountId) -> OriginKey {
    (bucket, account, Environment::Live, ORIGIN.to_owned())
}

async fn claim(kit: &Kit, account: AccountId, now_ms: i64, limit: usize) -> Vec<Callback> {
    let bucket = kit.store.bucket_of(account);
    let claimed = kit
        .store
        .outbox()
        .claim(live(bucket, account), now_ms, limit, NODE, UNTIL);
    claimed.await.unwrap()
}

async fn finish(kit: &Kit, callback: &Callback, finished: Finished) {
    kit.store
        .outbox()
        .finish(NODE, vec![AttemptOutcome::new(callback.clone(), finished)])
        .await
        .unwrap();
}

async fn an_outcome_makes_one_callback_where_there_is_an_address(kit: &Kit) {
    let id = kit.account(100).await;
    let message = to_shop(id, 1).message(&kit.store);
    kit.submit(&message).await;
    let to = message.draft.recipients[0];
    let (settled, _) = kit.report(report(vec![], vec![undelivered(to)])).await;
    let wanted = Callback {
        bucket: kit.store.bucket_of(id),
        account: id,
        environment: Environment::Live,
        origin: ORIGIN.to_owned(),
        due_at_ms: NOW,
        message: message.id,
        recipient: to,
        event: CallbackEvent::Delivery {
            status: DeliveryStatus::Undelivered,
            customer_reference: Some("order-1".into()),
        },
        attempts: 0,
        url: URL.into(),
    };
    assert_eq!(settled.callbacks, [wanted]);
    assert!(!settled.more_callbacks);
    let silent = settle(
        kit,
        &Sending {
            first_number: 2,
            ..sending(id)
        },
        10,
    )
    .await;
    assert!(silent.callbacks.is_empty());
    assert_eq!(counts(kit).await, counted([("claimed", 1)]));
}

async fn callbacks_beyond_the_room_wait_in_the_database(kit: &Kit) {
    let id = kit.account(100).await;
    let settled = settle(kit, &to_shop(id, 5), 2).await;
    assert_eq!(settled.callbacks.len(), 2);
    assert!(settled.more_callbacks);
    assert_eq!(counts(kit).await, counted([("claimed", 2), ("due", 3)]));
    let waiting = claim(kit, id, NOW, 10).await;
    assert_eq!(waiting.len(), 3);
    assert!(
        waiting
            .iter()
            .all(|callback| !settled.callbacks.contains(callback))
    );
}

/// The callbacks of a round.
async fn due_origins(kit: &Kit, now_ms: i64) -> Vec<OriginKey> {
    let round = kit
        .store
        .outbox()
        .due_origins(now_ms, None, 1_000)
        .await
        .unwrap();
    assert_eq!(round.behind, None);
    round.found
}

/// Three thousand origins in different buckets. Every third has due callbacks.
async fn many_origins_are_found_some_at_a_time_each_once_in_a_round(kit: &Kit) {
    const ORIGINS: i64 = 3_000;
    let accounts = [42, 142, 242, 342, 442].map(AccountId);
    for (at, account) in (0i64..).zip(accounts) {
        let bucket = kit.store.bucket_of(account).0;
        let insert = format!(
            "with recursive n (n) as (select 0 union all select n + 1 from n where n < {ORIGINS} / 5 - 1)
             insert into outbox (bucket, state, account_id, destination, due_at_ms, event_id, kind, subject,
                 recipient, payload, attempts, claimed_by, claimed_until_ms)
             select {bucket}, 'due', {account}, 'https://' || (n * 7919 % 600) || '.example.ng:443',
                 {NOW} + n % 3, {event}, 'delivery_status', m, n + copy, 'delivrd', 1, 0, 0
             from n cross join (select 0 as copy union all select 1) c cross join ({message}) x",
            account = account.0,
            event = if kit.is_sqlite() {
                "cast(m || (n * 2 + copy) as blob)"
            } else {
                "m || convert_to(cast(n * 2 + copy as text), 'UTF8')"
            },
            message = if kit.is_sqlite() {
                format!("select cast(x'{at:032x}' as blob) as m")
            } else {
                format!("select decode('{at:032x}', 'hex') as m")
            },
        );
        kit.plant(&insert).await;
    }
    let (mut found, mut behind, mut looks) = (Vec::new(), None, 0);
    loop {
        let some = kit
            .store
            .outbox()
            .due_origins(NOW, behind.as_ref(), 250)
            .await;
        let some = some.unwrap();
        assert!(some.found.len() <= 250);
        looks += 1;
        found.extend(some.found);
        if some.behind.is_none() {
            break;
        }
        behind = some.behind;
    }
    assert_eq!(looks, 13, "the last finds nobody behind");
    assert!(found.is_sorted(), "along the key");
    let distinct: HashSet<&OriginKey> = found.iter().collect();
    assert_eq!(
        (found.len(), distinct.len()),
        (1_000, 1_000),
        "each due one once"
    );
}

async fn due_origins_name_each_account_and_origin_once(kit: &Kit) {
    assert_eq!(due_origins(kit, NOW).await, []);
    let (one, two) = (kit.account(1_000).await, kit.account(1_000).await);
    let other = Sending {
        callback_url: Some("http://other.example.ng:8080/"),
        first_number: 50,
        ..to_shop(one, 3)
    };
    for sending in [to_shop(one, 20), other, to_shop(two, 2)] {
        settle(kit, &sending, 0).await;
    }
    let mut wanted = vec![
        (
            kit.store.bucket_of(one),
            one,
            Environment::Live,
            "http://other.example.ng:8080".to_owned(),
        ),
        live(kit.store.bucket_of(one), one),
        live(kit.store.bucket_of(two), two),
    ];
    let mut found = due_origins(kit, NOW).await;
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
    assert_eq!(due_origins(kit, NOW - 1).await, []);
    claim(kit, two, NOW, 2).await;
    assert_eq!(due_origins(kit, NOW).await.len(), 2);
}

async fn sandbox_callbacks_are_claimed_apart_from_others(kit: &Kit) {
    let id = kit.account(100).await;
    let simulated = Sending {
        environment: Environment::Sandbox,
        first_number: 50,
        ..to_shop(id, 3)
    };
    // The callbacks of the sandbox are older.
    for sending in [simulated, to_shop(id, 2)] {
        settle(kit, &sending, 0).await;
    }
    let bucket = kit.store.bucket_of(id);
    let sandbox = (bucket, id, Environment::Sandbox, ORIGIN.to_owned());
    let found = due_origins(kit, NOW).await;
    assert_eq!(found, [live(bucket, id), sandbox.clone()]);
    let paid = claim(kit, id, NOW, 2).await;
    let are = |all: &[Callback], environment| {
        all.iter()
            .all(|callback| callback.environment == environment)
    };
    assert!(paid.len() == 2 && are(&paid, Environment::Live));
    let claimed = kit.store.outbox().claim(sandbox, NOW, 10, NODE, UNTIL);
    let claimed = claimed.await.unwrap();
    assert!(claimed.len() == 3 && are(&claimed, Environment::Sandbox));
    for (callback, finished) in claimed.iter().zip([Finished::Done, Finished::Dead]) {
        finish(kit, callback, finished).await;
    }
    assert_eq!(
        counts(kit).await,
        counted([("claimed", 3), ("dead", 1)]),
        "each is finished where it lies"
    );
    let dead = kit.store.dead_callbacks().origins(None, 9).await.unwrap();
    assert_eq!(dead[0].environment, Environment::Sandbox);
    let again = kit
        .store
        .dead_callbacks()
        .replay(&dead[0], None, by(NOW))
        .await;
    assert_eq!(again.unwrap(), 1);
}

async fn claimed_callbacks_are_in_hand_of_one_node(kit: &Kit) {
    let id = kit.account(1_000).await;
    settle(kit, &to_shop(id, 60), 0).await;
    let mut tasks = tokio::task::JoinSet::new();
    for node in (1..=4).map(NodeId) {
        let (store, bucket) = (kit.store.clone(), kit.store.bucket_of(id));
        tasks.spawn(async move {
            let mut mine = Vec::new();
            loop {
                let found = store
                    .outbox()
                    .claim(live(bucket, id), NOW, 7, node, UNTIL)
                    .await
                    .unwrap();
                if found.is_empty() {
                    return mine;
                }
                assert!(found.len() <= 7);
                mine.extend(found);
            }
        });
    }
    let mut all: Vec<Recipient> = tasks
        .join_all()
        .await
        .into_iter()
        .flatten()
        .map(|callback| callback.recipient)
        .collect();
    all.extend(
        claim(kit, id, NOW, 100)
            .await
            .iter()
            .map(|callback| callback.recipient),
    );
    all.sort();
    assert_eq!(all.len(), 60);
    all.dedup();
    assert_eq!(all.len(), 60);
}

async fn callbacks_are_claimed_in_the_order_they_are_due(kit: &Kit) {
    let id = kit.account(100).await;
    let settled = settle(kit, &to_shop(id, 3), 10).await;
    for (callback, at_ms) in settled.callbacks.iter().zip([NOW + 3, NOW + 1, NOW + 2]) {
        finish(kit, callback, Finished::Retry { at_ms }).await;
    }
    let due: Vec<i64> = claim(kit, id, NOW + 2, 10)
        .await
        .iter()
        .map(|callback| callback.due_at_ms)
        .collect();
    assert_eq!(due, [NOW + 1, NOW + 2]);
}

async fn a_delivered_callback_is_gone(kit: &Kit) {
    let id = kit.account(100).await;
    let settled = settle(kit, &to_shop(id, 2), 10).await;
    finish(kit, &settled.callbacks[0], Finished::Done).await;
    assert_eq!(counts(kit).await, counted([("claimed", 1)]));
}

async fn a_callback_to_be_tried_again_waits_for_its_time(kit: &Kit) {
    let id = kit.account(100).await;
    let settled = settle(kit, &to_shop(id, 1), 10).await;
    finish(
        kit,
        &settled.callbacks[0],
        Finished::Retry { at_ms: NOW + 5_000 },
    )
    .await;
    assert!(claim(kit, id, NOW + 4_999, 10).await.is_empty());
    let again = claim(kit, id, NOW + 5_000, 10).await;
    let wanted = Callback {
        attempts: 1,
        due_at_ms: NOW + 5_000,
        ..settled.callbacks[0].clone()
    };
    assert_eq!(again, [wanted]);
}

async fn a_callback_that_was_not_tried_goes_back_as_it_was(kit: &Kit) {
    let id = kit.account(100).await;
    let settled = settle(kit, &to_shop(id, 1), 10).await;
    finish(kit, &settled.callbacks[0], Finished::Untouched).await;
    assert_eq!(claim(kit, id, NOW, 10).await, settled.callbacks);
}

async fn a_dead_callback_is_kept_and_not_tried(kit: &Kit) {
    let id = kit.account(100).await;
    let settled = settle(kit, &to_shop(id, 1), 10).await;
    finish(kit, &settled.callbacks[0], Finished::Dead).await;
    assert_eq!(counts(kit).await, counted([("dead", 1)]));
    assert!(claim(kit, id, NOW + 1_000_000, 10).await.is_empty());
    assert_eq!(due_origins(kit, NOW + 1_000_000).await, []);
    assert_eq!(kit.numbers("select attempts from outbox").await, [1]);
}

async fn a_callback_that_is_given_up_untried_counts_no_attempt(kit: &Kit) {
    let id = kit.account(100).await;
    let settled = settle(kit, &to_shop(id, 1), 10).await;
    finish(kit, &settled.callbacks[0], Finished::GivenUp).await;
    assert_eq!(counts(kit).await, counted([("dead", 1)]));
    assert_eq!(kit.numbers("select attempts from outbox").await, [0]);
}

async fn the_end_of_a_message_ends_all_its_callbacks(kit: &Kit) {
    let id = kit.account(1_000).await;
    let other = settle(
        kit,
        &Sending {
            first_number: 90,
            ..to_shop(id, 1)
        },
        0,
    )
    .await;
    assert!(other.more_callbacks);
    let message = to_shop(id, 4).message(&kit.store);
    kit.submit(&message).await;
    let [one, two, three, four] = message.draft.recipients[..] else {
        unreachable!()
    };
    let some = CarrierReport {
        callback_room: rooms(1),
        ..report(
            vec![],
            vec![delivered(one), delivered(two), delivered(three)],
        )
    };
    let settled = kit.report(some).await.0;
    finish(kit, &settled.callbacks[0], Finished::EndMessage).await;
    assert_eq!(counts(kit).await, counted([("dead", 3), ("due", 1)]));
    // Later outcomes have no callback either, and the report still shows them.
    let late = kit.report(report(vec![], vec![delivered(four)])).await.0;
    assert!(late.callbacks.is_empty() && !late.more_callbacks);
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered); 4]
    );
}

async fn callbacks_that_nobody_holds_are_freed(kit: &Kit) {
    let id = kit.account(100).await;
    settle(kit, &to_shop(id, 2), 10).await;
    kit.store.nodes().beat(NODE, "alive").await.unwrap();
    assert_eq!(kit.free_callbacks(UNTIL).await, 0);
    assert_eq!(kit.free_callbacks(UNTIL + 1).await, 2, "held too long");
    assert_eq!(claim(kit, id, NOW, 10).await.len(), 2);
    kit.store.nodes().leave(NODE).await.unwrap();
    assert_eq!(kit.free_callbacks(NOW).await, 2, "nobody holds them");
    assert_eq!(claim(kit, id, NOW, 10).await.len(), 2);
}

async fn a_callback_freed_under_its_node_is_not_doubled(kit: &Kit) {
    for finished in [
        Finished::Untouched,
        Finished::Retry { at_ms: NOW },
        Finished::Dead,
        Finished::GivenUp,
        Finished::Done,
    ] {
        let id = kit.account(100).await;
        let settled = settle(kit, &to_shop(id, 1), 10).await;
        kit.free_callbacks(UNTIL + 1).await;
        finish(kit, &settled.callbacks[0], finished).await;
        assert_eq!(claim(kit, id, NOW, 10).await.len(), 1, "{finished:?}");
    }
}

async fn a_callback_that_another_node_took_over_is_that_nodes_alone(kit: &Kit) {
    const OTHER: NodeId = NodeId(8);
    let outcomes = [
        Finished::Untouched,
        Finished::Retry { at_ms: NOW },
        Finished::Dead,
        Finished::GivenUp,
        Finished::Done,
    ];
    for finished in outcomes {
        let id = kit.account(100).await;
        let settled = settle(kit, &to_shop(id, 1), 10).await;
        let callback = &settled.callbacks[0];
        kit.free_callbacks(UNTIL + 1).await;
        let bucket = callback.bucket;
        let taken_over = kit
            .store
            .outbox()
            .claim(live(bucket, id), NOW, 10, OTHER, UNTIL);
        assert_eq!(taken_over.await.unwrap(), settled.callbacks);
        finish(kit, callback, finished).await;
        assert_eq!(counts(kit).await, counted([("claimed", 1)]), "{finished:?}");
        let done = vec![AttemptOutcome::new(callback.clone(), Finished::Done)];
        kit.store.outbox().finish(OTHER, done).await.unwrap();
        assert_eq!(counts(kit).await, HashMap::new());
        finish(kit, callback, finished).await;
        assert_eq!(counts(kit).await, HashMap::new(), "{finished:?}");
    }
}

/// Settles a message, and lets all its callbacks die.
pub(crate) async fn die(kit: &Kit, sending: &Sending) -> Vec<Callback> {
    let settled = settle(kit, sending, sending.recipients).await;
    let dead = settled.callbacks.iter().cloned();
    let dead = dead
        .map(|callback| AttemptOutcome::new(callback, Finished::Dead))
        .collect();
    kit.store.outbox().finish(NODE, dead).await.unwrap();
    settled.callbacks
}

async fn dead_callbacks_are_shown_by_origin_and_one_by_one(kit: &Kit) {
    assert_eq!(
        kit.store.dead_callbacks().origins(None, 9).await.unwrap(),
        []
    );
    let id = kit.account(1_000).await;
    let died = die(kit, &to_shop(id, 3)).await;
    let dead = kit.store.dead_callbacks().origins(None, 9).await.unwrap();
    let shown = store::DeadOrigin {
        bucket: kit.store.bucket_of(id),
        account: id,
        environment: Environment::Live,
        origin: ORIGIN.to_owned(),
        callbacks: 3,
        oldest_ms: died[0].due_at_ms,
    };
    assert_eq!(dead, [shown]);
    let two = kit.store.dead_callbacks().list(id, None, 2).await.unwrap();
    assert_eq!(two.len(), 2);
    assert_eq!((&*two[0].url, two[0].attempts), (URL, 1));
    let other = kit.account(1).await;
    assert_eq!(
        kit.store
            .dead_callbacks()
            .list(other, None, 2)
            .await
            .unwrap(),
        []
    );
}

async fn a_replayed_callback_is_due_as_if_it_had_never_been_tried(kit: &Kit) {
    let id = kit.account(100).await;
    let died = die(kit, &to_shop(id, 1)).await;
    let dead = kit
        .store
        .dead_callbacks()
        .origins(None, 9)
        .await
        .unwrap()
        .remove(0);
    let later = NOW + 5_000;
    let replayed = kit
        .store
        .dead_callbacks()
        .replay(&dead, None, by(later))
        .await;
    assert_eq!(replayed.unwrap(), 1);
    assert_eq!(
        kit.store.dead_callbacks().origins(None, 9).await.unwrap(),
        []
    );
    assert_eq!(claim(kit, id, later - 1, 10).await, []);
    let fresh = Callback {
        due_at_ms: later,
        ..died[0].clone()
    };
    assert_eq!(claim(kit, id, later, 10).await, [fresh]);
    let replayed = kit
        .store
        .dead_callbacks()
        .replay(&dead, None, by(later))
        .await;
    assert_eq!(replayed.unwrap(), 0, "there is nothing left");
}

async fn dead_callbacks_of_one_message_are_replayed_alone(kit: &Kit) {
    let id = kit.account(1_000).await;
    let died = die(kit, &to_shop(id, 2)).await;
    let others = Sending {
        first_number: 90,
        ..to_shop(id, 3)
    };
    die(kit, &others).await;
    let dead = kit
        .store
        .dead_callbacks()
        .origins(None, 9)
        .await
        .unwrap()
        .remove(0);
    let message = Some(died[0].message);
    let replayed = kit
        .store
        .dead_callbacks()
        .replay(&dead, message, by(NOW))
        .await;
    assert_eq!(replayed.unwrap(), 2);
    assert_eq!(counts(kit).await, counted([("due", 2), ("dead", 3)]));
}

async fn many_dead_callbacks_are_replayed_in_steps(kit: &Kit) {
    const MANY: usize = 700;
    let id = kit.account(10_000).await;
    die(kit, &to_shop(id, MANY)).await;
    let dead = kit
        .store
        .dead_callbacks()
        .origins(None, 9)
        .await
        .unwrap()
        .remove(0);
    let replayed = kit
        .store
        .dead_callbacks()
        .replay(&dead, None, by(NOW))
        .await;
    assert_eq!(replayed.unwrap(), MANY as u64);
    assert_eq!(counts(kit).await, counted([("due", 700)]));
}

/// The callback would be due for ever, because its URL was removed with the message.
async fn a_dead_callback_whose_message_is_gone_is_not_replayed(kit: &Kit) {
    let id = kit.account(100).await;
    die(kit, &to_shop(id, 2)).await;
    let dead = kit
        .store
        .dead_callbacks()
        .origins(None, 9)
        .await
        .unwrap()
        .remove(0);
    kit.plant("delete from messages").await;
    let replayed = kit
        .store
        .dead_callbacks()
        .replay(&dead, None, by(NOW))
        .await;
    assert_eq!(replayed.unwrap(), 0);
    assert_eq!(counts(kit).await, counted([("dead", 2)]));
}

fn attempted(made_at_ms: i64, result: &str) -> Attempted {
    Attempted {
        made_at_ms,
        result: result.to_owned(),
        took_ms: 15_000,
        answer: "{\"wait\": \"ẹ\"}\\n".to_owned(),
    }
}

/// The callback fails at first and then succeeds. The attempts are stored.
pub(crate) async fn taken_at_last(kit: &Kit, sending: &Sending, at_ms: i64) -> Callback {
    let first = settle(kit, sending, 1).await.callbacks.remove(0);
    let retry = AttemptOutcome {
        attempted: Some(attempted(at_ms, "timed_out")),
        ..AttemptOutcome::new(first.clone(), Finished::Retry { at_ms: NOW })
    };
    kit.store.outbox().finish(NODE, vec![retry]).await.unwrap();
    let again = claim(kit, first.account, NOW, 1).await.remove(0);
    let done = AttemptOutcome {
        attempted: Some(attempted(at_ms + 7, "200")),
        ..AttemptOutcome::new(again, Finished::Done)
    };
    kit.store.outbox().finish(NODE, vec![done]).await.unwrap();
    first
}

/// Returns number, time and result of the attempts of an account.
async fn attempts(kit: &Kit, id: AccountId, limit: u32) -> Vec<(i64, i64, String)> {
    let kept = kit
        .store
        .attempts()
        .list(id, None, None, limit)
        .await
        .unwrap();
    let shown = kept.into_iter().map(|kept| {
        let attempted = kept.attempted;
        (kept.attempt, attempted.made_at_ms, attempted.result)
    });
    shown.collect()
}

async fn attempts_that_are_kept_are_shown_the_latest_first(kit: &Kit) {
    let id = kit.account(100).await;
    let settled = settle(kit, &to_shop(id, 1), 10).await;
    finish(kit, &settled.callbacks[0], Finished::Done).await;
    assert_eq!(attempts(kit, id, 9).await, [], "none is to be kept");
    let other = Sending {
        first_number: 90,
        ..to_shop(id, 1)
    };
    let callback = taken_at_last(kit, &other, NOW).await;
    let shown = [
        (2, NOW + 7, "200".to_owned()),
        (1, NOW, "timed_out".to_owned()),
    ];
    assert_eq!(attempts(kit, id, 9).await, shown);
    assert_eq!(attempts(kit, id, 1).await, shown[..1]);
    let of_message = async |message| {
        let kept = kit.store.attempts().list(id, Some(message), None, 9);
        kept.await.unwrap()
    };
    let kept = of_message(callback.message).await;
    assert_eq!(kept[1].recipient, callback.recipient);
    assert_eq!(kept[1].attempted, attempted(NOW, "timed_out"));
    assert_eq!(of_message(settled.callbacks[0].message).await, []);
    let stranger = kit.account(1).await;
    assert_eq!(attempts(kit, stranger, 9).await, []);
}

async fn attempts_are_forgotten_by_their_own_age(kit: &Kit) {
    let id = kit.account(100).await;
    let later = NOW + 1_000_000;
    let callback = taken_at_last(kit, &to_shop(id, 1), later).await;
    let forget = async |before_ms| {
        let more = kit
            .store
            .attempts()
            .forget(callback.bucket, before_ms)
            .await;
        assert!(!more.unwrap());
        attempts(kit, id, 9).await.len()
    };
    assert_eq!(forget(later).await, 2, "the message is older");
    assert_eq!(forget(later + 7).await, 1);
    assert_eq!(forget(later + 8).await, 0);
}

async fn attempts_go_with_their_message(kit: &Kit) {
    let id = kit.account(100).await;
    let callback = taken_at_last(kit, &to_shop(id, 1), NOW).await;
    let after_ms = callback.message.accepted_at_ms() + 1;
    let removed = kit
        .store
        .retention()
        .remove_messages(callback.bucket, after_ms, None);
    assert_eq!(removed.await.unwrap().count, 1);
    assert_eq!(attempts(kit, id, 9).await, []);
}
