//! The queue of one system id, with receipts and messages for its receiving connections.

use super::receipt_writer::Outgoing;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};
use tokio::time::Instant;

/// Maximum number of queued receipts and messages of a system id. Further ones are lost and
/// counted.
const MAX_WAITING: usize = 2_000_000;

#[derive(Debug, Default)]
pub(super) struct Account {
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: BinaryHeap<Reverse<Scheduled>>,
    /// The wakers of connections that may receive.
    receivers: Vec<(u64, Waker)>,
    binds: usize,
    /// `true` if the client got the inbound messages of the script.
    has_inbound: bool,
    /// The number of the last entry, which keeps entries of the same time in order.
    last: u64,
}

/// A receipt or message with its due time.
#[derive(Debug)]
struct Scheduled {
    at: Instant,
    number: u64,
    item: Outgoing,
}

impl Account {
    /// Counts a bind. Returns `false` if there are `max` already.
    pub(super) fn bind(&self, max: Option<usize>) -> bool {
        let mut queue = self.lock();
        let granted = max.is_none_or(|max| queue.binds < max);
        queue.binds += usize::from(granted);
        granted
    }

    pub(super) fn unbind(&self, connection: u64) {
        let mut queue = self.lock();
        queue.binds -= 1;
        queue.receivers.retain(|(number, _)| *number != connection);
    }

    pub(super) fn binds(&self) -> usize {
        self.lock().binds
    }

    /// Returns `true` at the first call.
    pub(super) fn begin_inbound(&self) -> bool {
        !std::mem::replace(&mut self.lock().has_inbound, true)
    }

    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Queues receipts and messages. Returns how many of them exceed the capacity.
    pub(super) fn schedule(&self, outgoing: &mut Vec<(Instant, Outgoing)>) -> u64 {
        let mut lost = 0;
        let wakers = {
            let mut queue = self.lock();
            for (at, item) in outgoing.drain(..) {
                if queue.waiting.len() >= MAX_WAITING {
                    lost += 1;
                    continue;
                }
                queue.last += 1;
                let number = queue.last;
                queue.waiting.push(Reverse(Scheduled { at, number, item }));
            }
            std::mem::take(&mut queue.receivers)
        };
        for (_, waker) in wakers {
            waker.wake();
        }
        lost
    }

    /// Moves at most `capacity` due entries to `out`. Returns the time of the next one. The
    /// connection is woken when more are queued.
    pub(super) fn take_due(
        &self,
        connection: u64,
        now: Instant,
        capacity: usize,
        out: &mut Vec<Outgoing>,
        cx: &Context<'_>,
    ) -> Option<Instant> {
        let mut queue = self.lock();
        while out.len() < capacity
            && queue
                .waiting
                .peek()
                .is_some_and(|Reverse(next)| next.at <= now)
            && let Some(Reverse(scheduled)) = queue.waiting.pop()
        {
            out.push(scheduled.item);
        }
        match queue
            .receivers
            .iter_mut()
            .find(|(number, _)| *number == connection)
        {
            Some((_, waker)) => waker.clone_from(cx.waker()),
            None => queue.receivers.push((connection, cx.waker().clone())),
        }
        queue.waiting.peek().map(|Reverse(next)| next.at)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ord for Scheduled {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Scheduled {}
