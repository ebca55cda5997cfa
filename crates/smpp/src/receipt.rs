//! Delivery receipts (SMPP 3.4, appendix B) and the dialects of carriers.
//!
//! A receipt is a `deliver_sm` or `data_sm` whose text has the form `id:… sub:… dlvrd:… submit
//! date:… done date:… stat:… err:… text:…`, or which has the same content in optional parameters,
//! or both. If they differ, both ids are returned, that of the parameters first. The state of the
//! text counts, unless only the state of the parameters is final. Error and dates come from the
//! text.

mod ids;
mod parts;
mod plain;
mod text;

pub use ids::ReceiptIds;
pub use parts::join;

use crate::codec;
use crate::pdu::{DeliverSm, esm_class};
use crate::tlv::tag;
use std::borrow::Cow;
use text::Fields;

/// The content of a receipt.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Receipt {
    /// The carrier's message id as it was received. Compare it by [`ReceiptIds::receipt_key`].
    pub id: String,
    /// The id of the text if the parameters have another one. Some SMSCs write an internal id to
    /// one of them and the id of the response to the other.
    pub other_id: Option<String>,
    /// The state of the message.
    pub state: ReceiptState,
    /// The state in the text, or the name of the state if there is no text.
    pub raw_state: String,
    /// The error code of the carrier, in digits, hex or letters.
    pub error: Option<String>,
    /// The time of acceptance by the carrier, in its own format and local time.
    pub submit_date: Option<String>,
    /// The time of the state, in the same format.
    pub done_date: Option<String>,
    /// `true` if `esm_class` marks it as intermediate, so that a final receipt follows.
    pub intermediate: bool,
    /// `true` if `esm_class` or [`tag::RECEIPTED_MESSAGE_ID`] marks it as a receipt. Without a
    /// mark, a subscriber may have written the text.
    pub marked: bool,
}

/// The state of a message (SMPP 3.4, section 5.2.28).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum ReceiptState {
    /// Not delivered yet. Includes scheduled, buffered, sent and pending.
    Enroute,
    /// Delivered to the handset.
    Delivered,
    /// The validity period is over.
    Expired,
    /// Deleted. Includes skipped and failed.
    Deleted,
    /// Undeliverable.
    Undeliverable,
    /// Accepted by the carrier or read by its staff. The state is not final.
    Accepted,
    /// Unknown to the carrier, often after a failed number lookup.
    Unknown,
    /// Rejected.
    Rejected,
    /// A state of the carrier's own in upper case, usually a block list.
    Other(String),
}

impl Receipt {
    /// Returns `true` if no other state follows.
    pub fn is_final(&self) -> bool {
        !self.intermediate && self.state.is_final()
    }
}

impl ReceiptState {
    /// Returns `true` if no other state follows.
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

    /// Returns the state as written in the text of a receipt.
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

    /// Returns the value of `message_state`, which is `unknown` for a carrier's own state.
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

    /// Returns the state of a word in any case and known spelling.
    pub fn from_word(word: &str) -> Self {
        let mut word = Cow::Borrowed(word.trim());
        if word.bytes().any(|octet| octet.is_ascii_lowercase()) {
            word.to_mut().make_ascii_uppercase();
        }
        match &*word {
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
                number.unwrap_or_else(|| Self::Other(word.into_owned()))
            }
        }
    }

    /// Returns the state of a `message_state`, or `None` if SMPP 3.4 does not define the value.
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

/// Returns `true` if `esm_class` or [`tag::RECEIPTED_MESSAGE_ID`] marks a message as a receipt,
/// readable or not.
pub fn is_marked(deliver: &DeliverSm) -> bool {
    match deliver.esm_class & esm_class::TYPE_MASK {
        0 => parameter_id(deliver).is_some(),
        kind => kind & (esm_class::RECEIPT | esm_class::INTERMEDIATE) != 0,
    }
}

/// Returns the text of a receipt as it is read. A text without an id and a state is not of the form
/// of a receipt. It may be the message itself, and is empty here.
pub fn text(deliver: &DeliverSm) -> Vec<u8> {
    let text = plain::text(deliver);
    let fields = Fields::find(&text);
    if fields.id.is_none() && fields.state.is_none() {
        return plain::second_reading(deliver).unwrap_or_default();
    }
    text.into_owned()
}

