//! What the database refuses for a reason of its own: it is told apart from what else its carrier said, so that one row
//! holds up nobody, and tried again by itself.

use crate::context::Context;
use crate::context::FAILURE_PAUSE;
use crate::dispatch::bind::Wire;
use crate::dispatch::completed::Done;
use crate::settle::report::{Teller, keep, told_now};
use std::collections::VecDeque;
use std::slice;
use std::sync::Arc;
use std::time::Duration;
use store::CarrierReport;
use tokio::time::sleep;

/// The longest that what is set aside waits for its next try; the first time it is a moment.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Receipts that are to be answered: by connection the place of each in the report, and its sequence number.
pub(crate) struct Answers(pub(crate) Vec<(Wire, Vec<(usize, u32)>)>);

impl Answers {
    /// All of them, as they are answered.
    pub(crate) fn all(self) -> Vec<(Wire, Vec<u32>)> {
        let numbers = |all: Vec<(usize, u32)>| all.into_iter().map(|(_, number)| number).collect();
        let all = self.0.into_iter();
        all.map(|(wire, receipts)| (wire, numbers(receipts)))
            .collect()
    }

    /// Takes out those of a piece.
    fn take(&mut self, piece: &Piece) -> Self {
        let places = piece.first..piece.first + piece.report.receipts.len();
        let all = self.0.iter_mut();
        let taken = all.map(|(wire, receipts)| {
            let of_it = receipts.extract_if(.., |(place, _)| places.contains(place));
            (wire.clone(), of_it.collect())
        });
        Self(taken.collect())
    }
}

/// A part of what a carrier said.
struct Piece {
    report: CarrierReport,
    /// The place of its first receipt among all of them.
    first: usize,
}

impl Piece {
    /// Both halves, in order; none of what cannot be divided: a receipt, or what became of a batch.
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
                ..*report
            },
            first: self.first + skipped,
        };
        Some([half(before, early, 0), half(after, late, receipts)])
    }

    /// The batch that it tells of.
    fn batch(&self) -> Option<i64> {
        self.report.progress.first().map(|one| one.batch.id)
    }

    /// Tries to have it committed, as of now. Gives how many receipts were parked.
    async fn keep(&self, shared: &Arc<Context>, teller: &Teller) -> database::Result<usize> {
        let turn = shared.turns.next().await;
        let report = Arc::new(told_now(shared, &self.report));
        let kept = keep(shared, &report, slice::from_ref(teller));
        let parked = turn.during(kept).await?;
        Ok(parked.len())
    }
}

/// Commits what one carrier said, however often the database has to be asked: it is never dropped. What it refuses for
/// a reason of its own is set aside, as far as there is room, so that the carrier can go on.
pub(crate) async fn keep_alone(shared: Arc<Context>, report: CarrierReport, mut teller: Teller) {
    let mut left = VecDeque::from([Piece { report, first: 0 }]);
    let (mut parked, mut aside) = (0, Vec::new());
    sleep(FAILURE_PAUSE).await;
    while let Some(piece) = left.pop_front() {
        match piece.keep(&shared, &teller).await {
            Ok(more) => parked += more,
            // Nothing is wrong with it, or nobody can tell.
            Err(error) if error.is_unavailable() || error.is_unknown() => {
                left.push_front(piece);
                sleep(FAILURE_PAUSE).await;
            }
            Err(error) => match piece.halves() {
                Some(halves) => halves
                    .into_iter()
                    .rev()
                    .for_each(|half| left.push_front(half)),
                None if aside.len() < teller.aside => {
                    log(&piece, &teller, &error);
                    aside.push(piece);
                }
                None => {
                    left.push_front(piece);
                    sleep(FAILURE_PAUSE).await;
                }
            },
        }
    }
    let set_aside: Vec<_> = aside
        .into_iter()
        .map(|piece| (teller.answers.take(&piece), piece))
        .collect();
    // The desk outlives its steps.
    let _ = teller.done.send(Done::Reported {
        parked,
        accounted: teller.accounted,
        answers: teller.answers.all(),
        aside: set_aside.iter().map(|(_, piece)| piece.batch()).collect(),
    });
    for (answers, piece) in set_aside {
        let teller = Teller {
            carrier: Arc::clone(&teller.carrier),
            accounted: 0,
            answers,
            aside: 0,
            done: teller.done.clone(),
        };
        tokio::spawn(keep_at_last(Arc::clone(&shared), piece, teller));
    }
}

/// Tries again, now and then, until what was set aside is kept.
async fn keep_at_last(shared: Arc<Context>, piece: Piece, teller: Teller) {
    let mut pause = FAILURE_PAUSE;
    let parked = loop {
        pause = (2 * pause).min(LONGEST_PAUSE);
        sleep(pause).await;
        if let Ok(parked) = piece.keep(&shared, &teller).await {
            break parked;
        }
    };
    // The desk outlives its steps.
    let _ = teller.done.send(Done::KeptAtLast {
        batch: piece.batch(),
        parked,
        answers: teller.answers.all(),
    });
}

fn log(piece: &Piece, teller: &Teller, error: &database::Error) {
    let progress = piece.report.progress.first();
    let message = progress.map(|one| one.batch.message.to_string());
    let id = piece.report.receipts.first().map(|one| &*one.carrier_id);
    tracing::error!(
        carrier.name = &*teller.carrier,
        message.id = message,
        carrier.message_id = id,
        %error,
        "the database refuses what a carrier said of a message: it is set aside and tried again, and the rest goes on. \
         Mend in the database what the error names"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::DeliveryStatus;
    use store::{Receipt, ReceiptWord};

    #[test]
    fn halves_tell_all_in_order_under_its_own_numbers() {
        let receipt = |place: i64| Receipt {
            carrier: "mtn".into(),
            carrier_id: place.to_string(),
            other_id: None,
            recipient: None,
            sender: "AdaFoods".to_owned(),
            word: ReceiptWord::Final(DeliveryStatus::Delivered),
            error: None,
        };
        let whole = Piece {
            report: CarrierReport {
                now_ms: 5,
                progress: Vec::new(),
                receipts: (0..5).map(receipt).collect(),
                planner: Arc::new(|_| None),
                node: 1,
                claimed_until_ms: 6,
                callback_room: store::CallbackRoom::default(),
                first_number: 100,
            },
            first: 0,
        };
        let mut left = VecDeque::from([whole]);
        let mut told = Vec::new();
        while let Some(piece) = left.pop_front() {
            if let Some(halves) = piece.halves() {
                halves
                    .into_iter()
                    .rev()
                    .for_each(|half| left.push_front(half));
                continue;
            }
            let [receipt] = &piece.report.receipts[..] else {
                panic!("a piece of {}", piece.report.receipts.len());
            };
            let id = receipt.carrier_id.clone();
            told.push((id, piece.report.first_number, piece.first));
        }
        let wanted = (0..5).map(|place| {
            let number = i64::try_from(place).unwrap();
            (place.to_string(), 100 + number, place)
        });
        assert_eq!(told, wanted.collect::<Vec<_>>());
    }
}
