//! The values of known fields: the JSON types of each, and the text that is stored.

use super::skipped::{Key, Skipped, too_many};
use crate::http::extract::fields::{Bounds, Name};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use std::fmt;

/// Whole numbers below it are exact as floats.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns the digits of a whole number that is written as a float (`2.0`, `1e3`).
fn whole(number: f64) -> Option<String> {
    let is_whole = number.fract() == 0.0 && number.abs() < MAX_EXACT;
    is_whole.then(|| format!("{number:.0}"))
}

/// The JSON types of each field (docs/spec/interface.md, section 2).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ValueType {
    /// A string.
    Text,
    /// A string or a number.
    Reference,
    /// A string, a number or a boolean.
    Scalar,
    /// A string, a whole number, or an array.
    List,
}

/// The value of a field; `None` for null.
#[derive(Clone, Copy)]
pub(crate) struct Value<'a> {
    pub(crate) name: Name,
    pub(crate) bounds: &'a Bounds,
}

impl Value<'_> {
    fn kind(self) -> ValueType {
        match self.name {
            Name::From | Name::Body | Name::CallbackUrl | Name::SendAt => ValueType::Text,
            Name::CustomerReference => ValueType::Reference,
            Name::To => ValueType::List,
            Name::ApiToken
            | Name::Gateway
            | Name::Dnd
            | Name::Unicode
            | Name::AppendSender
            | Name::Validity
            | Name::MessageId
            | Name::Page
            | Name::PerPage
            | Name::Length
            | Name::Kind
            | Name::ExpiresIn
            | Name::MaxAttempts
            | Name::Code
            | Name::Unknown => ValueType::Scalar,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Option<String>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_str();
        match self.kind() {
            ValueType::Text => write!(f, "a string in `{name}`"),
            ValueType::Reference => {
                write!(f, "a string, or a number of at most 15 digits, in `{name}`")
            }
            ValueType::Scalar => write!(f, "a string, number or boolean in `{name}`"),
            ValueType::List => f.write_str("a string, an integer, or an array of these in `to`"),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<String>, E> {
        Ok(Some(text.to_owned()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Option<String>, E> {
        match self.kind() {
            ValueType::Text => Err(E::invalid_type(Unexpected::Unsigned(number), &self)),
            ValueType::Reference | ValueType::Scalar | ValueType::List => {
                Ok(Some(number.to_string()))
            }
        }
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Option<String>, E> {
        match self.kind() {
            // A hyphen before digits would be ignored like one between them.
            ValueType::Text | ValueType::List => {
                Err(E::invalid_type(Unexpected::Signed(number), &self))
            }
            ValueType::Reference | ValueType::Scalar => Ok(Some(number.to_string())),
        }
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Option<String>, E> {
        let invalid = || E::invalid_type(Unexpected::Float(number), &self);
        let is_negative = number.is_sign_negative();
        match (self.kind(), whole(number)) {
            (ValueType::List, Some(digits)) if !is_negative => Ok(Some(digits)),
            (ValueType::Reference | ValueType::Scalar, Some(digits)) => Ok(Some(digits)),
            // A larger number has lost digits already.
            (ValueType::Reference | ValueType::Scalar, None) if number.abs() < MAX_EXACT => {
                Ok(Some(number.to_string()))
            }
            _ => Err(invalid()),
        }
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Option<String>, E> {
        match self.kind() {
            ValueType::Scalar => Ok(Some(value.to_string())),
            ValueType::Text | ValueType::Reference | ValueType::List => {
                Err(E::invalid_type(Unexpected::Bool(value), &self))
            }
        }
    }

    fn visit_unit<E: Error>(self) -> Result<Option<String>, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Option<String>, A::Error> {
        if self.kind() != ValueType::List {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        let (mut list, bounds) = (String::new(), self.bounds);
        while elements
            .next_element_seed(Element {
                list: &mut list,
                bounds,
            })?
            .is_some()
        {}
        Ok(Some(list))
    }
}

/// One element of `to`, appended to the list after a comma. An element that cannot be a number is
/// appended as an invalid one, which the answer shows to the caller.
struct Element<'a> {
    list: &'a mut String,
    bounds: &'a Bounds,
}

impl Element<'_> {
    fn push(&mut self, text: &str) {
        if !self.list.is_empty() {
            self.list.push(',');
        }
        self.list.push_str(text);
    }
}

impl<'de> DeserializeSeed<'de> for Element<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.bounds.recipient().map_err(too_many)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Element<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an integer in the array `to`")
    }

    fn visit_str<E: Error>(mut self, text: &str) -> Result<(), E> {
        self.push(text);
        Ok(())
    }

    fn visit_u64<E: Error>(mut self, number: u64) -> Result<(), E> {
        self.push(&number.to_string());
        Ok(())
    }

    fn visit_i64<E: Error>(mut self, number: i64) -> Result<(), E> {
        self.push(&format!("{number} (negative)"));
        Ok(())
    }

    fn visit_f64<E: Error>(mut self, number: f64) -> Result<(), E> {
        match whole(number).filter(|_| number.is_sign_positive()) {
            Some(digits) => self.push(&digits),
            // The point would be ignored.
            None => self.push(&format!("{number} (not whole)")),
        }
        Ok(())
    }

    fn visit_bool<E: Error>(mut self, value: bool) -> Result<(), E> {
        self.push(if value { "true" } else { "false" });
        Ok(())
    }

    fn visit_unit<E: Error>(mut self) -> Result<(), E> {
        self.push("null");
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        while elements.next_element_seed(Skipped(self.bounds))?.is_some() {}
        self.push("(an array)");
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while map.next_key_seed(Key)?.is_some() {
            map.next_value_seed(Skipped(self.bounds))?;
        }
        self.push("(an object)");
        Ok(())
    }
}
