//! The receipts that a carrier posts.

use super::pointer::Pointer;
use crate::{DeliveryStatus, RawReceipt, Recipient, parse_international};
use serde_json::{Map, Value};
use url::form_urlencoded;

/// Maximum number of receipts in one request.
const MAX_RECEIPTS: usize = 1_000;

/// The reason why a request holds no receipts.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ReceiptFault {
    /// It is neither JSON nor a form.
    #[error("the body is neither JSON nor a form")]
    Unreadable,
    /// A receipt has no id or no state.
    #[error("a receipt has no id or no state where the configuration expects them")]
    Incomplete,
    /// It has too many receipts.
    #[error("the body has more than {MAX_RECEIPTS} receipts")]
    TooMany,
}

/// A receipt.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HttpReceipt {
    /// The carrier's id of the message.
    pub id: String,
    /// The final status, or `None` while the message is under way.
    pub status: Option<DeliveryStatus>,
    /// The recipient's number, as far as the receipt has one.
    pub recipient: Option<Recipient>,
    /// The sender ID. It is empty if the receipt has none.
    pub sender: String,
    /// The carrier's error code.
    pub error: Option<String>,
    /// The receipt in the form that is kept.
    pub raw: RawReceipt,
}

/// The final states, each with the carrier's words for it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct StateWords(pub Vec<(&'static str, Vec<String>)>);

impl StateWords {
    /// The names of the states in a configuration, which are those of SMPP, with their status.
    pub const STATES: [(&'static str, Option<DeliveryStatus>); 7] = [
        ("DELIVRD", Some(DeliveryStatus::Delivered)),
        ("UNDELIV", Some(DeliveryStatus::Undelivered)),
        ("EXPIRED", Some(DeliveryStatus::Expired)),
        ("REJECTD", Some(DeliveryStatus::Rejected)),
        ("DELETED", Some(DeliveryStatus::Failed)),
        ("UNKNOWN", Some(DeliveryStatus::Failed)),
        ("ENROUTE", None),
    ];

    /// Returns the name of the state for a carrier's word. A word that is not listed means that the
    /// message is under way.
    fn state(&self, said: &str) -> (&'static str, Option<DeliveryStatus>) {
        let is_it = |word: &String| word.eq_ignore_ascii_case(said);
        let listed = self.0.iter().find(|(_, words)| words.iter().any(is_it));
        let name = listed.map_or("ENROUTE", |(name, _)| name);
        let status = Self::STATES.iter().find(|(known, _)| *known == name);
        (name, status.and_then(|(_, status)| *status))
    }
}

/// The reading of receipts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HttpReceipts {
    /// The list of receipts, if a request may have several.
    pub items: Option<Pointer>,
    /// The carrier's id of the message.
    pub id: Pointer,
    /// The state.
    pub state: Pointer,
    /// The carrier's error code.
    pub error: Option<Pointer>,
    /// The recipient's number and the sender ID. By both a receipt finds a recipient in doubt, whose
    /// id is not known.
    pub addresses: Option<(Pointer, Pointer)>,
    /// The words for the states.
    pub states: StateWords,
}

impl HttpReceipts {
    /// Reads the receipts of a request.
    pub fn read(&self, body: &[u8]) -> Result<Vec<HttpReceipt>, ReceiptFault> {
        let all = parse(body).ok_or(ReceiptFault::Unreadable)?;
        let items = match &self.items {
            Some(items) => items.items(&all),
            None => std::slice::from_ref(&all),
        };
        if items.len() > MAX_RECEIPTS {
            return Err(ReceiptFault::TooMany);
        }
        let receipts = items.iter().map(|item| self.receipt(item));
        receipts
            .collect::<Option<_>>()
            .ok_or(ReceiptFault::Incomplete)
    }

    fn receipt(&self, item: &Value) -> Option<HttpReceipt> {
        let (id, said) = (self.id.word(item)?, self.state.word(item)?);
        let error = self.error.as_ref().and_then(|error| error.word(item));
        let mut receipt = HttpReceipt::new(id, &self.states, &said, error);
        if let Some((to, from)) = &self.addresses {
            let to = to.word(item);
            receipt.recipient = to.and_then(|to| parse_international(&to));
            receipt.sender = from.word(item).unwrap_or_default();
        }
        Some(receipt)
    }
}

