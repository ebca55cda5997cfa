//! The end of batches that no carrier gets.

use super::batch::{Batch, BatchKind, Claimed, Progress};
use super::batch_rows::take;
use super::wanted::wanted;
use crate::buckets::Buckets;
use crate::deliveries::delivery_rows::known;
use crate::deliveries::receipts::settle::cancelled::cancelled;
use crate::deliveries::settle::{self, CallbackRoom, SettleContext, Settled};
use database::{Result, Tx};
use domain::DeliveryStatus;
use std::sync::Arc;

/// Ends the recipients of batches that were not submitted, with the refunds due. Recipients without
/// any submit get this status. Batches that are no longer in this state are left out.
pub(crate) async fn end_unsent(
    tx: &mut Tx,
    buckets: Buckets,
    now_ms: i64,
    queued: Vec<Claimed>,
    status: DeliveryStatus,
) -> Result<Settled> {
    let batches: Vec<&Batch> = queued.iter().map(|one| &one.batch).collect();
    let taken = take(tx, &batches).await?;
    let mut ended = Vec::with_capacity(queued.len());
    for mut claimed in queued {
        let batch = &mut claimed.batch;
        // A resend is not made. A receipt, or the expiry, decides about the first copy.
        if !taken.contains(&batch.id) || batch.kind == BatchKind::Resend {
            continue;
        }
        // Recipients that no claim would take any more have been sent meanwhile.
        if batch.may_have_deliveries(claimed.content.gateway) {
            batch.recipients = wanted(tx, batch).await?;
        }
        ended.push(Progress::of(claimed));
    }
    let cases = ended.iter().flat_map(|one| cancelled(one, status));
    let cases = known(tx, cases.collect()).await?;
    let messages = settle::messages(tx, &cases).await?;
    let context = SettleContext {
        now_ms,
        planner: Arc::new(|_| None),
        node: None,
        claimed_until_ms: 0,
        callback_room: CallbackRoom::default(),
    };
    let (settled, owed) = settle::settle(tx, &context, cases, &messages).await?;
    settle::refund(tx, buckets, now_ms, owed).await?;
    Ok(settled)
}
