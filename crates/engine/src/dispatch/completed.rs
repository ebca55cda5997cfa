//! A worker's steps in the background, and their results.

use super::transport::BoundSession;
use store::Claimed;

/// The steps that run in the background: one of each kind at a time.
#[derive(Default)]
pub(crate) struct Busy {
    pub(crate) reporting: bool,
    pub(crate) claiming: bool,
    pub(crate) failing_over: bool,
    /// Fragments of reports that are tried again by themselves.
    pub(crate) aside: usize,
}

/// The end of a step.
pub(crate) enum Completed {
    /// A report is committed.
    Reported {
        parked: usize,
        accounted: usize,
        answers: Vec<(BoundSession, Vec<u32>)>,
        /// The fragments that were set aside, each with the batch that it reports on.
        aside: Vec<Option<i64>>,
    },
    /// A fragment that was set aside is committed.
    CommittedAtLast {
        batch: Option<i64>,
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
}
