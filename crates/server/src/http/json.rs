//! Reads the fields of a JSON body in one pass, without building a tree or a list of recipients.

mod value;

use super::fields::{Bounds, Exceeded, Fields, Name};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;
use value::Value;

/// Reads a JSON object into `fields`, as far as it can be read. Null is absent; unknown fields are only noted.
pub(super) fn read(
    text: &str,
    bounds: &Bounds,
    fields: &mut Fields,
) -> Result<(), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    Object { fields, bounds }.deserialize(&mut deserializer)?;
    deserializer.end()
}

/// The token of an object of which other fields are not of their types.
pub(super) fn token(text: &str, bounds: &Bounds) -> Option<String> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let token = TokenAlone { bounds }.deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    token
}

struct TokenAlone<'a> {
    bounds: &'a Bounds,
}

impl<'de> DeserializeSeed<'de> for TokenAlone<'_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Option<String>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TokenAlone<'_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a token")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<String>, A::Error> {
        let bounds = self.bounds;
        let mut token: Option<String> = None;
        while let Some((name, _)) = map.next_key_seed(Key)? {
            if name == Name::ApiToken {
                bounds.other().map_err(too_many)?;
                let value = map.next_value_seed(Value { name, bounds })?;
                token = token.or(value);
            } else {
                map.next_value_seed(Skipped(bounds))?;
            }
        }
        Ok(token)
    }
}

struct Object<'a> {
    fields: &'a mut Fields,
    bounds: &'a Bounds,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the fields of the request")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { fields, bounds } = self;
        while let Some((name, unknown)) = map.next_key_seed(Key)? {
            if let Some(unknown) = unknown {
                let is_null = map.next_value_seed(Skipped(bounds))?;
                if !is_null {
                    fields.ignore(&unknown);
                }
                continue;
            }
            bounds.other().map_err(too_many)?;
            if let Some(value) = map.next_value_seed(Value { name, bounds })? {
                fields.keep(name, value);
            }
        }
        Ok(())
    }
}

/// The error that ends the reading of a request with too many fields; the refusal is that of the bounds.
fn too_many<E: Error>(_: Exceeded) -> E {
    E::custom("too many fields")
}

/// A key: what it means, and the word itself where it means nothing.
struct Key;

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

/// A value that is not looked at; whether it is null. It is walked through, so that nesting is limited here too: serde's
/// own `IgnoredAny` would follow any depth.
struct Skipped<'a>(&'a Bounds);

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
