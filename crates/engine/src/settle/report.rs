//! Back: what carriers said is committed, and only then answered.

use crate::context::CLAIM_MS;
use crate::context::Context;
use crate::dispatch::completed::Done;
use crate::settle::group_commit::Said;
use crate::settle::quarantine::{Answers, keep_alone};
use database::Outage;
use std::sync::Arc;
use store::{CarrierReport, Receipt, Settled};
use tokio::sync::mpsc::UnboundedSender;

/// The most that is set aside of what a carrier said. Where the database refuses more, it is not for one row, and the
/// carrier waits.
pub(crate) const MOST_ASIDE: usize = 100;
/// Commits of reports, of all carriers.
static REPORTS: Outage = Outage::of("reports of carriers cannot be committed");

/// Who waits until what a carrier said is kept.
pub(crate) struct Teller {
    pub(crate) carrier: Arc<str>,
    /// Recipients that are accounted for then.
    pub(crate) accounted: usize,
    /// The receipts that are answered then.
    pub(crate) answers: Answers,
    /// How much of it may be set aside, if the database refuses it.
    pub(crate) aside: usize,
    pub(crate) done: UnboundedSender<Done>,
}

/// Waits for a turn, and commits what waits for one then; nothing, where that went with another turn.
pub(crate) async fn take_turn(shared: Arc<Context>) {
    let turn = shared.turns.next().await;
    let now_ms = shared.clock.now_ms();
    let said = shared.turns.take(now_ms);
    if said.is_empty() {
        return;
    }
    let (report, tellers) = together(&shared, said, now_ms);
    let report = Arc::new(report);
    if let Ok(parked) = turn.during(keep(&shared, &report, &tellers)).await {
        tell(&report, &parked, tellers);
        return;
    }
    // Nobody else waits for what may fail for a reason of its own.
    for teller in tellers {
        let report = of_one(&report, &teller.carrier);
        tokio::spawn(keep_alone(Arc::clone(&shared), report, teller));
    }
}

/// Tries to commit a report. Gives the places of the receipts that are parked, if it is kept.
pub(crate) async fn keep(
    shared: &Arc<Context>,
    report: &Arc<CarrierReport>,
    tellers: &[Teller],
) -> database::Result<Vec<usize>> {
    let mut settled = Settled::default();
    let kept = shared.store.report(Arc::clone(report), &mut settled).await;
    shared.settled(settled);
    match &kept {
        Ok(_) => REPORTS.worked(),
        Err(error) => {
            if let Some(unlogged) = REPORTS.is_to_log() {
                let carriers: Vec<&str> = tellers.iter().map(|one| &*one.carrier).collect();
                let carriers = carriers.join(", ");
                tracing::error!(
                    carrier.names = carriers, %error, unlogged,
                    "reports of carriers cannot be committed; retrying, logged at most once a minute"
                );
            }
        }
    }
    kept
}

/// Tells those who wait for a report that it is kept.
fn tell(report: &CarrierReport, parked: &[usize], tellers: impl IntoIterator<Item = Teller>) {
    let parked = parked
        .iter()
        .filter_map(|&place| report.receipts.get(place));
    for teller in tellers {
        let of_it = parked.clone().filter(|one| one.carrier == teller.carrier);
        // The desk outlives its steps.
        let _ = teller.done.send(Done::Reported {
            parked: of_it.count(),
            accounted: teller.accounted,
            answers: teller.answers.all(),
            aside: Vec::new(),
        });
    }
}

/// What one carrier said of a report of several. Receipts of a carrier stand together there, so that those of each have
/// numbers of their own however many of them are parked.
fn of_one(report: &CarrierReport, carrier: &Arc<str>) -> CarrierReport {
    let is_of_it = |one: &&Receipt| one.carrier == *carrier;
    let before = report.receipts.iter().take_while(|one| !is_of_it(one));
    let first_number = report.first_number + i64::try_from(before.count()).unwrap_or(i64::MAX);
    let progress = report.progress.iter();
    CarrierReport {
        first_number,
        progress: progress
            .filter(|one| one.batch.carrier == *carrier)
            .cloned()
            .collect(),
        receipts: report.receipts.iter().filter(is_of_it).cloned().collect(),
        planner: Arc::clone(&report.planner),
        ..*report
    }
}

