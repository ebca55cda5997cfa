//! The receipts that carriers post by HTTP.

use crate::context::metrics::{receipt_received, receipt_unreadable};
use crate::context::{CLAIM_MS, Context};
use crate::dispatch::smpp_mapping::{kept_error, kept_id};
use crate::settle::commit::{commit_alone, empty_report, leave_out_raw};
use domain::http_carrier::{HttpReceipt, HttpReceipts, ReceiptFault};
use domain::is_secret;
use std::sync::Arc;
use std::time::Duration;
use store::{CarrierReport, Receipt, ReceiptStatus};
use tokio::time::timeout;

/// Longest wait for the commit of receipts. The carrier repeats them after a failure.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(10);

/// The reason why receipts of a carrier were not taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum HookRefusal {
    /// The request holds no receipts.
    #[error(transparent)]
    Unreadable(#[from] ReceiptFault),
    /// The database did not commit them in time.
    #[error("the receipts are not stored; send them again")]
    NotStored,
}

/// The hook of a carrier, to which a request gave the secret.
pub struct CarrierHook {
    context: Arc<Context>,
    carrier: Arc<str>,
    receipts: HttpReceipts,
}

impl CarrierHook {
    /// Returns the hook of a carrier, if this is its secret.
    pub(super) fn open(context: &Arc<Context>, name: &str, secret: &str) -> Option<Self> {
        let carrier = context.carrier(name)?;
        let hook = carrier.settings.as_ref()?.http()?.receipts.as_ref()?;
        is_secret(&hook.secret, secret).then(|| Self {
            context: Arc::clone(context),
            carrier: Arc::clone(&carrier.name),
            receipts: hook.receipts.clone(),
        })
    }

    /// Commits the receipts of a request. A receipt that finds no page waits for it as one by SMPP.
    pub async fn receive(&self, body: &[u8]) -> Result<(), HookRefusal> {
        receive(self, body).await
    }
}

async fn receive(hook: &CarrierHook, body: &[u8]) -> Result<(), HookRefusal> {
    let CarrierHook {
        context,
        carrier,
        receipts,
    } = hook;
    let name = &**carrier;
    let read = receipts.read(body).inspect_err(|fault| {
        receipt_unreadable(carrier);
        tracing::warn!(carrier.name = name, error = %fault, "carrier: receipts dropped");
    })?;
    if read.is_empty() {
        return Ok(());
    }
    let mut receipts: Vec<Receipt> = read
        .into_iter()
        .map(|receipt| stored(carrier, receipt))
        .collect();
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
            tracing::error!(carrier.name = name, %error, "carrier: receipts not stored");
            Err(HookRefusal::NotStored)
        }
        Err(_) => Err(HookRefusal::NotStored),
    }
}

/// Returns the receipt in the form that is stored. It names no recipient: the id finds the page.
fn stored(carrier: &Arc<str>, receipt: HttpReceipt) -> Receipt {
    Receipt {
        carrier: Arc::clone(carrier),
        carrier_id: kept_id(receipt.id),
        other_id: None,
        recipient: None,
        sender: String::new(),
        status: receipt
            .status
            .map_or(ReceiptStatus::Pending, ReceiptStatus::Final),
        error: receipt.error.map(kept_error),
        raw: Some(receipt.raw.pack()),
    }
}
