//! Rules that make the document portable. Generators of clients fail on some parts of the standard,
//! or write a client that does not work. The rules here avoid these parts.

use serde_json::{Map, Value, json};

/// Generators take an integer without a format as one of 32 bits, which cannot hold a phone number.
const INTEGER_FORMAT: &str = "int64";

/// Rewrites every schema of the document.
pub(crate) fn rewritten(mut document: Value) -> Value {
    rewrite(&mut document);
    document
}

fn rewrite(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(rewrite),
        Value::Object(object) => {
            give_format(object);
            split_null(object);
            // An example is data, so nothing in it is a schema.
            let schemas = object.iter_mut().filter(|(key, _)| {
                !["example", "examples", "default", "enum"].contains(&key.as_str())
            });
            schemas.for_each(|(_, inner)| rewrite(inner));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Gives every integer a format.
fn give_format(schema: &mut Map<String, Value>) {
    if schema.get("type") == Some(&json!("integer")) {
        schema
            .entry("format")
            .or_insert_with(|| INTEGER_FORMAT.into());
    }
}

/// Replaces `type: [x, "null"]` with a choice of both. The description and examples stay outside of
/// the choice.
fn split_null(schema: &mut Map<String, Value>) {
    let Some(Value::Array(types)) = schema.get("type") else {
        return;
    };
    let null = json!("null");
    let others: Vec<Value> = types
        .iter()
        .filter(|kind| **kind != null)
        .cloned()
        .collect();
    let [other] = others.as_slice() else { return };
    let mut inner = Map::from_iter([("type".to_owned(), other.clone())]);
    for (key, value) in std::mem::take(schema) {
        match key.as_str() {
            "type" => {}
            "description" | "example" | "examples" | "default" => {
                schema.insert(key, value);
            }
            _ => {
                inner.insert(key, value);
            }
        }
    }
    schema.insert("oneOf".to_owned(), json!([inner, { "type": "null" }]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_with_null_becomes_a_choice() {
        let schema = json!({ "type": ["string", "null"], "pattern": "^a", "description": "A." });
        let expected = json!({
            "description": "A.",
            "oneOf": [{ "type": "string", "pattern": "^a" }, { "type": "null" }],
        });
        assert_eq!(rewritten(schema), expected);
    }

    #[test]
    fn an_integer_without_a_format_gets_one() {
        let schema = json!({ "items": { "type": "integer" }, "other": { "type": "integer", "format": "int32" } });
        let expected = json!({
            "items": { "type": "integer", "format": "int64" },
            "other": { "type": "integer", "format": "int32" },
        });
        assert_eq!(rewritten(schema), expected);
    }

    #[test]
    fn an_example_stays_as_it_is() {
        let schema = json!({ "example": { "type": "integer" } });
        assert_eq!(rewritten(schema.clone()), schema);
    }
}
