//! The receipts of a test.

use super::setup::{LOOK_INTERVAL, TestedCarrier};
use super::steps::{Steps, TestEnd};
use domain::DeliveryStatus;
use std::time::Duration;
use store::ReceiptStatus;
use tokio::time::{Instant, sleep};

/// The pages of a test whose receipt is missing.
pub(super) struct Missing {
    /// The ids of all pages.
    all: Vec<String>,
    /// The ids of pages without a final receipt.
    open: Vec<String>,
    /// The status that counts: that of the first failure, or of the last delivery.
    pub(super) status: Option<DeliveryStatus>,
}

impl Missing {
    /// Returns the pages with these ids, in the form that is stored.
    pub(super) fn of(ids: Vec<String>) -> Self {
        Self {
            all: ids.clone(),
            open: ids,
            status: None,
        }
    }

    /// Returns `true` if no further receipt matters.
    pub(super) fn is_over(&self) -> bool {
        let is_failure = |status| status != DeliveryStatus::Delivered;
        self.open.is_empty() || self.status.is_some_and(is_failure)
    }

    /// Records a receipt. Returns `false` if it belongs to another message.
    pub(super) fn take(&mut self, id: &str, status: ReceiptStatus, steps: &mut Steps<'_>) -> bool {
        if !self.all.iter().any(|known| known == id) {
            return false;
        }
        let Some(place) = self.open.iter().position(|known| known == id) else {
            return true;
        };
        match status {
            ReceiptStatus::Pending => {
                steps.add("receipt", format!("{id}: under way"));
            }
            ReceiptStatus::Final(status) => {
                self.open.remove(place);
                self.status = Some(status);
                steps.add("receipt", format!("{id}: {}", status.as_str()));
            }
        }
        true
    }

    /// Adds the step of a wait that ended without a receipt.
    pub(super) fn end(&self, wait: Duration, reason: &str, steps: &mut Steps<'_>) {
        if !self.is_over() {
            let waited = format!("no receipt within {} s{reason}", wait.as_secs_f32());
            steps.add("waited", waited);
        }
    }
}

/// Waits for the receipts that a serving node parks.
pub(super) async fn from_node(
    carrier: &TestedCarrier,
    mut end: TestEnd,
    ids: Vec<String>,
    wait: Duration,
    steps: &mut Steps<'_>,
) -> database::Result<TestEnd> {
    let mut missing = Missing::of(ids.clone());
    let deadline = Instant::now() + wait;
    let name = &carrier.settings.name;
    let mut is_under_way = false;
    while !missing.is_over() && Instant::now() < deadline {
        for id in &ids {
            let parked = carrier.store.carrier_reports().parked(name, id).await?;
            match parked {
                Some(ReceiptStatus::Pending) if is_under_way => {}
                Some(status) => {
                    is_under_way |= status == ReceiptStatus::Pending;
                    missing.take(id, status, steps);
                }
                None => {}
            }
        }
        if !missing.is_over() {
            sleep(LOOK_INTERVAL).await;
        }
    }
    missing.end(wait, " at the nodes that serve", steps);
    end.status = missing.status;
    Ok(end)
}
