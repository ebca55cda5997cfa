//! The filter of inbound messages.

use super::filter::{FilterFields, read, read_range};
use crate::inbound::{address, keyword, number};
use crate::refusal::Refusal;

/// The inbound messages of a list.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct InboundFilter {
    /// Sent to this number.
    pub number: Option<String>,
    /// With this keyword.
    pub keyword: Option<String>,
    /// From this sender.
    pub sender: Option<String>,
    /// Received at or after this time, Unix milliseconds.
    pub since_ms: Option<i64>,
    /// Received before this time, Unix milliseconds.
    pub until_ms: Option<i64>,
}

impl InboundFilter {
    /// Parses the fields of a search for inbound messages.
    pub fn read(fields: &FilterFields) -> Result<Self, Refusal> {
        let (since_ms, until_ms) = read_range(fields)?;
        let parse = |text: &str| number(text).ok();
        let number = read("number", fields.number.as_ref(), parse, || {
            "a short code such as 32811, or an international number".to_owned()
        });
        let parse = |text: &str| keyword(text).ok();
        let keyword = read("keyword", fields.keyword.as_ref(), parse, || {
            "one or more words".to_owned()
        });
        let parse = |text: &str| Some(address(text));
        let sender = read("sender", fields.sender.as_ref(), parse, String::new);
        Ok(Self {
            number: number?,
            keyword: keyword?,
            sender: sender?,
            since_ms,
            until_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_reads_numbers_as_routes_do() {
        let fields = FilterFields {
            number: Some("32811".to_owned()),
            keyword: Some(" Promo!".to_owned()),
            sender: Some("0803 123 4567".to_owned()),
            ..FilterFields::default()
        };
        let filter = InboundFilter::read(&fields).unwrap();
        assert_eq!(filter.number.as_deref(), Some("32811"));
        assert_eq!(filter.keyword.as_deref(), Some("promo"));
        assert_eq!(filter.sender.as_deref(), Some("2348031234567"));
        let wrong = FilterFields {
            number: Some("Ogene".to_owned()),
            ..FilterFields::default()
        };
        let refusal = InboundFilter::read(&wrong).unwrap_err();
        assert!(
            refusal.to_string().contains("`number` must be"),
            "{refusal}"
        );
    }
}
