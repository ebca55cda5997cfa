//! What machines ask: is it alive, may it get traffic, and how does it fare.

use super::State;
use super::envelope::text;
use axum::extract::State as Shared;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

/// `GET /healthz`: the process answers.
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: the database is reachable and the start is done.
pub(super) async fn ready(Shared(state): Shared<State>) -> (StatusCode, &'static str) {
    if state.engine.is_ready() {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready\n")
    }
}

/// `GET /metrics`: Prometheus text.
pub(super) async fn metrics(Shared(state): Shared<State>) -> Response {
    let content_type = text("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, content_type)], (state.metrics)()).into_response()
}
