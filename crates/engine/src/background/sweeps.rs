//! What time does, looked after in the background.

use super::{gauges, held_accounts};
use crate::admit::callers::Customers;
use crate::cluster::takeover::portions;
use crate::context::Context;
use crate::dispatch::{move_strays, note_due};
use database::Outage;
use domain::{Bucket, Gateway};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::{Claimed, Ended, Expiry, Progress, Settled};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

/// How often it is looked whether batches have become due.
const DUE_EVERY: Duration = Duration::from_secs(1);
/// How often recipients are looked for whose time is over.
const EXPIRE_EVERY: Duration = Duration::from_secs(10);
/// A delivery may be committed this long after its message's time was over.
const GRACE_MS: i64 = 60_000;
/// How often closed windows are forgotten.
const TIDY_EVERY: Duration = Duration::from_secs(5);
/// How often receipts are looked at again that were parked on one node while another kept their response, and how long
/// each is.
const LOOK_AGAIN_EVERY: Duration = Duration::from_secs(1);
const LOOK_AGAIN_MS: i64 = 20_000;
/// How often PostgreSQL is made to look at tables that it takes for empty: until it has, a campaign that is its first may
/// wait a second for each thousand receipts.
const GATHER_EVERY: Duration = Duration::from_secs(1);
/// How often PostgreSQL is made to use the room again of what has left the queues.
const VACUUM_EVERY: Duration = Duration::from_millis(500);
/// How often old attempts at callbacks are forgotten, and how long they are kept.
const FORGET_EVERY: Duration = Duration::from_hours(1);
const ATTEMPTS_MS: i64 = 14 * 86_400_000;
/// How often batches are looked for that wait for carriers which are not configured any more.
const STRAYS_EVERY: Duration = Duration::from_secs(5);
/// How often it is looked what came to be held of accounts that may not send.
const HELD_EVERY: Duration = Duration::from_secs(2);
/// How often queues are measured.
const MEASURE_EVERY: Duration = Duration::from_secs(5);

/// Runs each sweep in a task of its own, so that none waits for another. They run until they are aborted.
pub(crate) fn start(shared: &Arc<Context>, customers: &Customers) -> Vec<JoinHandle<()>> {
    let settling = every(
        HELD_EVERY,
        Outage::of("what is queued of held accounts cannot be settled"),
        shared,
        |shared| async move { held_accounts::settle(&shared).await },
    );
    let following = tokio::spawn(held_accounts::follow(
        Arc::clone(shared),
        customers.revision(),
    ));
    let sweeps = sweeps(shared).into_iter();
    sweeps.chain([settling, following]).collect()
}

fn sweeps(shared: &Arc<Context>) -> [JoinHandle<()>; 9] {
    let looked = Arc::new(AtomicI64::new(shared.clock.now_ms()));
    let (told, measured) = (Arc::new(Mutex::default()), Arc::new(Mutex::default()));
    [
        every(
            DUE_EVERY,
            Outage::of("it cannot be seen which batches are due"),
            shared,
            |shared| async move { note_due(&shared).await },
        ),
        every(
            FORGET_EVERY,
            Outage::of("old attempts at callbacks cannot be forgotten"),
            shared,
            |shared| async move { forget_all(&shared).await },
        ),
        every(
            EXPIRE_EVERY,
            Outage::of("recipients whose time is over cannot expire"),
            shared,
            |shared| async move { expire_all(&shared).await },
        ),
        every(
            TIDY_EVERY,
            Outage::of("closed windows cannot be forgotten"),
            shared,
            |shared| async move { tidy_all(&shared).await },
        ),
        every(
            MEASURE_EVERY,
            Outage::of("queues cannot be measured"),
            shared,
            move |shared| {
                let measured = Arc::clone(&measured);
                async move { gauges::measure_all(&shared, &measured).await }
            },
        ),
        every(
            GATHER_EVERY,
            Outage::of("statistics of tables cannot be gathered"),
            shared,
            |shared| async move { shared.store.gather_statistics().await },
        ),
        every(
            VACUUM_EVERY,
            Outage::of("queues cannot be vacuumed"),
            shared,
            |shared| async move { shared.store.vacuum_queues().await },
        ),
        every(
            LOOK_AGAIN_EVERY,
            Outage::of("parked receipts cannot be looked at"),
            shared,
            move |shared| {
                let looked = Arc::clone(&looked);
                async move { look_again(&shared, &looked).await }
            },
        ),
        every(
            STRAYS_EVERY,
            Outage::of("batches of carriers that are gone cannot be moved"),
            shared,
            move |shared| {
                let told = Arc::clone(&told);
                async move { move_strays(&shared, &told).await }
            },
        ),
    ]
}

/// Sweeps at once and then that often; one that takes longer delays the next of its kind alone.
fn every<S>(
    period: Duration,
    outage: Outage,
    shared: &Arc<Context>,
    sweep: impl Fn(Arc<Context>) -> S + Send + 'static,
) -> JoinHandle<()>
where
    S: Future<Output = database::Result<()>> + Send + 'static,
{
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let mut ticks = interval(period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            outage.note(sweep(Arc::clone(&shared)).await);
        }
    })
}

