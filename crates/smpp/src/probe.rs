//! The keep-alive of a connection: when `enquire_link` is sent, and when the peer counts as dead.

use std::time::Duration;
use tokio::time::Instant;

/// The keep-alive state of a peer.
#[derive(Debug)]
pub(crate) struct Probe {
    /// Idle time after which the peer is probed. Zero is never.
    interval: Duration,
    /// Timeout of the answer. Zero is no timeout.
    timeout: Duration,
    received_at: Instant,
    /// Set while an `enquire_link` is unanswered and nothing else arrived.
    deadline: Option<Instant>,
}

/// The step that is due.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ProbeStep {
    /// Nothing is due.
    Wait,
    /// An `enquire_link` must be sent now.
    Write,
    /// The peer did not answer the last one.
    GiveUp,
}

impl Probe {
    pub(crate) const fn new(interval: Duration, timeout: Duration, now: Instant) -> Self {
        Self {
            interval,
            timeout,
            received_at: now,
            deadline: None,
        }
    }

    /// Records that the peer is alive.
    pub(crate) fn note_received(&mut self, now: Instant) {
        self.received_at = now;
        self.deadline = None;
    }

    /// Returns `true` if an `enquire_link` is unanswered and nothing else arrived since.
    pub(crate) const fn is_out(&self) -> bool {
        self.deadline.is_some()
    }

    /// Extends the timeouts by a pause.
    pub(crate) fn postpone(&mut self, pause: Duration) {
        self.received_at += pause;
        self.deadline = self.deadline.map(|deadline| deadline + pause);
    }

    /// Returns the time of the next call of [`Self::step`].
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let idle = (!self.interval.is_zero()).then(|| self.received_at + self.interval);
        self.deadline.or(idle)
    }

    /// Returns the step that is due. After a missed response the peer is probed earlier.
    pub(crate) fn step(&mut self, missed: bool, now: Instant) -> ProbeStep {
        let interval = if missed {
            self.interval.min(self.timeout)
        } else {
            self.interval
        };
        match self.deadline {
            Some(deadline) if deadline <= now => ProbeStep::GiveUp,
            Some(_) => ProbeStep::Wait,
            None if interval.is_zero() || now < self.received_at + interval => ProbeStep::Wait,
            None => {
                if self.timeout.is_zero() {
                    // Without a timeout, the next probe follows after the same idle time.
                    self.received_at = now;
                } else {
                    self.deadline = Some(now + self.timeout);
                }
                ProbeStep::Write
            }
        }
    }
}
