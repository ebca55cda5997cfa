//! The mapping of a carrier's statuses and receipts, in the terms of the trade.

use super::decision::Decision;
use super::multipart::Answer;
use super::retry::{Requeue, RequeueKind};
use crate::context::metrics::status_word;
use crate::context::plan::Plan;
use domain::{
    DeliveryStatus, Recipient, RetryStep, SubmitFault, after_fault, parse_international, truncate,
};
use smpp::{
    CommandStatus, DeliverSm, MAX_MESSAGE_ID_OCTETS, ReceiptIds, ReceiptState, StatusClass,
};
use std::sync::Arc;
use store::{Batch, Content, Receipt, ReceiptStatus};

/// How often a recipient that is throttled waits in hand before it waits in a row: for some seconds in all.
const MAX_SHORT_WAITS: i64 = 3;
/// How often one waits in hand without room whose pages the carrier has in part: for two minutes in all.
const MAX_WAITS_WITHOUT_ROOM: i64 = 7;
/// Octets kept of a carrier's error code: some digits mostly, or a word.
const MAX_ERROR_OCTETS: usize = 32;

/// A recipient whom an answer is about.
pub(crate) struct AnsweredRecipient<'a> {
    pub(crate) batch: &'a Batch,
    pub(crate) content: &'a Content,
    pub(crate) recipient: Recipient,
    /// `true` if the carrier has some of the pages.
    pub(crate) is_begun: bool,
    /// How often it has waited in hand.
    pub(crate) waits: i64,
    /// `true` if there is room for more who wait in hand.
    pub(crate) has_room: bool,
    pub(crate) now_ms: i64,
    pub(crate) steady_ms: i64,
}

/// The consequence of the answer for a recipient. From a row all pages would go out again, so what a carrier has begun
/// to take waits in hand for the same carrier.
pub(crate) fn decision(
    plan: &Plan,
    asked: &AnsweredRecipient<'_>,
    answer: Answer,
    ids: ReceiptIds,
) -> Decision {
    let &AnsweredRecipient {
        batch,
        content,
        recipient,
        waits,
        now_ms,
        steady_ms,
        ..
    } = asked;
    let fault = match answer {
        Answer::Accepted(raw) => {
            let ids: Vec<String> = raw.iter().map(|id| kept_id(ids.response_key(id))).collect();
            // Taken, but no receipt could be told to mean a page without an id: one adopts it, as where the response was
            // lost. A copy would be one too many for certain.
            return if ids.iter().any(String::is_empty) {
                Decision::Doubted(None)
            } else {
                Decision::Submitted(ids)
            };
        }
        Answer::Unknown => return doubted(plan, asked),
        Answer::NotSent => return Decision::AtOnce,
        Answer::Rejected(status) => status,
    };
    let kind = self::fault(fault);
    if matches!(kind, SubmitFault::Throttled | SubmitFault::NotBound)
        && asked.is_begun
        && !asked.has_room
        && waits >= MAX_WAITS_WITHOUT_ROOM
    {
        // It would hold the room of others for as long as its message is valid.
        return doubted(plan, asked);
    }
    let other = plan.carrier_after(content.gateway, batch.leg, recipient, &batch.carrier);
    let tries = batch.tries + waits;
    match after_fault(kind, tries, other.is_some()) {
        RetryStep::Again { delay_ms } if waits_in_hand(kind, asked) => {
            Decision::AtTime(steady_ms + delay_ms)
        }
        RetryStep::Again { delay_ms } => Decision::Requeue(Requeue {
            due_at_ms: now_ms + delay_ms,
            carrier: Arc::clone(&batch.carrier),
            tries: tries + 1,
            kind: RequeueKind::Retry,
        }),
        RetryStep::NextCarrier => match other {
            Some(carrier) => Decision::Requeue(Requeue {
                due_at_ms: now_ms,
                carrier,
                tries: 0,
                kind: RequeueKind::Retry,
            }),
            None => Decision::Ended(DeliveryStatus::Failed, error_of(fault)),
        },
        RetryStep::Ended(status) => Decision::Ended(status, error_of(fault)),
    }
}

/// A recipient whom the carrier may have taken, in part at least.
fn doubted(plan: &Plan, asked: &AnsweredRecipient<'_>) -> Decision {
    let &AnsweredRecipient { batch, content, .. } = asked;
    let resend = plan.resend_at(content.gateway, batch, asked.now_ms);
    Decision::Doubted(resend.map(|due_at_ms| Requeue {
        due_at_ms,
        carrier: Arc::clone(&batch.carrier),
        tries: 0,
        kind: RequeueKind::Resend,
    }))
}

/// Returns `true` if a recipient waits in hand for its next try, not in a row of the database. Throttling that passes costs no row;
/// one that lasts holds no room that others need.
fn waits_in_hand(kind: SubmitFault, asked: &AnsweredRecipient<'_>) -> bool {
    let is_short = asked.batch.tries + asked.waits < MAX_SHORT_WAITS;
    match kind {
        SubmitFault::Throttled | SubmitFault::NotBound => {
            asked.is_begun || (is_short && asked.has_room)
        }
        _ => asked.is_begun && asked.has_room,
    }
}

/// The error of a recipient whom a carrier refused.
fn error_of(status: CommandStatus) -> String {
    if status.is_vendor() {
        status_word(status)
    } else {
        status.name().to_owned()
    }
}

