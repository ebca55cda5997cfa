//! The recipients of claimed batches that are still to be sent, and their texts.

use super::batch::{Batch, BatchKind, Body, Claimed};
use super::batch_rows::{delete, shrink};
use crate::deliveries::delivery_rows::{set_leg, stored};
use crate::messages::recipient_texts;
use database::{Result, Tx};
use domain::{Delivery, Leg, Recipient};
use std::sync::Arc;

/// Leaves out the recipients that need not be sent any more. A second leg is recorded as submitted
/// here, because it may be sent from now on. An expired one is not recorded, because it will not be
/// sent.
pub(super) async fn still_to_send(
    tx: &mut Tx,
    claimed: Vec<Claimed>,
    now_ms: i64,
) -> Result<Vec<Claimed>> {
    let mut kept = Vec::with_capacity(claimed.len());
    for mut claimed in claimed {
        if !claimed.batch.may_have_deliveries(claimed.content.gateway) {
            kept.push(claimed);
            continue;
        }
        let batch = &claimed.batch;
        let left = wanted(tx, batch).await?;
        if left.is_empty() {
            delete(tx, &[batch]).await?;
            continue;
        }
        if left.len() < batch.recipients.len() {
            shrink(tx, &[(batch, &left)]).await?;
        }
        if batch.kind == BatchKind::Backup && now_ms < batch.expires_at_ms {
            set_leg(tx, &batch.keys(&left), Leg::Second).await?;
        }
        claimed.batch.recipients = left;
        kept.push(claimed);
    }
    Ok(kept)
}

/// Reads the texts of personalised batches.
pub(super) async fn read_texts(tx: &mut Tx, claimed: &mut [Claimed]) -> Result<()> {
    for Claimed { batch, content } in claimed {
        if matches!(content.body, Body::Personalised(_)) {
            let of = (batch.bucket, batch.message);
            let texts = recipient_texts::read(tx, of, &batch.recipients).await?;
            Arc::make_mut(content).body = Body::Personalised(texts);
        }
    }
    Ok(())
}

/// Returns the recipients of a batch that are still to be sent, if some may have a delivery.
pub(super) async fn wanted(tx: &mut Tx, batch: &Batch) -> Result<Vec<Recipient>> {
    let keys = batch.keys(&batch.recipients);
    let known = stored(tx, &keys).await?;
    // A recipient with an unreadable delivery may have received it.
    let wanted = |recipient: &Recipient| {
        let key = (batch.message, *recipient);
        let case = known.cases.get(&key);
        !known.unreadable.contains(&key) && case.is_none_or(|case| is_wanted(batch, &case.delivery))
    };
    Ok(batch.recipients.iter().copied().filter(wanted).collect())
}

/// Returns `true` if a recipient that was sent before is to be sent from this batch.
fn is_wanted(batch: &Batch, delivery: &Delivery) -> bool {
    match batch.kind {
        BatchKind::First => false,
        // Once the second leg is submitted, a copy of the first would be one message too many.
        BatchKind::Resend => delivery.doubts(batch.leg) && delivery.leg <= Some(batch.leg),
        BatchKind::Backup => !delivery.status.is_final() && delivery.leg < Some(Leg::Second),
        BatchKind::Again => !delivery.status.is_final(),
    }
}
