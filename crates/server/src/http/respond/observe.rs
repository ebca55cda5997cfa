//! The layer around all routes. Each answer gets a request id, headers that keep it private, a line
//! in the log and a measure. The log has method, route and account of a request. It never has a
//! query string, a token, a number or a text.

use super::codes::Codes;
use super::envelope::text;
use super::fallback;
use super::log_fields::{Code, Message, Refused};
use super::request_id::{self, REQUEST_ID, text_of};
use crate::http::head::MAX_HEADERS;
use crate::logs::{LineFate, LineLimit};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use engine::RefusedRequest;
use metrics::Histogram;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;
use tokio::time::Instant;

/// Measures by route and status. Both have few values.
type Measures = HashMap<String, HashMap<StatusCode, Histogram>>;

/// Maximum log lines a minute for one account and answer. Unknown callers count as one account.
const MAX_REFUSAL_LINES: u32 = 60;
/// Maximum log lines a minute for requests answered 503, of all accounts. While the database is
/// unreachable, every request gets this answer.
const MAX_UNAVAILABLE_LINES: u32 = 1;

/// The one layer around all routes.
pub(crate) async fn observe(State(codes): State<Codes>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let request_id = request_id::of_request(request.headers().get(REQUEST_ID));
    let method = known(request.method());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let private = request.uri().path().starts_with("/api");

    let mut response = if request.headers().len() > MAX_HEADERS {
        fallback::head_too_large(&codes, request)
    } else {
        request_id::scope(request_id.clone(), next.run(request)).await
    };

    let route = route.as_ref().map_or("unmatched", MatchedPath::as_str);
    let status = response.status();
    let seconds = started.elapsed().as_secs_f64();
    let line = Line {
        request_id: text_of(&request_id),
        method,
        route,
        status: status.as_u16(),
        seconds,
    };
    // A success is logged at the debug level, because there are thousands a second.
    if status.is_success() || status.is_redirection() {
        line.debug();
    } else {
        line.record(&response);
        line.refused(&response);
    }
    measure(route, status, seconds);

    let headers = response.headers_mut();
    // Reserves room for all headers, also for those added when the answer is written.
    headers.reserve(6);
    headers.insert(REQUEST_ID, request_id);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, text("nosniff"));
    // A page of the console has a policy of its own.
    let referrers = headers.entry(header::REFERRER_POLICY);
    referrers.or_insert(text("no-referrer"));
    if private {
        headers.insert(header::CACHE_CONTROL, text("no-store"));
    }
    response
}

/// A line of the log about an answer.
struct Line<'a> {
    request_id: &'a str,
    method: &'static str,
    route: &'a str,
    status: u16,
    seconds: f64,
}

impl Line<'_> {
    fn debug(&self) {
        tracing::debug!(
            request.id = self.request_id,
            http.method = self.method,
            http.route = self.route,
            http.status = self.status,
            seconds = self.seconds,
            "request answered"
        );
    }

    /// Records a refusal in the request log of its account.
    fn record(&self, response: &Response) {
        let extensions = response.extensions();
        let Some(Refused(caller, requests)) = extensions.get() else {
            return;
        };
        let code = extensions.get::<Code>().map_or("", |Code(code)| code);
        let message = extensions.get::<Message>();
        let account = caller.customer.account.id;
        requests.record(account, |at_ms| RefusedRequest {
            account,
            at_ms,
            request_id: self.request_id.to_owned(),
            token_id: caller.token_id.clone(),
            method: self.method.to_owned(),
            route: self.route.to_owned(),
            status: self.status,
            code: code.to_owned(),
            message: message
                .map(|Message(text)| text.clone())
                .unwrap_or_default(),
            took_ms: milliseconds(self.seconds),
        });
    }

    /// Logs a refusal, unless many like it were logged within a minute.
    fn refused(&self, response: &Response) {
        static LIMIT: LazyLock<LineLimit<(Option<i64>, u16, &str)>> =
            LazyLock::new(LineLimit::default);
        let extensions = response.extensions();
        let caller = extensions.get::<Refused>().map(|Refused(caller, _)| caller);
        let code = extensions.get::<Code>().map(|Code(code)| *code);
        let account = caller.map(|caller| caller.customer.account.id.0);
        let (of_account, most) = if self.status == StatusCode::SERVICE_UNAVAILABLE {
            (None, MAX_UNAVAILABLE_LINES)
        } else {
            (account, MAX_REFUSAL_LINES)
        };
        let kind = (of_account, self.status, code.unwrap_or_default());
        let now = Instant::now().into_std();
        let LineFate::Written { left_out } = LIMIT.count(kind, most, now) else {
            return;
        };
        let outcome = if self.status == StatusCode::INTERNAL_SERVER_ERROR {
            "failed"
        } else {
            "refused"
        };
        tracing::info!(
            request.id = self.request_id,
            account.id = account,
            token.id = caller.map(|caller| &*caller.token_id),
            http.method = self.method,
            http.route = self.route,
            http.status = self.status,
            code,
            seconds = self.seconds,
            log.left_out_lines = (left_out > 0).then_some(left_out),
            "request {outcome}"
        );
    }
}

/// Counts an answer. Measures are kept, because looking one up by its labels takes longer than
/// counting.
fn measure(route: &str, status: StatusCode, seconds: f64) {
    static MEASURES: LazyLock<RwLock<Measures>> = LazyLock::new(RwLock::default);
    let known = MEASURES.read();
    if let Some(measure) = known.get(route).and_then(|statuses| statuses.get(&status)) {
        return measure.record(seconds);
    }
    drop(known);
    let measure = metrics::histogram!("ogene_http_request_seconds",
        "route" => route.to_owned(), "status" => status.as_str().to_owned());
    measure.record(seconds);
    let mut known = MEASURES.write();
    let statuses = known.entry(route.to_owned()).or_default();
    statuses.insert(status, measure);
}

/// Returns a duration in whole milliseconds.
fn milliseconds(seconds: f64) -> i64 {
    let duration = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Returns a method as it is logged. A method can be any word, so unknown ones are not logged.
fn known(method: &Method) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"];
    let named = KNOWN.into_iter().find(|name| *name == method.as_str());
    named.unwrap_or("other")
}
