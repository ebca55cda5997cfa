//! Final changes of a recipient, and changes without money and callback.

use super::state::{Delivery, DeliveryStatus, Refund, Terms, Transition};
use crate::leg::Leg;

/// Returns a change without refund and callback, or `None` if nothing changed.
pub(super) fn quiet(before: &Delivery, delivery: Delivery) -> Option<Transition> {
    (*before != delivery).then_some(Transition {
        delivery,
        refund: None,
        callback: false,
        second_leg: false,
    })
}

pub(super) fn failed(
    mut delivery: Delivery,
    terms: Terms,
    leg: Leg,
    status: DeliveryStatus,
) -> Option<Transition> {
    if delivery.status.is_final() || delivery.has_failed(leg) {
        return None;
    }
    let before = delivery.clone();
    delivery.failed_legs |= leg.bit();
    if terms.two_legs {
        let both = Leg::First.bit() | Leg::Second.bit();
        if delivery.failed_legs != both {
            let second_leg = leg == Leg::First && delivery.leg < Some(Leg::Second);
            return quiet(&before, delivery).map(|change| Transition {
                second_leg,
                ..change
            });
        }
    }
    delivery.end(status);
    Some(not_delivered(delivery, terms))
}

/// Returns the change of an undelivered recipient, with its refund.
pub(super) fn not_delivered(delivery: Delivery, terms: Terms) -> Transition {
    let refund = if terms.refund_undelivered {
        Some(Refund::Charge)
    } else {
        unused_second_leg(&delivery, terms)
    };
    Transition {
        delivery,
        refund,
        callback: true,
        second_leg: false,
    }
}

pub(super) fn unused_second_leg(delivery: &Delivery, terms: Terms) -> Option<Refund> {
    (terms.two_legs && delivery.leg < Some(Leg::Second)).then_some(Refund::Reserve)
}
