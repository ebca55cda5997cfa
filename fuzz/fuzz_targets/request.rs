//! Requests to send: JSON, form, multipart or anything else, with a query string.

#![no_main]

use axum::body::Body;
use axum::http::{Request, header};
use libfuzzer_sys::fuzz_target;
use server::http::{BodyLimits, read_send};
use std::sync::LazyLock;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

const CONTENT_TYPES: [&str; 5] = [
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=X",
    "text/plain",
    "",
];
const LIMITS: BodyLimits = BodyLimits {
    bytes: 4_096,
    time: Duration::from_secs(10),
    recipients: 100,
};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = Builder::new_current_thread();
    builder.enable_time().build().expect("a runtime")
});

// The first octet chooses the content type, the first line is the query string, and the rest is the body.
fuzz_target!(|octets: &[u8]| {
    let [choice, rest @ ..] = octets else { return };
    let content_type = CONTENT_TYPES[usize::from(*choice) % CONTENT_TYPES.len()];
    let mut lines = rest.splitn(2, |octet| *octet == b'\n');
    let query = String::from_utf8_lossy(lines.next().unwrap_or_default());
    let body = lines.next().unwrap_or_default().to_vec();
    let request = Request::post(format!("/?{query}"))
        .header(header::CONTENT_TYPE, content_type)
        .body(Body::from(body));
    if let Ok(request) = request {
        let _ = RUNTIME.block_on(read_send(request, LIMITS));
    }
});
