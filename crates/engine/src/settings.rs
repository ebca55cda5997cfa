//! The settings of an operator, in the form that the engine uses.

mod payments;

pub use payments::{BaseUrlFault, PaymentSettings, ProviderSettings};

use crate::mail::MailSettings;
use domain::http_carrier::{HttpPoll, HttpReceipts, HttpSubmit, PollTimes};
use domain::user::session::SessionLimits;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::pki_types::CertificateDer;
use url::Url;

/// All settings of the engine.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The rules for sends. Its carriers are the ones below, in the same order.
    pub rules: domain::Rulebook,
    /// The carriers.
    pub carriers: Vec<CarrierSettings>,
    /// The settings of callbacks.
    pub callbacks: CallbackSettings,
    /// The limits of requests.
    pub limits: Limits,
    /// The retention of old data.
    pub retention: Retention,
    /// The settings of inbound messages.
    pub inbound: InboundSettings,
    /// The settings of top-ups.
    pub payments: PaymentSettings,
    /// The SMTP server by which alerts are told, if there is one.
    pub mail: Option<MailSettings>,
    /// The content rules and velocity limits.
    pub guards: GuardSettings,
    /// The limits of sessions of the console.
    pub sessions: SessionLimits,
}

/// The content rules and velocity limits.
#[derive(Clone, Debug, Default)]
pub struct GuardSettings {
    /// Prohibited phrases of the configuration. The database has further ones.
    pub prohibited: domain::Prohibited,
    /// The velocity limits.
    pub velocity: domain::velocity::VelocityLimits,
}

/// The age at which old data is removed, in milliseconds since acceptance. `None` keeps it for
/// ever.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Retention {
    /// Settled messages with all their rows.
    pub messages_ms: Option<i64>,
    /// The texts of settled messages.
    pub bodies_ms: Option<i64>,
    /// The simulated messages of the sandbox.
    pub sandbox_ms: i64,
    /// Receipts as they came. None are kept if it is 0.
    pub receipts_ms: i64,
    /// The refused requests of the API.
    pub requests_ms: i64,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            messages_ms: None,
            bodies_ms: None,
            sandbox_ms: 86_400_000,
            receipts_ms: 8 * 86_400_000,
            requests_ms: 7 * 86_400_000,
        }
    }
}

/// The settings of inbound messages.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InboundSettings {
    /// The time for which the pages of a message wait for the others, milliseconds.
    pub join_timeout_ms: i64,
    /// Words of the operator that opt a subscriber out.
    pub stop_words: Vec<String>,
}

impl Default for InboundSettings {
    fn default() -> Self {
        Self {
            join_timeout_ms: 300_000,
            stop_words: Vec::new(),
        }
    }
}

/// The limits of requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Maximum number of sends of an account in any 60 seconds.
    pub sends_per_minute: u32,
    /// Maximum number of reads of delivery reports by an account in any 60 seconds.
    pub reports_per_minute: u32,
    /// Maximum number of other reads by an account in any 60 seconds.
    pub reads_per_minute: u32,
    /// Maximum number of unknown tokens from an address in a minute.
    pub unknown_tokens_per_minute: u32,
    /// Maximum number of sends in the accept queue.
    pub accept_queue: usize,
    /// Maximum number of messages with one-time passwords of an account to one number in an hour.
    pub otp_per_number: u32,
    /// The time for which the answer of an idempotency key is kept, milliseconds.
    pub idempotency_window_ms: i64,
    /// The limits of the sandbox.
    pub sandbox: SandboxLimits,
}

/// The limits of the sandbox for an account in any 60 seconds.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SandboxLimits {
    /// Maximum number of recipients.
    pub recipients_per_minute: u32,
    /// Maximum number of recipients with a callback.
    pub callbacks_per_minute: u32,
}

/// The kind of connections to a carrier.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BindMode {
    /// One connection for both directions.
    Transceiver,
    /// One connection for submits and one for receipts.
    TransmitterAndReceiver,
}

/// The settings of a carrier.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CarrierSettings {
    /// The name of the carrier in the configuration.
    pub name: String,
    /// Number of connections.
    pub binds: usize,
    /// Size of the in-flight window of a connection.
    pub window: usize,
    /// Maximum number of recipients of a connection that a crash may leave in doubt: they are
    /// claimed and have no durable outcome.
    pub in_doubt_limit: usize,
    /// Maximum number of submits a second over all connections.
    pub max_per_second: Option<u32>,
    /// Longest wait for a response.
    pub response_timeout: Duration,
    /// Trusted certificates: authorities, or the certificate of the carrier itself. If empty, those
    /// of the system are used.
    pub tls_ca: Vec<CertificateDer<'static>>,
    /// The protocol and its settings.
    pub protocol: Protocol,
}

