//! The cancellation of a waiting leg.

use super::ending::{failed, not_delivered, quiet};
use super::state::{Delivery, DeliveryStatus, Refund, Terms, Transition};
use crate::leg::Leg;

/// Cancels a leg. A recipient without any submit gets its whole charge back, whatever the terms.
/// The reserve of a cancelled second leg is refunded at the end of the first.
pub(super) fn cancelled(
    mut delivery: Delivery,
    terms: Terms,
    leg: Leg,
    status: DeliveryStatus,
) -> Option<Transition> {
    if delivery.status.is_final() || delivery.doubts(leg) {
        return None;
    }
    if leg == Leg::Second {
        let before = delivery.clone();
        delivery.leg = delivery.leg.min(Some(Leg::First));
        if !delivery.has_failed(Leg::First) {
            return quiet(&before, delivery);
        }
    } else if delivery.leg.is_some() || delivery.doubts(Leg::Second) {
        return failed(delivery, terms, leg, DeliveryStatus::Failed);
    }
    let is_unsent = delivery.leg.is_none() && delivery.failed_legs == 0;
    delivery.end(if is_unsent {
        status
    } else {
        DeliveryStatus::Failed
    });
    let change = not_delivered(delivery, terms);
    Some(Transition {
        refund: if is_unsent {
            Some(Refund::Charge)
        } else {
            change.refund
        },
        ..change
    })
}
