//! One attempt at a callback: the request, and the decision after the answer.

use super::client::{Answer, Client};
use super::health::AttemptResult;
use super::observe::{self, Measures};
use super::signing::Secrets;
use super::target::Post;
use crate::context::clock::Clock;
use crate::context::http_client::connect::AttemptError;
use crate::context::random::Random;
use domain::callback::{self, AfterAttempt, Attempt, AttemptVerdict, log, signature};
use store::{Attempted, Callback, CallbackEvent, Finished};
use tokio::time::Instant;

/// The end of an attempt.
pub(crate) struct Ended {
    /// The outcome of the callback.
    pub(crate) finished: Finished,
    /// The result for the health of the receiver.
    pub(crate) result: AttemptResult,
    /// The record of the attempt for the operator, if one is kept.
    pub(crate) attempted: Option<Attempted>,
}

impl Ended {
    /// The end of a callback that was not attempted.
    pub(crate) const UNTOUCHED: Self = Self {
        finished: Finished::Untouched,
        result: AttemptResult::NotTried,
        attempted: None,
    };

    /// The end of a callback that waited too long for a failing receiver. It is given up without
    /// another attempt.
    pub(crate) const GIVEN_UP: Self = Self {
        finished: Finished::GivenUp,
        ..Self::UNTOUCHED
    };
}

/// The dependencies that all attempts share.
pub(crate) struct Attempts {
    pub(crate) client: Client,
    pub(crate) secrets: Secrets,
    pub(crate) clock: Clock,
    pub(crate) random: Random,
    pub(crate) measures: Measures,
    /// The delays after failed attempts, milliseconds.
    pub(crate) delays_ms: Vec<i64>,
}

impl Attempts {
    /// Posts a callback and decides its outcome.
    pub(crate) async fn make(&self, callback: &Callback) -> Ended {
        let (started, made_at_ms) = (Instant::now(), self.clock.now_ms());
        self.measures.in_flight.increment(1);
        let number = callback.attempts.saturating_add(1);
        let post = self.post(callback, number, made_at_ms);
        let answer_or_error = self.client.post(&callback.url, post).await;
        self.measures.in_flight.decrement(1);
        let next = self.next(number, &answer_or_error);
        let took = started.elapsed();
        observe::attempted(
            &self.measures,
            callback,
            number,
            &answer_or_error,
            next,
            took,
        );
        let attempted = log::is_kept(number, next).then(|| Attempted {
            made_at_ms,
            result: result(&answer_or_error),
            took_ms: i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
            answer: answer_or_error
                .as_ref()
                .map_or_else(|_| String::new(), |answer| log::shown(&answer.start)),
        });
        let finished = match next {
            AfterAttempt::Done => Finished::Done,
            AfterAttempt::Retry { at_ms } => Finished::Retry { at_ms },
            AfterAttempt::Dead => Finished::Dead,
            AfterAttempt::EndMessage => Finished::EndMessage,
        };
        let is_answered = answer_or_error.is_ok_and(|answer| answer.status < 500);
        Ended {
            finished,
            result: if is_answered {
                AttemptResult::Answered
            } else {
                AttemptResult::Failed
            },
            attempted,
        }
    }

    /// Returns the request. It is signed if the account has a secret.
    fn post(&self, callback: &Callback, attempt: i64, now_ms: i64) -> Post {
        let (message, recipient) = (callback.message, callback.recipient);
        let body = match &callback.event {
            CallbackEvent::Delivery {
                status,
                customer_reference,
            } => {
                let (reference, url) = (customer_reference.as_deref(), &*callback.url);
                callback::body(message, recipient, *status, reference, url)
            }
            CallbackEvent::Inbound(inbound) => inbound.callback_body(),
            CallbackEvent::LowBalance(body) => body.to_string(),
            // The lanes claim no events of SMPP users.
            CallbackEvent::Receipt(_) => String::new(),
        };
        let secrets = self.secrets.of(callback.account);
        let signed = secrets
            .and_then(|secrets| signature::sign(&secrets, message, recipient, &body, now_ms));
        Post {
            body: body.into(),
            attempt,
            signed,
        }
    }

    /// Returns the decision after the answer to an attempt.
    fn next(&self, number: i64, answer_or_error: &Result<Answer, AttemptError>) -> AfterAttempt {
        let now_ms = self.clock.now_ms();
        let attempt = match answer_or_error {
            Ok(answer) => Attempt::Answered {
                status: answer.status,
                retry_after: answer.retry_after.as_deref(),
            },
            Err(_) => Attempt::Unanswered,
        };
        let verdict = callback::verdict(attempt, now_ms);
        let made = usize::try_from(number).unwrap_or(usize::MAX);
        // Randomness is read only where a retry needs it, because each read is a system call.
        let random = match verdict {
            AttemptVerdict::Retry { .. } => self.random.small(),
            AttemptVerdict::Accepted | AttemptVerdict::Refused | AttemptVerdict::Gone => 0,
        };
        callback::next(made, &self.delays_ms, verdict, random, now_ms)
    }
}

/// Returns the HTTP status, or the class of the error.
fn result(answer_or_error: &Result<Answer, AttemptError>) -> String {
    match answer_or_error {
        Ok(answer) => answer.status.to_string(),
        Err(fault) => fault.class().to_owned(),
    }
}
