//! The periodic sweeps of the database.

use super::smpp_users;
use super::{
    alerts, controls, gauges, held_accounts, inbound, receipt_polls, recipient_index, retention,
    stops,
};
use crate::admit::callers::Callers;
use crate::cluster::takeover::chunks;
use crate::context::Context;
use crate::dispatch::{move_unconfigured, note_due};
use crate::payments;
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

/// Longest and shortest time between two searches for due batches. A batch that is due sooner than
/// the longest is searched for at its time.
const DUE_INTERVAL: Duration = Duration::from_secs(1);
const MIN_DUE_INTERVAL: Duration = Duration::from_millis(20);
/// Period of the search for expired recipients.
const EXPIRE_INTERVAL: Duration = Duration::from_secs(10);
/// Time after the expiry of a message in which a delivery may still be committed.
const GRACE_MS: i64 = 60_000;
/// Period of the removal of closed duplicate windows.
const TIDY_INTERVAL: Duration = Duration::from_secs(5);
/// Period of the second look at parked receipts, and the age up to which they are looked at. A
/// receipt may be parked on one node while another commits its response.
const LOOK_AGAIN_INTERVAL: Duration = Duration::from_secs(1);
const LOOK_AGAIN_MS: i64 = 20_000;
/// Period of ANALYZE for tables that PostgreSQL believes to be empty. Without it, each 1,000
/// receipts of a first campaign may take a second.
const GATHER_INTERVAL: Duration = Duration::from_secs(1);
/// Period of VACUUM for the queue tables, so that freed space is reused.
const VACUUM_INTERVAL: Duration = Duration::from_millis(500);
/// Period of the removal of old callback attempts, and their retention. Ended sessions and links of
/// the console are removed with them.
const FORGET_INTERVAL: Duration = Duration::from_hours(1);
const ATTEMPTS_MS: i64 = 14 * 86_400_000;
/// Time for which a message is kept whose carrier could not be asked for its state.
const POLLS_MS: i64 = 86_400_000;
/// Period of the search for batches of carriers that are no longer configured.
const UNCONFIGURED_INTERVAL: Duration = Duration::from_secs(5);
/// Period of the settlement of held accounts.
const HELD_INTERVAL: Duration = Duration::from_secs(2);
/// Period of the commits of refused requests. A commit that fails leaves its requests out.
const REQUESTS_INTERVAL: Duration = Duration::from_millis(500);
/// Period of the completion of stops.
const STOPS_INTERVAL: Duration = Duration::from_secs(1);
/// Period of the end of receipts that no SMPP user takes.
const ENDING_INTERVAL: Duration = Duration::from_secs(20);
/// Period of the search for balances that crossed the threshold of an alert.
const ALERTS_INTERVAL: Duration = Duration::from_secs(2);
/// Period of the measurement of queues.
const MEASURE_INTERVAL: Duration = Duration::from_secs(5);

/// Starts each sweep as a task of its own, so that none delays another. They run until they are
/// aborted.
pub(crate) fn start(context: &Arc<Context>, callers: &Callers) -> Vec<JoinHandle<()>> {
    let settling = every(
        HELD_INTERVAL,
        Outage::of("queued recipients of held accounts cannot be settled"),
        context,
        |context| async move { held_accounts::settle(&context).await },
    );
    let following = tokio::spawn(held_accounts::follow(
        Arc::clone(context),
        callers.revision(),
    ));
    let controlling = tokio::spawn(controls::follow(Arc::clone(context), callers.revision()));
    let completing = every(
        STOPS_INTERVAL,
        Outage::of("stopped messages cannot be completed"),
        context,
        |context| async move { stops::complete(&context).await },
    );
    let ending = every(
        ENDING_INTERVAL,
        Outage::of("receipts that no SMPP user takes cannot be ended"),
        context,
        |context| async move { smpp_users::end_waiting(&context).await },
    );
    let stopping = tokio::spawn(stops::follow(Arc::clone(context)));
    let logging = every(
        REQUESTS_INTERVAL,
        Outage::of("refused requests cannot be logged"),
        context,
        |context| async move { log_requests(&context).await },
    );
    let removing = tokio::spawn(retention::run(Arc::clone(context)));
    let indexing = tokio::spawn(recipient_index::run(Arc::clone(context)));
    let routing = tokio::spawn(inbound::run(Arc::clone(context)));
    let alerting = every(
        ALERTS_INTERVAL,
        Outage::of("alerts about low balances cannot be told"),
        context,
        |context| async move { alerts::tell(&context).await },
    );
    let paying = tokio::spawn(payments::run(Arc::clone(context)));
    let noting = tokio::spawn(note_due_in_time(Arc::clone(context)));
    let others = [
        settling,
        following,
        controlling,
        completing,
        ending,
        stopping,
        logging,
        removing,
        indexing,
        routing,
        paying,
        alerting,
        noting,
    ];
    sweeps(context).into_iter().chain(others).collect()
}

