//! The fields of a request that adds an object of the account, such as a route or a token.

use domain::Refusal;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// The largest body of such a request in bytes.
pub(crate) const MAX_OBJECT_BYTES: usize = 64 << 10;
/// Whole numbers below it are exact as floats.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// The fields by name. Each operation takes the fields that it knows, and ignores the others.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct ObjectBody {
    values: Map<String, Value>,
    /// A name that has two values.
    repeated: Option<String>,
}

impl ObjectBody {
    /// Adds a field of a form or a query string. A field that is repeated becomes a list.
    pub(crate) fn add(&mut self, name: &str, value: String) {
        let name = name.trim();
        let name = name.strip_suffix("[]").unwrap_or(name);
        let value = Value::String(value);
        match self.values.get_mut(name) {
            None => {
                self.values.insert(name.to_owned(), value);
            }
            Some(Value::Array(list)) => list.push(value),
            Some(first) if *first == value => {}
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }

    /// Returns these fields, and those of a query string that these have not.
    pub(crate) fn over(self, query: Self) -> Self {
        let mut values = query.values;
        values.extend(self.values);
        Self {
            values,
            repeated: self.repeated,
        }
    }

    /// Takes the token.
    pub(crate) fn take_token(&mut self) -> Option<String> {
        match self.values.remove("api_token") {
            Some(Value::String(token)) => Some(token),
            _ => None,
        }
    }

    /// Takes a text. A blank text counts as absent.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        match self.take(name)? {
            Some(Value::String(text)) => Ok(given(text)),
            None => Ok(None),
            Some(_) => Err(malformed(name, "must be a string")),
        }
    }

    /// Takes a text that replaces another one. A blank text and null are empty texts, and no text is
    /// absent.
    pub(crate) fn replacement(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        let is_null = self.values.get(name).is_some_and(Value::is_null);
        match self.take(name)? {
            Some(Value::String(text)) => Ok(Some(text.trim().to_owned())),
            None => Ok(is_null.then(String::new)),
            Some(_) => Err(malformed(name, "must be a string")),
        }
    }

    /// Takes a text, a number or a boolean as a text.
    pub(crate) fn scalar(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        match self.take(name)? {
            None => Ok(None),
            Some(value) => match scalar(value) {
                Some(text) => Ok(given(text)),
                None => Err(malformed(name, "must be a string or a number")),
            },
        }
    }

    /// Takes a list: an array, or a text whose elements are separated by commas.
    pub(crate) fn list(&mut self, name: &str) -> Result<Option<Vec<String>>, Refusal> {
        let elements = match self.take(name)? {
            None => return Ok(None),
            Some(Value::Array(elements)) => elements,
            Some(value) => vec![value],
        };
        let texts = elements.into_iter().map(scalar);
        let texts: Option<Vec<String>> = texts.collect();
        let texts = texts.ok_or_else(|| malformed(name, "must be an array of strings"))?;
        let texts = texts.iter().flat_map(|text| text.split(','));
        let texts = texts.filter_map(|text| given(text.to_owned()));
        Ok(Some(texts.collect()))
    }

    /// Takes an object whose values are numbers, texts or objects, as its names and values. A null
    /// value stays one.
    pub(crate) fn object(&mut self, name: &str) -> Result<Vec<(String, Value)>, Refusal> {
        match self.take(name)? {
            None => Ok(Vec::new()),
            Some(Value::Object(fields)) => Ok(fields.into_iter().collect()),
            Some(_) => Err(malformed(name, "must be an object")),
        }
    }

    /// Returns `true` if the field is given, also with null.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    fn take(&mut self, name: &str) -> Result<Option<Value>, Refusal> {
        if self.repeated.as_deref() == Some(name) {
            return Err(repeated(name));
        }
        let value = self.values.remove(name);
        Ok(value.filter(|value| !value.is_null()))
    }
}

fn given(text: String) -> Option<String> {
    let trimmed = text.trim();
    match trimmed.len() {
        0 => None,
        length if length == text.len() => Some(text),
        _ => Some(trimmed.to_owned()),
    }
}

