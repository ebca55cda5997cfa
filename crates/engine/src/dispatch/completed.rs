//! What the desk's steps in the background give back.

use super::bind::Wire;
use super::worker::Desk;
use domain::Priority;
use smpp::CommandStatus;
use store::Claimed;

/// The end of a step.
pub(crate) enum Done {
    Reported {
        parked: usize,
        accounted: usize,
        answers: Vec<(Wire, Vec<u32>)>,
        /// What was set aside of it: the batch of each piece that tells of one.
        aside: Vec<Option<i64>>,
    },
    /// So is what was set aside.
    KeptAtLast {
        batch: Option<i64>,
        parked: usize,
        answers: Vec<(Wire, Vec<u32>)>,
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

impl Desk {
    pub(crate) fn finished(&mut self, done: Done) {
        match done {
            Done::Reported {
                parked,
                accounted,
                answers,
                aside,
            } => {
                self.busy.reporting = false;
                self.busy.aside += aside.len();
                let batches = aside.into_iter().flatten();
                batches.for_each(|batch| self.hand.hold_back(batch));
                self.carrier.budget.give(accounted);
                self.kept(parked, answers);
            }
            Done::KeptAtLast {
                batch,
                parked,
                answers,
            } => {
                self.busy.aside -= 1;
                if let Some(batch) = batch {
                    self.hand.let_go(batch);
                }
                self.kept(parked, answers);
            }
            Done::Claimed { asked, claimed } => {
                self.busy.claiming = false;
                let got: usize = claimed
                    .iter()
                    .map(|claimed| claimed.batch.recipients.len())
                    .sum();
                self.carrier.budget.give(asked - got.min(asked));
                // As many as asked for may mean that there are more, and so may none: what was found was
                // not to be sent any more.
                if got > 0 {
                    let mut priorities = claimed.iter().map(|claimed| claimed.batch.priority);
                    let urgent = priorities.all(|priority| priority == Priority::Otp);
                    self.carrier.note_more(urgent);
                }
                for claimed in claimed {
                    self.take_claimed(claimed);
                }
            }
            Done::ClaimFailed { asked } => {
                self.busy.claiming = false;
                self.carrier.budget.give(asked);
                self.carrier.note_backlog();
            }
            Done::FailedOver => self.busy.failing_over = false,
        }
    }

    /// Answers the receipts that are kept.
    fn kept(&self, parked: usize, answers: Vec<(Wire, Vec<u32>)>) {
        for (wire, sequences) in answers {
            let ok = |sequence| (sequence, CommandStatus::ROK);
            wire.answer(sequences.into_iter().map(ok).collect());
        }
        self.measures.parked(parked);
    }
}
