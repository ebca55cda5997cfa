//! The answers of the router itself: unknown paths, wrong methods, heads that are too large.

use super::codes::Codes;
use super::envelope::text;
use super::error::{Failure, Shape};
use crate::http::context::{self, Api};
use crate::http::extract::drain::drain;
use crate::http::head::{MAX_HEAD_BYTES, MAX_HEADERS};
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::Response;
use domain::Refusal;
use std::sync::Arc;

/// Answers every path without a route.
pub(crate) async fn unknown_path(
    State(state): State<context::State>,
    request: Request,
) -> Response {
    by_the_router(Refusal::UnknownPath, &state.codes, request)
}

/// Answers a request with too many headers.
pub(crate) fn head_too_large(codes: &Codes, request: Request) -> Response {
    let refusal = Refusal::HeadTooLarge {
        headers: MAX_HEADERS,
        bytes: MAX_HEAD_BYTES as usize,
    };
    by_the_router(refusal, codes, request)
}

/// Answers every method that a path does not have. The router adds `Allow`.
pub(crate) async fn method_not_allowed(
    State(state): State<context::State>,
    request: Request,
) -> Response {
    by_the_router(Refusal::MethodNotAllowed, &state.codes, request)
}

/// Answers methods other than GET and POST on a path that sends.
pub(crate) async fn send_by_get_or_post(State(api): State<Arc<Api>>, request: Request) -> Response {
    let mut response = by_the_router(Refusal::MethodNotAllowed, &api.codes, request);
    response
        .headers_mut()
        .insert(header::ALLOW, text("GET, POST"));
    response
}

/// Returns an answer of the router. The router knows only the path.
fn by_the_router(refusal: Refusal, codes: &Codes, request: Request) -> Response {
    let legacy = request.uri().path().starts_with("/api/v1/");
    let (parts, body) = request.into_parts();
    drain(&parts.headers, body);
    let shape = if legacy { Shape::V1 } else { Shape::V2 };
    Failure::from(refusal).answer(shape, codes)
}
