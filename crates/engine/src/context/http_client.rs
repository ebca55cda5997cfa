//! Requests to the HTTP servers of others, over guarded and pooled connections.
//!
//! A request is sent at most once. A caller learns whether the server can have it.

pub(crate) mod connect;
pub(crate) mod pool;

use bytes::Bytes;
use connect::{AttemptError, Connector};
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use pool::{Connection, NoAnswer, Pool};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use url::{Position, Url};

/// Maximum number of bytes of an answer that are read.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// Timeout of a connection, including TLS.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The answer of a server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Answered {
    /// HTTP status code.
    pub(crate) status: u16,
    /// The body, or its beginning if the rest is too long or late.
    pub(crate) body: Vec<u8>,
}

/// The reason why a request has no answer.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// No octet of the request was sent.
    NotSent(AttemptError),
    /// The server may have the request.
    Unknown(AttemptError),
}

impl Unanswered {
    /// Returns the error.
    pub(crate) const fn error(&self) -> &AttemptError {
        match self {
            Self::NotSent(error) | Self::Unknown(error) => error,
        }
    }
}

/// A client of one server. It follows no redirects and uses no proxy.
pub(crate) struct HttpClient {
    connector: Connector,
    pool: Pool,
}

impl HttpClient {
    /// Creates a client that keeps at most `max_kept` idle connections.
    pub(crate) fn new(connector: Connector, max_kept: usize) -> Self {
        Self {
            connector,
            pool: Pool::new(max_kept),
        }
    }

    /// Opens a connection to the server of a URL, and keeps it for the next request.
    pub(crate) async fn open(&self, url: &Url) -> Result<(), AttemptError> {
        let fresh = self.connect(url).await?;
        self.pool.keep(server(url), fresh);
        Ok(())
    }

    /// Sends a request to the server of a URL. The answer must arrive within `timeout` after the
    /// request was sent. The wait for a connection is no part of it.
    pub(crate) async fn send(
        &self,
        url: &Url,
        mut request: Request<Full<Bytes>>,
        timeout: Duration,
    ) -> Result<Answered, Unanswered> {
        // A kept connection that was closed meanwhile returns the request.
        while let Some(kept) = self.pool.take(server(url)) {
            match self.exchange(kept, url, request, timeout).await {
                Err((_, Some(unsent))) => request = *unsent,
                Err((error, None)) => return Err(Unanswered::Unknown(error)),
                Ok(answered) => return Ok(answered),
            }
        }
        let fresh = self.connect(url).await.map_err(Unanswered::NotSent)?;
        let exchanged = self.exchange(fresh, url, request, timeout).await;
        exchanged.map_err(|(error, unsent)| match unsent {
            Some(_) => Unanswered::NotSent(error),
            None => Unanswered::Unknown(error),
        })
    }

    /// Closes connections that were idle for too long.
    pub(crate) fn sweep(&self) {
        self.pool.sweep();
    }

    async fn connect(&self, url: &Url) -> Result<Connection, AttemptError> {
        let wire = self.connector.connect(url, CONNECT_TIMEOUT).await?;
        Connection::start(wire).await
    }

    /// Sends a request over a connection and reads the answer. An error has the request if no octet
    /// of it was sent.
    async fn exchange(
        &self,
        mut connection: Connection,
        url: &Url,
        request: Request<Full<Bytes>>,
        timeout: Duration,
    ) -> Result<Answered, (AttemptError, Option<Box<Request<Full<Bytes>>>>)> {
        if let Err(error) = connection.ready().await {
            return Err((AttemptError::Broken(error), Some(Box::new(request))));
        }
        let deadline = Instant::now() + timeout;
        let response = match timeout_at(deadline, connection.try_send(request)).await {
            Err(_) => return Err((AttemptError::TimedOut, None)),
            Ok(Err(NoAnswer::NotSent(request, error))) => {
                return Err((AttemptError::Broken(error), Some(request)));
            }
            Ok(Err(NoAnswer::Broken(error))) => return Err((AttemptError::Broken(error), None)),
            Ok(Ok(response)) => response,
        };
        let status = response.status().as_u16();
        let mut body = Vec::new();
        // The status is known. A connection whose body does not end in time is not reused.
        if timeout_at(deadline, read_to_end(response.into_body(), &mut body)).await == Ok(true) {
            self.pool.keep(server(url), connection);
        }
        Ok(Answered { status, body })
    }
}

/// Returns the part of a URL before its path, by which connections are pooled.
fn server(url: &Url) -> &str {
    &url[..Position::BeforePath]
}

/// Reads a body. Returns `true` if it ended within [`MAX_ANSWER_BYTES`].
async fn read_to_end(mut rest: Incoming, body: &mut Vec<u8>) -> bool {
    loop {
        match rest.frame().await {
            None => return true,
            Some(Ok(frame)) => {
                let data = frame.data_ref().map_or(&[][..], |data| data);
                if body.len() + data.len() > MAX_ANSWER_BYTES {
                    return false;
                }
                body.extend_from_slice(data);
            }
            Some(Err(_)) => return false,
        }
    }
}