/// Expires recipients that have no outcome in time, and what was never sent. Where that fails in a bucket, the others are
/// swept all the same.
pub(crate) async fn expire_all(shared: &Arc<Context>) -> database::Result<()> {
    let begun_ms = shared.clock.now_ms();
    let mut swept = Ok(());
    for &gateway in Gateway::ALL {
        for bucket in shared.my_buckets() {
            swept = swept.and(expire_sent(shared, bucket, gateway, begun_ms).await);
        }
    }
    for bucket in shared.my_buckets() {
        swept = swept.and(expire_unsent(shared, bucket, begun_ms).await);
    }
    swept
}

/// Until when a step expires: when the sweep began, so that it has an end; or, where the clock was set back since, what it
/// tells now, or what was accepted after that would be expired.
fn until_ms(shared: &Context, begun_ms: i64) -> i64 {
    shared.clock.now_ms().min(begun_ms)
}

async fn expire_sent(
    shared: &Arc<Context>,
    bucket: Bucket,
    gateway: Gateway,
    begun_ms: i64,
) -> database::Result<()> {
    loop {
        let now_ms = until_ms(shared, begun_ms);
        let expiry = Expiry {
            gateway,
            over_before_ms: over_before(shared, gateway, now_ms - GRACE_MS),
            now_ms,
            planner: shared.planner(now_ms),
        };
        let (settled, more) = shared.store.expire(bucket, &expiry).await?;
        shared.settled(settled);
        if !more {
            return Ok(());
        }
    }
}

/// Whose time was over before then.
fn over_before(shared: &Context, gateway: Gateway, now_ms: i64) -> i64 {
    shared.live().plan.rules.over_before(gateway, now_ms)
}

async fn expire_unsent(
    shared: &Arc<Context>,
    bucket: Bucket,
    begun_ms: i64,
) -> database::Result<()> {
    loop {
        let now_ms = until_ms(shared, begun_ms);
        let late = shared.store.late_batches(bucket, now_ms).await?;
        if late.is_empty() {
            return Ok(());
        }
        for late in portions(late) {
            let progress = late.into_iter().map(too_late).collect();
            let report = shared.report(progress, now_ms);
            shared.keep(report).await?;
        }
    }
}

fn too_late(claimed: Claimed) -> Progress {
    let ended = claimed.batch.recipients.iter().map(|&recipient| Ended {
        recipient,
        status: domain::DeliveryStatus::Expired,
        error: "validity passed".to_owned(),
    });
    Progress {
        ended: ended.collect(),
        ..Progress::of(claimed)
    }
}

async fn tidy_all(shared: &Arc<Context>) -> database::Result<()> {
    let now_ms = shared.followed_ms().await?;
    for bucket in shared.my_buckets() {
        while shared.store.tidy(bucket, now_ms).await? {}
    }
    while shared.store.is_shared() && shared.store.tidy_rates(shared.clock.now_ms()).await? {}
    Ok(())
}

async fn forget_all(shared: &Arc<Context>) -> database::Result<()> {
    let before_ms = shared.clock.now_ms() - ATTEMPTS_MS;
    for bucket in shared.my_buckets() {
        while shared.store.forget_attempts(bucket, before_ms).await? {}
    }
    Ok(())
}

/// Finds receipts that came in on one node while another kept their response, since what was seen when all of them
/// were last looked at, which it notes.
async fn look_again(shared: &Arc<Context>, looked: &AtomicI64) -> database::Result<()> {
    let now_ms = shared.clock.now_ms();
    let since_ms = parked_since(looked.load(Ordering::Relaxed), now_ms);
    let mut until_ms = now_ms;
    for bucket in shared.my_buckets() {
        let report = Arc::new(shared.empty_report(now_ms));
        let mut settled = Settled::default();
        let store = &shared.store;
        let found = store
            .look_again(report, bucket, since_ms, &mut settled)
            .await;
        shared.settled(settled);
        until_ms = until_ms.min(looked_until(since_ms, now_ms, found?));
    }
    looked.store(until_ms, Ordering::Relaxed);
    Ok(())
}

/// However long ago the last look was, and wherever the clock was set meanwhile, no receipt is too old for the next.
fn parked_since(looked_ms: i64, now_ms: i64) -> i64 {
    looked_ms.min(now_ms) - LOOK_AGAIN_MS
}

/// Until when it was looked, where what came in until `full_ms` was too much for one look: the next one begins with what is
/// left, and goes on in any case.
fn looked_until(since_ms: i64, now_ms: i64, full_ms: Option<i64>) -> i64 {
    full_ms.map_or(now_ms, |full_ms| full_ms.max(since_ms + 1) + LOOK_AGAIN_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_parked_receipt_is_too_old_to_be_looked_at_after_a_sweep_that_took_long() {
        let minute = 60_000;
        for (looked_ms, now_ms, since_ms) in [
            (minute, minute + 1_000, minute - LOOK_AGAIN_MS),
            (minute, 10 * minute, minute - LOOK_AGAIN_MS),
            (10 * minute, minute, minute - LOOK_AGAIN_MS),
        ] {
            let found = parked_since(looked_ms, now_ms);
            assert_eq!(found, since_ms, "after {looked_ms} at {now_ms}");
        }
    }

    #[test]
    fn what_one_look_has_no_room_for_is_the_next_ones() {
        let next = |since_ms, full_ms| {
            let looked_ms = looked_until(since_ms, 100_000, full_ms);
            parked_since(looked_ms, 100_000)
        };
        assert_eq!(next(50_000, None), 80_000);
        assert_eq!(next(50_000, Some(60_000)), 60_000);
        assert_eq!(next(50_000, Some(50_000)), 50_001, "it goes on");
    }
}
