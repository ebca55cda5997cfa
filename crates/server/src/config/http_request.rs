//! The requests of carriers by HTTP: URL, headers and body with placeholders.

use super::fault::Origin;
use super::section::Section;
use super::tree::{Node, Value};
use axum::http::HeaderName;
use domain::http_carrier::{
    BodyTemplate, HttpMethod, HttpTemplate, JsonTemplate, Pointer, RequestTemplate, escaped,
};
use std::collections::BTreeMap;
use std::fmt::Display;

/// Headers that follow from the request.
const OWN_HEADERS: [&str; 5] = [
    "connection",
    "content-length",
    "content-type",
    "host",
    "transfer-encoding",
];
const METHODS: [(&str, HttpMethod); 2] = [("POST", HttpMethod::Post), ("GET", HttpMethod::Get)];

/// Reads a request, with a default for its method.
pub(super) fn request(
    section: &mut Section<'_>,
    token: &str,
    default: HttpMethod,
) -> Option<RequestTemplate> {
    let method = section.one_of("method", &METHODS).unwrap_or(default);
    let url = template(section, "url", token);
    let headers = headers(section, token);
    let body = body(section, token)?;
    if method == HttpMethod::Get && body != BodyTemplate::Empty {
        section.fault(
            "method",
            "GET has no body; leave out `json` and `form`, or use POST",
        );
    }
    Some(RequestTemplate {
        method,
        url: url?,
        headers: headers?,
        body,
    })
}

/// Reads something that has the token of the carrier. A fault may have the text around the token, so
/// it is looked for with a stand-in first.
fn with_token<T>(token: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<T, String> {
    read("token")?;
    let text = "cannot be read with the token; write {{ or }} for a brace that is to be sent";
    read(token).map_err(|_| text.to_owned())
}

/// Returns a text in which `{token}` is the token of the carrier. A doubled brace stays.
fn filled(text: &str, token: &str) -> String {
    let parts = text.split("{{");
    let parts = parts.map(|part| part.replace("{token}", &escaped(token)));
    parts.collect::<Vec<_>>().join("{{")
}

/// Reads a template in which `{token}` is the token of the carrier.
fn template_of(text: &str, token: &str) -> Result<HttpTemplate, String> {
    with_token(token, |token| {
        HttpTemplate::parse(&filled(text, token)).map_err(|fault| fault.to_string())
    })
}

fn template(section: &mut Section<'_>, key: &'static str, token: &str) -> Option<HttpTemplate> {
    let place = section.place_of(key);
    let text: String = section.require(key)?;
    noted(section, (&place, key), template_of(&text, token))
}

/// Returns a value, or adds its fault.
pub(super) fn noted<T>(
    section: &Section<'_>,
    (place, key): (&Origin, &str),
    read: Result<T, impl Display>,
) -> Option<T> {
    read.map_err(|fault| section.fault_at(place, key, fault.to_string()))
        .ok()
}

fn templates(
    fields: BTreeMap<String, String>,
    token: &str,
) -> Result<Vec<(String, HttpTemplate)>, String> {
    let read = fields.into_iter().map(|(name, text)| {
        let template = template_of(&text, token).map_err(|fault| format!("{name}: {fault}"))?;
        Ok((name, template))
    });
    read.collect()
}

fn headers(section: &mut Section<'_>, token: &str) -> Option<Vec<(String, HttpTemplate)>> {
    let place = section.place_of("headers");
    let given: BTreeMap<String, String> = section.get("headers").unwrap_or_default();
    let mut headers = BTreeMap::new();
    for (name, value) in given {
        let plain = name.to_lowercase();
        if HeaderName::try_from(&plain).is_err() || OWN_HEADERS.contains(&plain.as_str()) {
            let text = format!("{name:?} is no header that a request may set");
            section.fault_at(&place, "headers", text);
            return None;
        }
        headers.insert(plain, value);
    }
    noted(section, (&place, "headers"), templates(headers, token))
}

fn body(section: &mut Section<'_>, token: &str) -> Option<BodyTemplate> {
    let (json_place, form_place) = (section.place_of("json"), section.place_of("form"));
    let json: Option<Node> = section.get("json");
    let form: Option<BTreeMap<String, String>> = section.get("form");
    match (json, form) {
        (None, None) => Some(BodyTemplate::Empty),
        (Some(_), Some(_)) => {
            section.fault_at(
                &form_place,
                "form",
                "give either `json` or `form`, not both",
            );
            None
        }
        (Some(json), None) => {
            let read = with_token(token, |token| {
                let json = json_of(&json, token)?;
                JsonTemplate::parse(&json).map_err(|fault| fault.to_string())
            });
            noted(section, (&json_place, "json"), read.map(BodyTemplate::Json))
        }
        (None, Some(form)) => {
            let read = templates(form, token).map(BodyTemplate::Form);
            noted(section, (&form_place, "form"), read)
        }
    }
}

/// Returns a JSON value in which `{token}` is the token of the carrier.
fn filled_strings(json: serde_json::Value, token: &str) -> serde_json::Value {
    match json {
        serde_json::Value::String(text) => filled(&text, token).into(),
        serde_json::Value::Array(items) => {
            let items = items.into_iter().map(|item| filled_strings(item, token));
            items.collect()
        }
        serde_json::Value::Object(fields) => {
            let fields = fields.into_iter();
            let fields = fields.map(|(name, value)| (name, filled_strings(value, token)));
            serde_json::Value::Object(fields.collect())
        }
        other => other,
    }
}

/// Returns a value of TOML as JSON.
fn json_of(node: &Node, token: &str) -> Result<serde_json::Value, String> {
    Ok(match &node.value {
        Value::Text(text) => filled(text, token).into(),
        // The token goes into the strings of the JSON text, and never into the text itself.
        Value::Variable(text) => {
            let json =
                serde_json::from_str(text).map_err(|fault| format!("is no JSON: {fault}"))?;
            filled_strings(json, token)
        }
        Value::Boolean(flag) => (*flag).into(),
        Value::Number(text) => serde_json::from_str(&text.replace('_', ""))
            .map_err(|_| format!("{text} is no number of JSON"))?,
        Value::List(items) => {
            let items = items.iter().map(|item| json_of(item, token));
            items.collect::<Result<Vec<_>, _>>()?.into()
        }
        Value::Table(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| Ok((name.clone(), json_of(value, token)?)));
            fields
                .collect::<Result<serde_json::Map<_, _>, String>>()?
                .into()
        }
        Value::Time => return Err("has a time; write it as a text in quotes".to_owned()),
    })
}

/// Reads an optional pointer. Fails after a fault.
pub(super) fn pointer(section: &mut Section<'_>, key: &'static str) -> Result<Option<Pointer>, ()> {
    let place = section.place_of(key);
    let Some(text) = section.get::<String>(key) else {
        return Ok(None);
    };
    noted(section, (&place, key), Pointer::parse(&text))
        .map(Some)
        .ok_or(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_token_is_text_in_the_json_of_a_variable() {
        let text = r#"{"keys": [{"key": "k {token}"}], "{token}": 1}"#;
        let node = Node {
            value: Value::Variable(text.to_owned()),
            place: Origin::Default,
        };
        let json = json_of(&node, r#"t","to":"{0}"#).expect("JSON");
        // Braces are doubled, as the text is a template.
        let expected = json!({"keys": [{"key": r#"k t","to":"{{0}}"#}], "{token}": 1});
        assert_eq!(json, expected);
    }
}
