//! The probes of machines: liveness, readiness and metrics.

use crate::http::context::State;
use crate::http::respond::envelope::text;
use axum::extract::State as Shared;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

/// `GET /healthz`: the process answers.
pub(crate) async fn alive() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: the database is reachable and the start is done.
pub(crate) async fn ready(Shared(state): Shared<State>) -> (StatusCode, &'static str) {
    if state.engine.is_ready() {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready\n")
    }
}

/// `GET /metrics`: Prometheus text.
pub(crate) async fn metrics(Shared(state): Shared<State>) -> Response {
    let content_type = text("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, content_type)], (state.metrics)()).into_response()
}
