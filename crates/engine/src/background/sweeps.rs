//! The work of time, done in the background.

use super::{gauges, held_accounts};
use crate::admit::callers::Callers;
use crate::cluster::takeover::chunks;
use crate::context::Context;
use crate::dispatch::{move_strays, note_due};
use crate::settle::commit::{commit_alone, empty_report, report_of};
use database::Outage;
use domain::{Bucket, Gateway};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use store::{Claimed, Ended, Expiry, Progress, Settled};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

/// How often it is looked whether batches have become due.
const DUE_INTERVAL: Duration = Duration::from_secs(1);
/// How often recipients are looked for whose time is over.
const EXPIRE_INTERVAL: Duration = Duration::from_secs(10);
/// A delivery may be committed this long after its message's time was over.
const GRACE_MS: i64 = 60_000;
/// How often closed windows are forgotten.
const TIDY_INTERVAL: Duration = Duration::from_secs(5);
/// How often receipts are looked at again that were parked on one node while another kept their response, and how long
/// each is.
const LOOK_AGAIN_INTERVAL: Duration = Duration::from_secs(1);
const LOOK_AGAIN_MS: i64 = 20_000;
/// How often PostgreSQL is made to look at tables that it takes for empty: until it has, a campaign that is its first may
/// wait a second for each thousand receipts.
const GATHER_INTERVAL: Duration = Duration::from_secs(1);
/// How often PostgreSQL is made to use the room again of what has left the queues.
const VACUUM_INTERVAL: Duration = Duration::from_millis(500);
/// How often old attempts at callbacks are forgotten, and how long they are kept.
const FORGET_INTERVAL: Duration = Duration::from_hours(1);
const ATTEMPTS_MS: i64 = 14 * 86_400_000;
/// How often batches are looked for that wait for carriers which are not configured any more.
const STRAYS_INTERVAL: Duration = Duration::from_secs(5);
/// How often it is looked what came to be held of accounts that may not send.
const HELD_INTERVAL: Duration = Duration::from_secs(2);
/// How often queues are measured.
const MEASURE_INTERVAL: Duration = Duration::from_secs(5);

/// Runs each sweep in a task of its own, so that none waits for another. They run until they are aborted.
pub(crate) fn start(context: &Arc<Context>, callers: &Callers) -> Vec<JoinHandle<()>> {
    let settling = every(
        HELD_INTERVAL,
        Outage::of("what is queued of held accounts cannot be settled"),
        context,
        |context| async move { held_accounts::settle(&context).await },
    );
    let following = tokio::spawn(held_accounts::follow(
        Arc::clone(context),
        callers.revision(),
    ));
    let sweeps = sweeps(context).into_iter();
    sweeps.chain([settling, following]).collect()
}

fn sweeps(context: &Arc<Context>) -> [JoinHandle<()>; 9] {
    let looked = Arc::new(AtomicI64::new(context.clock.now_ms()));
    let (reported, measured) = (Arc::new(Mutex::default()), Arc::new(Mutex::default()));
    [
        every(
            DUE_INTERVAL,
            Outage::of("it cannot be seen which batches are due"),
            context,
            |context| async move { note_due(&context).await },
        ),
        every(
            FORGET_INTERVAL,
            Outage::of("old attempts at callbacks cannot be forgotten"),
            context,
            |context| async move { forget_all(&context).await },
        ),
        every(
            EXPIRE_INTERVAL,
            Outage::of("recipients whose time is over cannot expire"),
            context,
            |context| async move { expire_all(&context).await },
        ),
        every(
            TIDY_INTERVAL,
            Outage::of("closed windows cannot be forgotten"),
            context,
            |context| async move { tidy_all(&context).await },
        ),
        every(
            MEASURE_INTERVAL,
            Outage::of("queues cannot be measured"),
            context,
            move |context| {
                let measured = Arc::clone(&measured);
                async move { gauges::measure_all(&context, &measured).await }
            },
        ),
        every(
            GATHER_INTERVAL,
            Outage::of("statistics of tables cannot be gathered"),
            context,
            |context| async move { context.store.gather_statistics().await },
        ),
        every(
            VACUUM_INTERVAL,
            Outage::of("queues cannot be vacuumed"),
            context,
            |context| async move { context.store.vacuum_queues().await },
        ),
        every(
            LOOK_AGAIN_INTERVAL,
            Outage::of("parked receipts cannot be looked at"),
            context,
            move |context| {
                let looked = Arc::clone(&looked);
                async move { look_again(&context, &looked).await }
            },
        ),
        every(
            STRAYS_INTERVAL,
            Outage::of("batches of carriers that are gone cannot be moved"),
            context,
            move |context| {
                let reported = Arc::clone(&reported);
                async move { move_strays(&context, &reported).await }
            },
        ),
    ]
}

