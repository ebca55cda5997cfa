//! `[carriers.NAME]`: one SMSC account each.

use super::secret::Secret;
use super::section::{Section, short};
use super::tls;
use engine::{BindMode, CarrierSettings, SANDBOX};
use rustls::pki_types::CertificateDer;
use smpp::{MAX_PASSWORD_OCTETS, ReceiptIds};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// Characters that SMPP 3.4 allows in the fields of a bind, without the NUL at the end; of a password carriers take more.
const SYSTEM_ID_CHARACTERS: usize = 15;
const SYSTEM_TYPE_CHARACTERS: usize = 12;
const SERVICE_TYPE_CHARACTERS: usize = 5;

const MAX_BINDS: u32 = 64;
const MAX_WINDOW: u32 = 10_000;
const MAX_PER_SECOND: u32 = 1_000_000;
/// How long a carrier is waited for: oftener it would be load, and one that is silent for longer is gone.
const CARRIER_TIMES: RangeInclusive<Duration> = Duration::from_millis(10)..=Duration::from_hours(1);

const DEFAULT_BINDS: u32 = 2;
const DEFAULT_WINDOW: u32 = 100;
const DEFAULT_ENQUIRE_LINK: Duration = Duration::from_secs(30);
const DEFAULT_RESPONSE_TIMEOUT: Duration = Duration::from_mins(1);

const BIND_MODES: [(&str, BindMode); 2] = [
    ("transceiver", BindMode::Transceiver),
    ("transmitter-and-receiver", BindMode::TransmitterAndReceiver),
];

/// One SMSC account: how to reach it, and what it does to messages.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a key of the configuration of its own"
)]
pub struct Carrier {
    /// Its name: what gateways call it.
    pub name: String,
    /// Host and port.
    pub address: String,
    /// The account at the SMSC.
    pub system_id: String,
    /// Its password.
    pub password: Secret,
    /// What the carrier asks for in this field of the bind.
    pub system_type: String,
    /// What the carrier asks for in this field of each message.
    pub service_type: String,
    /// How connections are bound.
    pub bind_mode: BindMode,
    /// Connections, or pairs of them.
    pub binds: usize,
    /// Requests without a response on each.
    pub window: usize,
    /// Most messages a second over all binds.
    pub max_per_second: Option<u32>,
    /// After how long a silence a connection is probed.
    pub enquire_link: Duration,
    /// How long a response is waited for.
    pub response_timeout: Duration,
    /// Whether the connection is TLS.
    pub tls: bool,
    /// The authorities that may have signed the SMSC's certificate, or that certificate itself; the system's where there is
    /// none.
    pub tls_ca: Vec<CertificateDer<'static>>,
    /// Whether it replaces the sender ID.
    pub rewrites_sender: bool,
    /// How ids of receipts answer to those of responses.
    pub receipt_ids: ReceiptIds,
    /// Whether what reads like a receipt is one, though nothing marks it.
    pub unmarked_receipts: bool,
    /// Whether messages have a `validity_period`.
    pub send_validity: bool,
}

impl Carrier {
    /// Reads one section.
    pub(super) fn read(name: String, mut section: Section<'_>) -> Self {
        check_name(&name, &section);
        let tls = section.get("tls").unwrap_or_default();
        let carrier = Self {
            address: address(&mut section).unwrap_or_default(),
            system_id: system_id(&mut section).unwrap_or_default(),
            password: password(&mut section).unwrap_or_default(),
            system_type: section
                .short_text("system_type", SYSTEM_TYPE_CHARACTERS)
                .unwrap_or_default(),
            service_type: section
                .short_text("service_type", SERVICE_TYPE_CHARACTERS)
                .unwrap_or_default(),
            bind_mode: section
                .one_of("bind_mode", &BIND_MODES)
                .unwrap_or(BindMode::Transceiver),
            binds: as_usize(
                section
                    .within("binds", 1..=MAX_BINDS)
                    .unwrap_or(DEFAULT_BINDS),
            ),
            window: as_usize(
                section
                    .within("window", 1..=MAX_WINDOW)
                    .unwrap_or(DEFAULT_WINDOW),
            ),
            max_per_second: section.within("max_per_second", 1..=MAX_PER_SECOND),
            enquire_link: section
                .time("enquire_link", CARRIER_TIMES)
                .unwrap_or(DEFAULT_ENQUIRE_LINK),
            response_timeout: section
                .time("response_timeout", CARRIER_TIMES)
                .unwrap_or(DEFAULT_RESPONSE_TIMEOUT),
            tls,
            tls_ca: authorities(&mut section, tls),
            rewrites_sender: section.get("rewrites_sender").unwrap_or_default(),
            receipt_ids: section
                .one_of("receipt_ids", &ReceiptIds::WORDS)
                .unwrap_or(ReceiptIds::Exact),
            unmarked_receipts: section.get("unmarked_receipts").unwrap_or(true),
            send_validity: section.get("send_validity").unwrap_or(true),
            name,
        };
        section.finish();
        carrier
    }

