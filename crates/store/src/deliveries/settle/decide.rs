//! The decisions of a settlement: `domain::transition` makes them.

use super::message::MessageFacts;
use crate::deliveries::pending::PendingSettlement;
use database::{Error, Result};
use domain::{DeliveryEvent, MessageId, Refund, Terms, transition};
use std::collections::HashMap;

/// A case after its events.
pub(super) struct Settlement {
    pub(super) case: PendingSettlement,
    pub(super) refund: Option<Refund>,
    pub(super) callback: bool,
    pub(super) second_leg: bool,
}

/// Decides the outcomes of cases that change.
pub(super) fn decide_all(
    cases: Vec<PendingSettlement>,
    messages: &HashMap<MessageId, MessageFacts>,
) -> Result<Vec<Settlement>> {
    let mut outcomes = Vec::with_capacity(cases.len());
    for case in cases {
        let message = messages
            .get(&case.message)
            .ok_or(Error::Impossible("a message is missing"))?;
        outcomes.extend(decide(case, message.terms));
    }
    Ok(outcomes)
}

pub(super) fn decide(mut case: PendingSettlement, terms: Terms) -> Option<Settlement> {
    let (mut refund, mut callback, mut second_leg) = (None, false, false);
    // The carriers of a doubt may be new, even if nothing else is.
    let is_doubt = |event: &DeliveryEvent| matches!(event, DeliveryEvent::Doubted { .. });
    let mut changed = !case.delivery.status.is_final() && case.events.iter().any(is_doubt);
    for event in std::mem::take(&mut case.events) {
        if let Some(change) = transition(&case.delivery, terms, event) {
            case.delivery = change.delivery;
            refund = refund.or(change.refund);
            callback |= change.callback;
            second_leg |= change.second_leg;
            changed = true;
        }
    }
    changed.then_some(Settlement {
        case,
        refund,
        callback,
        second_leg,
    })
}
