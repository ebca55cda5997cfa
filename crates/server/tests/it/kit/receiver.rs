//! A receiver of callbacks that records them, and answers as configured.

use super::until;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A received callback.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Call {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).expect("JSON")
    }

    /// Returns a field at the top of the body.
    pub(crate) fn field(&self, name: &str) -> String {
        self.json()[name].as_str().unwrap_or_default().to_owned()
    }
}

/// The answer to a callback.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reaction {
    /// The answer has this status.
    Status(u16),
    /// The answer is 503 with this many seconds in `Retry-After`.
    Later(u64),
    /// The answer redirects to the receiver itself.
    Redirect,
    /// The answer is 200 with so many headers, including those of every answer.
    Headers(usize),
    /// There is no answer.
    Silence,
}

#[derive(Default)]
struct Book {
    calls: Vec<Call>,
    /// The next answers, after which the usual one follows.
    reactions: VecDeque<Reaction>,
    usual: Option<Reaction>,
}

/// A receiver that runs until it is dropped.
pub(crate) struct Receiver {
    pub(crate) url: String,
    pub(crate) port: u16,
    book: Arc<Mutex<Book>>,
    server: JoinHandle<()>,
}

impl Receiver {
    /// Starts a receiver that answers 200.
    pub(crate) async fn start() -> Self {
        Self::start_on(0).await
    }

    /// Starts the same on a given port.
    pub(crate) async fn start_on(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .await
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        let book = Arc::<Mutex<Book>>::default();
        let router = Router::new()
            .fallback(receive)
            .with_state(Arc::clone(&book));
        let server = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("it serves");
        });
        Self {
            url: format!("http://{address}/delivery?key=s3cret"),
            port: address.port(),
            book,
            server,
        }
    }

    /// Sets the next answers, in order; 200 follows.
    pub(crate) fn react(&self, reactions: impl IntoIterator<Item = Reaction>) {
        self.book
            .lock()
            .expect("the book")
            .reactions
            .extend(reactions);
    }

    /// Sets the answer from now on.
    pub(crate) fn always(&self, reaction: Option<Reaction>) {
        self.book.lock().expect("the book").usual = reaction;
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.book.lock().expect("the book").calls.clone()
    }

    /// Waits for so many callbacks.
    pub(crate) async fn called(&self, count: usize) -> Vec<Call> {
        until("the callbacks have come", async || {
            let calls = self.calls();
            (calls.len() >= count).then_some(calls)
        })
        .await
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn receive(
    State(book): State<Arc<Mutex<Book>>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let reaction = {
        let mut book = book.lock().expect("the book");
        book.calls.push(Call {
            target: uri.to_string(),
            headers,
            text: String::from_utf8(body.to_vec()).expect("UTF-8"),
        });
        let next = book.reactions.pop_front();
        next.or(book.usual).unwrap_or(Reaction::Status(200))
    };
    match reaction {
        Reaction::Status(status) => StatusCode::from_u16(status)
            .expect("a status")
            .into_response(),
        Reaction::Later(seconds) => (
            StatusCode::SERVICE_UNAVAILABLE,
            [(header::RETRY_AFTER, seconds.to_string())],
        )
            .into_response(),
        Reaction::Redirect => (
            StatusCode::TEMPORARY_REDIRECT,
            [(header::LOCATION, uri.to_string())],
        )
            .into_response(),
        Reaction::Headers(count) => {
            // The server adds `content-length` and `date`.
            let headers = (2..count).map(|number| {
                let name = format!("x-proxy-{number}").parse().expect("a name");
                (name, header::HeaderValue::from_static("1"))
            });
            headers.collect::<HeaderMap>().into_response()
        }
        Reaction::Silence => std::future::pending().await,
    }
}
