//! Connections kept open between callbacks to the same receiver.

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

/// How long a connection is kept without use; shorter than most receivers keep theirs.
const MAX_IDLE: Duration = Duration::from_secs(15);
/// How many connections are kept without use altogether, where as many callbacks may be in flight.
const MAX_KEPT: usize = 1024;
/// The bytes that a connection may buffer of an answer, bytes.
const MAX_BUFFER: usize = 32 * 1024;
/// Headers of an answer: as many as are read of a request.
const MAX_HEADERS: usize = 256;

/// A connection that speaks HTTP/1.1; dropping it closes it, whatever the receiver is still saying.
pub(crate) struct Connection {
    requests: SendRequest<Full<Bytes>>,
    task: JoinHandle<()>,
}

impl Connection {
    /// Starts to speak HTTP on an open wire.
    pub(crate) async fn start(wire: Box<dyn Transport>) -> Result<Self, AttemptError> {
        let (requests, connection) = http1::Builder::new()
            .max_buf_size(MAX_BUFFER)
            .max_headers(MAX_HEADERS)
            .handshake(TokioIo::new(wire))
            .await
            .map_err(AttemptError::Broken)?;
        let task = tokio::spawn(async move {
            // Any event that ends the connection also ends the request on it, which is where it is told.
            let _ended = connection.await;
        });
        Ok(Self { requests, task })
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

/// Open connections without a request on them, by receiver: all of a URL before its path. To one receiver there are no
/// more than there were requests in flight, of all accounts that call it.
pub(crate) struct Pool {
    idle: Mutex<Idle>,
    max_kept: usize,
}

impl Pool {
    /// Keeps at most so many connections, and never more than `MAX_KEPT`.
    pub(crate) fn new(max_kept: usize) -> Self {
        Self {
            idle: Mutex::default(),
            max_kept: max_kept.min(MAX_KEPT),
        }
    }

    /// A connection to the receiver that was used last and is still open.
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

    /// Keeps a connection whose answer has been read to its end, where there is room.
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

    /// Closes what has not been used for long.
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

    /// The lock, also after a panic elsewhere: no change of the pool is ever left half done.
    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock()
    }
}
