//! The pool of idle connections to receivers.

use super::connect::AttemptError;
use crate::context::network::Transport;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Longest idle time of a kept connection. It is shorter than the timeout of most receivers.
const MAX_IDLE: Duration = Duration::from_secs(15);
/// Maximum number of idle connections.
const MAX_KEPT: usize = 1024;
/// Size of the read buffer of a connection, bytes.
const MAX_BUFFER: usize = 32 * 1024;
/// Maximum number of headers of an answer, the same as for requests to us.
const MAX_HEADERS: usize = 256;

/// The reason why a request got no answer.
pub(crate) enum NoAnswer {
    /// No octet of this request was sent.
    NotSent(Box<Request<Full<Bytes>>>, hyper::Error),
    /// The receiver may have the request.
    Broken(hyper::Error),
}

/// An HTTP/1.1 connection. Dropping it closes it, even during an answer.
pub(crate) struct Connection {
    requests: SendRequest<Full<Bytes>>,
    task: JoinHandle<()>,
}

impl Connection {
    /// Starts HTTP on an open connection.
    pub(crate) async fn start(wire: Box<dyn Transport>) -> Result<Self, AttemptError> {
        let (requests, connection) = http1::Builder::new()
            .max_buf_size(MAX_BUFFER)
            .max_headers(MAX_HEADERS)
            .handshake(TokioIo::new(wire))
            .await
            .map_err(AttemptError::Broken)?;
        let task = tokio::spawn(async move {
            // The request on the connection reports any error.
            let _ended = connection.await;
        });
        Ok(Self { requests, task })
    }

    /// Waits until the connection can take a request.
    pub(crate) async fn ready(&mut self) -> Result<(), hyper::Error> {
        self.requests.ready().await
    }

    /// Sends a request over a ready connection and waits for the head of the answer. Returns the
    /// request if no octet of it was sent.
    pub(crate) async fn try_send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, NoAnswer> {
        let sent = self.requests.try_send_request(request).await;
        sent.map_err(|mut error| match error.take_message() {
            Some(request) => NoAnswer::NotSent(Box::new(request), error.into_error()),
            None => NoAnswer::Broken(error.into_error()),
        })
    }

    /// Sends a request and waits for the head of the answer.
    pub(crate) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, AttemptError> {
        self.requests.ready().await.map_err(AttemptError::Broken)?;
        self.requests
            .send_request(request)
            .await
            .map_err(AttemptError::Broken)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Kept {
    connection: Connection,
    since: Instant,
}

#[derive(Default)]
struct Idle {
    by_receiver: HashMap<String, Vec<Kept>>,
    count: usize,
}

/// Idle connections by receiver, which is the part of a URL before its path. Accounts share
/// connections, and a receiver has no more of them than it had requests in flight.
pub(crate) struct Pool {
    idle: Mutex<Idle>,
    max_kept: usize,
}

impl Pool {
    /// Creates a pool of at most `max_kept` connections, and never more than `MAX_KEPT`.
    pub(crate) fn new(max_kept: usize) -> Self {
        Self {
            idle: Mutex::default(),
            max_kept: max_kept.min(MAX_KEPT),
        }
    }

    /// Takes the open connection to the receiver that was used last.
    pub(crate) fn take(&self, receiver: &str) -> Option<Connection> {
        let mut idle = self.lock();
        loop {
            let kept = idle.by_receiver.get_mut(receiver)?.pop()?;
            idle.count -= 1;
            if !kept.connection.requests.is_closed() && kept.since.elapsed() < MAX_IDLE {
                return Some(kept.connection);
            }
        }
    }

    /// Keeps a connection after its answer was read completely, if there is capacity.
    pub(crate) fn keep(&self, receiver: &str, connection: Connection) {
        let mut idle = self.lock();
        if idle.count >= self.max_kept || connection.requests.is_closed() {
            return;
        }
        let kept = Kept {
            connection,
            since: Instant::now(),
        };
        match idle.by_receiver.get_mut(receiver) {
            Some(others) => others.push(kept),
            None => {
                idle.by_receiver.insert(receiver.to_owned(), vec![kept]);
            }
        }
        idle.count += 1;
    }

    /// Closes connections that were idle for too long.
    pub(crate) fn sweep(&self) {
        let mut idle = self.lock();
        idle.by_receiver.retain(|_, others| {
            others.retain(|kept| {
                !kept.connection.requests.is_closed() && kept.since.elapsed() < MAX_IDLE
            });
            !others.is_empty()
        });
        idle.count = idle.by_receiver.values().map(Vec::len).sum();
    }

    /// Locks the pool. Its holders leave it consistent even if they panic.
    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock()
    }
}
