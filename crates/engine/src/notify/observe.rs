//! Logs and metrics of callbacks. They hold the origin, never the URL or the recipient.

use super::client::Answer;
use crate::context::http_client::connect::AttemptError;
use crate::context::metrics::broken_receivers;
use domain::callback::AfterAttempt;
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};
use std::time::Duration;
use store::Callback;

/// Logs that the circuit breaker of a receiver opened or closed.
pub(crate) fn breaker_changed(callback: &Callback, is_open: bool, open: usize) {
    broken_receivers(open);
    let (account, origin) = (callback.account.0, &callback.origin);
    if is_open {
        tracing::warn!(
            account.id = account,
            callback.origin = origin,
            "callback receiver: failing, circuit breaker open, one callback at a time"
        );
    } else {
        tracing::info!(
            account.id = account,
            callback.origin = origin,
            "callback receiver: answering again, circuit breaker closed"
        );
    }
}

/// The metrics of attempts. Frequent handles are kept.
pub(crate) struct Measures {
    pub(crate) in_flight: Gauge,
    accepted: Counter,
    seconds: Histogram,
}

impl Default for Measures {
    fn default() -> Self {
        Self {
            in_flight: gauge!("ogene_callbacks_in_flight"),
            accepted: counted(ACCEPTED),
            seconds: histogram!("ogene_callback_seconds"),
        }
    }
}

const ACCEPTED: &str = "accepted";

fn counted(result: &'static str) -> Counter {
    counter!("ogene_callback_attempts_total", "result" => result)
}

/// Counts an attempt, and logs it if it failed.
pub(crate) fn attempted(
    measures: &Measures,
    callback: &Callback,
    number: i64,
    answer_or_error: &Result<Answer, AttemptError>,
    next: AfterAttempt,
    took: Duration,
) {
    let result = match answer_or_error {
        Ok(answer) => match answer.status {
            200..=299 => ACCEPTED,
            300..=399 => "redirected",
            400..=499 => "refused",
            _ => "failed",
        },
        Err(fault) => fault.class(),
    };
    match result {
        ACCEPTED => measures.accepted.increment(1),
        other => counted(other).increment(1),
    }
    measures.seconds.record(took.as_secs_f64());
    let status = answer_or_error.as_ref().ok().map(|answer| answer.status);
    match next {
        AfterAttempt::Done => {}
        AfterAttempt::Retry { .. } => tracing::debug!(
            account.id = callback.account.0,
            callback.origin,
            callback.attempts = number,
            callback.result = result,
            http.status = status,
            "callback: failed, will be retried",
        ),
        AfterAttempt::Dead | AfterAttempt::EndMessage => tracing::info!(
            account.id = callback.account.0,
            callback.origin,
            callback.attempts = number,
            callback.result = result,
            http.status = status,
            "callback: dead, no further attempt",
        ),
    }
}
