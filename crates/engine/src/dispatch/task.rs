//! The task of one carrier. It waits for events, and its worker handles them.

use super::report::ReportSink;
use super::slots::BindSlots;
use super::worker::CarrierWorker;
use crate::context::Context;
use crate::context::carrier::Carrier;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_rustls::TlsConnector;

/// Period of the checks of slots, failover and segments.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of queued groups of events. A full queue stops the reads of the connections. A
/// session bounds the size of a group.
const EVENT_QUEUE: usize = 8;

/// Runs a carrier until it is closed and all its claimed recipients are accounted for.
pub(crate) async fn run(
    context: Arc<Context>,
    carrier: Arc<Carrier>,
    tls: Option<TlsConnector>,
    reports: ReportSink,
) {
    let mut closing = carrier.closing.subscribe();
    carrier.running.store(true, Ordering::Relaxed);
    let (events, mut arrived) = mpsc::channel(EVENT_QUEUE);
    // At most one report, one claim and one failover run at a time.
    let (done, mut completed) = mpsc::unbounded_channel();
    let mut assigned = carrier.slots.subscribe();
    let slots = BindSlots::new(Arc::clone(&context), Arc::clone(&carrier), tls, events);
    let mut worker = CarrierWorker::new(context, Arc::clone(&carrier), slots, reports, done);
    if carrier.settings.is_none() {
        worker.slots.connect_sandbox().await;
    }
    worker.assign_slots();
    let mut checks = tokio::time::interval(CHECK_INTERVAL);
    while !worker.state.closing || !worker.slots.tasks.is_empty() || !worker.is_idle() {
        let pause = worker.pause();
        // Rare events come first. The frequent ones are also handled below in every pass.
        tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing), if !worker.state.closing => worker.close(),
            _ = checks.tick() => {
                // A lost lease shows only in the time, so the slots are checked here.
                worker.assign_slots();
                worker.fail_over();
                worker.time_out_segments();
            }
            // The carrier owns the sender and outlives its worker.
            _ = assigned.changed() => worker.assign_slots(),
            Some(Ok(slot)) = worker.slots.tasks.join_next() => {
                worker.slots.ended(slot, worker.state.closing);
            }
            () = carrier.wake.notified() => {}
            Some(done) = completed.recv() => worker.completed(done),
            Some(event) = arrived.recv(), if worker.inboxes.have_capacity() => worker.link_event(event),
            () = rest(pause) => {}
        }
        while worker.inboxes.have_capacity()
            && let Ok(event) = arrived.try_recv()
        {
            worker.link_event(event);
        }
        while let Ok(done) = completed.try_recv() {
            worker.completed(done);
        }
        worker.step();
    }
    worker.leave();
}

/// Sleeps for `pause`, or for ever.
async fn rest(pause: Option<Duration>) {
    match pause {
        Some(pause) => tokio::time::sleep(pause).await,
        None => pending().await,
    }
}
