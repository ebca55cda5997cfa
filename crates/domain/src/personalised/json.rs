//! Parses rows from the JSON array `messages` in one pass, without a tree.
//!
//! An element is `{"to": …, "variables": {"name": "Ada"}, "body": …, "customer_reference": …}`.
//! Variables are strings, numbers as written, or booleans. A variable that is null is missing. A
//! `to` of another JSON type is replaced by a description, as in `/sms`, so that the answer lists
//! it as invalid.

use super::rows::{RowField, Rows};
use crate::refusal::Refusal;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Floats below this bound represent integers exactly.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Parses the array `messages` into rows.
///
/// It needs borrowed JSON (`serde_json::Deserializer::from_str`). If a rule of the rows is broken,
/// [`refusal`](Self::refusal) returns the reason.
#[derive(Debug)]
pub struct JsonRows {
    rows: Rows,
    refusal: Option<Refusal>,
}

impl JsonRows {
    /// Creates a parser for at most `max_rows` rows.
    pub fn new(max_rows: usize) -> Self {
        Self {
            rows: Rows::new(max_rows),
            refusal: None,
        }
    }

    /// Returns the refusal if a rule of the rows was broken.
    pub fn refusal(&mut self) -> Option<Refusal> {
        self.refusal.take()
    }

    /// Returns the parsed rows.
    pub fn into_rows(self) -> Rows {
        self.rows
    }

    /// Stores a refusal, and stops the parser.
    fn check<T, E: Error>(&mut self, result: Result<T, Refusal>) -> Result<T, E> {
        result.map_err(|refusal| {
            let error = E::custom(&refusal);
            self.refusal = Some(refusal);
            error
        })
    }

    fn malformed<E: Error>(&mut self, row: u32, words: &str) -> E {
        let refusal = Refusal::Malformed(format!("Row {row} of `messages`: {words}."));
        let error = E::custom(&refusal);
        self.refusal = Some(refusal);
        error
    }
}

/// A JSON value without structure.
#[derive(Debug)]
enum Scalar<'a> {
    Text(Cow<'a, str>),
    /// A number as written.
    Number(&'a str),
    Boolean(&'a str),
    Null,
    Array,
    Object,
}

impl<'a> Scalar<'a> {
    fn of(raw: &'a RawValue) -> Result<Self, serde_json::Error> {
        let text = raw.get();
        Ok(match text.as_bytes().first() {
            Some(b'"') if text.contains('\\') => Self::Text(serde_json::from_str(text)?),
            Some(b'"') => Self::Text(Cow::Borrowed(&text[1..text.len() - 1])),
            Some(b't' | b'f') => Self::Boolean(text),
            Some(b'n') | None => Self::Null,
            Some(b'[') => Self::Array,
            Some(b'{') => Self::Object,
            Some(_) => Self::Number(text),
        })
    }

    /// Returns the value as a variable, if it may be one.
    fn value(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(&**text),
            Self::Number(text) | Self::Boolean(text) => Some(*text),
            Self::Null | Self::Array | Self::Object => None,
        }
    }

    /// Returns the value as a recipient, or a description of a value that cannot be a recipient.
    fn recipient(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Number(text) => number(text),
            Self::Boolean(text) => Cow::Borrowed(text),
            Self::Null => Cow::Borrowed("null"),
            Self::Array => Cow::Borrowed("(an array)"),
            Self::Object => Cow::Borrowed("(an object)"),
        }
    }
}

/// Returns a number as a recipient: its digits if it is whole. Otherwise a point or hyphen would be
/// ignored as a separator.
fn number(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Cow::Borrowed(text);
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_sign_negative() => format!("{text} (negative)").into(),
        Ok(number) if number.fract() == 0.0 && number < MAX_EXACT => format!("{number:.0}").into(),
        _ => format!("{text} (not whole)").into(),
    }
}

impl<'de> DeserializeSeed<'de> for &mut JsonRows {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for &mut JsonRows {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects in `messages`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let mut row = 0;
        while elements
            .next_element_seed(Element {
                to: self,
                row: row + 1,
            })?
            .is_some()
        {
            row += 1;
        }
        Ok(())
    }
}

/// A name that borrows from the text unless it is escaped.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

/// An element of the array.
struct Element<'r> {
    to: &'r mut JsonRows,
    row: u32,
}

impl<'de> DeserializeSeed<'de> for Element<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Element<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object in row {} of `messages`", self.row)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { to, row } = self;
        let begun = to.rows.begin(row);
        to.check(begun)?;
        while let Some(name) = map.next_key_seed(Name)? {
            let field = match &*name {
                "to" => RowField::To,
                "body" => RowField::Body,
                "customer_reference" => RowField::CustomerReference,
                "variables" => {
                    map.next_value_seed(Variables { to, row })?;
                    continue;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    to.rows.ignore(&name);
                    continue;
                }
            };
            let raw: &'de RawValue = map.next_value()?;
            let scalar = Scalar::of(raw).map_err(A::Error::custom)?;
            let text = match (field, &scalar) {
                (RowField::To, scalar) => scalar.recipient(),
                (_, Scalar::Null) => continue,
                (_, Scalar::Text(text)) => Cow::Borrowed(&**text),
                (RowField::CustomerReference, Scalar::Number(text)) => Cow::Borrowed(*text),
                _ => return Err(to.malformed(row, &format!("`{name}` is not a string"))),
            };
            let set = to.rows.set(field, &text);
            to.check(set)?;
        }
        Ok(())
    }
}

