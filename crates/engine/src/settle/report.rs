//! Commits reports of the carrier workers, and acknowledges them after the commit.

use super::commit::{commit, leave_out_raw};
use super::group_commit::GroupCommit;
use super::quarantine::commit_by_parts;
use crate::context::{CLAIM_MS, Context};
use crate::dispatch::completed::Completed;
use crate::dispatch::report::{PendingAck, ReportSink, WorkerReport};
use std::sync::Arc;
use store::{CarrierReport, Receipt};

/// Returns the function by which a worker reports. It queues the report and spawns its commit.
pub(crate) fn sink(context: &Arc<Context>) -> ReportSink {
    let group = Arc::new(GroupCommit::new(Arc::clone(&context.commit_share)));
    let context = Arc::clone(context);
    Arc::new(move |report| {
        group.queue(report);
        tokio::spawn(commit_queued(Arc::clone(&context), Arc::clone(&group)));
    })
}

/// Waits for the permit and commits the queued reports. There may be none, if an earlier permit
/// holder committed them.
async fn commit_queued(context: Arc<Context>, group: Arc<GroupCommit>) {
    let permit = group.permit().await;
    let now_ms = context.clock.now_ms();
    let reports = group.take(now_ms);
    if reports.is_empty() {
        return;
    }
    let (report, acks) = merge(&context, reports, now_ms);
    let report = Arc::new(report);
    let carriers: Vec<_> = acks.iter().map(|ack| Arc::clone(&ack.carrier)).collect();
    let committing = commit(&context, Arc::clone(&report), &carriers);
    if let Ok(parked) = permit.during(committing).await {
        acknowledge(&report, &parked, acks);
        return;
    }
    // Each carrier is committed on its own, so that the failing report delays no other carrier.
    for ack in acks {
        let report = part_of(&report, &ack.carrier);
        let (context, group) = (Arc::clone(&context), Arc::clone(&group));
        let carriers = [Arc::clone(&ack.carrier)];
        let again = move |report: CarrierReport| {
            let (context, group) = (Arc::clone(&context), Arc::clone(&group));
            let carriers = carriers.clone();
            async move {
                let permit = group.permit().await;
                let report = Arc::new(as_of_now(&context, &report));
                let parked = permit.during(commit(&context, report, &carriers)).await?;
                Ok(parked.len())
            }
        };
        tokio::spawn(commit_by_parts(again, report, ack));
    }
}

/// Notifies the workers that their reports are committed.
fn acknowledge(report: &CarrierReport, parked: &[usize], acks: Vec<PendingAck>) {
    let parked = parked
        .iter()
        .filter_map(|&index| report.receipts.get(index));
    for ack in acks {
        let of_it = parked.clone().filter(|one| one.carrier == ack.carrier);
        // The worker may have ended.
        let _ = ack.done.send(Completed::Reported {
            parked: of_it.count(),
            accounted: ack.accounted,
            answers: ack.answers.all(),
            aside: Vec::new(),
        });
    }
}

/// Returns the part of one carrier. The receipts of a carrier are adjacent, so each part has its
/// own range of numbers.
fn part_of(report: &CarrierReport, carrier: &Arc<str>) -> CarrierReport {
    let is_of_carrier = |one: &&Receipt| one.carrier == *carrier;
    let before = report.receipts.iter().take_while(|one| !is_of_carrier(one));
    let first_number = report.first_number + i64::try_from(before.count()).unwrap_or(i64::MAX);
    let progress = report.progress.iter();
    CarrierReport {
        first_number,
        progress: progress
            .filter(|one| one.batch.carrier == *carrier)
            .cloned()
            .collect(),
        receipts: report
            .receipts
            .iter()
            .filter(is_of_carrier)
            .cloned()
            .collect(),
        planner: Arc::clone(&report.planner),
        polled: report.polled.clone(),
        ..*report
    }
}

/// Merges the reports of several carriers into one.
fn merge(
    context: &Arc<Context>,
    reports: Vec<WorkerReport>,
    now_ms: i64,
) -> (CarrierReport, Vec<PendingAck>) {
    let (mut progress, mut receipts) = (Vec::new(), Vec::new());
    let mut acks = Vec::with_capacity(reports.len());
    for report in reports {
        progress.extend(report.progress);
        receipts.extend(report.receipts);
        acks.push(report.ack);
    }
    leave_out_raw(context, &mut receipts);
    let report = CarrierReport {
        now_ms,
        progress,
        first_number: context.live().plan.numbers(receipts.len()),
        receipts,
        planner: context.planner(now_ms),
        node: context.node,
        claimed_until_ms: now_ms + CLAIM_MS,
        callback_room: context.callbacks.capacity(),
        polled: context.polled(),
    };
    (report, acks)
}

/// Returns the report with the current time. Its callbacks are claimed from now on, or another node
/// would also post them. Its parked receipts are dated now, or they would expire at once.
fn as_of_now(context: &Arc<Context>, report: &CarrierReport) -> CarrierReport {
    let now_ms = context.clock.now_ms();
    CarrierReport {
        planner: context.planner(now_ms),
        callback_room: context.callbacks.capacity(),
        ..at(report, now_ms)
    }
}

/// Returns the report with another commit time.
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
    use store::{CallbackRoom, ReceiptStatus};

    #[test]
    fn a_report_after_an_outage_claims_from_then_on() {
        let report = CarrierReport {
            now_ms: 5,
            progress: Vec::new(),
            receipts: Vec::new(),
            planner: Arc::new(|_| None),
            node: domain::NodeId(1),
            claimed_until_ms: 5 + CLAIM_MS,
            callback_room: CallbackRoom {
                live: 7,
                sandbox: 7,
            },
            first_number: 100,
            polled: Vec::new(),
        };
        let again = at(&report, 10 * CLAIM_MS);
        assert_eq!(again.now_ms, 10 * CLAIM_MS);
        assert_eq!(again.claimed_until_ms, 11 * CLAIM_MS);
        assert_eq!(again.first_number, 100, "it is the same report");
    }

    #[test]
    fn a_failed_report_is_cut_by_carrier_with_its_own_numbers() {
        let receipt = |(carrier, id): (&str, &str)| Receipt {
            carrier: carrier.into(),
            carrier_id: id.to_owned(),
            other_id: None,
            recipient: None,
            sender: "AdaFoods".to_owned(),
            status: ReceiptStatus::Final(DeliveryStatus::Delivered),
            error: None,
            raw: None,
        };
        let all = [("mtn", "1"), ("mtn", "2"), ("glo", "1"), ("t2", "9")];
        let report = CarrierReport {
            now_ms: 5,
            progress: Vec::new(),
            receipts: all.map(receipt).into(),
            planner: Arc::new(|_| None),
            node: domain::NodeId(1),
            claimed_until_ms: 6,
            callback_room: CallbackRoom {
                live: 7,
                sandbox: 7,
            },
            first_number: 100,
            polled: Vec::new(),
        };
        for (carrier, first_number, ids) in [
            ("mtn", 100, vec!["1", "2"]),
            ("glo", 102, vec!["1"]),
            ("t2", 103, vec!["9"]),
        ] {
            let alone = part_of(&report, &carrier.into());
            let ids_of_report = alone.receipts.iter().map(|one| one.carrier_id.as_str());
            assert_eq!(ids_of_report.collect::<Vec<_>>(), ids);
            assert_eq!((alone.now_ms, alone.first_number), (5, first_number));
        }
    }
}
