//! What a carrier says, in the terms of the trade.

use super::hand::{Answer, Fate, Later, LaterKind};
use crate::plan::Plan;
use domain::{
    DeliveryStatus, Next, Recipient, SubmitFault, after_fault, parse_international, short,
};
use smpp::{CommandStatus, DeliverSm, ReceiptIds, ReceiptState, StatusClass};
use std::sync::Arc;
use store::{Batch, Content, Receipt, ReceiptWord};

/// A recipient whom an answer is about.
pub(super) struct Asked<'a> {
    pub(super) batch: &'a Batch,
    pub(super) content: &'a Content,
    pub(super) recipient: Recipient,
    /// Where the carrier has some of the pages and the others may stay in hand: how often they have waited.
    pub(super) waits: Option<i64>,
    pub(super) now_ms: i64,
    pub(super) steady_ms: i64,
}

/// What follows from the answer for a recipient. From a row all pages would go out again, so what a carrier has begun
/// to take waits in hand for the same carrier.
pub(super) fn fate(plan: &Plan, asked: &Asked<'_>, answer: Answer, ids: ReceiptIds) -> Fate {
    let &Asked {
        batch,
        content,
        recipient,
        waits,
        now_ms,
        steady_ms,
    } = asked;
    let fault = match answer {
        Answer::Accepted(raw) => {
            let ids: Vec<String> = raw.iter().map(|id| kept_id(ids.response_key(id))).collect();
            // Taken, but no receipt could be told to mean a page without an id: one adopts it, as where the response was
            // lost. A copy would be one too many for certain.
            return if ids.iter().any(String::is_empty) {
                Fate::Doubted(None)
            } else {
                Fate::Submitted(ids)
            };
        }
        Answer::Unknown => {
            let resend = plan.resend_at(content.gateway, batch, now_ms);
            return Fate::Doubted(resend.map(|due_at_ms| Later {
                due_at_ms,
                carrier: Arc::clone(&batch.carrier),
                tries: 0,
                kind: LaterKind::Resend,
            }));
        }
        Answer::NotSent => return Fate::AtOnce,
        Answer::Rejected(status) => status,
    };
    let kind = self::fault(fault);
    if matches!(kind, SubmitFault::NotSent | SubmitFault::Throttled) {
        return Fate::AtOnce;
    }
    let other = plan.carrier_after(content.gateway, batch.leg, recipient, &batch.carrier);
    let tries = batch.tries + waits.unwrap_or_default();
    match after_fault(kind, tries, other.is_some()) {
        Next::Again { delay_ms, .. } if waits.is_some() => Fate::AtTime(steady_ms + delay_ms),
        Next::Again { delay_ms, counts } => Fate::Later(Later {
            due_at_ms: now_ms + delay_ms,
            carrier: Arc::clone(&batch.carrier),
            tries: batch.tries + i64::from(counts),
            kind: LaterKind::Retry,
        }),
        Next::NextCarrier => match other {
            Some(carrier) => Fate::Later(Later {
                due_at_ms: now_ms,
                carrier,
                tries: 0,
                kind: LaterKind::Retry,
            }),
            None => Fate::Ended(DeliveryStatus::Failed, fault.name().to_owned()),
        },
        Next::Ended(status) => Fate::Ended(status, fault.name().to_owned()),
    }
}

/// An id as it is kept. SMPP has 64 octets for one, but nothing keeps a carrier to that, and the database has no room in
/// a key for any length. What a response and a receipt name is cut alike, so the receipt still finds its page.
fn kept_id(id: String) -> String {
    short(id)
}

/// The fault behind a `command_status`.
pub(super) fn fault(status: CommandStatus) -> SubmitFault {
    match status.class() {
        StatusClass::Throttled => SubmitFault::Throttled,
        StatusClass::QueueFull => SubmitFault::QueueFull,
        StatusClass::Temporary => SubmitFault::Temporary,
        StatusClass::Ok | StatusClass::Ambiguous => SubmitFault::Ambiguous,
        StatusClass::RecipientRejected => SubmitFault::RecipientRejected,
        StatusClass::SourceRejected => SubmitFault::SenderRejected,
        StatusClass::OurFault => SubmitFault::OurFault,
        StatusClass::BindState | StatusClass::BindRefused => SubmitFault::NotSent,
    }
}

/// What the receipt that was read in a `deliver_sm` says. A receipt without a mark has to name its recipient: anybody whom
/// the carrier lets write from a name could end any message by its id otherwise.
pub(super) fn receipt(
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
    let word = match &receipt.state {
        _ if receipt.intermediate => ReceiptWord::Pending,
        ReceiptState::Enroute | ReceiptState::Accepted => ReceiptWord::Pending,
        ReceiptState::Delivered => ReceiptWord::Final(DeliveryStatus::Delivered),
        ReceiptState::Expired => ReceiptWord::Final(DeliveryStatus::Expired),
        ReceiptState::Undeliverable => ReceiptWord::Final(DeliveryStatus::Undelivered),
        ReceiptState::Rejected => ReceiptWord::Final(DeliveryStatus::Rejected),
        ReceiptState::Deleted | ReceiptState::Unknown | ReceiptState::Other(_) => {
            ReceiptWord::Final(DeliveryStatus::Failed)
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
        word,
        error: receipt.error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::MAX_KEY_OCTETS;
    use smpp::{Tlv, esm_class, tag};

    #[test]
    fn an_id_of_any_length_has_room_in_a_key_and_still_finds_its_page() {
        let long = "7F".repeat(2_000);
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
