//! Keys, and values that are skipped.

use crate::http::extract::fields::{Bounds, Exceeded, Name};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The error that ends the reading of a request with too many fields. The bounds hold the refusal.
pub(super) fn too_many<E: Error>(_: Exceeded) -> E {
    E::custom("too many fields")
}

/// A key: its meaning, and its text if it is unknown.
pub(super) struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = (Name, Option<String>);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key {
    type Value = (Name, Option<String>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let name = Name::of(text);
        Ok((name, (name == Name::Unknown).then(|| text.to_owned())))
    }
}

/// A value that is skipped, and whether it is null. It is walked through, so that its nesting is
/// limited as well: serde's own `IgnoredAny` has no limit.
pub(super) struct Skipped<'a>(pub(super) &'a Bounds);

impl<'de> DeserializeSeed<'de> for Skipped<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        self.0.other().map_err(too_many)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Skipped<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(true)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<bool, A::Error> {
        while elements.next_element_seed(Skipped(self.0))?.is_some() {}
        Ok(false)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        while map.next_key_seed(Key)?.is_some() {
            map.next_value_seed(Skipped(self.0))?;
        }
        Ok(false)
    }
}
