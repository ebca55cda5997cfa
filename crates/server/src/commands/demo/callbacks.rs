//! A receiver of callbacks beside the demo, which says what came.

use crate::http::Places;
use crate::logs;
use axum::Router;
use axum::extract::Json;
use axum::http::StatusCode;
use axum::routing::post;
use serde::Deserialize;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpListener;

/// One service calls here, and nobody else.
const PLACES: Places = Places {
    connections: 1_000,
    idle: Duration::from_mins(1),
};

/// What is shown of a callback.
#[derive(Deserialize)]
struct Outcome {
    message_id: String,
    recipient: String,
    delivery_status: String,
}

/// Receives on a free port for as long as the process runs, and gives the address.
pub(super) async fn receive() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let router = Router::new().route("/", post(show));
    tokio::spawn(crate::http::serve(
        listener,
        None,
        PLACES,
        crate::http::Codes::default(),
        router,
        std::future::pending::<()>(),
    ));
    Ok(address)
}

async fn show(Json(outcome): Json<Outcome>) -> StatusCode {
    let Outcome {
        message_id,
        recipient,
        delivery_status,
    } = outcome;
    let line = format!("callback: {recipient} {delivery_status} (message {message_id})");
    logs::print(&line);
    StatusCode::OK
}
