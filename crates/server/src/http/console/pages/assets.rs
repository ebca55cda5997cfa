//! The files that pages load. The path of a file has its hash, so browsers keep it.

use super::super::browser_request::BrowserRequest;
use super::super::failure::Failure;
use super::super::page::Answered;
use crate::http::respond::envelope::text;
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;

/// `GET /console/assets/{file}`.
pub(super) async fn file(browser: BrowserRequest) -> Answered {
    let asset = console::asset(browser.param("file")).ok_or(Failure::NotFound)?;
    let gzip = asset.gzip.filter(|_| browser.takes_gzip());
    let content = gzip.unwrap_or(asset.content);
    let kind = HeaderValue::from_static(asset.content_type);
    let mut response = content.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(
        header::CACHE_CONTROL,
        text("public, max-age=31536000, immutable"),
    );
    headers.insert(header::VARY, text("accept-encoding"));
    if gzip.is_some() {
        headers.insert(header::CONTENT_ENCODING, text("gzip"));
    }
    Ok(response)
}
