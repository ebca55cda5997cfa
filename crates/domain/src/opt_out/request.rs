//! Opt-outs, and the requests for them.

use crate::ids::{AccountId, MessageId};
use crate::number::recipient::Recipient;
use crate::number::{parse_international, parse_national};
use crate::refusal::Refusal;
use crate::sender;
use thiserror::Error;

/// Maximum length of a reason in characters.
pub const MAX_REASON_CHARACTERS: usize = 100;
/// Maximum number of opt-outs to which an account may add. Subscribers and operators add beyond it.
pub const MAX_OPT_OUTS: u64 = 1_000_000;
/// Maximum number of opt-outs in one request.
pub const MAX_ROWS: usize = 10_000;

/// A number that opted out of the messages of an account.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OptOut {
    /// The id, by which newer opt-outs follow older ones.
    pub id: MessageId,
    /// The account.
    pub account: AccountId,
    /// The number.
    pub recipient: Recipient,
    /// The sender ID whose messages are not sent to the number, or `None` for all of them.
    pub sender: Option<String>,
    /// The reason, as it was given.
    pub reason: Option<String>,
    /// The time, Unix milliseconds.
    pub created_at_ms: i64,
}

/// The unparsed fields of an opt-out.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OptOutFields {
    /// The number.
    pub recipient: Option<String>,
    /// The sender ID.
    pub sender: Option<String>,
    /// The reason.
    pub reason: Option<String>,
}

/// A request for an opt-out.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct OptOutRequest {
    /// The number.
    pub recipient: Recipient,
    /// The sender ID, or `None` for all of the account.
    pub sender: Option<String>,
    /// The reason.
    pub reason: Option<String>,
}

/// A field that cannot be used.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("{rule}")]
pub(crate) struct FieldFault {
    /// The name of the field.
    pub(crate) field: &'static str,
    /// The rule that it breaks.
    rule: &'static str,
}

impl OptOutRequest {
    /// Parses the fields of a request.
    pub fn read(fields: &OptOutFields) -> Result<Self, Refusal> {
        Self::read_fields(fields).map_err(|fault| Refusal::Malformed(fault.to_string()))
    }

    pub(crate) fn read_fields(fields: &OptOutFields) -> Result<Self, FieldFault> {
        let given = |field: &Option<String>| {
            let text = field.as_deref().unwrap_or_default().trim();
            Some(text.to_owned()).filter(|text| !text.is_empty())
        };
        let recipient = given(&fields.recipient).and_then(|text| parse_recipient(&text));
        let recipient = recipient.ok_or(FieldFault {
            field: "recipient",
            rule: "`recipient` must be a phone number, such as 2348031234567.",
        })?;
        let sender = given(&fields.sender);
        if sender.as_deref().is_some_and(|name| !is_sender(name)) {
            return Err(FieldFault {
                field: "sender",
                rule: "`sender` must be a sender ID of at most 11 printable characters, or a number of at most 15 digits.",
            });
        }
        let reason = given(&fields.reason);
        if reason.as_deref().is_some_and(|text| !is_reason(text)) {
            return Err(FieldFault {
                field: "reason",
                rule: "`reason` must have at most 100 characters, and no control characters.",
            });
        }
        Ok(Self {
            recipient,
            sender,
            reason,
        })
    }
}

/// Returns a number in any of the accepted forms.
pub fn parse_recipient(text: &str) -> Option<Recipient> {
    parse_national(text).or_else(|| parse_international(text))
}

fn is_sender(text: &str) -> bool {
    let is_number = text.len() <= 15 && text.bytes().all(|octet| octet.is_ascii_digit());
    is_number || sender::is_well_formed(text)
}

fn is_reason(text: &str) -> bool {
    text.chars().count() <= MAX_REASON_CHARACTERS && !text.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(recipient: &str, sender: &str, reason: &str) -> Result<OptOutRequest, String> {
        let fields = OptOutFields {
            recipient: Some(recipient.to_owned()),
            sender: Some(sender.to_owned()),
            reason: Some(reason.to_owned()),
        };
        OptOutRequest::read(&fields).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn a_request_is_read_in_the_accepted_forms() {
        let request = read(" 0803 123 4567", " Ogene ", "  ").unwrap();
        assert_eq!(request.recipient, Recipient::from_digits(2_348_031_234_567));
        assert_eq!(
            (request.sender.as_deref(), request.reason),
            (Some("Ogene"), None)
        );
        let foreign = read("+447700900123", "", "complaint").unwrap();
        assert_eq!(foreign.recipient, Recipient::from_digits(447_700_900_123));
        assert_eq!(
            (foreign.sender, foreign.reason.as_deref()),
            (None, Some("complaint"))
        );
        assert_eq!(
            read("2348031234567", "2348090000000", "")
                .unwrap()
                .sender
                .as_deref(),
            Some("2348090000000")
        );
    }

    #[test]
    fn a_wrong_field_is_named() {
        let long = "x".repeat(MAX_REASON_CHARACTERS + 1);
        for ((recipient, sender, reason), field) in [
            (("", "", ""), "`recipient`"),
            (("12", "", ""), "`recipient`"),
            (("Ogene", "", ""), "`recipient`"),
            (("2348031234567", "twelve chars", ""), "`sender`"),
            (("2348031234567", "\u{1ECD}gene", ""), "`sender`"),
            (("2348031234567", "", &*long), "`reason`"),
            (("2348031234567", "", "a\u{7}b"), "`reason`"),
        ] {
            let refusal = read(recipient, sender, reason).unwrap_err();
            assert!(refusal.starts_with(field), "{refusal}");
        }
    }
}
