//! The commit of a report, and the notification of the stages that its changes concern.

use crate::context::Context;
use database::Outage;
use std::sync::Arc;
use store::{CallbackRoom, CarrierReport, Progress, Receipt, Settled};

/// Outage of report commits, over all carriers.
static REPORTS: Outage = Outage::of("reports of carriers cannot be committed");

/// Commits a report of carriers. Returns the indexes of the receipts that are parked.
pub(crate) async fn commit(
    context: &Arc<Context>,
    report: Arc<CarrierReport>,
    carriers: &[Arc<str>],
) -> database::Result<Vec<usize>> {
    let mut settled = Settled::default();
    let committed = context
        .store
        .carrier_reports()
        .commit(report, &mut settled)
        .await;
    context.settled(settled);
    match &committed {
        Ok(_) => REPORTS.worked(),
        Err(error) => {
            if let Some(unlogged) = REPORTS.is_to_log() {
                let carriers = carriers.join(", ");
                tracing::error!(
                    carrier.names = carriers, %error, unlogged,
                    "carriers: reports not committed, retrying (logged at most once a minute)"
                );
            }
        }
    }
    committed
}

/// Returns a report without batches and receipts.
pub(crate) fn empty_report(context: &Arc<Context>, now_ms: i64) -> CarrierReport {
    CarrierReport {
        now_ms,
        progress: Vec::new(),
        receipts: Vec::new(),
        planner: context.planner(now_ms),
        node: context.node,
        claimed_until_ms: now_ms,
        callback_room: CallbackRoom::default(),
        first_number: 0,
        polled: Vec::new(),
    }
}

/// Leaves the raw forms out of receipts if the operator keeps none.
pub(crate) fn leave_out_raw(context: &Context, receipts: &mut [Receipt]) {
    if context.live().retention.receipts_ms == 0 {
        for receipt in receipts {
            receipt.raw = None;
        }
    }
}

/// Returns a report of batches, for callers other than the carrier workers.
pub(crate) fn report_of(
    context: &Arc<Context>,
    progress: Vec<Progress>,
    now_ms: i64,
) -> CarrierReport {
    CarrierReport {
        progress,
        ..empty_report(context, now_ms)
    }
}

/// Commits a report for callers other than the carrier workers.
pub(crate) async fn commit_alone(
    context: &Arc<Context>,
    report: CarrierReport,
) -> database::Result<()> {
    let mut settled = Settled::default();
    let committed = context
        .store
        .carrier_reports()
        .commit(Arc::new(report), &mut settled)
        .await;
    context.settled(settled);
    committed.map(drop)
}
