//! The fields of a JSON body, read in one pass without a tree or a list of recipients.

mod skipped;
mod value;

use super::fields::{Bounds, Fields, Name};
use domain::Refusal;
use domain::personalised::JsonRows;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use skipped::{Key, Skipped, too_many};
use std::fmt;
use value::Value;

/// Reads a JSON object into `fields` as far as possible. Null counts as absent. Unknown fields are
/// only recorded.
pub(crate) fn read(
    text: &str,
    bounds: &Bounds,
    fields: &mut Fields,
) -> Result<(), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    Object { fields, bounds }.deserialize(&mut deserializer)?;
    deserializer.end()
}

/// Returns the token of an object whose other fields have wrong types.
pub(crate) fn token(text: &str, bounds: &Bounds) -> Option<String> {
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

/// The array of the rows of a personalised send.
const ROWS: &str = "messages";

/// Reads the rows of a personalised send.
fn read_rows<'de, A: MapAccess<'de>>(
    map: &mut A,
    fields: &mut Fields,
    bounds: &Bounds,
) -> Result<(), A::Error> {
    let mut rows = JsonRows::new(bounds.max_recipients());
    let read = map.next_value_seed(&mut rows);
    fields.row_fault = rows.refusal();
    read?;
    if fields.rows.replace(rows.into_rows()).is_some() {
        fields.fail(Refusal::Malformed(
            "`messages` is given more than once. Give it once.".to_owned(),
        ));
    }
    Ok(())
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
                if bounds.has_rows() && unknown == ROWS {
                    read_rows(&mut map, fields, bounds)?;
                    continue;
                }
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
