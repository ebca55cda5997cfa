//! `[carriers.NAME]` with `kind = "http"`: the request, the words of answers, and the receipts.

use super::fault::Origin;
use super::public_url::PublicUrl;
use super::section::Section;
use super::tree::{Node, Value};
use axum::http::HeaderName;
use domain::http_carrier::{
    AnswerRules, BodyTemplate, HttpMethod, HttpPreset, HttpReceipts, HttpSubmit, HttpTemplate,
    JsonTemplate, Pointer, PresetAccount, StateWords, escaped,
};
use engine::{HookSettings, HttpSettings};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

/// Lengths of the secret of a hook, which is part of a URL.
const SECRET_CHARACTERS: std::ops::RangeInclusive<usize> = 16..=128;
/// Headers that follow from the request.
const OWN_HEADERS: [&str; 5] = [
    "connection",
    "content-length",
    "content-type",
    "host",
    "transfer-encoding",
];
const METHODS: [(&str, HttpMethod); 2] = [("POST", HttpMethod::Post), ("GET", HttpMethod::Get)];

/// Reads the HTTP part of a carrier. Returns `None` after a fault.
pub(super) fn read(
    section: &mut Section<'_>,
    name: &str,
    public_url: Option<&PublicUrl>,
) -> Option<Arc<HttpSettings>> {
    let is_preset = section.has("preset");
    let key = if is_preset { "base_url" } else { "submit.url" };
    let place = section.place_of(if is_preset { "base_url" } else { "submit" });
    let token = section.secret("token", "token_file").unwrap_or_default();
    let (submit, receipts) = if is_preset {
        preset(section, token.reveal())?
    } else {
        let submit = submit(section.section("submit"), token.reveal());
        let receipts = section.has("receipts");
        let receipts = receipts.then(|| receipts_of(section.section("receipts")));
        (submit?, receipts)
    };
    let receipts = match receipts {
        None => None,
        Some(read) => Some(read?),
    };
    let receipt_url = match (&receipts, public_url) {
        (Some(hook), Some(public)) => {
            let origin = public.origin();
            Some(format!("{origin}/hooks/carriers/{name}/{}", hook.secret))
        }
        _ => None,
    };
    if submit.has_receipt_url() && receipt_url.is_none() {
        let (key, text) = if is_preset {
            (
                "receipt_secret",
                "needs `http.public_url`, with which the URL for receipts begins",
            )
        } else {
            (
                "submit",
                "has {receipt_url}, which needs `receipts` and `http.public_url`",
            )
        };
        section.fault_at(&place, key, text);
    }
    let server = submit.server();
    let server = server.map_err(|fault| section.fault_at(&place, key, fault.to_string()));
    Some(Arc::new(HttpSettings {
        server: server.ok()?,
        submit,
        receipts,
        receipt_url,
    }))
}

/// The reading of receipts, or `None` without it. After a fault the inner value is missing.
type Hook = Option<Option<HookSettings>>;

/// Reads the account at a provider whose requests are known.
fn preset(section: &mut Section<'_>, token: &str) -> Option<(HttpSubmit, Hook)> {
    let place = section.place_of("base_url");
    for replaced in ["submit", "receipts"] {
        let place = section.place_of(replaced);
        if section.get::<Node>(replaced).is_some() {
            let text = "is replaced by `preset`; leave out one of them";
            section.fault_at(&place, replaced, text);
        }
    }
    let preset = section.one_of("preset", &HttpPreset::WORDS);
    let base_url: Option<String> = section.require("base_url");
    if token.is_empty() {
        section.fault(
            "token",
            "is missing; give it here or in the file of `token_file`",
        );
    }
    let preset = preset?;
    let account: Option<String> = match preset.account_key() {
        Some(key) => Some(section.require(key)?),
        None => None,
    };
    let route: String = match preset.route_key() {
        Some((key, default)) => section.get(key).unwrap_or_else(|| default.to_owned()),
        None => String::new(),
    };
    let has_secret = section.has("receipt_secret") || section.has("receipt_secret_file");
    let secret =
        has_secret.then(|| hook_secret(section, ["receipt_secret", "receipt_secret_file"]));
    let base_url = base_url?;
    let submit = preset.submit(&PresetAccount {
        base_url: base_url.trim_end_matches('/'),
        token,
        account: account.as_deref().unwrap_or_default(),
        route: &route,
        has_receipts: has_secret,
    });
    let submit = submit.map_err(|fault| section.fault_at(&place, "base_url", fault.to_string()));
    let hook = secret.map(|secret| {
        let receipts = preset.receipts();
        secret.map(|secret| HookSettings { secret, receipts })
    });
    Some((submit.ok()?, hook))
}

/// Reads the request, and the words of its answers.
fn submit(mut section: Section<'_>, token: &str) -> Option<HttpSubmit> {
    let method = section
        .one_of("method", &METHODS)
        .unwrap_or(HttpMethod::Post);
    let url = template(&mut section, "url", token);
    let headers = headers(&mut section, token);
    let body = body(&mut section, token);
    let answers = answers(&mut section);
    let submit = HttpSubmit {
        method,
        url: url?,
        headers: headers?,
        body: body?,
        answers: answers?,
    };
    if method == HttpMethod::Get && submit.body != BodyTemplate::Empty {
        section.fault(
            "method",
            "GET has no body; leave out `json` and `form`, or use POST",
        );
    }
    if !submit.is_complete() {
        section.fault("", "has no {to} or no {body}; a request has both");
    }
    if submit.has_body_in_header() {
        section.fault("headers", "have {body}, which may have several lines");
    }
    section.finish();
    Some(submit)
}

