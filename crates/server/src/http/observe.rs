//! What every answer carries and leaves behind: a request id, headers that keep it private, a line in the
//! log and a measure. Of the request only method and route are written: never a query string, a token,
//! a number or a text.

use super::envelope::text;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::time::Instant;
use tracing::Instrument;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Longest request id taken from a request.
const MAX_REQUEST_ID_BYTES: usize = 64;

/// The one layer around all routes.
pub(super) async fn observe(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let request_id = request_id(request.headers().get(REQUEST_ID));
    let span = tracing::info_span!(
        "request",
        request.id = request_id.to_str().unwrap_or_default()
    );
    let method = known(request.method());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let private = request.uri().path().starts_with("/api");

    let mut response = next.run(request).instrument(span.clone()).await;

    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, request_id);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, text("nosniff"));
    headers.insert(header::REFERRER_POLICY, text("no-referrer"));
    if private {
        headers.insert(header::CACHE_CONTROL, text("no-store"));
    }

    let route = route
        .as_ref()
        .map_or("unmatched", MatchedPath::as_str)
        .to_owned();
    let status = response.status();
    let seconds = started.elapsed().as_secs_f64();
    span.in_scope(|| {
        // An answer as expected is worth a line only to who looks for it: there are thousands a second.
        if status.is_success() {
            tracing::debug!(
                http.method = method,
                http.route = route,
                http.status = status.as_u16(),
                seconds,
                "Answered"
            );
        } else {
            tracing::info!(
                http.method = method,
                http.route = route,
                http.status = status.as_u16(),
                seconds,
                "Answered"
            );
        }
    });
    let status = status.as_str().to_owned();
    metrics::histogram!("ogene_http_request_seconds", "route" => route, "status" => status)
        .record(seconds);
    response
}

/// A method as it is logged. Any word can be one, and that of a caller may be anything.
fn known(method: &Method) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"];
    let named = KNOWN.into_iter().find(|name| *name == method.as_str());
    named.unwrap_or("other")
}

/// The id that the caller gave, where it is harmless to repeat, else one of our own.
fn request_id(given: Option<&HeaderValue>) -> HeaderValue {
    given
        .filter(|value| is_harmless(value.as_bytes()))
        .cloned()
        .unwrap_or_else(own_request_id)
}

fn is_harmless(id: &[u8]) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    (1..=MAX_REQUEST_ID_BYTES).contains(&id.len()) && id.iter().all(allowed)
}

/// A count, hashed under a key that the process drew at its start: different from all others, and no
/// secret, since it only names a line in the log.
fn own_request_id() -> HeaderValue {
    static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let id = format!("{:016x}", KEY.hash_one(count));
    HeaderValue::try_from(id).unwrap_or(text("unnamed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_id_is_taken_over_when_it_is_harmless() {
        let longest = "a".repeat(64);
        let too_long = "a".repeat(65);
        let table = [
            ("abc-123_X.9", true),
            (&longest, true),
            (&too_long, false),
            ("", false),
            ("a b", false),
            ("a\"b", false),
        ];
        for (given, taken) in table {
            let value = HeaderValue::from_str(given).unwrap();
            assert_eq!(request_id(Some(&value)) == value, taken, "{given:?}");
        }
    }

    #[test]
    fn request_ids_of_our_own_differ() {
        let (first, second) = (request_id(None), request_id(None));
        assert_ne!(first, second);
        assert!(is_harmless(first.as_bytes()));
    }
}
