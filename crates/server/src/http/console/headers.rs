//! The headers of every page.

use crate::http::respond::envelope::text;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

/// A page loads styles, scripts and data of this server alone, and no page may frame it.
const CONTENT_SECURITY_POLICY: HeaderValue = text(console::CONTENT_SECURITY_POLICY);
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Adds the headers. A file keeps its own rule for caches.
pub(super) async fn secure(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    // The receipt of a payment permits its own style.
    let policy = headers.entry(header::CONTENT_SECURITY_POLICY);
    policy.or_insert(CONTENT_SECURITY_POLICY);
    headers.insert(header::X_FRAME_OPTIONS, text("DENY"));
    // Without a referrer, browsers would send the origin of a form as `null`.
    headers.insert(header::REFERRER_POLICY, text("same-origin"));
    headers.insert(OPENER_POLICY, text("same-origin"));
    headers.insert(RESOURCE_POLICY, text("same-origin"));
    let caching = headers.entry(header::CACHE_CONTROL);
    caching.or_insert(text("no-store"));
    response
}
