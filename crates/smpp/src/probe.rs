//! The probe of a silent connection (`enquire_link`): when it is due, and how long its answer may take.

use std::time::Duration;
use tokio::time::Instant;

/// The signs of life of a peer.
#[derive(Debug)]
pub(crate) struct Probe {
    /// After how long a silence the peer is probed; zero is never.
    interval: Duration,
    /// How long the peer may take to answer; zero is for ever.
    timeout: Duration,
    heard_at: Instant,
    /// Set while a probe is out and nothing came since.
    deadline: Option<Instant>,
}

/// The step that is due.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ProbeStep {
    /// Nothing is due.
    Wait,
    /// A probe is to be written now.
    Write,
    /// The peer did not answer the last one.
    GiveUp,
}

impl Probe {
    pub(crate) const fn new(interval: Duration, timeout: Duration, now: Instant) -> Self {
        Self {
            interval,
            timeout,
            heard_at: now,
            deadline: None,
        }
    }

    /// Records a sign of life.
    pub(crate) fn note_received(&mut self, now: Instant) {
        self.heard_at = now;
        self.deadline = None;
    }

    /// Returns whether a probe is out, and nothing came since.
    pub(crate) const fn is_out(&self) -> bool {
        self.deadline.is_some()
    }

    /// Everything waits that much longer.
    pub(crate) fn postpone(&mut self, pause: Duration) {
        self.heard_at += pause;
        self.deadline = self.deadline.map(|deadline| deadline + pause);
    }

    /// When [`Self::step`] may have something to do.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let idle = (!self.interval.is_zero()).then(|| self.heard_at + self.interval);
        self.deadline.or(idle)
    }

    /// Returns the step that is due. After a missed response the peer is probed sooner.
    pub(crate) fn step(&mut self, missed: bool, now: Instant) -> ProbeStep {
        let interval = if missed {
            self.interval.min(self.timeout)
        } else {
            self.interval
        };
        match self.deadline {
            Some(deadline) if deadline <= now => ProbeStep::GiveUp,
            Some(_) => ProbeStep::Wait,
            None if interval.is_zero() || now < self.heard_at + interval => ProbeStep::Wait,
            None => {
                if self.timeout.is_zero() {
                    // The next probe follows after the same silence.
                    self.heard_at = now;
                } else {
                    self.deadline = Some(now + self.timeout);
                }
                ProbeStep::Write
            }
        }
    }
}
