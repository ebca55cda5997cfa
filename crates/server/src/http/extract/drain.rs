//! The body of a refused request is drained. Closing a connection with unread bytes resets it, and
//! most clients would see the reset instead of the answer.

use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, header};
use http_body_util::{BodyExt, Limited};
use std::time::Duration;

/// Maximum bytes that are drained.
const MAX_DRAINED_BYTES: usize = 64 << 20;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Drains a body that has not begun to be read. A client that waits for `100 Continue` has sent
/// nothing, and a read would ask for its body.
pub(crate) fn drain(headers: &HeaderMap, body: Body) {
    if !headers.contains_key(header::EXPECT) {
        drain_rest(body);
    }
}

/// Drains a body that began to arrive.
pub(super) fn drain_rest(body: Body) {
    if body.is_end_stream() {
        return;
    }
    tokio::spawn(tokio::time::timeout(DRAIN_TIMEOUT, async move {
        let mut body = Limited::new(body, MAX_DRAINED_BYTES);
        while let Some(Ok(_)) = body.frame().await {}
    }));
}
