//! Delivery receipts: what a carrier says became of a message (SMPP 3.4, appendix B, and the
//! dialects that carriers made of it).
//!
//! A receipt is a `deliver_sm` or `data_sm` whose text looks like
//! `id:… sub:… dlvrd:… submit date:… done date:… stat:… err:… text:…`, or that says the same in
//! optional parameters, or both. Where they differ, the parameters win for the id and the state;
//! the text alone has the error and the dates.

mod ids;
mod text;

pub use ids::ReceiptIds;

use crate::codec;
use crate::pdu::{DeliverSm, esm_class};
use crate::tlv::tag;
use text::Fields;

/// What a receipt says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Receipt {
    /// The carrier's id of the message, as it came; compare it by [`ReceiptIds::receipt_key`].
    pub id: String,
    /// What became of the message.
    pub state: ReceiptState,
    /// The word of the text, or the name of the state when there is no text.
    pub raw_state: String,
    /// The carrier's error: digits, hex or letters.
    pub error: Option<String>,
    /// When the carrier took the message, in its own words and local time.
    pub submit_date: Option<String>,
    /// When it reached this state, likewise.
    pub done_date: Option<String>,
    /// Marked as intermediate: the last word is still to come.
    pub intermediate: bool,
    /// Marked as a receipt, by `esm_class` or by [`tag::RECEIPTED_MESSAGE_ID`]. Without a mark a subscriber could have
    /// written a text of this form.
    pub marked: bool,
}

/// What became of a message (SMPP 3.4, section 5.2.28).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum ReceiptState {
    /// Still on its way: also scheduled, buffered, sent, pending.
    Enroute,
    /// Reached the handset.
    Delivered,
    /// Its validity passed.
    Expired,
    /// Given up: also skipped and failed.
    Deleted,
    /// Cannot be delivered.
    Undeliverable,
    /// Accepted by the carrier, or read by its customer care: not the last word.
    Accepted,
    /// The carrier does not know; a fault of its number lookup, often.
    Unknown,
    /// Refused.
    Rejected,
    /// A word of the carrier's own, in capitals: a block list, mostly.
    Other(String),
}

impl Receipt {
    /// Whether no other state will follow.
    pub fn is_final(&self) -> bool {
        !self.intermediate && self.state.is_final()
    }
}

impl ReceiptState {
    /// Whether no other state will follow.
    pub const fn is_final(&self) -> bool {
        match self {
            Self::Enroute | Self::Accepted => false,
            Self::Delivered
            | Self::Expired
            | Self::Deleted
            | Self::Undeliverable
            | Self::Unknown
            | Self::Rejected
            | Self::Other(_) => true,
        }
    }

    /// The word of a receipt's text.
    pub fn word(&self) -> &str {
        match self {
            Self::Enroute => "ENROUTE",
            Self::Delivered => "DELIVRD",
            Self::Expired => "EXPIRED",
            Self::Deleted => "DELETED",
            Self::Undeliverable => "UNDELIV",
            Self::Accepted => "ACCEPTD",
            Self::Unknown => "UNKNOWN",
            Self::Rejected => "REJECTD",
            Self::Other(word) => word,
        }
    }

    /// The value of `message_state`; unknown for a carrier's own word.
    pub const fn number(&self) -> u8 {
        match self {
            Self::Enroute => 1,
            Self::Delivered => 2,
            Self::Expired => 3,
            Self::Deleted => 4,
            Self::Undeliverable => 5,
            Self::Accepted => 6,
            Self::Unknown | Self::Other(_) => 7,
            Self::Rejected => 8,
        }
    }

