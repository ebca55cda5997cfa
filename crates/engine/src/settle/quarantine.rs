//! Quarantine of rows that the database refuses, so that the rest of their report is committed.
//!
//! A failing report is bisected until the refused row is alone. That row is retried on its own.

use crate::context::FAILURE_PAUSE;
use crate::dispatch::completed::Completed;
use crate::dispatch::report::{Answers, PendingAck};
use domain::BatchId;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use store::CarrierReport;
use tokio::time::sleep;

/// Longest delay between two tries of a fragment. The first delay is [`FAILURE_PAUSE`].
const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(30);

/// A part of a report.
struct Fragment {
    report: CarrierReport,
    /// The index of the first receipt of this fragment in the whole report.
    first: usize,
}

impl Fragment {
    /// Returns both halves in order, or `None` for a single row.
    fn halves(&self) -> Option<[Self; 2]> {
        let report = &self.report;
        let all = report.progress.len() + report.receipts.len();
        if all < 2 {
            return None;
        }
        let progress = (all / 2).min(report.progress.len());
        let receipts = all / 2 - progress;
        let (before, after) = report.progress.split_at(progress);
        let (early, late) = report.receipts.split_at(receipts);
        let half = |progress: &[_], receipts: &[_], skipped: usize| Self {
            report: CarrierReport {
                progress: progress.to_vec(),
                receipts: receipts.to_vec(),
                first_number: report.first_number + i64::try_from(skipped).unwrap_or(i64::MAX),
                planner: Arc::clone(&report.planner),
                polled: report.polled.clone(),
                ..*report
            },
            first: self.first + skipped,
        };
        Some([half(before, early, 0), half(after, late, receipts)])
    }

    /// Returns the id of the first batch of the fragment.
    fn batch(&self) -> Option<BatchId> {
        self.report.progress.first().map(|one| one.batch.id)
    }

    /// Takes the answers of its receipts out of the answers of the whole report.
    fn take_answers(&self, answers: &mut Answers) -> Answers {
        answers.take(self.first..self.first + self.report.receipts.len())
    }
}

/// Commits the report of one carrier with `commit`, and retries until all of it is committed. Up to
/// `ack.aside` refused fragments are set aside, so that the carrier can continue.
pub(crate) async fn commit_by_parts<C, F>(commit: C, report: CarrierReport, mut ack: PendingAck)
where
    C: Fn(CarrierReport) -> F + Clone + Send + 'static,
    F: Future<Output = database::Result<usize>> + Send + 'static,
{
    let mut left = VecDeque::from([Fragment { report, first: 0 }]);
    let (mut parked, mut aside) = (0, Vec::new());
    sleep(FAILURE_PAUSE).await;
    while let Some(fragment) = left.pop_front() {
        match commit(fragment.report.clone()).await {
            Ok(more) => parked += more,
            // The database failed, so the report itself may be valid.
            Err(error) if error.is_unavailable() || error.is_unknown() => {
                left.push_front(fragment);
                sleep(FAILURE_PAUSE).await;
            }
            Err(error) => match fragment.halves() {
                Some(halves) => halves
                    .into_iter()
                    .rev()
                    .for_each(|half| left.push_front(half)),
                None if aside.len() < ack.aside => {
                    log(&fragment, &ack, &error);
                    aside.push(fragment);
                }
                None => {
                    left.push_front(fragment);
                    sleep(FAILURE_PAUSE).await;
                }
            },
        }
    }
    let set_aside: Vec<_> = aside
        .into_iter()
        .map(|fragment| (fragment.take_answers(&mut ack.answers), fragment))
        .collect();
    // The worker may have ended.
    let _ = ack.done.send(Completed::Reported {
        parked,
        accounted: ack.accounted,
        answers: ack.answers.all(),
        aside: set_aside
            .iter()
            .map(|(_, fragment)| fragment.batch())
            .collect(),
    });
    for (answers, fragment) in set_aside {
        let ack = PendingAck {
            carrier: Arc::clone(&ack.carrier),
            accounted: 0,
            answers,
            aside: 0,
            done: ack.done.clone(),
        };
        tokio::spawn(commit_at_last(commit.clone(), fragment, ack));
    }
}

/// Retries with growing delays until the fragment is committed.
async fn commit_at_last<C, F>(commit: C, fragment: Fragment, ack: PendingAck)
where
    C: Fn(CarrierReport) -> F + Send + 'static,
    F: Future<Output = database::Result<usize>> + Send + 'static,
{
    let mut pause = FAILURE_PAUSE;
    let parked = loop {
        pause = (2 * pause).min(MAX_RETRY_INTERVAL);
        sleep(pause).await;
        if let Ok(parked) = commit(fragment.report.clone()).await {
            break parked;
        }
    };
    // The worker may have ended.
    let _ = ack.done.send(Completed::CommittedAtLast {
        batch: fragment.batch(),
        parked,
        answers: ack.answers.all(),
    });
}

fn log(fragment: &Fragment, ack: &PendingAck, error: &database::Error) {
    let progress = fragment.report.progress.first();
    let message = progress.map(|one| one.batch.message.to_string());
    let id = fragment.report.receipts.first().map(|one| &*one.carrier_id);
    tracing::error!(
        carrier.name = &*ack.carrier,
        message.id = message,
        carrier.message_id = id,
        %error,
        "carrier report: row refused by the database, set aside and retried, see the error for the repair"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::DeliveryStatus;
    use store::{Receipt, ReceiptStatus};

    #[test]
    fn halves_keep_the_order_and_the_numbers() {
        let receipt = |index: i64| Receipt {
            carrier: "mtn".into(),
            carrier_id: index.to_string(),
            other_id: None,
            recipient: None,
            sender: "AdaFoods".to_owned(),
            status: ReceiptStatus::Final(DeliveryStatus::Delivered),
            error: None,
            raw: None,
        };
        let whole = Fragment {
            report: CarrierReport {
                now_ms: 5,
                progress: Vec::new(),
                receipts: (0..5).map(receipt).collect(),
                planner: Arc::new(|_| None),
                node: domain::NodeId(1),
                claimed_until_ms: 6,
                callback_room: store::CallbackRoom::default(),
                first_number: 100,
                polled: Vec::new(),
            },
            first: 0,
        };
        let mut left = VecDeque::from([whole]);
        let mut committed = Vec::new();
        while let Some(fragment) = left.pop_front() {
            if let Some(halves) = fragment.halves() {
                halves
                    .into_iter()
                    .rev()
                    .for_each(|half| left.push_front(half));
                continue;
            }
            let [receipt] = &fragment.report.receipts[..] else {
                panic!("a fragment of {}", fragment.report.receipts.len());
            };
            let id = receipt.carrier_id.clone();
            committed.push((id, fragment.report.first_number, fragment.first));
        }
        let wanted = (0..5).map(|index| {
            let number = i64::try_from(index).unwrap();
            (index.to_string(), 100 + number, index)
        });
        assert_eq!(committed, wanted.collect::<Vec<_>>());
    }
}
