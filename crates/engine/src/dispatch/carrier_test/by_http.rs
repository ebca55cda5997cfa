//! A test over HTTP.

use super::receipts::from_node;
use super::setup::TestedCarrier;
use super::steps::{Steps, TestEnd, TestMessage, told};
use crate::context::outcome::Outcome;
use crate::dispatch::http_link::Server;
use crate::dispatch::pages::{Cut, Pages};
use crate::dispatch::smpp_mapping::kept_id;
use crate::dispatch::transport::HttpSubmit;
use crate::settings::{HttpSettings, PollSettings};
use domain::http_carrier::{HttpRecipient, submit_id};
use domain::{DeliveryStatus, Leg, MessageId, Text};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Maximum number of characters of an answer that are shown.
const SHOWN_CHARACTERS: usize = 300;
/// Longest interval at which the state of the message is asked for.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Sends the message as a request. A receipt by hook goes to a serving node.
pub(super) async fn run(
    carrier: &TestedCarrier,
    http: &Arc<HttpSettings>,
    (message, text): (&TestMessage, &Text),
    is_served: bool,
    steps: &mut Steps<'_>,
) -> database::Result<TestEnd> {
    let settings = &carrier.settings;
    let server = Server::new(
        Arc::clone(&carrier.network),
        settings,
        http,
        carrier.tls.clone(),
    );
    let address = settings.address();
    if let Err(error) = server.open().await {
        steps.add("failed", format!("connect to {address}: {error}"));
        return Ok(TestEnd::default());
    }
    steps.add("connected", format!("to {address}"));
    let (submit, id) = submit(carrier, message, text);
    steps.add("submitted", format!("one request, our id {id}"));
    let (answered, mut outcomes) = server.exchange(&submit).await;
    let outcome = outcomes.pop().unwrap_or(Outcome::Unknown);
    match answered {
        Ok(answered) => {
            let body = shown(&answered.body);
            steps.add("answer", format!("HTTP {}: {body}", answered.status));
        }
        Err(reason) => steps.add("answer", reason),
    }
    steps.add("response", told(&outcome, settings.response_timeout));
    let Outcome::Accepted { message_id } = outcome else {
        return Ok(TestEnd::default());
    };
    let end = TestEnd {
        is_accepted: true,
        ids: vec![message_id.clone()],
        status: None,
    };
    let id = kept_id(message_id);
    let reason = if id.is_empty() || message.wait.is_zero() {
        return Ok(end);
    } else if let Some(poll) = &http.poll {
        return Ok(polled(&server, poll, end, (&id, message.wait), steps).await);
    } else if http.receipts.is_none() {
        "the carrier has no `receipts`"
    } else if !is_served {
        "the carrier posts them to a node that serves, and none does"
    } else {
        return from_node(carrier, end, vec![id], message.wait, steps).await;
    };
    steps.add("waited", format!("for no receipt: {reason}"));
    Ok(end)
}

/// Asks for the state until it is final.
async fn polled(
    server: &Server,
    poll: &PollSettings,
    end: TestEnd,
    (id, wait): (&str, Duration),
    steps: &mut Steps<'_>,
) -> TestEnd {
    let deadline = Instant::now() + wait;
    let interval_ms = poll.times.interval_ms.unsigned_abs();
    let interval = Duration::from_millis(interval_ms).min(MAX_POLL_INTERVAL);
    let mut last = String::new();
    while Instant::now() < deadline {
        sleep(interval.min(deadline - Instant::now())).await;
        let asked = server.ask(poll, id).await;
        let status = asked.as_ref().ok().and_then(|receipt| receipt.status);
        let about = match &asked {
            Ok(_) => format!(
                "{id}: {}",
                status.map_or("under way", DeliveryStatus::as_str)
            ),
            Err(reason) => reason.clone(),
        };
        if about != last {
            steps.add(if asked.is_ok() { "receipt" } else { "no state" }, &*about);
            last = about;
        }
        if status.is_some() {
            return TestEnd { status, ..end };
        }
    }
    let about = format!("no final state within {} s", wait.as_secs_f32());
    steps.add("waited", about);
    end
}

/// Returns the request, and our id of it.
fn submit(carrier: &TestedCarrier, message: &TestMessage, text: &Text) -> (HttpSubmit, String) {
    let (from, body, unicode) = Pages::of_text(&message.from, text, Cut::Whole, "").whole(0);
    // Each test is another message, so that a carrier with idempotency keys sends it.
    let id = MessageId::lowest_at(carrier.clock.now_ms());
    let id = submit_id(id, message.to, Leg::First);
    let recipient = HttpRecipient {
        to: message.to.to_string(),
        id: id.clone(),
    };
    let submit = HttpSubmit {
        tags: vec![0],
        recipients: vec![recipient],
        from,
        body,
        unicode,
    };
    (submit, id)
}

/// Returns the beginning of an answer in one line.
fn shown(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let letters = text.chars().take(SHOWN_CHARACTERS);
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    letters.map(plain).collect()
}
