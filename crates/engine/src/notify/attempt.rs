//! One attempt at a callback: what is posted, and what follows from the answer.

use super::worker::Desk;
use crate::notify::client::{Answer, Post};
use crate::notify::connect::Fault;
use crate::notify::health::Went;
use crate::notify::observe;
use domain::callback::{self, Attempt, Next, Verdict, log, signature};
use store::{Attempted, Callback, Finished};
use tokio::time::Instant;

/// How it ended.
pub(crate) struct Ended {
    /// What becomes of the callback.
    pub(crate) finished: Finished,
    /// What it says of the receiver.
    pub(crate) went: Went,
    /// What is kept of it for the operator.
    pub(crate) attempted: Option<Attempted>,
}

impl Ended {
    /// Of a callback that was not tried.
    pub(crate) const UNTOUCHED: Self = Self {
        finished: Finished::Untouched,
        went: Went::NotTried,
        attempted: None,
    };

    /// Of a callback that waited too long for a receiver that fails, and is given up without a further try.
    pub(crate) const GIVEN_UP: Self = Self {
        finished: Finished::GivenUp,
        ..Self::UNTOUCHED
    };
}

impl Desk {
    /// Posts a callback and decides what becomes of it.
    pub(crate) async fn attempt(&self, callback: &Callback) -> Ended {
        let (started, made_at_ms) = (Instant::now(), self.clock.now_ms());
        self.measures.in_flight.increment(1);
        let number = callback.attempts.saturating_add(1);
        let post = self.post(callback, number, made_at_ms);
        let said = self.client.post(&callback.url, post).await;
        self.measures.in_flight.decrement(1);
        let next = self.next(number, &said);
        let took = started.elapsed();
        observe::attempted(&self.measures, callback, number, &said, next, took);
        let attempted = log::is_kept(number, next).then(|| Attempted {
            made_at_ms,
            result: result(&said),
            took_ms: i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
            answer: said
                .as_ref()
                .map_or_else(|_| String::new(), |answer| log::shown(&answer.start)),
        });
        let finished = match next {
            Next::Done => Finished::Done,
            Next::Retry { at_ms } => Finished::Retry { at_ms },
            Next::Dead => Finished::Dead,
            Next::EndMessage => Finished::EndMessage,
        };
        let is_well = said.is_ok_and(|answer| answer.status < 500);
        Ended {
            finished,
            went: if is_well { Went::Well } else { Went::Badly },
            attempted,
        }
    }

    /// What is posted, signed where the account has a secret.
    fn post(&self, callback: &Callback, attempt: i64, now_ms: i64) -> Post {
        let (message, recipient) = (callback.message, callback.recipient);
        let body = callback::body(
            message,
            recipient,
            callback.status,
            callback.customer_reference.as_deref(),
            &callback.url,
        );
        let secrets = self.secrets.of(callback.account);
        let signed = secrets
            .and_then(|secrets| signature::sign(&secrets, message, recipient, &body, now_ms));
        Post {
            body: body.into(),
            attempt,
            signed,
        }
    }

    /// What follows from the answer to the attempt of this number.
    fn next(&self, number: i64, said: &Result<Answer, Fault>) -> Next {
        let now_ms = self.clock.now_ms();
        let attempt = match said {
            Ok(answer) => Attempt::Answered {
                status: answer.status,
                retry_after: answer.retry_after.as_deref(),
            },
            Err(_) => Attempt::Unanswered,
        };
        let verdict = callback::verdict(attempt, now_ms);
        let made = usize::try_from(number).unwrap_or(usize::MAX);
        // Asked for only where it is used: it is a call of the system.
        let chance = match verdict {
            Verdict::Retry { .. } => self.chance.small(),
            Verdict::Accepted | Verdict::Refused | Verdict::Gone => 0,
        };
        callback::next(made, &self.delays_ms, verdict, chance, now_ms)
    }
}

/// The HTTP status, or why there was none.
fn result(said: &Result<Answer, Fault>) -> String {
    match said {
        Ok(answer) => answer.status.to_string(),
        Err(fault) => fault.class().to_owned(),
    }
}