/// The protocol of a carrier.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Protocol {
    /// SMPP 3.4.
    Smpp(SmppSettings),
    /// HTTP.
    Http(Arc<HttpSettings>),
}

impl CarrierSettings {
    /// Returns the settings of SMPP, if the carrier uses it.
    pub const fn smpp(&self) -> Option<&SmppSettings> {
        match &self.protocol {
            Protocol::Smpp(settings) => Some(settings),
            Protocol::Http(_) => None,
        }
    }

    /// Returns the settings of HTTP, if the carrier uses it.
    pub const fn http(&self) -> Option<&Arc<HttpSettings>> {
        match &self.protocol {
            Protocol::Smpp(_) => None,
            Protocol::Http(settings) => Some(settings),
        }
    }

    /// Returns `true` if connections use TLS.
    pub fn uses_tls(&self) -> bool {
        match &self.protocol {
            Protocol::Smpp(settings) => settings.tls,
            Protocol::Http(settings) => settings.uses_tls(),
        }
    }

    /// Returns the address of the carrier without a secret: host and port, or the URL of a server.
    pub fn address(&self) -> &str {
        match &self.protocol {
            Protocol::Smpp(settings) => &settings.address,
            Protocol::Http(settings) => settings.server.as_str(),
        }
    }
}

/// The settings of one account at a server of HTTP.
#[derive(Clone, Eq, PartialEq)]
pub struct HttpSettings {
    /// The URL of the server, without a path.
    pub server: Url,
    /// The submit.
    pub submit: HttpSubmit,
    /// Maximum number of recipients in one request.
    pub recipients_per_request: usize,
    /// The receipts, if the carrier posts any.
    pub receipts: Option<HookSettings>,
    /// The requests for receipts, if there are any.
    pub poll: Option<Arc<PollSettings>>,
    /// The URL to which the carrier posts receipts, if there is one.
    pub receipt_url: Option<String>,
}

impl HttpSettings {
    /// Returns `true` if some requests use TLS.
    pub fn uses_tls(&self) -> bool {
        let poll = self.poll.as_ref();
        let of_poll = poll.and_then(|poll| poll.poll.server().ok());
        let servers = [Some(&self.server), of_poll.as_ref()];
        let mut servers = servers.into_iter().flatten();
        servers.any(|server| server.scheme() == "https")
    }
}

/// The receipts that a carrier posts.
#[derive(Clone, Eq, PartialEq)]
pub struct HookSettings {
    /// The last part of the path to which they are posted.
    pub secret: String,
    /// Their reading.
    pub receipts: HttpReceipts,
}

/// The requests for receipts.
#[derive(Clone, Eq, PartialEq)]
pub struct PollSettings {
    /// The request, and the reading of its answer.
    pub poll: HttpPoll,
    /// The times of requests.
    pub times: PollTimes,
}

/// All but the server may hold a secret.
impl fmt::Debug for HttpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSettings")
            .field("server", &self.server.as_str())
            .finish_non_exhaustive()
    }
}

/// The settings of one account at an SMSC.
#[derive(Clone, Eq, PartialEq)]
pub struct SmppSettings {
    /// Host and port.
    pub address: String,
    /// The `system_id` of the bind.
    pub system_id: String,
    /// The password of the bind.
    pub password: String,
    /// The `system_type` of the bind, usually empty.
    pub system_type: String,
    /// The `service_type` of a submit, usually empty.
    pub service_type: String,
    /// Idle time after which an `enquire_link` is sent.
    pub enquire_link: Duration,
    /// `true` if the connection uses TLS.
    pub tls: bool,
    /// The format of message ids in receipts.
    pub receipt_ids: smpp::ReceiptIds,
    /// `true` if a `deliver_sm` with the text of a receipt counts as a receipt even without the
    /// `esm_class` of one.
    pub unmarked_receipts: bool,
    /// `true` if submits carry their validity period.
    pub send_validity: bool,
    /// The kind of connections.
    pub bind_mode: BindMode,
}

/// The password is left out.
impl fmt::Debug for SmppSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmppSettings")
            .field("address", &self.address)
            .field("system_id", &self.system_id)
            .finish_non_exhaustive()
    }
}

/// The settings of callbacks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CallbackSettings {
    /// `true` if callbacks may go to addresses outside the public internet.
    pub allow_private_targets: bool,
    /// The delays after each failed attempt. A callback is dead after the last one.
    pub retry_delays: Vec<Duration>,
    /// Concurrent callbacks to one origin of one account. A receiver that answers well gets up to
    /// four times as many while capacity is free.
    pub concurrency_per_origin: usize,
    /// Concurrent callbacks in total. The sandbox may use an eighth of them, and one account a
    /// quarter of the free ones.
    pub concurrency: usize,
}
