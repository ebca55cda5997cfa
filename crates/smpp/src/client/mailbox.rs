//! The queues between the callers and the task of a session, one in each direction.

use super::commands::Commands;
use super::event::{CloseReason, Counters, Event, Peer, Submit, SubmitOutcome};
use super::link::Link;
use crate::status::CommandStatus;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Maximum number of queued submits. A caller that follows the window stays far below.
pub const MAX_QUEUED: usize = 100_000;
/// Memory of unread `deliver_sm` from which the connection is no longer read (back pressure).
/// The caller may queue several times this size.
pub(super) const MAX_UNREAD_OCTETS: usize = 512 * 1024;

/// The caller's side of a session. Clones share the connection.
#[derive(Clone, Debug)]
pub struct Session {
    mailbox: Arc<Mailbox>,
}

/// The events of a session. Dropping it unbinds, since nobody could read further outcomes.
#[derive(Debug)]
pub struct EventStream {
    mailbox: Arc<Mailbox>,
}

#[derive(Debug)]
pub(super) struct Mailbox {
    inbox: Mutex<Inbox>,
    outbox: Mutex<Outbox>,
    outstanding: AtomicUsize,
    silent: AtomicBool,
    submits: bool,
    peer: Peer,
}

/// Commands from the callers to the task.
#[derive(Debug, Default)]
struct Inbox {
    submits: VecDeque<Submit>,
    answers: Vec<(u32, CommandStatus)>,
    unbind: bool,
    closed: bool,
    task: Option<Waker>,
}

/// Events from the task to their reader.
#[derive(Debug, Default)]
struct Outbox {
    events: Vec<Event>,
    /// Memory of the `deliver_sm` among the events, in octets.
    unread_octets: usize,
    counters: Counters,
    finished: bool,
    /// `true` once the reader was dropped. Further events are discarded.
    abandoned: bool,
    reader: Option<Waker>,
}

impl Session {
    /// Queues messages without waiting. They are returned if the session is closed or closing, if
    /// it is a receiver, or if [`MAX_QUEUED`] are queued.
    pub fn submit(&self, submits: Vec<Submit>) -> Result<(), Vec<Submit>> {
        let mut inbox = lock(&self.mailbox.inbox);
        let full = inbox.submits.len() + submits.len() > MAX_QUEUED;
        if inbox.closed || inbox.unbind || full || !self.mailbox.submits {
            return Err(submits);
        }
        inbox.submits.extend(submits);
        wake(inbox);
        Ok(())
    }

    /// Answers `deliver_sm` and `data_sm` by their sequence numbers. After the end of the session
    /// this has no effect, and the peer delivers them again.
    pub fn answer(&self, answers: Vec<(u32, CommandStatus)>) {
        let mut inbox = lock(&self.mailbox.inbox);
        if !inbox.closed {
            inbox.answers.extend(answers);
            wake(inbox);
        }
    }

    /// Ends the session. Queued submits return as `NotSent`, and open responses are awaited. Then
    /// the session unbinds and closes, and the `Closed` event follows.
    pub fn unbind(&self) {
        self.mailbox.unbind();
    }

    /// Returns the number of unanswered submits.
    pub fn outstanding(&self) -> usize {
        self.mailbox.outstanding.load(Ordering::Relaxed)
    }

    /// Returns the number of queued submits.
    pub fn queued(&self) -> usize {
        lock(&self.mailbox.inbox).submits.len()
    }

    /// Returns the number of submits that are queued or unanswered. A submit on its way from the
    /// queue to the window counts once.
    pub fn load(&self) -> usize {
        let inbox = lock(&self.mailbox.inbox);
        inbox.submits.len() + self.outstanding()
    }

    /// Returns `true` if an `enquire_link` is unanswered. Submits wait for the answer.
    pub fn is_silent(&self) -> bool {
        self.mailbox.silent.load(Ordering::Relaxed)
    }

    /// Returns `true` if nothing further can be submitted.
    pub fn is_closed(&self) -> bool {
        let inbox = lock(&self.mailbox.inbox);
        inbox.closed || inbox.unbind
    }

    /// Returns the counters.
    pub fn counters(&self) -> Counters {
        lock(&self.mailbox.outbox).counters
    }

    /// Returns the SMSC that answered the bind.
    pub fn peer(&self) -> &Peer {
        &self.mailbox.peer
    }
}