/// Returns a template in which `{token}` is the token of the carrier.
fn with_token(text: &str, token: &str) -> Result<HttpTemplate, String> {
    let text = text.replace("{token}", &escaped(token));
    HttpTemplate::parse(&text).map_err(|fault| fault.to_string())
}

fn template(section: &mut Section<'_>, key: &'static str, token: &str) -> Option<HttpTemplate> {
    let place = section.place_of(key);
    let text: String = section.require(key)?;
    noted(section, (&place, key), with_token(&text, token))
}

/// Returns a value, or adds its fault.
fn noted<T>(
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
        let template = with_token(&text, token).map_err(|fault| format!("{name}: {fault}"))?;
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
            let read = json_of(&json, token)
                .and_then(|json| JsonTemplate::parse(&json).map_err(|fault| fault.to_string()));
            noted(section, (&json_place, "json"), read.map(BodyTemplate::Json))
        }
        (None, Some(form)) => {
            let read = templates(form, token).map(BodyTemplate::Form);
            noted(section, (&form_place, "form"), read)
        }
    }
}

/// Returns a value of TOML as JSON.
fn json_of(node: &Node, token: &str) -> Result<serde_json::Value, String> {
    Ok(match &node.value {
        Value::Text(text) => text.replace("{token}", &escaped(token)).into(),
        Value::Variable(text) => {
            let text = text.replace("{token}", &escaped(token));
            serde_json::from_str(&text).map_err(|fault| format!("is no JSON: {fault}"))?
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

fn answers(section: &mut Section<'_>) -> Option<AnswerRules> {
    let id = pointer(section, "id");
    let error = pointer(section, "error");
    let has_error = !matches!(error, Ok(None));
    let mut words = |key, default: &[&str]| -> Vec<String> {
        let given: Option<Vec<String>> = section.get(key);
        given.unwrap_or_else(|| default.iter().map(|word| (*word).to_owned()).collect())
    };
    let (accepted, throttled, refused) = if has_error {
        (
            words("accepted", &[]),
            words("throttled", &["HTTP 429"]),
            words("refused", &[]),
        )
    } else {
        (
            words("accepted", &["2xx"]),
            words("throttled", &["429"]),
            words("refused", &["400", "422"]),
        )
    };
    if accepted.is_empty() {
        let text = "is missing; name the words of `error` that mean success, such as [\"ok\"]";
        section.fault("accepted", text);
    }
    Some(AnswerRules {
        id: id.ok()?,
        error: error.ok()?,
        accepted,
        throttled,
        refused,
    })
}

/// Reads an optional pointer. Fails after a fault.
fn pointer(section: &mut Section<'_>, key: &'static str) -> Result<Option<Pointer>, ()> {
    let place = section.place_of(key);
    let Some(text) = section.get::<String>(key) else {
        return Ok(None);
    };
    noted(section, (&place, key), Pointer::parse(&text))
        .map(Some)
        .ok_or(())
}

/// Reads the receipts that a carrier posts.
fn receipts_of(mut section: Section<'_>) -> Option<HookSettings> {
    let secret = hook_secret(&mut section, ["secret", "secret_file"]);
    let mut required = |key| {
        let place = section.place_of(key);
        let text: String = section.require(key)?;
        noted(&section, (&place, key), Pointer::parse(&text))
    };
    let (id, state) = (required("id"), required("state"));
    let (items, error) = (
        pointer(&mut section, "items"),
        pointer(&mut section, "error"),
    );
    let states = states(&mut section);
    section.finish();
    let receipts = HttpReceipts {
        items: items.ok()?,
        id: id?,
        state: state?,
        error: error.ok()?,
        states: states?,
    };
    Some(HookSettings {
        secret: secret?,
        receipts,
    })
}

fn states(section: &mut Section<'_>) -> Option<StateWords> {
    let place = section.place_of("states");
    let given: BTreeMap<String, Vec<String>> = section.require("states")?;
    let known = |name: &str| {
        let mut known = StateWords::STATES.iter().map(|(known, _)| *known);
        known.find(|known| *known == name)
    };
    let read = given.into_iter().map(|(name, words)| {
        let names = || StateWords::STATES.map(|(name, _)| name).join(", ");
        let known = known(&name);
        let known = known.ok_or_else(|| format!("{name:?} is no state; there are {}", names()))?;
        Ok((known, words))
    });
    let read: Result<Vec<_>, String> = read.collect();
    noted(section, (&place, "states"), read).map(StateWords)
}

fn hook_secret(section: &mut Section<'_>, [key, file]: [&'static str; 2]) -> Option<String> {
    if !section.has(key) && !section.has(file) {
        let text = format!("is missing; give it here or in the file of `{file}`");
        section.fault(key, text);
    }
    let place = section.place_of(if section.has(key) { key } else { file });
    let secret = section.secret(key, file)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let text = secret.reveal();
    if !SECRET_CHARACTERS.contains(&text.len()) || !text.chars().all(is_plain) {
        let text = "must have 16 to 128 letters, digits, `-` and `_`, since it is part of a URL";
        section.fault_at(&place, key, text);
        return None;
    }
    Some(text.to_owned())
}
