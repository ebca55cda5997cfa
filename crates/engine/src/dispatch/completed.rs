//! The background operations of a worker and their results.

use super::inbound::InboundAnswers;
use super::transport::BoundSession;
use domain::BatchId;
use store::Claimed;

/// The background operations that run. There is one of each kind at a time.
#[derive(Default)]
pub(crate) struct Busy {
    pub(crate) reporting: bool,
    pub(crate) claiming: bool,
    pub(crate) failing_over: bool,
    /// Number of quarantined fragments of reports.
    pub(crate) aside: usize,
}

/// The result of a background operation.
pub(crate) enum Completed {
    /// A report is committed, apart from quarantined fragments.
    Reported {
        parked: usize,
        accounted: usize,
        answers: Vec<(BoundSession, Vec<u32>)>,
        /// The batches of quarantined fragments. A fragment of receipts has none.
        aside: Vec<Option<BatchId>>,
    },
    /// A quarantined fragment is committed.
    CommittedAtLast {
        batch: Option<BatchId>,
        parked: usize,
        answers: Vec<(BoundSession, Vec<u32>)>,
    },
    Claimed {
        asked: usize,
        claimed: Vec<Claimed>,
    },
    ClaimFailed {
        asked: usize,
    },
    FailedOver,
    /// Inbound messages are committed.
    InboundKept {
        answers: InboundAnswers,
    },
}
