//! `[carriers.NAME]` with `kind = "http"`: the request, the words of answers, and the receipts.

use super::fault::Origin;
use super::http_receipts::{self, Receipts, hook_secret, poll_times};
use super::http_request::{pointer, request};
use super::public_url::PublicUrl;
use super::section::Section;
use super::tree::Node;
use domain::http_carrier::{
    AnswerRules, HttpMethod, HttpPreset, HttpSubmit, HttpTemplateFault, PresetAccount,
};
use engine::{HookSettings, HttpSettings, PollSettings};
use std::sync::Arc;

/// Reads the HTTP part of a carrier, with the number of recipients of a request and its place.
/// Returns `None` after a fault.
pub(super) fn read(
    section: &mut Section<'_>,
    name: &str,
    public_url: Option<&PublicUrl>,
    several: (&Origin, usize),
) -> Option<Arc<HttpSettings>> {
    let is_preset = section.has("preset");
    let key = if is_preset { "base_url" } else { "submit.url" };
    let place = section.place_of(if is_preset { "base_url" } else { "submit" });
    let token = section.secret("token", "token_file").unwrap_or_default();
    let (submit, receipts) = if is_preset {
        preset(section, token.reveal(), several)?
    } else {
        let submit = submit(section.section("submit"), token.reveal(), several.1);
        let has_receipts = section.has("receipts");
        let receipts = if has_receipts {
            http_receipts::receipts(section.section("receipts"), token.reveal())
        } else {
            Some(Receipts::default())
        };
        (submit?, receipts?)
    };
    let receipt_url = match (&receipts.hook, public_url) {
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
                "has {receipt_url}, which needs `receipts` with a secret, and `http.public_url`",
            )
        };
        section.fault_at(&place, key, text);
    }
    let server = submit.server();
    let server = server.map_err(|fault| section.fault_at(&place, key, fault.to_string()));
    Some(Arc::new(HttpSettings {
        server: server.ok()?,
        submit,
        recipients_per_request: several.1,
        receipts: receipts.hook,
        poll: receipts.poll.map(Arc::new),
        receipt_url,
    }))
}

/// Reads the account at a provider whose requests are known.
fn preset(
    section: &mut Section<'_>,
    token: &str,
    (several, recipients): (&Origin, usize),
) -> Option<(HttpSubmit, Receipts)> {
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
    if recipients > 1 && !preset.takes_several() {
        let text = "must be 1 for this provider, which documents no answer for each recipient of a \
                    request; leave it out";
        section.fault_at(several, "recipients_per_request", text);
    }
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
    let times = section.has("poll").then(|| {
        let mut poll = section.section("poll");
        let times = poll_times(&mut poll);
        poll.finish();
        times
    });
    let account = PresetAccount {
        base_url: base_url.trim_end_matches('/'),
        token,
        account: account.as_deref().unwrap_or_default(),
        route: &route,
        has_receipts: has_secret,
        has_several: recipients > 1,
    };
    let of_url = |fault: HttpTemplateFault| {
        section.fault_at(&place, "base_url", fault.to_string());
    };
    let submit = preset.submit(&account).map_err(of_url).ok()?;
    let query = preset.poll(&account).map_err(of_url).ok()?;
    if times.is_some() && query.is_none() {
        let text = "this provider documents no query of a state; use `receipt_secret`";
        section.fault("poll", text);
    }
    let hook = match secret {
        Some(secret) => Some(HookSettings {
            secret: secret?,
            receipts: preset.receipts(),
        }),
        None => None,
    };
    let poll = times.zip(query);
    let poll = poll.map(|(times, poll)| PollSettings { poll, times });
    Some((submit, Receipts { hook, poll }))
}

/// Reads the request, and the words of its answers.
fn submit(mut section: Section<'_>, token: &str, recipients: usize) -> Option<HttpSubmit> {
    let template = request(&mut section, token, HttpMethod::Post);
    let answers = answers(&mut section);
    let submit = HttpSubmit {
        template: template?,
        answers: answers?,
    };
    if !submit.is_complete() {
        section.fault("", "has no {to} or no {body}; a request has both");
    }
    if submit.has_body_in_header() {
        section.fault("headers", "have {body}, which may have several lines");
    }
    if recipients > 1 {
        check_several(&section, &submit);
    }
    section.finish();
    Some(submit)
}

/// Checks that an answer shows the outcome of each recipient of a request.
fn check_several(section: &Section<'_>, submit: &HttpSubmit) {
    if submit.answers.items.is_none() {
        let text = "is missing; with `recipients_per_request` above 1 it points to the list that \
                    has a result for each recipient, such as \"/data/recipients\"";
        section.fault("items", text);
    } else if submit.answers.id.is_none() && !submit.has_id_of_each() {
        let text = "is missing; it points from a result to the carrier's id, or `json` has a list \
                    with {id} for each recipient, such as [{ to = \"{to}\", ref = \"{id}\" }]";
        section.fault("id", text);
    }
    if submit.has_number_in_header() {
        let text = "have {to}; with `recipients_per_request` above 1 it belongs into `json`, `form` \
                    or `url`";
        section.fault("headers", text);
    }
}

fn answers(section: &mut Section<'_>) -> Option<AnswerRules> {
    let (items, to) = (pointer(section, "items"), pointer(section, "to"));
    if matches!((&items, &to), (Ok(None), Ok(Some(_)))) {
        let text = "is for `items`, the list of results; leave it out, or add `items`";
        section.fault("to", text);
    }
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
        items: items.ok()?,
        to: to.ok()?,
        id: id.ok()?,
        error: error.ok()?,
        accepted,
        throttled,
        refused,
    })
}