/// Makes one report of what several carriers said.
fn together(context: &Arc<Context>, said: Vec<Said>, now_ms: i64) -> (CarrierReport, Vec<Teller>) {
    let (mut progress, mut receipts) = (Vec::new(), Vec::new());
    let mut tellers = Vec::with_capacity(said.len());
    for said in said {
        progress.extend(said.progress);
        receipts.extend(said.receipts);
        tellers.push(said.teller);
    }
    let report = CarrierReport {
        now_ms,
        progress,
        first_number: context.live().plan.numbers(receipts.len()),
        receipts,
        planner: context.planner(now_ms),
        node: context.node,
        claimed_until_ms: now_ms + CLAIM_MS,
        callback_room: context.callbacks.room(),
    };
    (report, tellers)
}

/// The report as it is told now. What it claims is claimed from now on, or callbacks would be taken for left while
/// they are in hand, and be made twice; and what it parks has come now, or it would be too old to be looked at.
pub(crate) fn told_now(context: &Arc<Context>, report: &CarrierReport) -> CarrierReport {
    let now_ms = context.clock.now_ms();
    CarrierReport {
        planner: context.planner(now_ms),
        callback_room: context.callbacks.room(),
        ..at(report, now_ms)
    }
}

/// A report that is told at another time than it was first.
fn at(report: &CarrierReport, now_ms: i64) -> CarrierReport {
    CarrierReport {
        now_ms,
        claimed_until_ms: now_ms + CLAIM_MS,
        ..report.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::DeliveryStatus;
    use store::{CallbackRoom, ReceiptWord};

    #[test]
    fn what_is_told_again_after_an_outage_is_claimed_from_then_on() {
        let report = CarrierReport {
            now_ms: 5,
            progress: Vec::new(),
            receipts: Vec::new(),
            planner: Arc::new(|_| None),
            node: 1,
            claimed_until_ms: 5 + CLAIM_MS,
            callback_room: CallbackRoom {
                live: 7,
                sandbox: 7,
            },
            first_number: 100,
        };
        let again = at(&report, 10 * CLAIM_MS);
        assert_eq!(again.now_ms, 10 * CLAIM_MS);
        assert_eq!(again.claimed_until_ms, 11 * CLAIM_MS);
        assert_eq!(again.first_number, 100, "it is the same report");
    }

    #[test]
    fn of_a_report_that_failed_each_carrier_tells_its_own_again_under_its_own_numbers() {
        let receipt = |(carrier, id): (&str, &str)| Receipt {
            carrier: carrier.into(),
            carrier_id: id.to_owned(),
            other_id: None,
            recipient: None,
            sender: "AdaFoods".to_owned(),
            word: ReceiptWord::Final(DeliveryStatus::Delivered),
            error: None,
        };
        let all = [("mtn", "1"), ("mtn", "2"), ("glo", "1"), ("t2", "9")];
        let report = CarrierReport {
            now_ms: 5,
            progress: Vec::new(),
            receipts: all.map(receipt).into(),
            planner: Arc::new(|_| None),
            node: 1,
            claimed_until_ms: 6,
            callback_room: CallbackRoom {
                live: 7,
                sandbox: 7,
            },
            first_number: 100,
        };
        for (carrier, first_number, ids) in [
            ("mtn", 100, vec!["1", "2"]),
            ("glo", 102, vec!["1"]),
            ("t2", 103, vec!["9"]),
        ] {
            let alone = of_one(&report, &carrier.into());
            let told = alone.receipts.iter().map(|one| one.carrier_id.as_str());
            assert_eq!(told.collect::<Vec<_>>(), ids);
            assert_eq!((alone.now_ms, alone.first_number), (5, first_number));
        }
    }
}
