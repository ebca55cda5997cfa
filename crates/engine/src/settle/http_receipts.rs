//! The commit of receipts that came by HTTP.

use super::commit::{commit_alone, empty_report, leave_out_raw};
use crate::context::metrics::receipt_received;
use crate::context::{CLAIM_MS, Context};
use crate::dispatch::smpp_mapping::{kept_error, kept_id};
use domain::http_carrier::HttpReceipt;
use std::sync::Arc;
use std::time::Duration;
use store::{CarrierReport, Receipt, ReceiptStatus};
use tokio::time::timeout;

/// Longest wait for the commit of receipts. They are repeated after a failure.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(10);

/// The database did not commit receipts in time.
pub(crate) struct NotStored;

/// Commits receipts of a carrier. A receipt that finds no page waits for it as one by SMPP.
pub(crate) async fn commit(
    context: &Arc<Context>,
    carrier: &Arc<str>,
    receipts: Vec<HttpReceipt>,
) -> Result<(), NotStored> {
    if receipts.is_empty() {
        return Ok(());
    }
    let receipts = receipts.into_iter();
    let mut receipts: Vec<Receipt> = receipts.map(|receipt| stored(carrier, receipt)).collect();
    for receipt in &receipts {
        receipt_received(receipt);
    }
    leave_out_raw(context, &mut receipts);
    let now_ms = context.clock.now_ms();
    let report = CarrierReport {
        first_number: context.live().plan.numbers(receipts.len()),
        receipts,
        callback_room: context.callbacks.capacity(),
        claimed_until_ms: now_ms + CLAIM_MS,
        ..empty_report(context, now_ms)
    };
    match timeout(COMMIT_TIMEOUT, commit_alone(context, report)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            tracing::error!(carrier.name = &**carrier, %error, "carrier: receipts not stored");
            Err(NotStored)
        }
        Err(_) => Err(NotStored),
    }
}

/// Returns the receipt in the form that is stored. The id finds the page. A recipient in doubt is
/// found by number and sender, if the receipt has both.
fn stored(carrier: &Arc<str>, receipt: HttpReceipt) -> Receipt {
    Receipt {
        carrier: Arc::clone(carrier),
        carrier_id: kept_id(receipt.id),
        other_id: None,
        recipient: receipt.recipient,
        sender: receipt.sender,
        status: receipt
            .status
            .map_or(ReceiptStatus::Pending, ReceiptStatus::Final),
        error: receipt.error.map(kept_error),
        raw: Some(receipt.raw.pack()),
    }
}
