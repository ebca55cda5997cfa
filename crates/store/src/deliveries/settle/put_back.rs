//! Second legs that were claimed and are put back unsent.

use super::decide::decide_all;
use super::message::messages;
use super::refund::{self, RefundDue};
use crate::batches::batch::Batch;
use crate::deliveries::delivery_rows::{set_leg, stored};
use crate::deliveries::pending::PendingSettlement;
use database::{Result, Tx};
use domain::{DeliveryEvent, Leg};

/// Records that second legs were not submitted, so that they may be claimed again. Returns the
/// refunds for recipients that ended meanwhile. Their end keeps its time and its carrier.
pub(crate) async fn put_back(tx: &mut Tx, second_legs: &[&Batch]) -> Result<Vec<RefundDue>> {
    if second_legs.is_empty() {
        return Ok(Vec::new());
    }
    let keys = second_legs.iter();
    let keys: Vec<_> = keys
        .flat_map(|batch| batch.keys(&batch.recipients))
        .collect();
    let cases = stored(tx, &keys).await?.cases.into_values();
    let cases: Vec<PendingSettlement> = cases
        .map(|case| PendingSettlement {
            events: vec![DeliveryEvent::PutBack],
            ..case
        })
        .collect();
    let messages = messages(tx, &cases).await?;
    let outcomes = decide_all(cases, &messages)?;
    let changed = outcomes.iter();
    let changed: Vec<_> = changed.map(|outcome| outcome.case.key()).collect();
    set_leg(tx, &changed, Leg::First).await?;
    Ok(refund::owed(&outcomes, &messages))
}
