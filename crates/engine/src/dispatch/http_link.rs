//! The link to a carrier by HTTP. It is up while the server accepts connections.
//!
//! The worker keeps at most a window of requests in flight. A request is sent once: without an
//! answer the outcome of its recipients is unknown, and only a request of which no octet was sent is
//! repeated.

use super::bind::{GOOD_AFTER, back_off, delays};
use super::transport::{BoundSession, HttpSession, HttpSubmit, LinkEvent, LinkId};
use crate::context::Context;
use crate::context::http_client::connect::{AttemptError, Connector};
use crate::context::http_client::{Answered, HttpClient, Unanswered};
use crate::context::metrics::bind_failed;
use crate::context::network::Network;
use crate::context::outcome::{HttpRejection, Outcome, Rejection};
use crate::settings::{CarrierSettings, HttpSettings, PollSettings};
use bytes::Bytes;
use domain::SubmitFault;
use domain::http_carrier::{HttpAnswer, HttpMessage, HttpMethod, HttpReceipt, HttpRequest};
use http::header::{ACCEPT, CONTENT_LENGTH, HOST, HeaderValue, USER_AGENT};
use http::{Method, Request};
use http_body_util::Full;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use url::{Position, Url};

const AGENT: HeaderValue = HeaderValue::from_static(concat!("Ogene/", env!("CARGO_PKG_VERSION")));
/// Period in which idle connections are closed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(5);

/// The parts of a link that its requests share.
pub(super) struct Server {
    client: HttpClient,
    http: Arc<HttpSettings>,
    response_timeout: Duration,
}

impl Server {
    pub(super) fn new(
        network: Arc<dyn Network>,
        settings: &CarrierSettings,
        http: &Arc<HttpSettings>,
        tls: Option<TlsConnector>,
    ) -> Self {
        let connector = Connector::configured(network, tls);
        Self {
            client: HttpClient::new(connector, settings.window),
            http: Arc::clone(http),
            response_timeout: settings.response_timeout,
        }
    }

    /// Opens a connection, and keeps it for the next request.
    pub(super) async fn open(&self) -> Result<(), AttemptError> {
        self.client.open(&self.http.server).await
    }

    /// Asks for the state of a message. Returns the receipt, or the reason why there is none.
    pub(super) async fn ask(&self, poll: &PollSettings, id: &str) -> Result<HttpReceipt, String> {
        let Some((url, request)) = http_request(poll.poll.request(id)) else {
            return Err("the id does not fit into the request".to_owned());
        };
        let sent = self.client.send(&url, request, self.response_timeout).await;
        let answered = sent.map_err(|unanswered| unanswered.error().to_string())?;
        let read = poll.poll.receipt(id, answered.status, &answered.body);
        read.ok_or_else(|| format!("HTTP {} without a state", answered.status))
    }

    /// Sends one request. Returns the answer or the reason why there is none, and the outcome of each
    /// recipient.
    pub(super) async fn exchange(
        &self,
        submit: &HttpSubmit,
    ) -> (Result<Answered, String>, Vec<Outcome>) {
        let of_all = |outcome| vec![outcome; submit.recipients.len()];
        let message = HttpMessage {
            to: "",
            from: &submit.from,
            body: &submit.body,
            id: "",
            receipt_url: self.http.receipt_url.as_deref().unwrap_or_default(),
            unicode: submit.unicode,
        };
        let request = self.http.submit.request_to(&message, &submit.recipients);
        let Some((url, request)) = http_request(request) else {
            let reason = "a value does not fit into the request".to_owned();
            let outcome = rejected(SubmitFault::OurFault, "request", "request");
            return (Err(reason), of_all(outcome));
        };
        let sent = self.client.send(&url, request, self.response_timeout).await;
        match sent {
            Ok(answered) => {
                let answers = &self.http.submit.answers;
                let (status, body) = (answered.status, &answered.body);
                let classes = answers.classify_all(status, body, &submit.recipients);
                let outcomes = classes.into_iter().map(outcome_of).collect();
                (Ok(answered), outcomes)
            }
            Err(Unanswered::NotSent(error)) => (Err(error.to_string()), of_all(Outcome::NotSent)),
            Err(Unanswered::Unknown(error)) => (Err(error.to_string()), of_all(Outcome::Unknown)),
        }
    }
}

fn outcome_of(answer: HttpAnswer) -> Outcome {
    match answer {
        HttpAnswer::Accepted { id } => Outcome::Accepted { message_id: id },
        HttpAnswer::Rejected {
            fault,
            error,
            label,
        } => rejected(fault, &error, &label),
        HttpAnswer::RefusedTogether => Outcome::RefusedTogether,
        HttpAnswer::InDoubt => Outcome::Unknown,
    }
}

/// The end of a link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    /// The worker needs it no longer.
    Unbound,
    /// The server accepts no connections.
    Unreachable,
    /// The server rejects our credentials.
    Refused,
}