impl EventStream {
    /// Returns all events since the last call, at least one. Returns `None` after `Closed`.
    pub async fn next(&mut self) -> Option<Vec<Event>> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Vec<Event>>> {
        let mut outbox = lock(&self.mailbox.outbox);
        if outbox.events.is_empty() {
            if outbox.finished {
                return Poll::Ready(None);
            }
            outbox.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let events = std::mem::take(&mut outbox.events);
        let was_full = outbox.unread_octets >= MAX_UNREAD_OCTETS;
        outbox.unread_octets = 0;
        drop(outbox);
        if was_full {
            wake(lock(&self.mailbox.inbox));
        }
        Poll::Ready(Some(events))
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        let mut outbox = lock(&self.mailbox.outbox);
        outbox.abandoned = true;
        outbox.unread_octets = 0;
        outbox.events = Vec::new();
        drop(outbox);
        self.mailbox.unbind();
    }
}

impl Mailbox {
    pub(super) fn open(submits: bool, peer: Peer) -> (Arc<Self>, Session, EventStream) {
        let mailbox = Arc::new(Self {
            inbox: Mutex::default(),
            outbox: Mutex::default(),
            outstanding: AtomicUsize::new(0),
            silent: AtomicBool::new(false),
            submits,
            peer,
        });
        let session = Session {
            mailbox: Arc::clone(&mailbox),
        };
        let events = EventStream {
            mailbox: Arc::clone(&mailbox),
        };
        (mailbox, session, events)
    }

    fn unbind(&self) {
        let mut inbox = lock(&self.inbox);
        inbox.unbind = true;
        wake(inbox);
    }

    /// Takes all commands, and at most `available` submits. The task is woken when there are more.
    pub(super) fn take(&self, available: usize, commands: &mut Commands, cx: &Context<'_>) {
        let mut inbox = lock(&self.inbox);
        let count = available.min(inbox.submits.len());
        // This estimate holds until the task publishes the real number.
        self.outstanding.fetch_add(count, Ordering::Relaxed);
        commands.submits.extend(inbox.submits.drain(..count));
        commands.answers.append(&mut inbox.answers);
        commands.unbind |= inbox.unbind;
        match &mut inbox.task {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
    }

    /// Takes all queued submits, and accepts no further ones.
    pub(super) fn stop_submits(&self) -> VecDeque<Submit> {
        let mut inbox = lock(&self.inbox);
        inbox.unbind = true;
        std::mem::take(&mut inbox.submits)
    }

    /// Passes the events of the link to the reader, if there still is one.
    pub(super) fn publish(&self, link: &mut Link, outstanding: usize) {
        // The number is published before the events, because their reader may use it at once.
        self.outstanding.store(outstanding, Ordering::Relaxed);
        self.silent.store(link.is_silent(), Ordering::Relaxed);
        let octets = std::mem::take(&mut link.event_octets);
        let mut outbox = lock(&self.outbox);
        outbox.counters = link.counters;
        if link.events.is_empty() {
            return;
        }
        if outbox.abandoned {
            link.events.clear();
            return;
        }
        if outbox.events.is_empty() {
            std::mem::swap(&mut outbox.events, &mut link.events);
        } else {
            outbox.events.append(&mut link.events);
        }
        outbox.unread_octets += octets;
        wake_reader(outbox);
    }

    /// Returns the memory of unread `deliver_sm`, in octets.
    pub(super) fn unread_octets(&self) -> usize {
        lock(&self.outbox).unread_octets
    }

    /// Ends the stream of events. Submits that are still queued were not sent.
    pub(super) fn finish(&self, reason: CloseReason) {
        let queued = {
            let mut inbox = lock(&self.inbox);
            inbox.closed = true;
            inbox.answers = Vec::new();
            inbox.task = None;
            std::mem::take(&mut inbox.submits)
        };
        let mut outbox = lock(&self.outbox);
        if outbox.finished {
            return;
        }
        outbox
            .events
            .extend(queued.into_iter().map(|submit| Event::Submitted {
                tag: submit.tag,
                outcome: SubmitOutcome::NotSent,
            }));
        outbox.events.push(Event::Closed(reason));
        outbox.finished = true;
        wake_reader(outbox);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wakes the task after the lock was released, so that it does not block on it.
fn wake(inbox: MutexGuard<'_, Inbox>) {
    let waker = inbox.task.clone();
    drop(inbox);
    if let Some(waker) = waker {
        waker.wake();
    }
}

fn wake_reader(mut outbox: MutexGuard<'_, Outbox>) {
    let waker = outbox.reader.take();
    drop(outbox);
    if let Some(waker) = waker {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdu::SubmitSm;

    #[test]
    fn submits_between_queue_and_window_are_counted() {
        let (mailbox, session, _events) = Mailbox::open(true, Peer::default());
        let pdu = SubmitSm::default;
        let submits = (0..3).map(|tag| Submit { tag, pdu: pdu() });
        session.submit(submits.collect()).unwrap();
        assert_eq!((session.load(), session.queued()), (3, 3));
        let mut commands = Commands::default();
        mailbox.take(2, &mut commands, &Context::from_waker(Waker::noop()));
        assert_eq!(commands.submits.len(), 2);
        assert_eq!((session.load(), session.queued()), (3, 1));
    }
}
