//! The payment providers, and the calls of their APIs over guarded connections.
//!
//! A call goes to the configured base URL alone. A call that finds a payment changes nothing, so it
//! is repeated once after any failure. A call that makes a page for a payment is repeated only if no
//! octet of it was sent.

use crate::context::http_client::connect::Connector;
use crate::context::http_client::{Answered, HttpClient, Unanswered};
use crate::context::metrics::payments::provider_call;
use crate::context::network::Network;
use crate::error::StartError;
use crate::settings::{PaymentSettings, ProviderSettings};
use bytes::Bytes;
use database::Outage;
use domain::payment::provider::{ApiAnswer, ApiCall, Checkout, Headers};
use domain::payment::{Payment, RecentChecks, TopUpId, is_page};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderValue, Method, Request};
use http_body_util::Full;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use url::{Position, Url};

const AGENT: HeaderValue = HeaderValue::from_static(concat!("Ogene/", env!("CARGO_PKG_VERSION")));
/// Longest wait for the answer to one request of a provider's API.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest duration of a call with its login and its repetition.
const CALL_TIMEOUT: Duration = Duration::from_secs(12);
/// Maximum number of calls of a provider at once. A further one fails at once.
const MAX_CALLS: usize = 64;
/// The names of calls in metrics.
const CREATE: &str = "create";
const FIND: &str = "find";
/// Maximum number of idle connections to a provider.
const MAX_KEPT: usize = 8;

/// The reason why a call of a provider has no usable answer. It shows no key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallFailed {
    /// No octet of the request was sent.
    #[error("no connection: {0}")]
    NotSent(String),
    /// The provider may have the request.
    #[error("no answer: {0}")]
    Unanswered(String),
    /// The answer is none that the documentation describes.
    #[error("HTTP {0} without the documented content")]
    Unread(u16),
    /// The call took too long.
    #[error("timed out")]
    TimedOut,
    /// Too many calls wait for their answers.
    #[error("{MAX_CALLS} calls are waiting already")]
    Busy,
}

/// An account at a payment provider.
pub(crate) struct PaymentProvider {
    settings: ProviderSettings,
    client: HttpClient,
    calls: Semaphore,
    checks: Mutex<RecentChecks>,
    /// The limiter of log lines about webhooks without a right signature.
    unsigned: Outage,
}

/// The settings of top-ups, and the providers.
pub(crate) struct Payments {
    pub(crate) settings: PaymentSettings,
    pub(crate) providers: Vec<Arc<PaymentProvider>>,
}

impl Payments {
    /// Creates the clients of the providers.
    pub(crate) fn new(
        settings: PaymentSettings,
        network: &Arc<dyn Network>,
    ) -> Result<Self, StartError> {
        let provider = |settings: &ProviderSettings| {
            // The operator names the server, so its address may be private.
            let connector = Connector::new(Arc::clone(network), true);
            let connector = connector.map_err(StartError::Payments)?;
            Ok(Arc::new(PaymentProvider {
                settings: settings.clone(),
                client: HttpClient::new(connector, MAX_KEPT),
                calls: Semaphore::new(MAX_CALLS),
                checks: Mutex::default(),
                unsigned: Outage::of("payment webhooks are refused"),
            }))
        };
        let providers = settings.providers.iter().map(provider);
        Ok(Self {
            providers: providers.collect::<Result<_, StartError>>()?,
            settings,
        })
    }

    /// Returns a provider by name.
    pub(crate) fn provider(&self, name: &str) -> Option<&Arc<PaymentProvider>> {
        self.providers.iter().find(|one| one.name() == name)
    }
}

