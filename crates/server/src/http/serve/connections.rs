//! The open connections, up to a limit. At the limit, the connections that were idle longest are
//! closed. So a client that holds unused connections keeps no other client out.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

/// At the limit, one connection of this many is closed at once. Choosing them scans all
/// connections, so several are closed for each scan.
const ENDED_SHARE: usize = 32;
/// The interval after which more connections are closed if there is still no room.
const ENDING_INTERVAL: Duration = Duration::from_millis(100);

/// All open connections.
pub(crate) struct Connections {
    free: Arc<Semaphore>,
    open: Mutex<Register>,
    started: Instant,
}

#[derive(Default)]
struct Register {
    next: u64,
    all: HashMap<u64, Arc<Activity>>,
}

/// The permit of an open connection.
pub(crate) struct ConnectionPermit {
    connections: Arc<Connections>,
    number: u64,
    pub(crate) activity: Arc<Activity>,
    _permit: OwnedSemaphorePermit,
}

impl Connections {
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            free: Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS))),
            open: Mutex::default(),
            started: Instant::now(),
        })
    }

    /// Waits until there is room for a new connection.
    pub(crate) async fn enter(self: &Arc<Self>) -> ConnectionPermit {
        let permit = loop {
            let free = Arc::clone(&self.free);
            if let Ok(permit) = Arc::clone(&free).try_acquire_owned() {
                break permit;
            }
            self.end_idle();
            // The semaphore is never closed.
            if let Ok(Ok(permit)) = timeout(ENDING_INTERVAL, free.acquire_owned()).await {
                break permit;
            }
        };
        let activity = Arc::new(Activity::new(self.started));
        let mut open = self.lock();
        let number = open.next;
        open.next += 1;
        open.all.insert(number, Arc::clone(&activity));
        drop(open);
        ConnectionPermit {
            connections: Arc::clone(self),
            number,
            activity,
            _permit: permit,
        }
    }

    /// Closes some of the idle connections: first those without any request, then those idle
    /// longest.
    pub(crate) fn end_idle(&self) {
        let open = self.lock();
        let mut idle: Vec<&Arc<Activity>> = open
            .all
            .values()
            .filter(|activity| activity.may_end())
            .collect();
        let count = (open.all.len() / ENDED_SHARE).max(1).min(idle.len());
        if let Some(last) = count.checked_sub(1) {
            idle.select_nth_unstable_by_key(last, |activity| activity.rank());
            idle[..count].iter().for_each(|activity| activity.end());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Register> {
        self.open.lock()
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.connections.lock().all.remove(&self.number);
    }
}

/// The activity of a connection.
pub(crate) struct Activity {
    started: Instant,
    /// Requests without an answer.
    open: AtomicUsize,
    /// `true` if a request began since the last check.
    begun: AtomicBool,
    /// `true` if the connection had any request.
    is_used: AtomicBool,
    /// The time of the last event: the connection opened, or a request ended. In milliseconds since
    /// the server started.
    last_ms: AtomicU64,
    is_ending: AtomicBool,
    ending: Notify,
}

/// The result of a check of a connection.
pub(crate) enum Seen {
    Busy,
    Idle,
}

/// An open request. Dropping it ends the request.
pub(crate) struct Open(Arc<Activity>);

impl Activity {
    fn new(started: Instant) -> Self {
        let activity = Self {
            started,
            open: AtomicUsize::new(0),
            begun: AtomicBool::new(false),
            is_used: AtomicBool::new(false),
            last_ms: AtomicU64::new(0),
            is_ending: AtomicBool::new(false),
            ending: Notify::new(),
        };
        activity.touch();
        activity
    }

    pub(crate) fn begin(activity: &Arc<Self>) -> Open {
        activity.open.fetch_add(1, Ordering::Relaxed);
        activity.begun.store(true, Ordering::Relaxed);
        activity.is_used.store(true, Ordering::Relaxed);
        Open(Arc::clone(activity))
    }

    pub(crate) fn look(&self) -> Seen {
        let has_begun = self.begun.swap(false, Ordering::Relaxed);
        if has_begun || self.is_busy() {
            Seen::Busy
        } else {
            Seen::Idle
        }
    }

    fn is_busy(&self) -> bool {
        self.open.load(Ordering::Relaxed) > 0
    }

    /// Returns `true` if the connection had any request.
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }

    /// Waits until the connection has to close. It has no open request then.
    pub(crate) async fn ending(&self) {
        loop {
            self.ending.notified().await;
            if !self.is_busy() {
                return;
            }
            // A request began meanwhile.
            self.is_ending.store(false, Ordering::Relaxed);
        }
    }

    fn may_end(&self) -> bool {
        !self.is_busy() && !self.is_ending.load(Ordering::Relaxed)
    }

    fn rank(&self) -> (bool, u64) {
        (self.is_used(), self.last_ms.load(Ordering::Relaxed))
    }

    fn end(&self) {
        self.is_ending.store(true, Ordering::Relaxed);
        self.ending.notify_one();
    }

    fn touch(&self) {
        let now_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_ms.store(now_ms, Ordering::Relaxed);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.touch();
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn the_longest_idle_ends_and_first_what_was_never_used() {
        let connections = Connections::new(3);
        let busy = connections.enter().await;
        let _request = Activity::begin(&busy.activity);
        let used = connections.enter().await;
        drop(Activity::begin(&used.activity));
        advance(Duration::from_secs(1)).await;
        let silent = connections.enter().await;

        let ended = |permit: &ConnectionPermit| permit.activity.is_ending.load(Ordering::Relaxed);
        connections.end_idle();
        assert_eq!(
            [ended(&busy), ended(&used), ended(&silent)],
            [false, false, true]
        );
        silent.activity.ending().await;
        drop(silent);
        let next = connections.enter().await;
        drop(Activity::begin(&next.activity));
        connections.end_idle();
        assert_eq!(
            [ended(&busy), ended(&used), ended(&next)],
            [false, true, false]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_with_an_open_request_stays_open() {
        let connections = Connections::new(1);
        let busy = connections.enter().await;
        let request = Activity::begin(&busy.activity);
        let waiting = timeout(Duration::from_mins(1), connections.enter());
        assert!(waiting.await.is_err());
        drop(request);
        let (next, ()) = tokio::join!(connections.enter(), async {
            busy.activity.ending().await;
            drop(busy);
        });
        assert_eq!(next.number, 1);
    }
}
