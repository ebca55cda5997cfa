//! A report of a carrier.

use super::receipt::{Parked, Receipt};
use crate::batches::batch::Progress;
use crate::deliveries::receipt_polls::PolledCarrier;
use crate::deliveries::settle::{CallbackRoom, Planner, SettleContext};
use domain::NodeId;
use std::sync::Arc;

/// A report of a carrier, with the state of the node that received it.
#[derive(Clone)]
pub struct CarrierReport {
    /// Now, Unix milliseconds.
    pub now_ms: i64,
    /// Results of submits.
    pub progress: Vec<Progress>,
    /// Receipts.
    pub receipts: Vec<Receipt>,
    /// The planner of second legs.
    pub planner: Planner,
    /// The node that claims fresh callbacks.
    pub node: NodeId,
    /// The end of that claim, Unix milliseconds.
    pub claimed_until_ms: i64,
    /// Fresh callbacks for which the node has room.
    pub callback_room: CallbackRoom,
    /// The first number for parked receipts.
    pub first_number: i64,
    /// The carriers that are asked for the states of their messages.
    pub polled: Vec<PolledCarrier>,
}

impl CarrierReport {
    /// Returns the progress whose receipts may have come before. It covers pages with a response
    /// now, and recipients that will get none any more.
    pub(super) fn followed(&self) -> Vec<&Progress> {
        let is_followed = |one: &&Progress| !one.submitted.is_empty() || !one.doubted.is_empty();
        self.progress.iter().filter(is_followed).collect()
    }

    pub(super) fn context(&self) -> SettleContext {
        SettleContext {
            now_ms: self.now_ms,
            planner: self.planner.clone(),
            node: Some(self.node),
            claimed_until_ms: self.claimed_until_ms,
            callback_room: self.callback_room,
        }
    }
}

/// A report, with the parked receipts that are matched again with it.
pub(super) struct JoinedReport {
    pub(super) report: Arc<CarrierReport>,
    pub(super) parked: Vec<Parked>,
}

impl JoinedReport {
    /// Returns the number of receipts. They are identified by their place, first the ones of the
    /// report.
    pub(super) fn count(&self) -> usize {
        self.report.receipts.len() + self.parked.len()
    }

    pub(super) fn receipt(&self, place: usize) -> &Receipt {
        let fresh = &self.report.receipts;
        fresh
            .get(place)
            .unwrap_or_else(|| &self.parked[place - fresh.len()].receipt)
    }
}
