//! A receiver of callbacks beside the demo, which shows each callback.

use crate::http::ConnectionLimits;
use crate::logs;
use axum::Router;
use axum::extract::{Json, State};
use axum::http::StatusCode;
use axum::routing::post;
use serde::Deserialize;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// Only the service of the demo connects here.
const LIMITS: ConnectionLimits = ConnectionLimits {
    max: 1_000,
    idle_timeout: Duration::from_mins(1),
};

/// Maximum number of callbacks that wait for the demo.
const MAX_QUEUED: usize = 16;

/// The fields of a callback that the demo shows.
#[derive(Deserialize)]
pub(super) struct ShownCallback {
    pub(super) message_id: String,
    pub(super) recipient: String,
    pub(super) delivery_status: String,
}

/// The path that refuses callbacks of the history, so that they are dead. It accepts them later, so
/// a replay succeeds.
pub(super) const REFUSING_PATH: &str = "/billing";

/// The receiver. It runs until the process ends.
pub(super) struct Receiver {
    pub(super) address: SocketAddr,
    /// The callbacks after the history. Once this channel is closed or full, callbacks are shown on
    /// standard error.
    pub(super) outcomes: mpsc::Receiver<ShownCallback>,
    received: Arc<Received>,
}

/// The callbacks of the history are counted and not shown.
#[derive(Default)]
struct Received {
    of_history: AtomicU64,
    is_shown: AtomicBool,
}

impl Receiver {
    /// Returns the number of callbacks of the history.
    pub(super) fn of_history(&self) -> u64 {
        self.received.of_history.load(Ordering::Relaxed)
    }

    /// Ends the history: further callbacks are shown.
    pub(super) fn show(&self) {
        self.received.is_shown.store(true, Ordering::Relaxed);
    }
}

/// Receives on a free port.
pub(super) async fn receive() -> io::Result<Receiver> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let (sender, outcomes) = mpsc::channel(MAX_QUEUED);
    let received = Arc::<Received>::default();
    let router = Router::new()
        .route("/", post(accept))
        .route(REFUSING_PATH, post(refuse_first))
        .with_state((sender, Arc::clone(&received)));
    tokio::spawn(crate::http::serve(
        listener,
        None,
        LIMITS,
        crate::http::Codes::default(),
        router,
        std::future::pending::<()>(),
    ));
    Ok(Receiver {
        address,
        outcomes,
        received,
    })
}

type Shared = (mpsc::Sender<ShownCallback>, Arc<Received>);

async fn accept(State((sender, received)): State<Shared>, Json(outcome): Json<ShownCallback>) {
    if received.is_shown.load(Ordering::Relaxed) {
        show(&sender, outcome);
    } else {
        received.of_history.fetch_add(1, Ordering::Relaxed);
    }
}

async fn refuse_first(
    State((sender, received)): State<Shared>,
    Json(outcome): Json<ShownCallback>,
) -> StatusCode {
    if received.is_shown.load(Ordering::Relaxed) {
        show(&sender, outcome);
        return StatusCode::OK;
    }
    received.of_history.fetch_add(1, Ordering::Relaxed);
    StatusCode::NOT_FOUND
}

fn show(sender: &mpsc::Sender<ShownCallback>, outcome: ShownCallback) {
    let Err(mpsc::error::TrySendError::Closed(outcome) | mpsc::error::TrySendError::Full(outcome)) =
        sender.try_send(outcome)
    else {
        return;
    };
    let ShownCallback {
        message_id,
        recipient,
        delivery_status,
    } = outcome;
    let line = format!("callback: {recipient} {delivery_status} (message {message_id})");
    logs::print(&line);
}
