//! The id of a request, in its answer and in the log.

use super::envelope::text;
use axum::http::{HeaderName, HeaderValue};
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

tokio::task_local! {
    /// The id of the request that this task answers. A span would format its fields for every
    /// request, and nearly all requests have no line in the log.
    static CURRENT: HeaderValue;
}

pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Maximum length of a request id that is taken from a request.
const MAX_REQUEST_ID_BYTES: usize = 64;

/// Runs the answer to a request under its id.
pub(super) async fn scope<T>(id: HeaderValue, answer: impl Future<Output = T>) -> T {
    CURRENT.scope(id, answer).await
}

/// Returns the id of the current request, for a line in the log.
pub(crate) fn current() -> String {
    let id = CURRENT.try_with(|id| text_of(id).to_owned());
    id.unwrap_or_default()
}

pub(super) fn text_of(id: &HeaderValue) -> &str {
    id.to_str().unwrap_or_default()
}

/// Returns the caller's id if it is safe to repeat, else an id of our own.
pub(super) fn of_request(given: Option<&HeaderValue>) -> HeaderValue {
    given
        .filter(|value| is_harmless(value.as_bytes()))
        .cloned()
        .unwrap_or_else(own_request_id)
}

fn is_harmless(id: &[u8]) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    (1..=MAX_REQUEST_ID_BYTES).contains(&id.len()) && id.iter().all(allowed)
}

/// Makes an id for an answer without a request.
pub(crate) fn new() -> String {
    text_of(&own_request_id()).to_owned()
}

/// Makes an id: a counter, hashed under a random key of the process. It is unique, and no secret,
/// since it only names a line in the log.
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
            assert_eq!(of_request(Some(&value)) == value, taken, "{given:?}");
        }
    }

    #[test]
    fn request_ids_of_our_own_differ() {
        let (first, second) = (of_request(None), of_request(None));
        assert_ne!(first, second);
        assert!(is_harmless(first.as_bytes()));
    }
}
