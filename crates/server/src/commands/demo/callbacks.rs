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
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// Only the service of the demo connects here.
const LIMITS: ConnectionLimits = ConnectionLimits {
    max: 1_000,
    idle_timeout: Duration::from_mins(1),
};

/// The fields of a callback that the demo shows.
#[derive(Deserialize)]
pub(super) struct ShownCallback {
    pub(super) message_id: String,
    pub(super) recipient: String,
    pub(super) delivery_status: String,
}

/// Receives on a free port until the process ends. Returns the address, and a channel of callbacks.
/// Once that channel is closed, callbacks are shown on standard error.
pub(super) async fn receive() -> io::Result<(SocketAddr, mpsc::Receiver<ShownCallback>)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let (sender, outcomes) = mpsc::channel(1);
    let router = Router::new().route("/", post(show)).with_state(sender);
    tokio::spawn(crate::http::serve(
        listener,
        None,
        LIMITS,
        crate::http::Codes::default(),
        router,
        std::future::pending::<()>(),
    ));
    Ok((address, outcomes))
}

async fn show(
    State(sender): State<mpsc::Sender<ShownCallback>>,
    Json(outcome): Json<ShownCallback>,
) -> StatusCode {
    let Err(mpsc::error::TrySendError::Closed(outcome) | mpsc::error::TrySendError::Full(outcome)) =
        sender.try_send(outcome)
    else {
        return StatusCode::OK;
    };
    let ShownCallback {
        message_id,
        recipient,
        delivery_status,
    } = outcome;
    let line = format!("callback: {recipient} {delivery_status} (message {message_id})");
    logs::print(&line);
    StatusCode::OK
}
