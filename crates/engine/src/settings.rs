//! The settings of an operator, as the engine needs it.

use std::fmt;
use std::time::Duration;
use tokio_rustls::rustls::pki_types::CertificateDer;

/// Everything.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The rules for sends; its carriers are those below, in the same order.
    pub rules: domain::Rulebook,
    /// The carriers.
    pub carriers: Vec<CarrierSettings>,
    /// How customers are called back.
    pub callbacks: CallbackSettings,
    /// The limits.
    pub limits: Limits,
    /// The retention of data.
    pub retention: Retention,
    /// The guards that hold sends back.
    pub guards: GuardSettings,
}

/// The guards that hold sends back.
#[derive(Clone, Debug, Default)]
pub struct GuardSettings {
    /// The phrases that no text may hold, beside the rules in the database.
    pub prohibited: domain::Prohibited,
    /// How much may go to one number, and to one block of them.
    pub velocity: domain::velocity::VelocityLimits,
}

/// How long old data is kept, in milliseconds from acceptance; for ever where nothing is set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Retention {
    /// Settled messages, with all that belongs to them.
    pub messages_ms: Option<i64>,
    /// Texts of settled messages.
    pub bodies_ms: Option<i64>,
    /// The simulated messages of the sandbox.
    pub sandbox_ms: i64,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            messages_ms: None,
            bodies_ms: None,
            sandbox_ms: 86_400_000,
        }
    }
}

/// The limits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Sends of an account in any 60 seconds.
    pub sends_per_minute: u32,
    /// Delivery reports read by an account in any 60 seconds.
    pub reports_per_minute: u32,
    /// Other reads of an account in any 60 seconds.
    pub reads_per_minute: u32,
    /// Unknown tokens of an address in a minute.
    pub unknown_tokens_per_minute: u32,
    /// The sends that may wait for their commit.
    pub accept_queue: usize,
    /// The limits of the sandbox.
    pub sandbox: SandboxLimits,
}

/// The limits of the sandbox, of an account in any 60 seconds.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SandboxLimits {
    /// Recipients.
    pub recipients_per_minute: u32,
    /// Simulated recipients with a callback.
    pub callbacks_per_minute: u32,
}

/// How a carrier is bound.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BindMode {
    /// One connection for both directions.
    Transceiver,
    /// A connection for submits and one for receipts.
    TransmitterAndReceiver,
}

/// One SMSC account.
#[derive(Clone, Eq, PartialEq)]
pub struct CarrierSettings {
    /// Its name in the configuration.
    pub name: String,
    /// Host and port.
    pub address: String,
    /// Who we are there.
    pub system_id: String,
    /// The password.
    pub password: String,
    /// Usually empty.
    pub system_type: String,
    /// Usually empty.
    pub service_type: String,
    /// Connections held at the same time.
    pub binds: usize,
    /// Unanswered submits on one connection.
    pub window: usize,
    /// Submits a second, all connections together.
    pub max_per_second: Option<u32>,
    /// After how long a silence a connection is probed.
    pub enquire_link: Duration,
    /// How long a response is waited for.
    pub response_timeout: Duration,
    /// `true` if the connection is encrypted.
    pub tls: bool,
    /// The authorities that may have signed the carrier's certificate, or that certificate itself; those of the system
    /// where there is none.
    pub tls_ca: Vec<CertificateDer<'static>>,
    /// How ids in receipts are written.
    pub receipt_ids: smpp::ReceiptIds,
    /// `true` if what reads like a receipt is one without a mark.
    pub unmarked_receipts: bool,
    /// `true` if messages ask for the validity that they have.
    pub send_validity: bool,
    /// How it is bound.
    pub bind_mode: BindMode,
}

/// Without the password.
impl fmt::Debug for CarrierSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CarrierSettings")
            .field("name", &self.name)
            .field("address", &self.address)
            .field("system_id", &self.system_id)
            .field("binds", &self.binds)
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}

/// The settings of callbacks that an operator can change.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CallbackSettings {
    /// `true` if addresses outside the public internet may be called.
    pub allow_private_targets: bool,
    /// The waits after the first, second, … failed attempt; after the last a callback is dead.
    pub retry_delays: Vec<Duration>,
    /// Callbacks in flight to one origin of one account; four times as many where it answers well and places are free.
    pub concurrency_per_origin: usize,
    /// Callbacks in flight altogether: an eighth of them for the sandbox; of what is free an account takes a quarter.
    pub concurrency: usize,
}
