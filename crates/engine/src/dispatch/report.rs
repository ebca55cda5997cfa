//! A worker's report: the outcomes and receipts that are to be committed, and what follows their commit.

use super::completed::Completed;
use super::transport::BoundSession;
use std::ops::Range;
use std::sync::Arc;
use store::{Progress, Receipt};
use tokio::sync::mpsc::UnboundedSender;

/// It takes a report, and acknowledges it once it is committed.
pub(crate) type ReportSink = Arc<dyn Fn(Report) + Send + Sync>;

/// The outcomes and receipts of one carrier.
pub(crate) struct Report {
    pub(crate) progress: Vec<Progress>,
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) ack: PendingAck,
}

/// The acknowledgement that follows the commit of a report.
pub(crate) struct PendingAck {
    pub(crate) carrier: Arc<str>,
    /// Recipients that the report accounts for.
    pub(crate) accounted: usize,
    /// The receipts that are answered after the commit.
    pub(crate) answers: Answers,
    /// The bound of fragments that may be set aside, if the database refuses them.
    pub(crate) aside: usize,
    pub(crate) done: UnboundedSender<Completed>,
}

/// Receipts to answer: by connection the place of each in the report, and its sequence number.
pub(crate) struct Answers(pub(crate) Vec<(BoundSession, Vec<(usize, u32)>)>);

impl Answers {
    /// The sequence numbers by connection.
    pub(crate) fn all(self) -> Vec<(BoundSession, Vec<u32>)> {
        let numbers = |all: Vec<(usize, u32)>| all.into_iter().map(|(_, number)| number).collect();
        let all = self.0.into_iter();
        all.map(|(session, receipts)| (session, numbers(receipts)))
            .collect()
    }

    /// Takes out the receipts at these places.
    pub(crate) fn take(&mut self, places: Range<usize>) -> Self {
        let all = self.0.iter_mut();
        let taken = all.map(|(session, receipts)| {
            let of_it = receipts.extract_if(.., |(place, _)| places.contains(place));
            (session.clone(), of_it.collect())
        });
        Self(taken.collect())
    }
}
