//! `POST /hooks/payments/{provider}`: payment providers post webhooks here.

use crate::http::context::State;
use axum::body::Body;
use axum::extract::{Path, State as Shared};
use axum::http::{HeaderMap, StatusCode};
use engine::WebhookRefusal;
use http_body_util::{BodyExt, Limited};
use std::time::Duration;
use tokio::time::timeout;

/// Maximum size of a webhook, and the time in which it must arrive.
const MAX_BYTES: usize = 64 << 10;
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Takes a webhook. A provider repeats what is not answered with 200.
pub(crate) async fn receive(
    Shared(state): Shared<State>,
    Path(provider): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> (StatusCode, String) {
    let answer = |status, text: &str| (status, format!("{text}\n"));
    let read = timeout(BODY_TIMEOUT, Limited::new(body, MAX_BYTES).collect()).await;
    let body = match read {
        Err(_) => {
            let text = "the body did not arrive in time";
            return answer(StatusCode::REQUEST_TIMEOUT, text);
        }
        Ok(Err(_)) => {
            let text = "the body was cut off or has more than 64 KiB";
            return answer(StatusCode::PAYLOAD_TOO_LARGE, text);
        }
        Ok(Ok(body)) => body.to_bytes(),
    };
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let desk = state.engine.payments();
    match desk.take_webhook(&provider, &header, &body).await {
        Ok(()) => answer(StatusCode::OK, "ok"),
        Err(refusal) => {
            let status = match refusal {
                WebhookRefusal::UnknownProvider => StatusCode::NOT_FOUND,
                WebhookRefusal::Unsigned => StatusCode::UNAUTHORIZED,
                WebhookRefusal::NotConfirmed | WebhookRefusal::NotStored => {
                    StatusCode::SERVICE_UNAVAILABLE
                }
            };
            answer(status, &refusal.to_string())
        }
    }
}
