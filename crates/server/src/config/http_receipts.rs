//! The receipts of carriers by HTTP: posted to a hook, or asked for by polling.

use super::http_request::{noted, pointer, request};
use super::section::Section;
use domain::http_carrier::{HttpMethod, HttpPoll, HttpReceipts, Pointer, PollTimes, StateWords};
use engine::{HookSettings, PollSettings};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Lengths of the secret of a hook, which is part of a URL.
const SECRET_CHARACTERS: RangeInclusive<usize> = 16..=128;

/// The keys of a hook alone. A polled carrier that has none of them has no hook.
const HOOK_KEYS: [&str; 7] = [
    "secret",
    "secret_file",
    "id",
    "items",
    "error",
    "to",
    "from",
];

/// Allowed times from one request for a state to the next, and the default.
const POLL_INTERVALS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(24);
const DEFAULT_POLL_INTERVAL: Duration = Duration::from_mins(1);
/// Allowed times after the submit in which a state is asked for, and the default. A carrier id means
/// the same message for seven days.
const POLL_PERIODS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(168);
const DEFAULT_POLL_PERIOD: Duration = Duration::from_hours(48);

/// The ways in which receipts arrive.
#[derive(Default)]
pub(super) struct Receipts {
    pub(super) hook: Option<HookSettings>,
    pub(super) poll: Option<PollSettings>,
}

/// Reads the receipts that a carrier posts, or is asked for.
pub(super) fn receipts(mut section: Section<'_>, token: &str) -> Option<Receipts> {
    let has_poll = section.has("poll");
    let has_hook = HOOK_KEYS.iter().any(|key| section.has(key));
    let states = states(&mut section);
    let state = pointer(&mut section, "state");
    let hook = if has_hook || !has_poll {
        if matches!(state, Ok(None)) {
            section.require::<String>("state");
        }
        let state = state.clone().ok().flatten();
        Some(hook(&mut section, state, states.clone()))
    } else {
        None
    };
    let poll = has_poll.then(|| {
        let section = section.section("poll");
        polled(section, token, state.clone().ok().flatten(), states)
    });
    section.finish();
    state.ok()?;
    Some(Receipts {
        hook: match hook {
            Some(hook) => Some(hook?),
            None => None,
        },
        poll: match poll {
            Some(poll) => Some(poll?),
            None => None,
        },
    })
}

/// Reads the receipts that a carrier posts.
fn hook(
    section: &mut Section<'_>,
    state: Option<Pointer>,
    states: Option<StateWords>,
) -> Option<HookSettings> {
    let secret = hook_secret(section, ["secret", "secret_file"]);
    if !section.has("id") {
        section.require::<String>("id");
    }
    let id = pointer(section, "id");
    let (items, error) = (pointer(section, "items"), pointer(section, "error"));
    let (to, from) = (pointer(section, "to"), pointer(section, "from"));
    let addresses = match (to.ok()?, from.ok()?) {
        (Some(to), Some(from)) => Some((to, from)),
        (None, None) => None,
        _ => {
            let text = "`to` and `from` belong together: a recipient in doubt is found by both";
            section.fault("to", text);
            None
        }
    };
    let receipts = HttpReceipts {
        items: items.ok()?,
        id: id.ok()??,
        state: state?,
        error: error.ok()?,
        addresses,
        states: states?,
    };
    Some(HookSettings {
        secret: secret?,
        receipts,
    })
}

/// Reads the requests for states.
fn polled(
    mut section: Section<'_>,
    token: &str,
    of_hook: Option<Pointer>,
    states: Option<StateWords>,
) -> Option<PollSettings> {
    let place = section.place_of("url");
    let template = request(&mut section, token, HttpMethod::Get);
    let (state, error) = (
        pointer(&mut section, "state"),
        pointer(&mut section, "error"),
    );
    let times = poll_times(&mut section);
    let state = state.ok()?.or(of_hook);
    if state.is_none() {
        section.fault("state", "is missing; it points to the state in the answer");
    }
    let poll = HttpPoll {
        template: template?,
        state: state?,
        error: error.ok()?,
        states: states?,
    };
    if !poll.is_complete() {
        let text = "a request for a state has {id}, the carrier's id, and no other placeholder but \
                    {token}";
        section.fault_at(&place, "url", text);
    }
    let server = poll.server();
    let server = server.map_err(|fault| section.fault_at(&place, "url", fault.to_string()));
    section.finish();
    server.ok()?;
    Some(PollSettings { poll, times })
}

/// Reads the times of requests for states.
pub(super) fn poll_times(section: &mut Section<'_>) -> PollTimes {
    let interval = section.time("interval", POLL_INTERVALS);
    let period = section.time("period", POLL_PERIODS);
    let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    PollTimes {
        interval_ms: millis(interval.unwrap_or(DEFAULT_POLL_INTERVAL)),
        period_ms: millis(period.unwrap_or(DEFAULT_POLL_PERIOD)),
    }
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

pub(super) fn hook_secret(
    section: &mut Section<'_>,
    [key, file]: [&'static str; 2],
) -> Option<String> {
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