impl PaymentProvider {
    pub(crate) fn name(&self) -> &'static str {
        self.settings.name
    }

    /// Makes a page for a payment. Returns its address.
    pub(crate) async fn create(&self, checkout: &Checkout<'_>) -> Result<String, CallFailed> {
        let call = |token: &str| self.settings.provider.create(checkout, token);
        let mut answered = self.call(CREATE, &call).await;
        if matches!(answered, Err(CallFailed::NotSent(_))) {
            answered = self.call(CREATE, &call).await;
        }
        let answered = answered?;
        let unread = || CallFailed::Unread(answered.status);
        if !(200..300).contains(&answered.status) {
            return Err(unread());
        }
        let page = self.settings.provider.checkout_url(answer(&answered));
        page.ok().filter(|url| is_page(url)).ok_or_else(unread)
    }

    /// Asks for the payment of a reference. Returns `None` if the provider has none.
    pub(crate) async fn find(&self, reference: &str) -> Result<Option<Payment>, CallFailed> {
        match self.find_once(reference).await {
            Ok(found) => Ok(found),
            Err(busy @ CallFailed::Busy) => Err(busy),
            Err(_) => self.find_once(reference).await,
        }
    }

    async fn find_once(&self, reference: &str) -> Result<Option<Payment>, CallFailed> {
        let call = |token: &str| self.settings.provider.find(reference, token);
        let answered = self.call(FIND, &call).await?;
        let unread = CallFailed::Unread(answered.status);
        if !matches!(answered.status, 200..300 | 400 | 404) {
            return Err(unread);
        }
        let found = self.settings.provider.payment(answer(&answered));
        found.map_err(|_| unread)
    }

    /// Returns `true` if the provider signed a webhook.
    pub(crate) fn is_signed(&self, headers: Headers<'_>, body: &[u8]) -> bool {
        self.settings.provider.is_signed(headers, body)
    }

    /// Returns the number of refused webhooks that were not logged, or `None` if another one is not
    /// to be logged now.
    pub(crate) fn unsigned_to_log(&self) -> Option<u64> {
        self.unsigned.is_to_log()
    }

    /// Returns `true` if a visitor of the return page may cause a question about the payment.
    pub(crate) fn may_ask_again(&self, id: TopUpId, now_ms: i64) -> bool {
        self.checks.lock().begin(id, now_ms)
    }

    /// Returns the reference that a webhook names.
    pub(crate) fn hook_reference(&self, body: &[u8]) -> Option<String> {
        self.settings.provider.hook_reference(body)
    }

    /// Closes connections that were idle for too long.
    pub(crate) fn sweep(&self) {
        self.client.sweep();
    }

    /// Makes a call, and measures it with its login.
    async fn call(
        &self,
        name: &'static str,
        call: &(dyn Fn(&str) -> ApiCall + Sync),
    ) -> Result<Answered, CallFailed> {
        let _place = self.calls.try_acquire().map_err(|_| CallFailed::Busy)?;
        let began = Instant::now();
        let called = self.call_logged_in(call).await;
        let status = called.as_ref().ok().map(|answered| answered.status);
        provider_call(self.name(), name, status, began.elapsed());
        called
    }

    /// Makes a call, after the login if the provider needs one.
    async fn call_logged_in(
        &self,
        call: &(dyn Fn(&str) -> ApiCall + Sync),
    ) -> Result<Answered, CallFailed> {
        let called = async {
            let mut token = String::new();
            if let Some(login) = self.settings.provider.login() {
                let answered = self.exchange(login).await?;
                let read = self.settings.provider.token(answer(&answered));
                token = read.map_err(|_| CallFailed::Unread(answered.status))?;
            }
            self.exchange(call(&token)).await
        };
        let called = timeout(CALL_TIMEOUT, called).await;
        called.map_err(|_| CallFailed::TimedOut)?
    }

    async fn exchange(&self, call: ApiCall) -> Result<Answered, CallFailed> {
        let unusable = || CallFailed::NotSent("a value does not fit into the request".to_owned());
        let (url, request) = request_of(&self.settings.base_url, call).ok_or_else(unusable)?;
        let sent = self.client.send(&url, request, ANSWER_TIMEOUT).await;
        sent.map_err(|unanswered| match unanswered {
            Unanswered::NotSent(error) => CallFailed::NotSent(error.to_string()),
            Unanswered::Unknown(error) => CallFailed::Unanswered(error.to_string()),
        })
    }
}

fn answer(answered: &Answered) -> ApiAnswer<'_> {
    ApiAnswer {
        status: answered.status,
        body: &answered.body,
    }
}

/// Returns the request of a call below the base URL, or `None` if a value does not fit into it.
fn request_of(base_url: &Url, call: ApiCall) -> Option<(Url, Request<Full<Bytes>>)> {
    let base = base_url.as_str().trim_end_matches('/');
    let url = Url::parse(&format!("{base}{}", call.path)).ok()?;
    let mut authorization = HeaderValue::try_from(call.authorization).ok()?;
    authorization.set_sensitive(true);
    let method = if call.body.is_some() {
        Method::POST
    } else {
        Method::GET
    };
    let mut request = Request::builder()
        .method(method)
        .uri(&url[Position::BeforePath..Position::AfterQuery])
        .header(HOST, &url[Position::BeforeHost..Position::AfterPort])
        .header(ACCEPT, "application/json")
        .header(USER_AGENT, AGENT)
        .header(AUTHORIZATION, authorization);
    if let Some(body) = &call.body {
        request = request
            .header(CONTENT_TYPE, "application/json")
            .header(CONTENT_LENGTH, body.len());
    }
    let body = Bytes::from(call.body.unwrap_or_default());
    Some((url.clone(), request.body(Full::new(body)).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_goes_to_the_base_url_alone() {
        let base = Url::parse("https://api.example.com/pay/").unwrap();
        for path in [
            "/find/a?b=1",
            "//evil.example/x",
            "/..//x",
            "/@evil.example",
        ] {
            let call = ApiCall {
                path: path.to_owned(),
                authorization: "Bearer secret".to_owned(),
                body: None,
            };
            let (url, request) = request_of(&base, call).unwrap();
            assert_eq!(url.host_str(), Some("api.example.com"), "{path}");
            assert_eq!(request.headers()[HOST], "api.example.com");
            assert!(!format!("{request:?}").contains("secret"));
        }
    }

    #[test]
    fn a_customer_is_sent_to_web_pages_only() {
        for (url, expected) in [
            ("https://checkout.example.com/x", true),
            ("http://127.0.0.1:9/x", true),
            ("javascript:alert(1)", false),
            ("/relative", false),
            ("", false),
        ] {
            assert_eq!(is_page(url), expected, "{url}");
        }
    }
}
