//! The HTTP client for callbacks: it posts the body, reads the answer, and keeps the connection for
//! the next request.

use super::target::{Post, Target, Targets};
use crate::context::http_client::connect::{AttemptError, Connector};
use crate::context::http_client::pool::{Connection, Pool};
use domain::callback::log::MAX_ANSWER_BYTES;
use http::header::RETRY_AFTER;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Maximum number of bytes of an answer that are read.
const MAX_READ_BYTES: usize = 16 * 1024;

/// The timeouts of the stage.
#[derive(Clone, Copy)]
pub(crate) struct Timeouts {
    /// The timeout of the connection, including TLS.
    pub(crate) connect: Duration,
    /// The timeout of the whole attempt.
    pub(crate) attempt: Duration,
    /// The longest time between two polls of the database.
    pub(crate) poll: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            attempt: Duration::from_secs(15),
            poll: Duration::from_secs(1),
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
    /// The beginning of the body.
    pub(crate) start: Vec<u8>,
}

/// Posts callbacks. It follows no redirects and uses no proxy.
pub(crate) struct Client {
    connector: Connector,
    pool: Pool,
    targets: Targets,
    timeouts: Timeouts,
}

impl Client {
    /// Creates a client that keeps at most `max_kept` idle connections.
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
        // The status is known. A connection whose body does not end in time is not reused.
        if timeout_at(deadline, read_to_end(rest, &mut answer.start)).await == Ok(true) {
            self.pool.keep(target.receiver(), connection);
        }
        Ok(answer)
    }

    /// Closes connections that were idle for too long.
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
            // A receiver may close an idle connection at the moment of the request. So the request
            // is repeated once on a fresh connection. The receiver may get the callback twice,
            // which the interface allows.
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

/// Reads the rest of an answer into `start`. Returns `true` if it ended within [`MAX_READ_BYTES`].
async fn read_to_end(mut rest: Incoming, start: &mut Vec<u8>) -> bool {
    let mut read = 0;
    while read <= MAX_READ_BYTES {
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
