//! The cases that the progress of claimed batches makes.

use crate::batches::batch::{BatchKind, Progress};
use crate::deliveries::doubts::Doubts;
use crate::deliveries::pending::PendingSettlement;
use domain::{Delivery, DeliveryEvent, Recipient};

/// Returns the cases that the progress of a batch makes.
pub(super) fn cases(progress: &Progress) -> impl Iterator<Item = PendingSettlement> {
    let batch = &*progress.batch;
    let leg = batch.leg;
    let doubted = progress
        .doubted
        .iter()
        .map(move |&recipient| PendingSettlement {
            doubts: Doubts::with(leg, &batch.carrier),
            ..case(progress, recipient, DeliveryEvent::Doubted { leg }, None)
        });
    answered(progress).chain(doubted)
}

/// Returns the cases of a batch that this node had lost. A response of the carrier ends the doubt
/// of its recipients. Another node handles recipients without a response.
pub(super) fn late_cases(progress: &Progress) -> impl Iterator<Item = PendingSettlement> {
    answered(progress).map(|case| PendingSettlement {
        stored: true,
        late: true,
        ..case
    })
}

fn answered(progress: &Progress) -> impl Iterator<Item = PendingSettlement> {
    let batch = &*progress.batch;
    let leg = batch.leg;
    let submitted = progress.submitted.iter().map(move |&(recipient, _)| {
        case(progress, recipient, DeliveryEvent::Submitted { leg }, None)
    });
    // If the copy of a page in doubt is refused, the first one may still be delivered. A receipt or
    // the expiry ends the doubt.
    let is_told = batch.kind != BatchKind::Resend;
    let ended = progress.ended.iter().filter(move |_| is_told);
    let ended = ended.map(move |ended| {
        let event = DeliveryEvent::Failed {
            leg,
            status: ended.status,
        };
        case(progress, ended.recipient, event, Some(ended.error.clone()))
    });
    submitted.chain(ended)
}

pub(super) fn case(
    progress: &Progress,
    recipient: Recipient,
    event: DeliveryEvent,
    error: Option<String>,
) -> PendingSettlement {
    let batch = &*progress.batch;
    PendingSettlement {
        bucket: batch.bucket,
        message: batch.message,
        recipient,
        stored: batch.may_have_deliveries(progress.gateway),
        late: false,
        delivery: Delivery::unsent(batch.pages),
        suffixed: batch.suffixed,
        charge: batch.charge,
        reserve: batch.reserve,
        carrier: batch.carrier.to_string(),
        doubts: Doubts::default(),
        error,
        events: vec![event],
        receipts: Vec::new(),
    }
}
