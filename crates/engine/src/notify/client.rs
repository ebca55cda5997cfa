//! One attempt: POST the body, read the head of the answer, and make the connection ready for the next.

use super::connect::{AttemptError, Connector};
use super::pool::{Connection, Pool};
use super::target::{Post, Target, Targets};
use domain::callback::log::MAX_ANSWER_BYTES;
use http::header::RETRY_AFTER;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How much of an answer is read, bytes: enough for any receiver that only says yes or no.
const MAX_ANSWER: usize = 16 * 1024;

/// How long is waited.
#[derive(Clone, Copy)]
pub(crate) struct Timeouts {
    /// Until a receiver is connected, TLS included.
    pub(crate) connect: Duration,
    /// For the whole attempt.
    pub(crate) attempt: Duration,
    /// Until the database is looked at without a hint.
    pub(crate) look: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            attempt: Duration::from_secs(15),
            look: Duration::from_secs(1),
        }
    }
}

/// The answer of a receiver.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Answer {
    /// HTTP status code.
    pub(crate) status: u16,
    /// The header `Retry-After`.
    pub(crate) retry_after: Option<String>,
    /// How the body begins.
    pub(crate) start: Vec<u8>,
}

/// Posts callbacks. It follows no redirect and knows no proxy.
pub(crate) struct Client {
    connector: Connector,
    pool: Pool,
    targets: Targets,
    timeouts: Timeouts,
}

impl Client {
    /// Keeps no connection yet, and later at most `max_kept`.
    pub(crate) fn new(connector: Connector, timeouts: Timeouts, max_kept: usize) -> Self {
        Self {
            connector,
            pool: Pool::new(max_kept),
            targets: Targets::default(),
            timeouts,
        }
    }

    /// Posts to `url`.
    pub(crate) async fn post(&self, url: &str, post: Post) -> Result<Answer, AttemptError> {
        let target = self.targets.of(url).ok_or(AttemptError::Url)?;
        let deadline = Instant::now() + self.timeouts.attempt;
        let exchanged = timeout_at(deadline, self.exchange(&target, &post)).await;
        let (mut answer, rest, connection) = exchanged.map_err(|_| AttemptError::TimedOut)??;
        // The answer is known; a connection whose rest does not come in time is just not used again.
        if timeout_at(deadline, read_to_end(rest, &mut answer.start)).await == Ok(true) {
            self.pool.keep(target.receiver(), connection);
        }
        Ok(answer)
    }

    /// Closes connections that nobody has used for long.
    pub(crate) fn sweep(&self) {
        self.pool.sweep();
    }

    async fn exchange(
        &self,
        target: &Target,
        post: &Post,
    ) -> Result<(Answer, Incoming, Connection), AttemptError> {
        let request = || target.request(post).map_err(|_| AttemptError::Url);
        if let Some(mut kept) = self.pool.take(target.receiver()) {
            // A receiver may close a kept connection at the very moment it is used; that is not its
            // answer, so one fresh connection is tried. At worst it gets the callback twice, which the
            // interface allows.
            if let Ok(response) = kept.send(request()?).await {
                return Ok(split(response, kept));
            }
        }
        let wire = self
            .connector
            .connect(&target.url, self.timeouts.connect)
            .await?;
        let mut fresh = Connection::start(wire).await?;
        let response = fresh.send(request()?).await?;
        Ok(split(response, fresh))
    }
}

fn split(
    response: http::Response<Incoming>,
    connection: Connection,
) -> (Answer, Incoming, Connection) {
    let retry_after = response
        .headers()
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok());
    let answer = Answer {
        status: response.status().as_u16(),
        retry_after: retry_after.map(str::to_owned),
        start: Vec::new(),
    };
    (answer, response.into_body(), connection)
}

/// Returns `true` if the rest of an answer came to its end within what is read of it; `start` gets how it begins.
async fn read_to_end(mut rest: Incoming, start: &mut Vec<u8>) -> bool {
    let mut read = 0;
    while read <= MAX_ANSWER {
        match rest.frame().await {
            None => return true,
            Some(Ok(frame)) => {
                let data = frame.data_ref().map_or(&[][..], |data| data);
                let left = MAX_ANSWER_BYTES.saturating_sub(start.len());
                start.extend_from_slice(&data[..data.len().min(left)]);
                read += data.len();
            }
            Some(Err(_)) => return false,
        }
    }
    false
}