    /// What the engine connects with.
    pub(super) fn settings(&self) -> CarrierSettings {
        CarrierSettings {
            name: self.name.clone(),
            address: self.address.clone(),
            system_id: self.system_id.clone(),
            password: self.password.reveal().to_owned(),
            system_type: self.system_type.clone(),
            binds: self.binds,
            window: self.window,
            max_per_second: self.max_per_second,
            enquire_link: self.enquire_link,
            response_timeout: self.response_timeout,
            tls: self.tls,
            tls_ca: self.tls_ca.clone(),
            receipt_ids: self.receipt_ids,
            unmarked_receipts: self.unmarked_receipts,
            send_validity: self.send_validity,
            bind_mode: self.bind_mode,
            service_type: self.service_type.clone(),
        }
    }
}

/// Names go into log lines, metrics and variables, so they are plain words.
fn check_name(name: &str, section: &Section<'_>) {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(plain) {
        section.fault("", "a carrier's name has only a to z, digits, `-` and `_`");
    }
    if name == SANDBOX {
        section.fault(
            "",
            "this name is taken: the sandbox has a carrier of its own",
        );
    }
}

fn address(section: &mut Section<'_>) -> Option<String> {
    let place = section.place_of("address");
    let text: String = section.require("address")?;
    let is_address = text.rsplit_once(':').is_some_and(|(host, port)| {
        let host_is_plain = !host.contains(char::is_whitespace) && !host.contains('/');
        !host.is_empty() && host_is_plain && port.parse::<u16>().is_ok_and(|port| port > 0)
    });
    if !is_address {
        let fault = format!("{text:?} is not a host and port such as smsc.example.ng:2775");
        section.fault_at(&place, "address", fault);
    }
    Some(text)
}

fn system_id(section: &mut Section<'_>) -> Option<String> {
    let place = section.place_of("system_id");
    if !section.has("system_id") {
        return section.require("system_id");
    }
    let text = section.short_text("system_id", SYSTEM_ID_CHARACTERS)?;
    if text.is_empty() {
        section.fault_at(&place, "system_id", "must not be empty");
    }
    Some(text)
}

fn password(section: &mut Section<'_>) -> Option<Secret> {
    if !section.has("password") && !section.has("password_file") {
        section.fault(
            "password",
            "is missing; give it here or in the file of `password_file`",
        );
    }
    let key = if section.has("password") {
        "password"
    } else {
        "password_file"
    };
    let place = section.place_of(key);
    let password = section.secret("password", "password_file")?;
    if let Err(fault) = short(password.reveal(), MAX_PASSWORD_OCTETS) {
        section.fault_at(&place, key, fault);
    }
    Some(password)
}

fn authorities(section: &mut Section<'_>, tls: bool) -> Vec<CertificateDer<'static>> {
    let place = section.place_of("tls_ca");
    let Some(file) = section.get::<PathBuf>("tls_ca") else {
        return Vec::new();
    };
    let certificates = if tls {
        tls::authorities(&file)
    } else {
        let fault =
            "is for TLS, which is off: set `tls = true`, or leave this out to connect without TLS";
        Err(fault.to_owned())
    };
    certificates.unwrap_or_else(|fault| {
        section.fault_at(&place, "tls_ca", fault);
        Vec::new()
    })
}

pub(super) fn as_usize(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
