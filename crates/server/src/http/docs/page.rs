//! `/docs`: our own page that renders `/openapi.json`, without anything from a third party.

use super::document::Document;
use super::openapi;
use crate::http::context;
use crate::http::respond::envelope::text;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

/// The page loads only files that this binary serves, and no other page may frame it.
const CONTENT_SECURITY_POLICY: HeaderValue = text(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// `GET /docs`.
pub(crate) async fn page(State(state): State<context::State>) -> Response {
    let page = state.codes.within(include_str!("assets/index.html"));
    asset("text/html; charset=utf-8", page)
}

/// `GET /openapi.json`.
pub(crate) async fn document(State(state): State<context::State>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, text("application/json")),
        (header::CACHE_CONTROL, text("no-cache")),
    ];
    (headers, written(&state.settings.load().document)).into_response()
}

fn written(document: &Document) -> Bytes {
    document.text(|installation| {
        let document = openapi::build(installation).to_string();
        installation.codes.within(&document).into_owned()
    })
}

/// Returns the body that the documentation has as the example of an operation, or `None` if the
/// operation has no body.
pub(crate) fn example(document: &Document, method: &str, route: &str) -> Option<Value> {
    let whole: Value = serde_json::from_slice(&written(document)).ok()?;
    let operation = whole.get("paths")?.get(route)?.get(method.to_lowercase())?;
    let content = operation.pointer("/requestBody/content/application~1json")?;
    content.get("example").cloned()
}

/// `GET /docs/docs.css`.
pub(crate) async fn style() -> Response {
    asset("text/css; charset=utf-8", include_str!("assets/docs.css"))
}

/// `GET /docs/docs.js`.
pub(crate) async fn script() -> Response {
    asset(
        "text/javascript; charset=utf-8",
        include_str!("assets/docs.js"),
    )
}

/// `GET /docs/interface.js`.
pub(crate) async fn interface() -> Response {
    asset(
        "text/javascript; charset=utf-8",
        include_str!("assets/interface.js"),
    )
}

/// `GET /docs/elements.js`.
pub(crate) async fn elements() -> Response {
    asset(
        "text/javascript; charset=utf-8",
        include_str!("assets/elements.js"),
    )
}

/// `GET /docs/icon.svg`.
pub(crate) async fn icon() -> Response {
    asset("image/svg+xml", include_str!("assets/icon.svg"))
}

fn asset(content_type: &'static str, content: impl IntoResponse) -> Response {
    let headers = [
        (header::CONTENT_TYPE, text(content_type)),
        (header::CACHE_CONTROL, text("no-cache")),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    ];
    (headers, content).into_response()
}
