//! The answer to a request that failed.

use super::asked::Asked;
use super::failure::Failure;
use crate::http::respond::request_id;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use console::screens;

/// Returns the answer to a request of a person, or of a script on a page.
pub(super) fn answer(failure: &Failure, asked: &Asked) -> Response {
    let status = failure.status();
    if matches!(failure, Failure::SignedOut) && !asked.is_partial {
        return asked.to_sign_in();
    }
    let request_id = request_id::current();
    let mut page =
        screens::Failure::of_status(status.as_u16(), &request_id, asked.home(), asked.theme);
    if let Some((title, text)) = failure.text() {
        (page.title, page.text) = (title.to_owned(), text);
    }
    let mut response = (status, Html(console::html(&page))).into_response();
    if status == StatusCode::SERVICE_UNAVAILABLE {
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    }
    response
}