/// Returns a text, number or boolean as a text.
pub(crate) fn scalar(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(digits(&number)),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns a number as it is written, but a whole one that is written as a float (`2.0`) in digits.
fn digits(number: &Number) -> String {
    let float = number.as_f64().filter(|_| number.is_f64());
    match float {
        Some(whole) if whole.fract() == 0.0 && whole.abs() < MAX_EXACT => format!("{whole:.0}"),
        _ => number.to_string(),
    }
}

/// Returns the refusal of a field with two values.
pub(crate) fn repeated(name: &str) -> Refusal {
    Refusal::Malformed(format!(
        "`{name}` is given more than once with different values. Give it once."
    ))
}

fn malformed(name: &str, fault: &str) -> Refusal {
    Refusal::Malformed(format!("`{name}` {fault}."))
}

impl<'de> Deserialize<'de> for ObjectBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = ObjectBody;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the fields of the request")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ObjectBody, A::Error> {
        let mut body = ObjectBody::default();
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            let name = name.trim().to_owned();
            match body.values.get(&name) {
                Some(first) if *first != value => body.repeated = Some(name),
                _ => {
                    body.values.insert(name, value);
                }
            }
        }
        Ok(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> ObjectBody {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_field_has_the_types_that_its_operation_reads() {
        for (value, text, scalar, list) in [
            (r#"" a ""#, Ok(Some("a")), Ok(Some("a")), Some(vec!["a"])),
            (r#""""#, Ok(None), Ok(None), Some(vec![])),
            ("null", Ok(None), Ok(None), None),
            ("7", Err(()), Ok(Some("7")), Some(vec!["7"])),
            ("6e1", Err(()), Ok(Some("60")), Some(vec!["60"])),
            ("2.5", Err(()), Ok(Some("2.5")), Some(vec!["2.5"])),
            ("true", Err(()), Ok(Some("true")), Some(vec!["true"])),
            (
                r#"["a","b, c"]"#,
                Err(()),
                Err(()),
                Some(vec!["a", "b", "c"]),
            ),
        ] {
            let body = json(&format!(r#"{{"x":{value}}}"#));
            let found = body.clone().text("x").map_err(drop);
            assert_eq!(found, text.map(|text| text.map(str::to_owned)), "{value}");
            let found = body.clone().scalar("x").map_err(drop);
            assert_eq!(found, scalar.map(|text| text.map(str::to_owned)), "{value}");
            let found = body.clone().list("x").unwrap();
            let list = list.map(|list| list.into_iter().map(str::to_owned).collect());
            assert_eq!(found, list, "{value}");
        }
        assert!(json(r#"{"x":[{}]}"#).list("x").is_err());
    }

    #[test]
    fn a_replacement_may_be_empty() {
        for (body, expected) in [
            (r#"{"x":" a "}"#, Ok(Some("a"))),
            (r#"{"x":" "}"#, Ok(Some(""))),
            (r#"{"x":null}"#, Ok(Some(""))),
            ("{}", Ok(None)),
            (r#"{"x":7}"#, Err(())),
        ] {
            let found = json(body).replacement("x").map_err(drop);
            assert_eq!(
                found,
                expected.map(|text| text.map(str::to_owned)),
                "{body}"
            );
        }
    }

    #[test]
    fn two_values_of_a_field_are_refused_where_it_is_read() {
        let mut body = json(r#"{"x":"1","y":"2","x":"3"}"#);
        assert_eq!(body.text("y"), Ok(Some("2".to_owned())));
        assert_eq!(body.text("x"), Err(repeated("x")));
        let mut form = ObjectBody::default();
        for value in ["a", "a", "b"] {
            form.add("x[]", value.to_owned());
        }
        let list = form.clone().list("x").unwrap();
        assert_eq!(list, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert!(form.text("x").is_err());
    }

    #[test]
    fn the_body_wins_over_the_query() {
        let mut query = ObjectBody::default();
        query.add("x", "q".to_owned());
        query.add("y", "q".to_owned());
        let mut both = json(r#"{"x":"b","api_token":"T"}"#).over(query);
        assert_eq!(both.take_token().as_deref(), Some("T"));
        assert_eq!(both.text("x"), Ok(Some("b".to_owned())));
        assert_eq!(both.text("y"), Ok(Some("q".to_owned())));
    }
}