/// An id as it is kept. SMPP has 64 octets for one, but nothing keeps a carrier to that, and the database has no room in
/// a key for any length. The id in a response and in a receipt is cut alike, so the receipt still finds its page.
/// The session cuts the id of a response before that, so the same is done to one that was found in a text.
fn kept_id(mut id: String) -> String {
    id.truncate(id.floor_char_boundary(MAX_MESSAGE_ID_OCTETS));
    truncate(id)
}

/// An error code as it is kept and shown.
fn kept_error(mut error: String) -> String {
    error.truncate(error.floor_char_boundary(MAX_ERROR_OCTETS));
    error
}

/// The fault behind a `command_status`.
pub(crate) fn fault(status: CommandStatus) -> SubmitFault {
    match status.class() {
        StatusClass::Throttled => SubmitFault::Throttled,
        StatusClass::QueueFull => SubmitFault::QueueFull,
        StatusClass::Temporary => SubmitFault::Temporary,
        StatusClass::Ok | StatusClass::Ambiguous => SubmitFault::Ambiguous,
        StatusClass::RecipientRejected => SubmitFault::RecipientRejected,
        StatusClass::SourceRejected => SubmitFault::SenderRejected,
        StatusClass::OurFault => SubmitFault::OurFault,
        StatusClass::BindState | StatusClass::BindRefused => SubmitFault::NotBound,
    }
}

/// The receipt that was read in a `deliver_sm`. A receipt without a mark has to name its recipient: anybody whom
/// the carrier lets write from a name could end any message by its id otherwise.
pub(crate) fn receipt(
    carrier: &Arc<str>,
    deliver: &DeliverSm,
    receipt: smpp::receipt::Receipt,
    ids: ReceiptIds,
) -> Option<Receipt> {
    // Source and destination are swapped in a receipt.
    let recipient = parse_international(&deliver.source.digits);
    if recipient.is_none() && !receipt.marked {
        return None;
    }
    let status = match &receipt.state {
        _ if receipt.intermediate => ReceiptStatus::Pending,
        ReceiptState::Enroute | ReceiptState::Accepted => ReceiptStatus::Pending,
        ReceiptState::Delivered => ReceiptStatus::Final(DeliveryStatus::Delivered),
        ReceiptState::Expired => ReceiptStatus::Final(DeliveryStatus::Expired),
        ReceiptState::Undeliverable => ReceiptStatus::Final(DeliveryStatus::Undelivered),
        ReceiptState::Rejected => ReceiptStatus::Final(DeliveryStatus::Rejected),
        ReceiptState::Deleted | ReceiptState::Unknown | ReceiptState::Other(_) => {
            ReceiptStatus::Final(DeliveryStatus::Failed)
        }
    };
    let carrier_id = kept_id(ids.receipt_key(&receipt.id));
    let other_id = receipt.other_id.as_deref();
    let other_id = other_id.map(|other| kept_id(ids.receipt_key(other)));
    Some(Receipt {
        carrier: Arc::clone(carrier),
        other_id: other_id.filter(|other| *other != carrier_id),
        carrier_id,
        recipient,
        sender: deliver.destination.digits.clone(),
        status,
        error: receipt.error.map(kept_error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::MAX_KEY_OCTETS;
    use smpp::{Tlv, esm_class, tag};

    #[test]
    fn an_id_of_any_length_fits_a_key_and_finds_its_page() {
        let long = "7F".repeat(400);
        let in_text = |id: &str| Tlv::new(tag::MESSAGE_PAYLOAD, format!("id:{id} stat:DELIVRD"));
        let in_parameter = |id: &str| Tlv::new(tag::RECEIPTED_MESSAGE_ID, id.to_owned());
        for ids in ReceiptIds::WORDS.map(|(_, ids)| ids) {
            let read = |id: &str| {
                let deliver = DeliverSm {
                    esm_class: esm_class::RECEIPT,
                    tlvs: vec![in_text(id), in_parameter(id)],
                    ..DeliverSm::default()
                };
                let read = smpp::receipt::parse(&deliver).unwrap();
                let read = receipt(&"mtn".into(), &deliver, read, ids);
                read.unwrap().carrier_id
            };
            let response = kept_id(ids.response_key(&long));
            assert!(response.len() <= MAX_KEY_OCTETS, "{}", response.len());
            assert_eq!(read(&long), response);
            assert_ne!(read(&(long.clone() + "1")), response);
        }
    }

    #[test]
    fn an_unmarked_receipt_is_one_of_its_recipient_or_none() {
        let text = "id:77 stat:DELIVRD";
        let table = [
            (0, "2348031234567", true),
            (0, "+234 803 123 4567", true),
            (0, "08031234567", true),
            (0, "Ogene", false),
            (0, "", false),
            (0, "5050", false),
            (esm_class::RECEIPT, "Ogene", true),
            (esm_class::RECEIPT, "", true),
        ];
        for (esm_class, source, expected) in table {
            let deliver = DeliverSm {
                source: smpp::Address::international(source),
                esm_class,
                short_message: text.into(),
                ..DeliverSm::default()
            };
            let read = smpp::receipt::parse(&deliver).unwrap();
            let found = receipt(&"mtn".into(), &deliver, read, ReceiptIds::Exact);
            assert_eq!(found.is_some(), expected, "{esm_class} {source}");
        }
    }
}
