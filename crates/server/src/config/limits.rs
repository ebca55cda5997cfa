//! `[limits]`: rates of an account, sizes of a request, and the accept queue.

use super::carrier::as_usize;
use super::gateway::millis;
use super::section::Section;
use super::value::Size;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Upper bound of `limits.max_recipients` (docs/spec/sending.md, section 1).
const MAX_RECIPIENTS: u32 = 100_000;
const MAX_COUNT: u32 = 1_000_000_000;
/// Minimum size of the largest body. A smaller one could not hold the recipients of an ordinary
/// request.
const MIN_BODY: Size = Size(64 << 10);
/// Minimum memory for bodies, in largest bodies. A quarter of it is for callers who are not known
/// yet, and the largest body must fit into that quarter.
const MIN_BODIES: usize = 4;

/// Allowed retention of the answers of idempotency keys. It outlasts retries and is at most a
/// month.
const ANSWER_KEPT: RangeInclusive<Duration> =
    Duration::from_mins(5)..=Duration::from_hours(30 * 24);

/// `[limits]`
#[derive(Clone, Debug)]
pub struct LimitsSection {
    /// The limits that the engine applies.
    pub engine: engine::Limits,
    /// Maximum recipients of a request.
    pub max_recipients: usize,
    /// Maximum size of a request body, bytes.
    pub max_body_bytes: usize,
    /// Maximum memory of all bodies together, bytes.
    pub body_memory_bytes: usize,
}

impl LimitsSection {
    /// Reads the section, beside the limits of `[sandbox]`.
    pub(super) fn read(mut section: Section<'_>, sandbox: engine::SandboxLimits) -> Self {
        let max_body = section
            .within("max_body", MIN_BODY..=Size(1 << 30))
            .unwrap_or(MIN_BODY);
        let least = Size(max_body.0 * MIN_BODIES);
        let body_memory = section.within("body_memory", least..=Size(1 << 40));
        let window = section.time("idempotency_window", ANSWER_KEPT);
        let mut count = |key, most| section.within(key, 1..=most).unwrap_or_default();
        let limits = Self {
            engine: engine::Limits {
                sends_per_minute: count("sends_per_minute", MAX_COUNT),
                reports_per_minute: count("reports_per_minute", MAX_COUNT),
                reads_per_minute: count("reads_per_minute", MAX_COUNT),
                unknown_tokens_per_minute: count("unknown_tokens_per_minute", MAX_COUNT),
                accept_queue: as_usize(count("accept_queue", MAX_COUNT)),
                otp_per_number: count("otp_per_number", MAX_COUNT),
                idempotency_window_ms: millis(window.unwrap_or_default()),
                sandbox,
            },
            max_recipients: as_usize(count("max_recipients", MAX_RECIPIENTS)),
            max_body_bytes: max_body.0,
            body_memory_bytes: body_memory.unwrap_or_default().0,
        };
        section.finish();
        limits
    }
}