    /// The state that a word means, in any case and in the spellings seen.
    pub fn from_word(word: &str) -> Self {
        let word = word.trim().to_ascii_uppercase();
        match word.as_str() {
            "DELIVRD" | "DELIVERED" | "DELIVERD" => Self::Delivered,
            "UNDELIV" | "UNDELIVERABLE" | "UNDELIVERED" => Self::Undeliverable,
            "EXPIRED" => Self::Expired,
            "REJECTD" | "REJECTED" => Self::Rejected,
            "DELETED" | "SKIPPED" | "FAILED" => Self::Deleted,
            "UNKNOWN" => Self::Unknown,
            "ACCEPTD" | "ACCEPTED" => Self::Accepted,
            "ENROUTE" | "SCHEDULED" | "BUFFRED" | "BUFFERD" | "BUFFERED" | "ACKED" | "SENT"
            | "PENDING" | "ENQUEUE" | "ENQUEUED" => Self::Enroute,
            _ => {
                let number = word.parse().ok().and_then(Self::from_number);
                number.unwrap_or(Self::Other(word))
            }
        }
    }

    /// The state of a `message_state`; `None` for a value that SMPP 3.4 does not know.
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 | 1 => Self::Enroute,
            2 => Self::Delivered,
            3 => Self::Expired,
            4 | 9 => Self::Deleted,
            5 => Self::Undeliverable,
            6 => Self::Accepted,
            7 => Self::Unknown,
            8 => Self::Rejected,
            _ => return None,
        })
    }
}

/// Whether `esm_class` says that it is a receipt, be it one that can be read or not.
pub const fn is_marked(deliver: &DeliverSm) -> bool {
    deliver.esm_class & (esm_class::RECEIPT | esm_class::INTERMEDIATE) != 0
}

/// The receipt in a `deliver_sm` or `data_sm`; `None` for an ordinary message, an acknowledgement of
/// the recipient, or a receipt that names no message or no state.
pub fn parse(deliver: &DeliverSm) -> Option<Receipt> {
    let kind = deliver.esm_class & esm_class::TYPE_MASK;
    let intermediate = kind & esm_class::INTERMEDIATE != 0;
    let marked = is_marked(deliver);
    if !marked && kind != 0 {
        return None;
    }
    let fields = Fields::find(deliver.text());
    let tlv_id = deliver
        .tlv(tag::RECEIPTED_MESSAGE_ID)
        .map(clean)
        .filter(|id| !id.is_empty());
    if !marked && tlv_id.is_none() && !fields.look_like_a_receipt() {
        return None;
    }
    let (state, raw_state) = state(deliver, &fields, intermediate)?;
    Some(Receipt {
        marked: marked || tlv_id.is_some(),
        id: tlv_id.or_else(|| fields.id.map(codec::text))?,
        state,
        raw_state,
        error: fields
            .error
            .map(codec::text)
            .or_else(|| network_error(deliver)),
        submit_date: fields.submit_date.map(codec::text),
        done_date: fields.done_date.map(codec::text),
        intermediate,
    })
}

fn state(
    deliver: &DeliverSm,
    fields: &Fields<'_>,
    intermediate: bool,
) -> Option<(ReceiptState, String)> {
    let number = deliver
        .tlv(tag::MESSAGE_STATE)
        .and_then(|value| value.first().copied());
    let known = number.and_then(ReceiptState::from_number);
    match (known, fields.state.map(codec::text)) {
        (Some(state), Some(word)) => Some((state, word)),
        (None, Some(word)) => Some((ReceiptState::from_word(&word), word)),
        (Some(state), None) => {
            let word = state.word().to_owned();
            Some((state, word))
        }
        (None, None) => {
            // A number of the carrier's own, or an intermediate receipt that says nothing more.
            let other = number.map(|number| ReceiptState::Other(number.to_string()));
            let state = other.or_else(|| intermediate.then_some(ReceiptState::Enroute))?;
            let word = state.word().to_owned();
            Some((state, word))
        }
    }
}

/// The code in `network_error_code`, whose first octet, the kind of network, some leave out.
fn network_error(deliver: &DeliverSm) -> Option<String> {
    let value = deliver.tlv(tag::NETWORK_ERROR_CODE)?;
    let code = value.last_chunk::<2>()?;
    Some(format!("{:03}", u16::from_be_bytes(*code)))
}

/// A text without NULs and blanks around it.
fn clean(octets: &[u8]) -> String {
    let text = octets.split(|&octet| octet == 0).next().unwrap_or_default();
    codec::text(text.trim_ascii())
}

#[cfg(test)]
mod tests;