/// Sweeps at once and then that often; one that takes longer delays the next of its kind alone.
fn every<S>(
    period: Duration,
    outage: Outage,
    context: &Arc<Context>,
    sweep: impl Fn(Arc<Context>) -> S + Send + 'static,
) -> JoinHandle<()>
where
    S: Future<Output = database::Result<()>> + Send + 'static,
{
    let context = Arc::clone(context);
    tokio::spawn(async move {
        let mut ticks = interval(period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            outage.note(sweep(Arc::clone(&context)).await);
        }
    })
}

/// Expires recipients that have no outcome in time, and what was never sent. Where that fails in a bucket, the others are
/// swept all the same.
pub(crate) async fn expire_all(context: &Arc<Context>) -> database::Result<()> {
    let begun_ms = context.clock.now_ms();
    let mut swept = Ok(());
    for &gateway in Gateway::ALL {
        for bucket in context.my_buckets() {
            swept = swept.and(expire_sent(context, bucket, gateway, begun_ms).await);
        }
    }
    for bucket in context.my_buckets() {
        swept = swept.and(expire_unsent(context, bucket, begun_ms).await);
    }
    swept
}

/// Until when a step expires: when the sweep began, so that it has an end; or, where the clock was set back since, what it
/// tells now, or what was accepted after that would be expired.
fn until_ms(context: &Context, begun_ms: i64) -> i64 {
    context.clock.now_ms().min(begun_ms)
}

async fn expire_sent(
    context: &Arc<Context>,
    bucket: Bucket,
    gateway: Gateway,
    begun_ms: i64,
) -> database::Result<()> {
    loop {
        let now_ms = until_ms(context, begun_ms);
        let expiry = Expiry {
            gateway,
            over_before_ms: over_before(context, gateway, now_ms - GRACE_MS),
            now_ms,
            planner: context.planner(now_ms),
        };
        let (settled, more) = context.store.expire(bucket, &expiry).await?;
        context.settled(settled);
        if !more {
            return Ok(());
        }
    }
}

/// The time before which a message must be accepted to be over.
fn over_before(context: &Context, gateway: Gateway, now_ms: i64) -> i64 {
    context.live().plan.rules.over_before(gateway, now_ms)
}

async fn expire_unsent(
    context: &Arc<Context>,
    bucket: Bucket,
    begun_ms: i64,
) -> database::Result<()> {
    loop {
        let now_ms = until_ms(context, begun_ms);
        let late = context.store.late_batches(bucket, now_ms).await?;
        if late.is_empty() {
            return Ok(());
        }
        for late in chunks(late) {
            let progress = late.into_iter().map(too_late).collect();
            let report = report_of(context, progress, now_ms);
            commit_alone(context, report).await?;
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

async fn tidy_all(context: &Arc<Context>) -> database::Result<()> {
    let now_ms = context.followed_ms().await?;
    let answers_before_ms = now_ms - context.live().limits.idempotency_window_ms;
    for bucket in context.my_buckets() {
        while context
            .store
            .tidy(bucket, now_ms, answers_before_ms)
            .await?
        {}
    }
    while context.store.is_shared() && context.store.tidy_rates(context.clock.now_ms()).await? {}
    Ok(())
}

async fn forget_all(context: &Arc<Context>) -> database::Result<()> {
    let before_ms = context.clock.now_ms() - ATTEMPTS_MS;
    for bucket in context.my_buckets() {
        while context.store.forget_attempts(bucket, before_ms).await? {}
    }
    Ok(())
}

/// Finds receipts that came in on one node while another kept their response, since what was seen when all of them
/// were last looked at, which it notes.
async fn look_again(context: &Arc<Context>, looked: &AtomicI64) -> database::Result<()> {
    let now_ms = context.clock.now_ms();
    let since_ms = parked_since(looked.load(Ordering::Relaxed), now_ms);
    let mut until_ms = now_ms;
    for bucket in context.my_buckets() {
        let report = Arc::new(empty_report(context, now_ms));
        let mut settled = Settled::default();
        let store = &context.store;
        let found = store
            .look_again(report, bucket, since_ms, &mut settled)
            .await;
        context.settled(settled);
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
    fn no_parked_receipt_is_too_old_after_a_long_sweep() {
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
