//! The messages whose state a carrier is asked for.

use domain::http_carrier::PollTimes;
use std::sync::Arc;
use store::{CarrierReport, PolledCarrier};
use storekit::{CARRIER, Kit, NOW, Sending, page_id, report, sending, taken, twins};

twins!(
    a_submit_over_a_polled_carrier_is_asked_for_until_final,
    the_last_request_is_due_at_the_end_of_period_or_validity,
    two_nodes_take_each_message_once,
    what_nobody_asks_for_any_more_is_forgotten,
);

const MINUTE: i64 = 60_000;
const TIMES: PollTimes = PollTimes {
    interval_ms: MINUTE,
    period_ms: 10 * MINUTE,
};

fn polled() -> PolledCarrier {
    PolledCarrier {
        carrier: CARRIER.into(),
        times: TIMES,
    }
}

/// Submits a message to so many recipients. Returns the ids of the carrier, in order.
async fn submitted(kit: &Kit, recipients: usize) -> Vec<String> {
    let base = Sending {
        recipients,
        ..sending(kit.account(1_000).await)
    };
    let message = base.message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let to = message.draft.recipients.iter();
    let mut ids: Vec<String> = to.map(|&to| page_id(to, 1)).collect();
    kit.report(CarrierReport {
        polled: vec![polled()],
        ..report(claimed.iter().map(taken).collect(), vec![])
    })
    .await;
    ids.sort();
    ids
}

async fn due(kit: &Kit, now_ms: i64, limit: u32) -> Vec<(String, bool)> {
    let polls = kit.store.receipt_polls();
    let taken = polls.take(polled(), now_ms, limit).await.unwrap();
    let mut taken: Vec<_> = taken.into_iter().map(|one| (one.id, one.is_last)).collect();
    taken.sort();
    taken
}

fn open(ids: &[String]) -> Vec<(String, bool)> {
    ids.iter().map(|id| (id.clone(), false)).collect()
}

async fn a_submit_over_a_polled_carrier_is_asked_for_until_final(kit: &Kit) {
    let ids = submitted(kit, 3).await;
    assert_eq!(due(kit, NOW + MINUTE - 1, 9).await, []);
    let first = due(kit, NOW + MINUTE, 2).await;
    assert_eq!(first.len(), 2);
    let rest = due(kit, NOW + MINUTE, 9).await;
    assert_eq!(rest.len(), 1, "each once in an interval");
    assert_eq!(due(kit, NOW + 2 * MINUTE, 9).await, open(&ids));
    let (polls, carrier) = (kit.store.receipt_polls(), Arc::<str>::from(CARRIER));
    polls.finish(carrier, vec![ids[1].clone()]).await.unwrap();
    let left = [ids[0].clone(), ids[2].clone()];
    assert_eq!(due(kit, NOW + 3 * MINUTE, 9).await, open(&left));
    let other = PolledCarrier {
        carrier: "other".into(),
        times: TIMES,
    };
    let polls = kit.store.receipt_polls();
    assert_eq!(polls.take(other, NOW + 9 * MINUTE, 9).await.unwrap(), []);
}

async fn the_last_request_is_due_at_the_end_of_period_or_validity(kit: &Kit) {
    let ids = submitted(kit, 1).await;
    assert_eq!(due(kit, NOW + 9 * MINUTE + MINUTE / 2, 9).await, open(&ids));
    let last = due(kit, NOW + 10 * MINUTE, 9).await;
    assert_eq!(last, [(ids[0].clone(), true)], "not half a minute later");
    // A node that ended before the answer leaves it to another one.
    let again = due(kit, NOW + 11 * MINUTE, 9).await;
    assert_eq!(again, [(ids[0].clone(), true)]);
    let polls = kit.store.receipt_polls();
    let taken = polls.take(polled(), NOW + 12 * MINUTE, 9).await.unwrap();
    let ends: Vec<i64> = taken.iter().map(|one| one.ends_at_ms).collect();
    assert_eq!(ends, [NOW + 10 * MINUTE], "a repetition moves no end");
}

async fn two_nodes_take_each_message_once(kit: &Kit) {
    let ids = submitted(kit, 40).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let store = kit.store.clone();
        tasks.spawn(async move {
            let polls = store.receipt_polls();
            polls.take(polled(), NOW + MINUTE, 40).await.unwrap()
        });
    }
    let taken = tasks.join_all().await.into_iter().flatten();
    let mut taken: Vec<String> = taken.map(|one| one.id).collect();
    taken.sort();
    assert_eq!(taken, ids);
    // Some of many are removed by one statement, and the rest stays due.
    let (polls, carrier) = (kit.store.receipt_polls(), Arc::<str>::from(CARRIER));
    let (over, left) = ids.split_at(30);
    let mut over = over.to_vec();
    over.reverse();
    polls.finish(carrier, over).await.unwrap();
    assert_eq!(due(kit, NOW + 2 * MINUTE, 40).await, open(left));
}

async fn what_nobody_asks_for_any_more_is_forgotten(kit: &Kit) {
    submitted(kit, 2).await;
    let left = async || kit.numbers("select count(*) from receipt_polls").await;
    let ends_at_ms = NOW + TIMES.period_ms;
    let polls = kit.store.receipt_polls();
    assert!(!polls.forget(ends_at_ms).await.unwrap());
    assert_eq!(left().await, [2]);
    assert!(!polls.forget(ends_at_ms + 1).await.unwrap());
    assert_eq!(left().await, [0]);
}
