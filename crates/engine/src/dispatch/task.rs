//! The task of one carrier: it waits for events, and has the worker handle them.

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

/// How often the worker looks at its slots, its failover and its segments without a hint.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// Groups of events that wait; connections that bring more wait themselves. A group may hold as much as a session lets
/// wait unread.
const EVENT_QUEUE: usize = 8;

/// Runs a carrier until it is closed and all its recipients in flight are accounted for.
pub(crate) async fn run(
    context: Arc<Context>,
    carrier: Arc<Carrier>,
    tls: Option<TlsConnector>,
    reports: ReportSink,
) {
    let mut closing = carrier.closing.subscribe();
    carrier.running.store(true, Ordering::Relaxed);
    let (events, mut arrived) = mpsc::channel(EVENT_QUEUE);
    // At most one report, one claim and one failover are under way.
    let (done, mut completed) = mpsc::unbounded_channel();
    let mut given = carrier.slots.subscribe();
    let slots = BindSlots::new(Arc::clone(&context), Arc::clone(&carrier), tls, events);
    let mut worker = CarrierWorker::new(context, Arc::clone(&carrier), slots, reports, done);
    if carrier.settings.is_none() {
        worker.slots.connect_sandbox().await;
    }
    worker.assign_slots();
    let mut look = tokio::time::interval(LOOK_INTERVAL);
    while !worker.state.closing || !worker.slots.tasks.is_empty() || !worker.is_idle() {
        let pause = worker.pause();
        // Rare events come first: the frequent ones are looked at below, whatever happened.
        tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing), if !worker.state.closing => worker.close(),
            _ = look.tick() => {
                // A node loses its slots by time alone.
                worker.assign_slots();
                worker.fail_over();
                worker.time_out_segments();
            }
            // The sender is the carrier's, which lives as long as its worker.
            _ = given.changed() => worker.assign_slots(),
            Some(Ok(slot)) = worker.slots.tasks.join_next() => {
                worker.slots.ended(slot, worker.state.closing);
            }
            () = carrier.wake.notified() => {}
            Some(done) = completed.recv() => worker.completed(done),
            Some(event) = arrived.recv(), if worker.receipts.has_room() => worker.link_event(event),
            () = rest(pause) => {}
        }
        while worker.receipts.has_room()
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

/// Waits for so long, or for ever.
async fn rest(pause: Option<Duration>) {
    match pause {
        Some(pause) => tokio::time::sleep(pause).await,
        None => pending().await,
    }
}
