//! The mapping of SMPP statuses and receipts to decisions and receipts of the domain.

use super::decision::Decision;
use super::multipart::Answer;
use super::retry::{Requeue, RequeueKind};
use crate::context::plan::Plan;
use domain::{
    DeliveryStatus, RawReceipt, Recipient, RetryStep, SubmitFault, after_fault,
    parse_international, truncate,
};
use smpp::{DeliverSm, MAX_MESSAGE_ID_OCTETS, ReceiptIds, ReceiptState, tag};
use std::sync::Arc;
use store::{Batch, Content, Receipt, ReceiptStatus};

/// Number of delays in memory of a throttled recipient, some seconds in all. Later delays are
/// batches in the database.
const MAX_DELAYS_IN_MEMORY: i64 = 3;
/// Number of delays without capacity of a recipient with accepted pages, two minutes in all.
const MAX_DELAYS_WITHOUT_CAPACITY: i64 = 7;
/// Maximum length of a stored error code in octets.
const MAX_ERROR_OCTETS: usize = 32;

/// A recipient with the answer of its carrier.
pub(crate) struct AnsweredRecipient<'a> {
    pub(crate) batch: &'a Batch,
    pub(crate) content: &'a Content,
    pub(crate) recipient: Recipient,
    /// `true` if the carrier accepted some of its pages.
    pub(crate) is_begun: bool,
    /// Number of delays in memory so far.
    pub(crate) delays: i64,
    /// `true` if there is capacity for another delayed recipient.
    pub(crate) has_capacity: bool,
    pub(crate) now_ms: i64,
    pub(crate) steady_ms: i64,
}

/// Returns the decision on a recipient after the answer of its carrier. A batch in the database
/// submits all pages again, so a recipient with accepted pages is delayed in memory.
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
        delays,
        now_ms,
        steady_ms,
        ..
    } = asked;
    let rejection = match answer {
        Answer::Accepted(raw) => {
            let ids: Vec<String> = raw.iter().map(|id| kept_id(ids.response_key(id))).collect();
            // Without a message id no receipt can name this page. So the recipient is in doubt and
            // a receipt adopts it. A resend would certainly be a duplicate.
            return if ids.iter().any(String::is_empty) {
                Decision::InDoubt(None)
            } else {
                Decision::Submitted(ids)
            };
        }
        Answer::Unknown => return in_doubt(plan, asked),
        Answer::NotSent => return Decision::ResubmitNow,
        Answer::Rejected(rejection) => rejection,
    };
    let kind = rejection.fault();
    if matches!(kind, SubmitFault::Throttled | SubmitFault::NotBound)
        && asked.is_begun
        && !asked.has_capacity
        && delays >= MAX_DELAYS_WITHOUT_CAPACITY
    {
        // Another delay would occupy the scarce capacity until the message expires.
        return in_doubt(plan, asked);
    }
    let other = plan.carrier_after(content.gateway, batch.leg, recipient, &batch.carrier);
    let tries = batch.tries + delays;
    match after_fault(kind, tries, other.is_some()) {
        RetryStep::Again { delay_ms } if is_delayed_in_memory(kind, asked) => {
            Decision::ResubmitAt(steady_ms + delay_ms)
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
            None => Decision::Ended(DeliveryStatus::Failed, kept_error(rejection.error())),
        },
        RetryStep::Ended(status) => Decision::Ended(status, kept_error(rejection.error())),
    }
}

/// Returns the decision for a recipient that may be with the carrier, at least in part.
fn in_doubt(plan: &Plan, asked: &AnsweredRecipient<'_>) -> Decision {
    let &AnsweredRecipient { batch, content, .. } = asked;
    let resend = plan.resend_at(content.gateway, batch, asked.now_ms);
    Decision::InDoubt(resend.map(|due_at_ms| Requeue {
        due_at_ms,
        carrier: Arc::clone(&batch.carrier),
        tries: 0,
        kind: RequeueKind::Resend,
    }))
}

/// Returns `true` if a recipient is delayed in memory instead of in the database. Brief throttling
/// costs no row then, and lasting throttling occupies no memory.
fn is_delayed_in_memory(kind: SubmitFault, asked: &AnsweredRecipient<'_>) -> bool {
    let is_short = asked.batch.tries + asked.delays < MAX_DELAYS_IN_MEMORY;
    match kind {
        SubmitFault::Throttled | SubmitFault::NotBound => {
            asked.is_begun || (is_short && asked.has_capacity)
        }
        _ => asked.is_begun && asked.has_capacity,
    }
}

/// Returns a message id in the form that is stored. Carriers exceed the 64 octets of SMPP, and a
/// database key is bounded. Ids of responses and receipts are cut alike, so a receipt still finds
/// its page. The session cuts the id of a response first, so an id from a text is cut the same way.
pub(crate) fn kept_id(mut id: String) -> String {
    id.truncate(id.floor_char_boundary(MAX_MESSAGE_ID_OCTETS));
    truncate(id)
}

/// Returns an error code in the form that is stored and shown.
pub(crate) fn kept_error(mut error: String) -> String {
    error.truncate(error.floor_char_boundary(MAX_ERROR_OCTETS));
    error
}

/// Maps a receipt that was read from a `deliver_sm`. An unmarked receipt must name its recipient.
/// Otherwise any subscriber whose text reaches us could settle a message by its id.
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
        raw: Some(raw(deliver).pack()),
    })
}

/// Returns what is kept of a receipt as it came. The payload is its text.
fn raw(deliver: &DeliverSm) -> RawReceipt {
    let parameters = deliver.tlvs.iter();
    let parameters = parameters.filter(|one| one.tag != tag::MESSAGE_PAYLOAD);
    let parameters = parameters.map(|one| (one.tag, &one.value[..]));
    RawReceipt::of(&smpp::receipt::text(deliver), parameters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::MAX_KEY_OCTETS;
    use smpp::{Tlv, esm_class};

    #[test]
    fn a_receipt_is_kept_with_all_its_parameters_and_no_message() {
        let kept = |text: &'static str| {
            let payload = Tlv::new(tag::MESSAGE_PAYLOAD, "Your code is 1234");
            let own = [0x1400, tag::MESSAGE_STATE].map(|tag| Tlv::new(tag, vec![2, 0]));
            let id = Tlv::new(tag::RECEIPTED_MESSAGE_ID, "7");
            let deliver = DeliverSm {
                esm_class: esm_class::RECEIPT,
                short_message: text.into(),
                tlvs: [payload, id].into_iter().chain(own).collect(),
                ..DeliverSm::default()
            };
            let read = smpp::receipt::parse(&deliver).unwrap();
            let kept = receipt(&"mtn".into(), &deliver, read, ReceiptIds::Exact).unwrap();
            RawReceipt::unpack(&kept.raw.unwrap()).unwrap()
        };
        let form = "id:7 stat:DELIVRD text=";
        let texts = [
            ("id:7 stat:DELIVRD text=Your code is 1234", form),
            // Only the parameters are those of a receipt.
            ("Your code is 1234", ""),
            ("", ""),
        ];
        for (text, shown) in texts {
            let raw = kept(text);
            assert_eq!(raw.text, shown);
            let parameters: Vec<_> = raw.shown_parameters().collect();
            let own = [("0x001E", "37"), ("0x1400", "0200"), ("0x0427", "0200")];
            assert_eq!(
                parameters,
                own.map(|(tag, value)| (tag.to_owned(), value.to_owned()))
            );
        }
    }

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
    fn an_unmarked_receipt_must_name_its_recipient() {
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
