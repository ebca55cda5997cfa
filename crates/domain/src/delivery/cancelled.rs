//! A leg that waits and is not to be sent any more.

use super::ending::{failed, not_delivered, quiet};
use super::state::{Delivery, DeliveryStatus, Refund, Terms, Transition};
use crate::leg::Leg;

/// A recipient of whom nothing was submitted gets the whole charge back, whatever the gateway promises. A second leg that is
/// cancelled was never taken, so what was reserved for it goes back with the end of the first.
pub(super) fn cancelled(mut delivery: Delivery, terms: Terms, leg: Leg) -> Option<Transition> {
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
    delivery.end(DeliveryStatus::Failed);
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