/// Keeps the link open until `closing` is set.
pub(crate) async fn keep_open(
    context: Arc<Context>,
    (settings, http): (Arc<CarrierSettings>, Arc<HttpSettings>),
    tls: Option<TlsConnector>,
    link: LinkId,
    events: mpsc::Sender<LinkEvent>,
    mut closing: watch::Receiver<bool>,
) {
    let network = Arc::clone(&context.network);
    let server = Arc::new(Server::new(network, &settings, &http, tls));
    let mut failures = 0_u32;
    while !*closing.borrow() {
        let opened = tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => return,
            opened = server.open() => opened,
        };
        let end = match opened {
            Ok(()) => {
                tracing::info!(carrier.name = settings.name, "carrier: connected");
                let since = tokio::time::Instant::now();
                let Ok(end) = run(&server, link, &events).await else {
                    return;
                };
                if since.elapsed() >= GOOD_AFTER && end != End::Refused {
                    failures = 0;
                }
                end
            }
            Err(error) => {
                note_failure(&settings.name, &error);
                End::Unreachable
            }
        };
        failures += 1;
        let delay = back_off(delays(end == End::Refused), failures, &context.random);
        tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => return,
            () = tokio::time::sleep(delay) => {}
        }
    }
}

fn note_failure(carrier: &str, error: &AttemptError) {
    bind_failed(carrier, error.class().to_owned());
    tracing::warn!(carrier.name = carrier, %error, "carrier: connection failed, retrying");
}

/// Sends the submits of the worker until the link ends. Fails if the worker has ended.
async fn run(
    server: &Arc<Server>,
    link: LinkId,
    events: &mpsc::Sender<LinkEvent>,
) -> Result<End, mpsc::error::SendError<LinkEvent>> {
    let (session, mut submits) = HttpSession::new();
    let load = session.clone();
    let session = BoundSession::Http(session);
    let up = LinkEvent::Up {
        link,
        session,
        submits: true,
    };
    events.send(up).await?;
    let (mut requests, mut end) = (JoinSet::new(), None);
    let mut sweeps = tokio::time::interval(SWEEP_INTERVAL);
    while end.is_none() || !requests.is_empty() {
        let mut answered: Vec<Vec<(u64, Outcome)>> = Vec::new();
        tokio::select! {
            biased;
            Some(Ok(outcomes)) = requests.join_next() => answered.push(outcomes),
            received = submits.recv(), if end.is_none() => match received {
                Some(batch) if !batch.is_empty() => {
                    for submit in batch {
                        requests.spawn(send(Arc::clone(server), submit));
                    }
                }
                // An empty list is the signal of the end.
                Some(_) | None => end = Some(End::Unbound),
            },
            _ = sweeps.tick() => server.client.sweep(),
        }
        while let Some(Ok(outcomes)) = requests.try_join_next() {
            answered.push(outcomes);
        }
        for (_, outcome) in answered.iter().flatten() {
            end = end.or(end_after(outcome));
        }
        if end.is_some() {
            submits.close();
            while let Ok(batch) = submits.try_recv() {
                answered.extend(batch.into_iter().map(unsent));
            }
        }
        if !answered.is_empty() {
            load.answered(answered.len());
            let outcomes = answered.into_iter().flatten().collect();
            events.send(LinkEvent::Answered { link, outcomes }).await?;
        }
    }
    events.send(LinkEvent::Down { link }).await?;
    Ok(end.unwrap_or(End::Unbound))
}

/// Returns the end of the link that an outcome means. More requests would fail alike.
fn end_after(outcome: &Outcome) -> Option<End> {
    match outcome {
        Outcome::NotSent => Some(End::Unreachable),
        Outcome::Rejected(rejection) if rejection.fault() == SubmitFault::NotBound => {
            Some(End::Refused)
        }
        Outcome::Accepted { .. }
        | Outcome::Rejected(_)
        | Outcome::RefusedTogether
        | Outcome::Unknown => None,
    }
}

/// Sends one request, and returns the tags of its recipients with their outcomes.
async fn send(server: Arc<Server>, submit: HttpSubmit) -> Vec<(u64, Outcome)> {
    let (_, outcomes) = server.exchange(&submit).await;
    submit.tags.into_iter().zip(outcomes).collect()
}

/// Returns the outcomes of a request that is not sent.
fn unsent(submit: HttpSubmit) -> Vec<(u64, Outcome)> {
    let tags = submit.tags.into_iter();
    tags.map(|tag| (tag, Outcome::NotSent)).collect()
}

fn rejected(fault: SubmitFault, error: &str, label: &str) -> Outcome {
    Outcome::Rejected(Rejection::Http(HttpRejection {
        fault,
        error: error.to_owned(),
        label: label.to_owned(),
    }))
}

/// Returns the request in the form that is sent, or `None` if a value does not fit into a header.
pub(crate) fn http_request(request: HttpRequest) -> Option<(Url, Request<Full<Bytes>>)> {
    let url = Url::parse(&request.url).ok()?;
    let method = match request.method {
        HttpMethod::Post => Method::POST,
        HttpMethod::Get => Method::GET,
    };
    let mut built = Request::builder()
        .method(method)
        .uri(&url[Position::BeforePath..Position::AfterQuery])
        .header(HOST, &url[Position::BeforeHost..Position::AfterPort])
        .header(ACCEPT, "application/json")
        .header(USER_AGENT, AGENT)
        .header(CONTENT_LENGTH, request.body.len());
    for (name, value) in &request.headers {
        built = built.header(name, value);
    }
    let built = built.body(Full::new(Bytes::from(request.body))).ok()?;
    Some((url, built))
}
