//! The part that is to be sent later, from a batch of its own.

use domain::{Priority, Recipient};
use std::sync::Arc;
use store::{Batch, BatchKind};

/// A batch to be made of some recipients of another.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Requeue {
    pub(crate) due_at_ms: i64,
    pub(crate) carrier: Arc<str>,
    pub(crate) tries: i64,
    pub(crate) kind: RequeueKind,
}

/// Why it is made.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum RequeueKind {
    /// The carrier did not take it.
    Retry,
    /// It was in doubt.
    Resend,
    /// It was not on the wire. A second leg costs nothing yet.
    Unsent,
}

impl RequeueKind {
    /// The kind of the batch that comes after one of this kind. A resend that was not taken is still one: if its
    /// response is lost, too, there is no third.
    fn after(self, kind: BatchKind) -> BatchKind {
        match (self, kind) {
            (Self::Unsent, kind) => kind,
            (Self::Resend, _) | (Self::Retry, BatchKind::Resend) => BatchKind::Resend,
            (Self::Retry, BatchKind::First) => BatchKind::First,
            (Self::Retry, BatchKind::Backup | BatchKind::Again) => BatchKind::Again,
        }
    }

    /// A retry stays behind what waits, or recipients that are refused for good would be tried before all others, again
    /// and again. The others go out once more at most.
    fn priority(self, of: Priority) -> Priority {
        match (self, of) {
            (_, Priority::Otp) => Priority::Otp,
            (Self::Retry, of) => of,
            (Self::Resend | Self::Unsent, Priority::Normal | Priority::Bulk) => Priority::Normal,
        }
    }
}

impl Requeue {
    pub(crate) fn batch(self, of: &Batch, recipients: Vec<Recipient>, id: i64) -> Batch {
        Batch {
            carrier: self.carrier,
            claimed_by: store::WAITING,
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
    fn a_retry_overtakes_nobody() {
        use Priority::{Bulk, Normal, Otp};
        for (later, of, priority) in [
            (RequeueKind::Retry, Bulk, Bulk),
            (RequeueKind::Retry, Normal, Normal),
            (RequeueKind::Retry, Otp, Otp),
            (RequeueKind::Resend, Bulk, Normal),
            (RequeueKind::Unsent, Bulk, Normal),
            (RequeueKind::Unsent, Otp, Otp),
        ] {
            assert_eq!(later.priority(of), priority, "{later:?} of {of:?}");
        }
    }

    #[test]
    fn a_resend_that_is_tried_again_stays_the_only_one() {
        for (later, kind, after) in [
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
            assert_eq!(later.after(kind), after, "{later:?} of {kind:?}");
        }
    }
}
