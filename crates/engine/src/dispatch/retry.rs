//! Batches for recipients that are sent again later.

use domain::{BatchId, Priority, Recipient};
use std::sync::Arc;
use store::{Batch, BatchKind};

/// A new batch for some recipients of another one.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Requeue {
    pub(crate) due_at_ms: i64,
    pub(crate) carrier: Arc<str>,
    pub(crate) tries: i64,
    pub(crate) kind: RequeueKind,
}

/// The reason for a new batch.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum RequeueKind {
    /// The carrier rejected the submit for now.
    Retry,
    /// The recipients were in doubt.
    Resend,
    /// The recipients were not submitted. A second leg is not charged yet.
    Unsent,
}

impl RequeueKind {
    /// Returns the kind of the new batch. A retry of a resend stays a resend, so a recipient that
    /// is in doubt again is not sent a third time.
    fn after(self, kind: BatchKind) -> BatchKind {
        match (self, kind) {
            (Self::Unsent, kind) => kind,
            (Self::Resend, _) | (Self::Retry, BatchKind::Resend) => BatchKind::Resend,
            (Self::Retry, BatchKind::First) => BatchKind::First,
            (Self::Retry, BatchKind::Backup | BatchKind::Again) => BatchKind::Again,
        }
    }

    /// Returns the priority of the new batch. A retry keeps its priority, or recipients that are
    /// rejected for ever would overtake all others. Resent and unsent recipients overtake
    /// campaigns, since they are sent at most once more.
    fn priority(self, of: Priority) -> Priority {
        match (self, of) {
            (_, Priority::Otp) => Priority::Otp,
            (Self::Retry, of) => of,
            (Self::Resend | Self::Unsent, Priority::Normal | Priority::Bulk) => Priority::Normal,
        }
    }
}

impl Requeue {
    pub(crate) fn batch(self, of: &Batch, recipients: Vec<Recipient>, id: BatchId) -> Batch {
        Batch {
            carrier: self.carrier,
            state: store::QueueState::Waiting,
            claimed_until_ms: 0,
            due_at_ms: self.due_at_ms,
            id,
            kind: self.kind.after(of.kind),
            tries: self.tries,
            recipients,
            priority: self.kind.priority(of.priority),
            ..of.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_keeps_its_priority() {
        use Priority::{Bulk, Normal, Otp};
        for (reason, of, priority) in [
            (RequeueKind::Retry, Bulk, Bulk),
            (RequeueKind::Retry, Normal, Normal),
            (RequeueKind::Retry, Otp, Otp),
            (RequeueKind::Resend, Bulk, Normal),
            (RequeueKind::Unsent, Bulk, Normal),
            (RequeueKind::Unsent, Otp, Otp),
        ] {
            assert_eq!(reason.priority(of), priority, "{reason:?} of {of:?}");
        }
    }

    #[test]
    fn a_retry_of_a_resend_stays_a_resend() {
        for (reason, kind, after) in [
            (RequeueKind::Resend, BatchKind::First, BatchKind::Resend),
            (RequeueKind::Retry, BatchKind::Resend, BatchKind::Resend),
            (RequeueKind::Retry, BatchKind::First, BatchKind::First),
            (RequeueKind::Retry, BatchKind::Backup, BatchKind::Again),
            (RequeueKind::Resend, BatchKind::Again, BatchKind::Resend),
            (RequeueKind::Unsent, BatchKind::First, BatchKind::First),
            (RequeueKind::Unsent, BatchKind::Resend, BatchKind::Resend),
            (RequeueKind::Unsent, BatchKind::Backup, BatchKind::Backup),
            (RequeueKind::Unsent, BatchKind::Again, BatchKind::Again),
        ] {
            assert_eq!(reason.after(kind), after, "{reason:?} of {kind:?}");
        }
    }
}
