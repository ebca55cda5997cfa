//! Inbound messages, and the body of their callbacks.

use crate::ids::{AccountId, MessageId};
use crate::number::recipient::Recipient;
use crate::time::lagos_time;
use serde::Serialize;

/// The value of `event` in the body of a callback.
pub const EVENT: &str = "inbound";

/// An inbound message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InboundMessage {
    /// The id. Ids grow with the time at which messages were joined.
    pub id: MessageId,
    /// The account, or `None` for the operator.
    pub account: Option<AccountId>,
    /// The route that took it.
    pub route: Option<String>,
    /// The carrier that delivered it.
    pub carrier: String,
    /// The number that it was sent to.
    pub number: String,
    /// The sender: an international number, or the address as the carrier wrote it.
    pub sender: String,
    /// The keyword of the route, or nothing.
    pub keyword: String,
    /// `true` if no page is missing.
    pub complete: bool,
    /// The account's last message to the sender.
    pub in_reply_to: Option<MessageId>,
    /// Arrival of its first page, Unix milliseconds.
    pub received_at_ms: i64,
    /// The text, or `None` once retention has removed it.
    pub body: Option<String>,
}

/// The fields of an inbound message, as callbacks and commands write them.
#[derive(Clone, Debug, Serialize)]
pub struct InboundFields<'a> {
    /// The id.
    pub inbound_id: String,
    /// The number that it was sent to.
    pub to: &'a str,
    /// The sender.
    pub from: &'a str,
    /// The text, or `None` once retention has removed it.
    pub body: Option<&'a str>,
    /// The keyword of the route, if it has one.
    pub keyword: Option<&'a str>,
    /// The arrival of its first page in Lagos.
    pub received_at: String,
    /// `true` if no page is missing.
    pub complete: bool,
    /// The account's last message to the sender.
    pub in_reply_to: Option<String>,
}

/// The body of a callback.
#[derive(Serialize)]
struct Posted<'a> {
    event: &'a str,
    #[serde(flatten)]
    fields: InboundFields<'a>,
}

impl InboundMessage {
    /// Returns its fields.
    pub fn fields(&self) -> InboundFields<'_> {
        InboundFields {
            inbound_id: self.id.to_string(),
            to: &self.number,
            from: &self.sender,
            body: self.body.as_deref(),
            keyword: Some(&*self.keyword).filter(|keyword| !keyword.is_empty()),
            received_at: lagos_time(self.received_at_ms),
            complete: self.complete,
            in_reply_to: self.in_reply_to.map(|id| id.to_string()),
        }
    }

    /// Returns the JSON body of its callback (docs/spec/inbound.md, section 4).
    pub fn callback_body(&self) -> String {
        let body = Posted {
            event: EVENT,
            fields: self.fields(),
        };
        // Texts, numbers and truth values always have a JSON form.
        serde_json::to_string(&body).unwrap_or_default()
    }

    /// Returns the number that it was sent to, as the recipient of its callback. An address that is
    /// no number is 0.
    pub fn recipient(&self) -> Recipient {
        Recipient::from_digits(self.number.parse().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_of_a_callback_has_the_fields_of_the_list() {
        let mut message = InboundMessage {
            id: MessageId::new(1_795_000_060_000, [7; 10]),
            account: Some(AccountId(7)),
            route: None,
            carrier: "mtn".to_owned(),
            number: "32811".to_owned(),
            sender: "2348031234567".to_owned(),
            keyword: "promo".to_owned(),
            complete: true,
            in_reply_to: Some(MessageId::new(1_795_000_000_000, [7; 10])),
            received_at_ms: 1_795_000_060_000,
            body: Some("Promo \"7\"\nọ".to_owned()),
        };
        insta::assert_snapshot!(testkit::indented(&message.callback_body()), @r#"
        {
          "event": "inbound",
          "inbound_id": "01a1ee57-4860-7707-8707-070707070707",
          "to": "32811",
          "from": "2348031234567",
          "body": "Promo \"7\"\nọ",
          "keyword": "promo",
          "received_at": "2026-11-18 12:07:40",
          "complete": true,
          "in_reply_to": "01a1ee56-5e00-7707-8707-070707070707"
        }
        "#);
        message.keyword.clear();
        (message.in_reply_to, message.body) = (None, None);
        let body: serde_json::Value = serde_json::from_str(&message.callback_body()).unwrap();
        for field in ["keyword", "in_reply_to", "body"] {
            assert_eq!(body[field], serde_json::Value::Null, "{field}");
        }
        assert_eq!(message.recipient().digits(), 32811);
        "MTN".clone_into(&mut message.number);
        assert_eq!(message.recipient().digits(), 0);
    }
}
