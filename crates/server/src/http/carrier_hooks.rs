//! `POST /hooks/carriers/{name}/{secret}`: carriers by HTTP post receipts here.

use crate::http::context::State;
use axum::body::Body;
use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use engine::HookRefusal;
use http_body_util::{BodyExt, Limited};
use std::time::Duration;
use tokio::time::timeout;

/// Maximum size of a request, and the time in which it must arrive.
const MAX_BYTES: usize = 256 << 10;
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Takes the receipts of a carrier. A carrier repeats what is not answered with 200.
pub(super) async fn receive(
    Shared(state): Shared<State>,
    Path((name, secret)): Path<(String, String)>,
    body: Body,
) -> (StatusCode, String) {
    let answer = |status, text: &str| (status, format!("{text}\n"));
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
    let taken = state.engine.carrier_receipts(&name, &secret, &body).await;
    match taken {
        Ok(()) => answer(StatusCode::OK, "ok"),
        Err(refusal) => {
            let status = match refusal {
                HookRefusal::Unknown => StatusCode::NOT_FOUND,
                HookRefusal::Unreadable(_) => StatusCode::BAD_REQUEST,
                HookRefusal::NotStored => StatusCode::SERVICE_UNAVAILABLE,
            };
            answer(status, &refusal.to_string())
        }
    }
}