impl HttpReceipt {
    /// Returns the receipt of a message with the carrier's word for its state.
    pub(super) fn new(id: String, words: &StateWords, said: &str, error: Option<String>) -> Self {
        let (state, status) = words.state(said);
        let raw = format!(
            "id:{id} stat:{state} err:{}",
            error.as_deref().unwrap_or("000")
        );
        Self {
            raw: RawReceipt::of(raw.as_bytes(), std::iter::empty()),
            id,
            status,
            recipient: None,
            sender: String::new(),
            error,
        }
    }
}

/// Reads a JSON text or a form.
fn parse(body: &[u8]) -> Option<Value> {
    let start = body.iter().find(|octet| !octet.is_ascii_whitespace())?;
    if matches!(start, b'{' | b'[') {
        return serde_json::from_slice(body).ok();
    }
    let fields: Map<String, Value> = form_urlencoded::parse(body)
        .map(|(name, value)| (name.into_owned(), value.into_owned().into()))
        .collect();
    Some(Value::Object(fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipts(items: Option<&str>) -> HttpReceipts {
        let pointer = |text| Pointer::parse(text).unwrap();
        let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
        HttpReceipts {
            items: items.map(pointer),
            id: pointer("/id"),
            state: pointer("/status"),
            error: Some(pointer("/reason")),
            addresses: Some((pointer("/to"), pointer("/from"))),
            states: StateWords(vec![
                ("DELIVRD", words(&["Delivered", "Success"])),
                ("UNDELIV", words(&["Failed"])),
            ]),
        }
    }

    #[test]
    fn a_receipt_is_read_from_json_or_a_form() {
        use DeliveryStatus::{Delivered, Undelivered};
        for (body, id, status, error) in [
            (
                r#"{"id":"m1","status":"Delivered"}"#,
                "m1",
                Some(Delivered),
                None,
            ),
            (
                r#" {"id":7,"status":"SUCCESS"}"#,
                "7",
                Some(Delivered),
                None,
            ),
            (
                "id=m%2B1&status=Failed&reason=21",
                "m+1",
                Some(Undelivered),
                Some("21"),
            ),
            ("id=m1&status=Sent", "m1", None, None),
        ] {
            let read = receipts(None).read(body.as_bytes()).unwrap();
            let [one] = &read[..] else { panic!("{body}") };
            let found = (one.id.as_str(), one.status, one.error.as_deref());
            assert_eq!(found, (id, status, error), "{body}");
        }
    }

    #[test]
    fn a_receipt_has_the_addresses_that_it_names() {
        for (body, to, from) in [
            (
                "id=m1&status=Sent&to=%2B2348031234567&from=Ogene",
                Some(2_348_031_234_567),
                "Ogene",
            ),
            (
                r#"{"id":"m1","status":"Sent","to":2348031234567}"#,
                Some(2_348_031_234_567),
                "",
            ),
            ("id=m1&status=Sent&to=unknown&from=Ogene", None, "Ogene"),
            ("id=m1&status=Sent", None, ""),
        ] {
            let read = receipts(None).read(body.as_bytes()).unwrap();
            let recipient = to.map(Recipient::from_digits);
            assert_eq!(
                (read[0].recipient, read[0].sender.as_str()),
                (recipient, from),
                "{body}"
            );
        }
    }

    #[test]
    fn a_request_may_have_many_receipts() {
        let list = r#"{"reports":[{"id":"a","status":"Delivered"},{"id":"b","status":"Failed"}]}"#;
        let read = receipts(Some("/reports")).read(list.as_bytes()).unwrap();
        let ids: Vec<_> = read.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["a", "b"]);
        assert_eq!(receipts(Some("/reports")).read(b"{}"), Ok(Vec::new()));
        let item = r#"{"id":"a","status":"Delivered"}"#;
        let many = format!(
            "{{\"reports\":[{item}{}]}}",
            format!(",{item}").repeat(MAX_RECEIPTS)
        );
        let read = receipts(Some("/reports")).read(many.as_bytes());
        assert_eq!(read, Err(ReceiptFault::TooMany));
    }

    #[test]
    fn a_request_without_a_receipt_is_refused() {
        for (body, fault) in [
            ("", ReceiptFault::Unreadable),
            ("{", ReceiptFault::Unreadable),
            ("{}", ReceiptFault::Incomplete),
            (r#"{"id":"m1"}"#, ReceiptFault::Incomplete),
            ("hello", ReceiptFault::Incomplete),
        ] {
            assert_eq!(receipts(None).read(body.as_bytes()), Err(fault), "{body}");
        }
    }
}
