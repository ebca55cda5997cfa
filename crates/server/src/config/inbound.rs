//! The section `[inbound]`: messages that subscribers send.

use super::gateway::millis;
use super::section::Section;
use domain::inbound::{MAX_WORD_CHARACTERS, is_stop_word};
use engine::InboundSettings;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Allowed time-outs. Carriers deliver the pages of a message within seconds, or after an outage.
const JOIN_TIMEOUTS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(1);

/// Maximum number of words of the operator.
const MAX_STOP_WORDS: usize = 100;

/// Reads the section.
pub(super) fn read(mut section: Section<'_>) -> InboundSettings {
    let join_timeout = section.time("join_timeout", JOIN_TIMEOUTS);
    let stop_words: Vec<String> = section.get("stop_words").unwrap_or_default();
    if stop_words.len() > MAX_STOP_WORDS {
        let fault = format!("must have at most {MAX_STOP_WORDS} words");
        section.fault("stop_words", fault);
    }
    if let Some(wrong) = stop_words.iter().find(|word| !is_stop_word(word)) {
        let fault = format!(
            "must be words with letters or digits, of at most {MAX_WORD_CHARACTERS} characters, not \"{wrong:.40}\""
        );
        section.fault("stop_words", fault);
    }
    section.finish();
    InboundSettings {
        join_timeout_ms: join_timeout.map_or(0, millis),
        stop_words,
    }
}