/// The object `variables` of an element.
struct Variables<'r> {
    to: &'r mut JsonRows,
    row: u32,
}

impl<'de> DeserializeSeed<'de> for Variables<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Variables<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object in `variables` of row {}", self.row)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { to, row } = self;
        while let Some(name) = map.next_key_seed(Name)? {
            let raw: &'de RawValue = map.next_value()?;
            let scalar = Scalar::of(raw).map_err(A::Error::custom)?;
            match (scalar.value(), &scalar) {
                (Some(value), _) => {
                    let column = to.rows.column_for(&name);
                    let column = to.check(column)?;
                    let set = to.rows.set_variable(column, value);
                    to.check(set)?;
                }
                (None, Scalar::Null) => {}
                (None, _) => {
                    let words = "a variable is neither a string nor a number nor a boolean";
                    return Err(to.malformed(row, words));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Rows, String> {
        let mut rows = JsonRows::new(3);
        let mut deserializer = serde_json::Deserializer::from_str(json);
        match rows.deserialize(&mut deserializer) {
            Ok(()) => Ok(rows.into_rows()),
            Err(error) => Err(rows
                .refusal()
                .map_or_else(|| error.to_string(), |refusal| refusal.to_string())),
        }
    }

    #[test]
    fn variables_are_strings_numbers_as_written_or_booleans() {
        let json = r#"[{"to": "08031234567", "variables":
            {"a": "A\u0064a \"x\"", "b": 1.50, "c": true, "d": null, "e": 1e3, "f": "ẹ", "g": ""}}]"#;
        let rows = read(json).unwrap();
        let row = rows.iter().next().unwrap();
        let value = |name| rows.column(name).and_then(|column| row.value(column));
        let found = ["a", "b", "c", "d", "e", "f", "g"].map(value);
        let expected = [
            Some("Ada \"x\""),
            Some("1.50"),
            Some("true"),
            None,
            Some("1e3"),
            Some("ẹ"),
            Some(""),
        ];
        assert_eq!(found, expected);
        assert_eq!((row.number(), row.to()), (1, "08031234567"));
    }

    #[test]
    fn an_element_has_its_own_body_and_reference() {
        let json = r#"[{"body": "Hi {a}", "customer_reference": 17, "to": 2348031234567, "x": [1], "y": {"z": 1}},
            {"to": "1", "body": null, "customer_reference": "", "variables": null}]"#;
        let rows = read(json).unwrap();
        let found: Vec<_> = rows
            .iter()
            .map(|row| (row.to(), row.body(), row.customer_reference()))
            .collect();
        assert_eq!(
            found,
            [
                ("2348031234567", Some("Hi {a}"), Some("17")),
                ("1", None, None)
            ]
        );
        assert_eq!(rows.ignored(), ["x", "y"]);
    }

    #[test]
    fn a_value_that_is_no_number_is_described_in_words() {
        let table = [
            ("\"0803\"", "0803"),
            ("2348031234567.0", "2348031234567"),
            ("2.348031234567e12", "2348031234567"),
            ("-2348031234567", "-2348031234567 (negative)"),
            ("23480312345.67", "23480312345.67 (not whole)"),
            ("1e30", "1e30 (not whole)"),
            ("null", "null"),
            ("true", "true"),
            ("[\"0803\"]", "(an array)"),
            ("{\"a\": 1}", "(an object)"),
        ];
        for (json, to) in table {
            let rows = read(&format!("[{{\"to\": {json}}}]")).unwrap();
            assert_eq!(rows.iter().next().unwrap().to(), to, "{json}");
        }
    }

    #[test]
    fn an_element_of_the_wrong_type_is_refused_with_its_row() {
        let table = [
            ("[{}, 5]", "an object in row 2 of `messages`"),
            (r#"{"to": 1}"#, "an array of objects in `messages`"),
            (r#"[{"variables": 1}]"#, "an object in `variables` of row 1"),
            (
                r#"[{}, {"variables": {"a": []}}]"#,
                "Row 2 of `messages`: a variable is neither",
            ),
            (
                r#"[{"body": 5}]"#,
                "Row 1 of `messages`: `body` is not a string",
            ),
            (r#"[{"to": 1, "to": 2}]"#, "Row 1 gives `to` more than once"),
            (
                r#"[{"variables": {"a": 1, "a": 2}}]"#,
                "Row 1 gives a variable more than once",
            ),
            (r#"[{"to": "1""#, "EOF"),
        ];
        for (json, words) in table {
            let refusal = read(json).unwrap_err();
            assert!(refusal.contains(words), "{json}: {refusal}");
        }
        let many = format!("[{}]", ["{}"; 7].join(","));
        assert!(read(&many).unwrap_err().starts_with("At most 3 recipients"));
    }
}
