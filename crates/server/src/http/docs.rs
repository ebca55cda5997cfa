//! `/docs`: one page of our own that renders `/openapi.json`, with nothing from a third party.

use super::envelope::text;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// Nothing may be loaded but what this binary serves, and no other page may frame it.
const CONTENT_SECURITY_POLICY: HeaderValue = text(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// `GET /docs`.
pub(super) async fn page(State(state): State<super::State>) -> Response {
    let page = state.codes.within(include_str!("docs/index.html"));
    asset("text/html; charset=utf-8", page)
}

/// `GET /docs/docs.css`.
pub(super) async fn style() -> Response {
    asset("text/css; charset=utf-8", include_str!("docs/docs.css"))
}

/// `GET /docs/docs.js`.
pub(super) async fn script() -> Response {
    asset(
        "text/javascript; charset=utf-8",
        include_str!("docs/docs.js"),
    )
}

/// `GET /docs/interface.js`.
pub(super) async fn interface() -> Response {
    asset(
        "text/javascript; charset=utf-8",
        include_str!("docs/interface.js"),
    )
}

/// `GET /docs/elements.js`.
pub(super) async fn elements() -> Response {
    asset(
        "text/javascript; charset=utf-8",
        include_str!("docs/elements.js"),
    )
}

/// `GET /docs/icon.svg`.
pub(super) async fn icon() -> Response {
    asset("image/svg+xml", include_str!("docs/icon.svg"))
}

fn asset(content_type: &'static str, content: impl IntoResponse) -> Response {
    let headers = [
        (header::CONTENT_TYPE, text(content_type)),
        (header::CACHE_CONTROL, text("no-cache")),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    ];
    (headers, content).into_response()
}
