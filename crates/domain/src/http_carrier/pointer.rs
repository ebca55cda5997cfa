//! Pointers into JSON (RFC 6901).

use serde_json::Value;

/// The reason why a text is no pointer.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PointerFault {
    /// It begins with another character.
    #[error("is not a JSON pointer: it must begin with `/`, such as \"/data/id\"")]
    Start,
    /// A tilde escapes nothing.
    #[error("is not a JSON pointer: write `~0` for `~`, and `~1` for `/` in a name")]
    Escape,
}

/// A pointer to one value of a JSON text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pointer(String);

impl Pointer {
    /// Reads a pointer.
    pub fn parse(text: &str) -> Result<Self, PointerFault> {
        if !text.starts_with('/') {
            return Err(PointerFault::Start);
        }
        let mut after = text.split('~').skip(1);
        if after.any(|rest| !rest.starts_with(['0', '1'])) {
            return Err(PointerFault::Escape);
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns a pointer that is known to be one.
    pub(super) fn known(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the text, number or boolean that it points to. An empty text is none.
    pub fn word(&self, of: &Value) -> Option<String> {
        let word = match of.pointer(&self.0)? {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(is) => is.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        Some(word).filter(|word| !word.is_empty())
    }

    /// Returns the list that it points to.
    pub fn list<'v>(&self, of: &'v Value) -> Option<&'v [Value]> {
        of.pointer(&self.0)?.as_array().map(Vec::as_slice)
    }

    /// Returns the elements of the list that it points to, or the one value.
    pub fn items<'v>(&self, of: &'v Value) -> &'v [Value] {
        match of.pointer(&self.0) {
            Some(Value::Array(items)) => items,
            Some(one) => std::slice::from_ref(one),
            None => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pointer_leads_to_a_text_a_number_or_a_boolean() {
        let answer = json!({
            "a/b": 1, "m~n": true, "": "empty", "list": [{ "id": "x" }], "none": null, "blank": ""
        });
        for (pointer, word) in [
            ("/a~1b", Some("1")),
            ("/m~0n", Some("true")),
            ("/", Some("empty")),
            ("/list/0/id", Some("x")),
            ("/list/1/id", None),
            ("/list", None),
            ("/none", None),
            ("/blank", None),
        ] {
            let found = Pointer::parse(pointer).unwrap().word(&answer);
            assert_eq!(found.as_deref(), word, "{pointer}");
        }
    }

    #[test]
    fn a_text_that_is_no_pointer_is_refused() {
        for (text, fault) in [
            ("data/id", PointerFault::Start),
            ("", PointerFault::Start),
            ("/a~b", PointerFault::Escape),
            ("/a~", PointerFault::Escape),
        ] {
            assert_eq!(Pointer::parse(text), Err(fault), "{text}");
        }
    }
}
