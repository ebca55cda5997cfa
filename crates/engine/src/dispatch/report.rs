//! The report of a worker: outcomes and receipts to commit, and the acknowledgement afterwards.

use super::completed::Completed;
use super::transport::BoundSession;
use std::ops::Range;
use std::sync::Arc;
use store::{Progress, Receipt};
use tokio::sync::mpsc::UnboundedSender;

/// A function that takes a report, and acknowledges it once it is committed.
pub(crate) type ReportSink = Arc<dyn Fn(WorkerReport) + Send + Sync>;

/// The outcomes and receipts of one carrier.
pub(crate) struct WorkerReport {
    pub(crate) progress: Vec<Progress>,
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) ack: PendingAck,
}

/// The acknowledgement of a report after its commit.
pub(crate) struct PendingAck {
    pub(crate) carrier: Arc<str>,
    /// Number of recipients that the report accounts for.
    pub(crate) accounted: usize,
    /// The receipts that are answered after the commit.
    pub(crate) answers: Answers,
    /// Maximum number of fragments that may be quarantined, if the database refuses them.
    pub(crate) aside: usize,
    pub(crate) done: UnboundedSender<Completed>,
}

/// The receipts to answer: for each connection the index of each receipt in the report, and its
/// sequence number.
pub(crate) struct Answers(pub(crate) Vec<(BoundSession, Vec<(usize, u32)>)>);

impl Answers {
    /// Returns the sequence numbers by connection.
    pub(crate) fn all(self) -> Vec<(BoundSession, Vec<u32>)> {
        let numbers = |all: Vec<(usize, u32)>| all.into_iter().map(|(_, number)| number).collect();
        let all = self.0.into_iter();
        all.map(|(session, receipts)| (session, numbers(receipts)))
            .collect()
    }

    /// Takes the receipts at these indexes.
    pub(crate) fn take(&mut self, indexes: Range<usize>) -> Self {
        let all = self.0.iter_mut();
        let taken = all.map(|(session, receipts)| {
            let taken_receipts = receipts.extract_if(.., |(index, _)| indexes.contains(index));
            (session.clone(), taken_receipts.collect())
        });
        Self(taken.collect())
    }
}