/// Returns the receipt in a `deliver_sm` or `data_sm`. Returns `None` for an ordinary message, an
/// acknowledgement of the recipient, and a receipt without a message id or state.
pub fn parse(deliver: &DeliverSm) -> Option<Receipt> {
    let kind = deliver.esm_class & esm_class::TYPE_MASK;
    let intermediate = kind & esm_class::INTERMEDIATE != 0;
    let marked = is_marked(deliver);
    if !marked && kind != 0 {
        return None;
    }
    let text = plain::text(deliver);
    let mut fields = Fields::find(&text);
    let second;
    if fields.id.is_none() && fields.state.is_none() {
        second = plain::second_reading(deliver).unwrap_or_default();
        fields = Fields::find(&second);
    }
    let parameter = deliver.tlv(tag::MESSAGE_STATE).and_then(state_number);
    if !marked && (fields.id.is_none() || (fields.state.is_none() && parameter.is_none())) {
        return None;
    }
    let (state, raw_state) = state(parameter, fields.state, intermediate)?;
    let (id, other_id) = match (parameter_id(deliver), fields.id) {
        (Some(id), Some(other)) if id.as_bytes() == other => (id, None),
        (Some(id), other) => {
            let other = other.map(word).filter(|other| *other != id);
            (id, other)
        }
        (None, id) => (id.map(word)?, None),
    };
    Some(Receipt {
        id,
        other_id,
        state,
        raw_state,
        error: fields
            .error
            .map(codec::text)
            .or_else(|| network_error(deliver)),
        submit_date: fields.submit_date.map(codec::text),
        done_date: fields.done_date.map(codec::text),
        intermediate,
        marked,
    })
}

fn parameter_id(deliver: &DeliverSm) -> Option<String> {
    let id = deliver.tlv(tag::RECEIPTED_MESSAGE_ID).map(clean);
    id.filter(|id| !id.is_empty())
}

/// Returns the number in a `message_state`. Some SMSCs write it in two octets of either order, or
/// as an ASCII digit.
fn state_number(value: &[u8]) -> Option<u8> {
    let start = value.iter().position(|&octet| octet != 0);
    let Some(start) = start else {
        return (!value.is_empty()).then_some(0);
    };
    match value.get(start..)? {
        [digit @ b'0'..=b'9', rest @ ..] if is_padding(rest) => Some(digit - b'0'),
        [number, rest @ ..] if is_padding(rest) => Some(*number),
        _ => None,
    }
}

fn is_padding(octets: &[u8]) -> bool {
    octets.iter().all(|&octet| octet == 0)
}

/// Returns the state and its word. The final one of parameter and text counts, and the text if both
/// are final. A word that neither defines is a final state of the carrier's own. An intermediate
/// receipt needs no state.
fn state(
    parameter: Option<u8>,
    word: Option<&[u8]>,
    intermediate: bool,
) -> Option<(ReceiptState, String)> {
    let named = |state: ReceiptState| {
        let word = state.word().to_owned();
        (state, word)
    };
    let known = parameter.and_then(ReceiptState::from_number);
    let Some(word) = word.map(codec::text) else {
        let own = parameter.map(|number| ReceiptState::Other(number.to_string()));
        let silent = intermediate.then_some(ReceiptState::Enroute);
        return known.or(own).or(silent).map(named);
    };
    let text = ReceiptState::from_word(&word);
    match known.filter(ReceiptState::is_final) {
        Some(state) if !text.is_final() || matches!(text, ReceiptState::Other(_)) => {
            Some(named(state))
        }
        _ => Some((text, word)),
    }
}

/// Decodes an id of the text. The underscore of the GSM default alphabet differs from the one of
/// ASCII in a response.
fn word(octets: &[u8]) -> String {
    let text = codec::text(octets);
    if text.contains('\u{11}') {
        text.replace('\u{11}', "_")
    } else {
        text
    }
}

/// Returns the code of `network_error_code`. Some SMSCs leave out its first octet, the kind of
/// network.
fn network_error(deliver: &DeliverSm) -> Option<String> {
    let value = deliver.tlv(tag::NETWORK_ERROR_CODE)?;
    let code = value.last_chunk::<2>()?;
    Some(format!("{:03}", u16::from_be_bytes(*code)))
}

/// Decodes a text without NULs and surrounding blanks.
fn clean(octets: &[u8]) -> String {
    let text = octets.split(|&octet| octet == 0).next().unwrap_or_default();
    codec::text(text.trim_ascii())
}

#[cfg(test)]
mod tests;
