//! Delivery receipts: a carrier's report on a message (SMPP 3.4, appendix B, and the
//! dialects that carriers made of it).
//!
//! A receipt is a `deliver_sm` or `data_sm` whose text looks like
//! `id:… sub:… dlvrd:… submit date:… done date:… stat:… err:… text:…`, or that has the same in
//! optional parameters, or both. Where they differ, both ids are given, that of the parameters first; the state is that of
//! the text, unless only the parameter's is final; the text alone has the error and the dates.

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
    /// The carrier's id of the message, as it came; compare it by [`ReceiptIds::receipt_key`].
    pub id: String,
    /// The id of the text, where the parameters name another one: SMSCs write their own id in one place and the one of the
    /// response in the other.
    pub other_id: Option<String>,
    /// The state of the message.
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

/// The state of a message (SMPP 3.4, section 5.2.28).
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
    /// It cannot be delivered.
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
    /// Returns whether no other state will follow.
    pub fn is_final(&self) -> bool {
        !self.intermediate && self.state.is_final()
    }
}

impl ReceiptState {
    /// Returns whether no other state will follow.
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

/// Returns whether the SMSC marked it as a receipt, by `esm_class` or by [`tag::RECEIPTED_MESSAGE_ID`], be it one that can be read
/// or not.
pub fn is_marked(deliver: &DeliverSm) -> bool {
    match deliver.esm_class & esm_class::TYPE_MASK {
        0 => parameter_id(deliver).is_some(),
        kind => kind & (esm_class::RECEIPT | esm_class::INTERMEDIATE) != 0,
    }
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

/// The number in a `message_state`, which some write in two octets of either order, or as a digit of ASCII.
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

/// The state, and the word for it: of the parameter and the text the one that is final, and the text where both are. A state that
/// neither knows is the carrier's own, and final; an intermediate receipt need not name one.
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

/// An id of the text. In the GSM default alphabet an underscore has another octet than in a response, which is ASCII.
fn word(octets: &[u8]) -> String {
    let text = codec::text(octets);
    if text.contains('\u{11}') {
        text.replace('\u{11}', "_")
    } else {
        text
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
