//! Reads the fields of a JSON body in one pass, without building a tree or a list of recipients.

use super::fields::{Fields, Name};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor,
};
use std::fmt;

/// Reads a JSON object. Unknown fields are ignored, null is absent, the last of equal names wins.
pub(super) fn read(text: &str) -> Result<Fields, serde_json::Error> {
    serde_json::from_str(text)
}

/// The token of an object of which other fields are not of their types.
pub(super) fn token(text: &str) -> Option<String> {
    let read: Result<TokenAlone, _> = serde_json::from_str(text);
    read.ok()?.0
}

struct TokenAlone(Option<String>);

impl<'de> Deserialize<'de> for TokenAlone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Self(None))
    }
}

impl<'de> Visitor<'de> for TokenAlone {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a token")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some(name) = map.next_key::<Name>()? {
            match name {
                Name::ApiToken => self.0 = map.next_value_seed(Value::of(name))?,
                _ => map.next_value::<Skipped>().map(|Skipped| ())?,
            }
        }
        Ok(self)
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the fields of the request")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Fields::default();
        while let Some(name) = map.next_key::<Name>()? {
            match fields.slot(name) {
                Some(slot) => *slot = map.next_value_seed(Value::of(name))?,
                None => map.next_value::<Skipped>().map(|Skipped| ())?,
            }
        }
        Ok(fields)
    }
}

/// Which JSON types a field takes (decisions.md, "Existing clients").
#[derive(Clone, Copy)]
enum Value {
    /// A string.
    Text(&'static str),
    /// A string, a number or a boolean.
    Scalar(&'static str),
    /// A string, an integer, or an array of these.
    List,
}

impl Value {
    fn of(name: Name) -> Self {
        match name {
            Name::ApiToken => Self::Scalar("api_token"),
            Name::From => Self::Text("from"),
            Name::To | Name::Unknown => Self::List,
            Name::Body => Self::Text("body"),
            Name::Gateway => Self::Scalar("gateway"),
            Name::Dnd => Self::Scalar("dnd"),
            Name::Unicode => Self::Scalar("unicode"),
            Name::AppendSender => Self::Scalar("append_sender"),
            Name::CallbackUrl => Self::Text("callback_url"),
            Name::CustomerReference => Self::Text("customer_reference"),
        }
    }

    fn number<E: Error>(
        self,
        number: &impl ToString,
        found: Unexpected<'_>,
    ) -> Result<Option<String>, E> {
        match self {
            Self::Text(_) => Err(E::invalid_type(found, &self)),
            Self::Scalar(_) | Self::List => Ok(Some(number.to_string())),
        }
    }

    fn scalar<E: Error>(
        self,
        value: &impl ToString,
        found: Unexpected<'_>,
    ) -> Result<Option<String>, E> {
        match self {
            Self::Text(_) | Self::List => Err(E::invalid_type(found, &self)),
            Self::Scalar(_) => Ok(Some(value.to_string())),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Value {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Option<String>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(name) => write!(f, "a string in `{name}`"),
            Self::Scalar(name) => write!(f, "a string, number or boolean in `{name}`"),
            Self::List => f.write_str("a string, an integer, or an array of these in `to`"),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<String>, E> {
        Ok(Some(text.to_owned()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Option<String>, E> {
        self.number(&number, Unexpected::Unsigned(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Option<String>, E> {
        self.number(&number, Unexpected::Signed(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Option<String>, E> {
        self.scalar(&number, Unexpected::Float(number))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Option<String>, E> {
        self.scalar(&value, Unexpected::Bool(value))
    }

    fn visit_unit<E: Error>(self) -> Result<Option<String>, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Option<String>, A::Error> {
        match self {
            Self::Text(_) | Self::Scalar(_) => Err(A::Error::invalid_type(Unexpected::Seq, &self)),
            Self::List => {
                let mut list = String::new();
                while elements
                    .next_element_seed(Element { list: &mut list })?
                    .is_some()
                {}
                Ok(Some(list))
            }
        }
    }
}

/// One element of `to`, written straight to the end of the list, after a comma.
struct Element<'a> {
    list: &'a mut String,
}

impl Element<'_> {
    fn push(self, text: &str) {
        if !self.list.is_empty() {
            self.list.push(',');
        }
        self.list.push_str(text);
    }
}

impl<'de> DeserializeSeed<'de> for Element<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Element<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an integer in the array `to`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.push(text);
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.push(&number.to_string());
        Ok(())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.push(&number.to_string());
        Ok(())
    }
}

/// A value that is not looked at. It is walked through, so that nesting is limited here too: serde's own
/// `IgnoredAny` would follow any depth.
struct Skipped;

impl<'de> Deserialize<'de> for Skipped {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Skipped {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E: Error>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self, A::Error> {
        while elements.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}
