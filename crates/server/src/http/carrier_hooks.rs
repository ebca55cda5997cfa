//! `POST /hooks/carriers/{name}/{secret}`: carriers by HTTP post receipts here.

use crate::http::context::State;
use crate::http::extract::drain::drain;
use axum::body::Body;
use axum::extract::{Path, State as Shared};
use axum::http::{HeaderMap, StatusCode};
use engine::HookRefusal;
use http_body_util::{BodyExt, Limited};
use std::time::Duration;
use tokio::time::timeout;

/// Maximum size of a request, and the time in which it must arrive.
const MAX_BYTES: usize = 256 << 10;
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Takes the receipts of a carrier. A carrier repeats what is not answered with 200. Without the
/// secret the body is not read.
pub(super) async fn receive(
    Shared(state): Shared<State>,
    Path((name, secret)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> (StatusCode, String) {
    let answer = |status, text: &str| (status, format!("{text}\n"));
    let Some(hook) = state.engine.carrier_hook(&name, &secret) else {
        drain(&headers, body);
        return answer(StatusCode::NOT_FOUND, "there is no such hook");
    };
    let read = timeout(BODY_TIMEOUT, Limited::new(body, MAX_BYTES).collect()).await;
    let body = match read {
        Err(_) => {
            return answer(
                StatusCode::REQUEST_TIMEOUT,
                "the body did not arrive in time",
            );
        }
        Ok(Err(_)) => {
            let text = "the body was cut off or has more than 256 KiB; send fewer receipts";
            return answer(StatusCode::PAYLOAD_TOO_LARGE, text);
        }
        Ok(Ok(body)) => body.to_bytes(),
    };
    match hook.receive(&body).await {
        Ok(()) => answer(StatusCode::OK, "ok"),
        Err(refusal) => {
            let status = match refusal {
                HookRefusal::Unreadable(_) => StatusCode::BAD_REQUEST,
                HookRefusal::NotStored => StatusCode::SERVICE_UNAVAILABLE,
            };
            answer(status, &refusal.to_string())
        }
    }
}