fn sweeps(context: &Arc<Context>) -> [JoinHandle<()>; 9] {
    let looked_until = Arc::new(AtomicI64::new(context.clock.now_ms()));
    let (reported, measured) = (Arc::new(Mutex::default()), Arc::new(Mutex::default()));
    [
        tokio::spawn(receipt_polls::run(Arc::clone(context))),
        every(
            FORGET_INTERVAL,
            Outage::of("old callback attempts, sessions and requests cannot be removed"),
            context,
            |context| async move { forget_all(&context).await },
        ),
        every(
            EXPIRE_INTERVAL,
            Outage::of("recipients cannot be expired"),
            context,
            |context| async move { expire_all(&context).await },
        ),
        every(
            TIDY_INTERVAL,
            Outage::of("closed duplicate windows cannot be removed"),
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
            |context| async move { context.store.upkeep().gather_statistics().await },
        ),
        every(
            VACUUM_INTERVAL,
            Outage::of("queues cannot be vacuumed"),
            context,
            |context| async move { context.store.upkeep().vacuum_queues().await },
        ),
        every(
            LOOK_AGAIN_INTERVAL,
            Outage::of("parked receipts cannot be matched again"),
            context,
            move |context| {
                let looked_until = Arc::clone(&looked_until);
                async move { look_again(&context, &looked_until).await }
            },
        ),
        every(
            UNCONFIGURED_INTERVAL,
            Outage::of("batches of removed carriers cannot be moved"),
            context,
            move |context| {
                let reported = Arc::clone(&reported);
                async move { move_unconfigured(&context, &reported).await }
            },
        ),
    ]
}

/// Notifies the carriers of their due batches, each as soon as it is due.
async fn note_due_in_time(context: Arc<Context>) {
    let outage = Outage::of("due batches cannot be found");
    loop {
        let next = outage.note(note_due(&context).await).flatten();
        let wait = next.map(|at_ms| at_ms.saturating_sub(context.clock.now_ms()).max(0));
        let wait = wait.map_or(DUE_INTERVAL, |ms| Duration::from_millis(ms.unsigned_abs()));
        tokio::time::sleep(wait.clamp(MIN_DUE_INTERVAL, DUE_INTERVAL)).await;
    }
}

/// Sweeps at once and then periodically. A slow sweep delays only its own next run.
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

/// Expires recipients without an outcome and batches that were never sent. A failure in one bucket
/// does not stop the others.
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

/// Returns the time up to which a step expires. It is the begin of the sweep, so that the sweep
/// ends. If the clock was set back since, it is the current time, or messages accepted after that
/// would expire.
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
        let (settled, more) = context.store.sweep().expire(bucket, &expiry).await?;
        context.settled(settled);
        if !more {
            return Ok(());
        }
    }
}

/// Returns the acceptance time before which a message is expired.
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
        let late = context.store.queues().late(bucket, now_ms).await?;
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
            .sweep()
            .tidy(bucket, now_ms, answers_before_ms)
            .await?
        {}
    }
    while context.store.is_shared() && context.store.rates().tidy(context.clock.now_ms()).await? {}
    Ok(())
}

async fn log_requests(context: &Context) -> database::Result<()> {
    let refused = context.requests.take();
    if refused.is_empty() {
        return Ok(());
    }
    context.store.refused_requests().keep(refused).await
}

async fn forget_all(context: &Arc<Context>) -> database::Result<()> {
    let before_ms = context.clock.now_ms() - ATTEMPTS_MS;
    for bucket in context.my_buckets() {
        while context.store.attempts().forget(bucket, before_ms).await? {}
    }
    let now_ms = context.clock.now_ms();
    while context.store.users().remove_ended(now_ms).await? {}
    let before_ms = now_ms - context.live().retention.requests_ms;
    while context.store.refused_requests().remove(before_ms).await? {}
    while context.store.uploads().remove_ended(now_ms).await? {}
    let polls_before_ms = now_ms - POLLS_MS;
    while context
        .store
        .receipt_polls()
        .forget(polls_before_ms)
        .await?
    {}
    while context
        .store
        .inbound_pages()
        .forget_arrivals(now_ms)
        .await?
    {}
    Ok(())
}

/// Looks again at receipts that were parked since the last look, as their responses may be
/// committed now. Records how far it looked.
async fn look_again(context: &Arc<Context>, looked_until: &AtomicI64) -> database::Result<()> {
    let now_ms = context.clock.now_ms();
    let since_ms = parked_since(looked_until.load(Ordering::Relaxed), now_ms);
    let mut until_ms = now_ms;
    for bucket in context.my_buckets() {
        let report = Arc::new(empty_report(context, now_ms));
        let mut settled = Settled::default();
        let store = &context.store;
        let found = store
            .carrier_reports()
            .look_again(report, bucket, since_ms, &mut settled)
            .await;
        context.settled(settled);
        until_ms = until_ms.min(next_look_from(since_ms, now_ms, found?));
    }
    looked_until.store(until_ms, Ordering::Relaxed);
    Ok(())
}

/// Returns the time from which parked receipts are looked at. No receipt is missed after a long
/// pause or a clock step.
fn parked_since(looked_ms: i64, now_ms: i64) -> i64 {
    looked_ms.min(now_ms) - LOOK_AGAIN_MS
}

/// Returns the time up to which parked receipts were looked at. `full_ms` is the time of the last
/// receipt if there were too many for one look. The next look continues there, and always makes
/// progress.
fn next_look_from(since_ms: i64, now_ms: i64, full_ms: Option<i64>) -> i64 {
    full_ms.map_or(now_ms, |full_ms| full_ms.max(since_ms + 1) + LOOK_AGAIN_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_parked_receipt_is_missed_after_a_long_sweep() {
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
    fn a_full_look_is_continued_by_the_next_one() {
        let next = |since_ms, full_ms| {
            let looked_ms = next_look_from(since_ms, 100_000, full_ms);
            parked_since(looked_ms, 100_000)
        };
        assert_eq!(next(50_000, None), 80_000);
        assert_eq!(next(50_000, Some(60_000)), 60_000);
        assert_eq!(next(50_000, Some(50_000)), 50_001, "it makes progress");
    }
}
