//! The receipts that carriers post by HTTP.

use crate::context::Context;
use crate::context::metrics::receipt_unreadable;
use crate::settle::http_receipts;
use domain::http_carrier::{HttpReceipts, ReceiptFault};
use domain::is_secret;
use std::sync::Arc;

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
    let read = receipts.read(body).inspect_err(|fault| {
        receipt_unreadable(carrier);
        tracing::warn!(carrier.name = &**carrier, error = %fault, "carrier: receipts dropped");
    })?;
    let committed = http_receipts::commit(context, carrier, read).await;
    committed.map_err(|_| HookRefusal::NotStored)
}
