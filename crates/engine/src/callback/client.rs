//! One attempt: POST the body, read the head of the answer, and make the connection ready for the next.

use super::connect::{Connector, Fault};
use super::pool::{Connection, Pool};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use domain::callback::log::MOST_ANSWER_BYTES;
use domain::callback::signature::Signed;
use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, RETRY_AFTER, USER_AGENT,
};
use http::{HeaderValue, Request};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use url::{Position, Url};

/// How much of an answer is read, bytes: enough for any receiver that only says yes or no.
const MAX_ANSWER: usize = 16 * 1024;
const AGENT: HeaderValue = HeaderValue::from_static(concat!("Ogene/", env!("CARGO_PKG_VERSION")));
const ATTEMPT: HeaderName = HeaderName::from_static("ogene-attempt");
const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// How long a receiver may take.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    /// Until it is connected, TLS included.
    pub(super) connect: Duration,
    /// For the whole attempt.
    pub(super) attempt: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            attempt: Duration::from_secs(15),
        }
    }
}

/// What is posted.
#[derive(Clone, Debug, Default)]
pub(super) struct Post {
    pub(super) body: String,
    /// The number of the attempt, from 1.
    pub(super) attempt: i64,
    /// What shows the receiver that it comes from us, where it wants that.
    pub(super) signed: Option<Signed>,
}

/// What a receiver said.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Answer {
    /// HTTP status code.
    pub(super) status: u16,
    /// The header `Retry-After`.
    pub(super) retry_after: Option<String>,
    /// How the body begins.
    pub(super) start: Vec<u8>,
}

/// Posts callbacks. It follows no redirect and knows no proxy.
pub(super) struct Client {
    connector: Connector,
    pool: Pool,
    patience: Patience,
}

impl Client {
    /// Keeps at most `per_receiver` idle connections to a receiver.
    pub(super) fn new(connector: Connector, per_receiver: usize, patience: Patience) -> Self {
        Self {
            connector,
            pool: Pool::new(per_receiver),
            patience,
        }
    }

    /// Posts to `url`.
    pub(super) async fn post(&self, url: &str, post: Post) -> Result<Answer, Fault> {
        let url = Url::parse(url).map_err(|_| Fault::Url)?;
        let deadline = Instant::now() + self.patience.attempt;
        let request = request(&url, post).ok_or(Fault::Url)?;
        let exchanged = timeout_at(deadline, self.exchange(&url, request)).await;
        let (mut answer, rest, connection) = exchanged.map_err(|_| Fault::TimedOut)??;
        // The answer is known; a connection whose rest does not come in time is just not used again.
        if timeout_at(deadline, read_to_end(rest, &mut answer.start)).await == Ok(true) {
            self.pool.keep(receiver(&url), connection);
        }
        Ok(answer)
    }

    /// Closes connections that nobody has used for long.
    pub(super) fn sweep(&self) {
        self.pool.sweep();
    }

    async fn exchange(
        &self,
        url: &Url,
        request: Request<Full<Bytes>>,
    ) -> Result<(Answer, Incoming, Connection), Fault> {
        if let Some(mut kept) = self.pool.take(receiver(url)) {
            // A receiver may close a kept connection at the very moment it is used; that is not its
            // answer, so one fresh connection is tried. At worst it gets the callback twice, which the
            // interface allows.
            if let Ok(response) = kept.send(request.clone()).await {
                return Ok(split(response, kept));
            }
        }
        let wire = self.connector.connect(url, self.patience.connect).await?;
        let mut fresh = Connection::start(wire).await?;
        let response = fresh.send(request).await?;
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

/// Which kept connections will do: scheme, user, host and port of the URL.
fn receiver(url: &Url) -> &str {
    &url[..Position::BeforePath]
}

/// The request in origin form; `None` when the URL holds what HTTP cannot say.
fn request(url: &Url, post: Post) -> Option<Request<Full<Bytes>>> {
    let request = Request::post(&url[Position::BeforePath..Position::AfterQuery])
        .header(HOST, &url[Position::BeforeHost..Position::AfterPort])
        .header(
            CONTENT_TYPE,
            const { HeaderValue::from_static("application/json") },
        )
        .header(ACCEPT, const { HeaderValue::from_static("*/*") })
        .header(USER_AGENT, AGENT)
        .header(ATTEMPT, post.attempt);
    let request = match post.signed {
        Some(signed) => request
            .header(ID, signed.id)
            .header(TIMESTAMP, signed.at_s)
            .header(SIGNATURE, signed.signature),
        None => request,
    };
    let request = match basic_authentication(url) {
        Some(value) => request.header(AUTHORIZATION, value),
        None => request,
    };
    request.body(Full::new(post.body.into())).ok()
}

/// User and password of the URL as RFC 7617 sends them.
fn basic_authentication(url: &Url) -> Option<String> {
    let (user, password) = (url.username(), url.password());
    if user.is_empty() && password.is_none() {
        return None;
    }
    let mut pair: Vec<u8> = percent_decode_str(user).collect();
    pair.push(b':');
    pair.extend(percent_decode_str(password.unwrap_or_default()));
    Some(format!("Basic {}", BASE64_STANDARD.encode(pair)))
}

/// Whether the rest of an answer came to its end within what is read of it; `start` gets how it begins.
async fn read_to_end(mut rest: Incoming, start: &mut Vec<u8>) -> bool {
    let mut read = 0;
    while read <= MAX_ANSWER {
        match rest.frame().await {
            None => return true,
            Some(Ok(frame)) => {
                let data = frame.data_ref().map_or(&[][..], |data| data);
                let left = MOST_ANSWER_BYTES.saturating_sub(start.len());
                start.extend_from_slice(&data[..data.len().min(left)]);
                read += data.len();
            }
            Some(Err(_)) => return false,
        }
    }
    false
}
