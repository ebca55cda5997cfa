//! `[carriers.NAME]`: one account at a carrier each.

use super::http_carrier;
use super::public_url::PublicUrl;
use super::secret::Secret;
use super::section::{Section, short};
use super::tls;
use domain::CarrierRules;
use engine::{BindMode, CarrierSettings, Protocol, SANDBOX, SmppSettings};
use rustls::pki_types::CertificateDer;
use smpp::{MAX_PASSWORD_OCTETS, ReceiptIds};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// Characters that SMPP 3.4 allows in the fields of a bind, without the NUL at the end. Carriers
/// accept longer passwords.
const MAX_SYSTEM_ID_CHARACTERS: usize = 15;
const MAX_SYSTEM_TYPE_CHARACTERS: usize = 12;
const MAX_SERVICE_TYPE_CHARACTERS: usize = 5;

const MAX_BINDS: u32 = 64;
const MAX_WINDOW: u32 = 10_000;
const MAX_PER_SECOND: u32 = 1_000_000;
const MAX_IN_DOUBT_LIMIT: u32 = 100_000;
/// Allowed timeouts of a carrier. A shorter one causes load. A longer one keeps a dead connection.
const CARRIER_TIMEOUTS: RangeInclusive<Duration> =
    Duration::from_millis(10)..=Duration::from_hours(1);

/// Requests at once to a carrier by HTTP.
const MAX_REQUESTS: u32 = 1_000;
const DEFAULT_REQUESTS: u32 = 20;
/// Recipients in one request. More results would not fit into the answers that are read.
const MAX_PER_REQUEST: u32 = 200;
const DEFAULT_ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

const DEFAULT_BINDS: u32 = 2;
const DEFAULT_WINDOW: u32 = 100;
/// The default of `in_doubt_limit`. One and a half windows are the default if they are more.
const DEFAULT_IN_DOUBT_LIMIT: usize = 400;
const DEFAULT_ENQUIRE_LINK: Duration = Duration::from_secs(30);
const DEFAULT_RESPONSE_TIMEOUT: Duration = Duration::from_mins(1);

const BIND_MODES: [(&str, BindMode); 2] = [
    ("transceiver", BindMode::Transceiver),
    ("transmitter-and-receiver", BindMode::TransmitterAndReceiver),
];

const KINDS: [(&str, Kind); 2] = [("smpp", Kind::Smpp), ("http", Kind::Http)];

#[derive(Clone, Copy, Eq, PartialEq)]
enum Kind {
    Smpp,
    Http,
}

/// Reads one section: the account at the carrier, and the rules of the carrier. Returns `None`
/// after a fault.
pub(super) fn read(
    name: String,
    mut section: Section<'_>,
    public_url: Option<&PublicUrl>,
) -> Option<(CarrierSettings, CarrierRules)> {
    check_name(&name, &section);
    let rewrites_sender = section.get("rewrites_sender").unwrap_or_default();
    let kind = section.one_of("kind", &KINDS).unwrap_or(Kind::Smpp);
    let settings = match kind {
        Kind::Smpp => Some(by_smpp(&name, &mut section)),
        Kind::Http => by_http(&name, &mut section, public_url),
    };
    section.finish();
    let rules = CarrierRules {
        name,
        rewrites_sender,
        takes_binary: kind == Kind::Smpp,
    };
    Some((settings?, rules))
}

fn by_smpp(name: &str, section: &mut Section<'_>) -> CarrierSettings {
    let window = count(section, "window", MAX_WINDOW, DEFAULT_WINDOW);
    let smpp = smpp(section);
    CarrierSettings {
        name: name.to_owned(),
        binds: count(section, "binds", MAX_BINDS, DEFAULT_BINDS),
        window,
        in_doubt_limit: in_doubt_limit(section, window),
        max_per_second: section.within("max_per_second", 1..=MAX_PER_SECOND),
        response_timeout: section
            .time("response_timeout", CARRIER_TIMEOUTS)
            .unwrap_or(DEFAULT_RESPONSE_TIMEOUT),
        tls_ca: authorities(section, smpp.tls),
        protocol: Protocol::Smpp(smpp),
    }
}

/// Reads a carrier by HTTP. One node at a time sends to it, so its window holds for all nodes.
fn by_http(
    name: &str,
    section: &mut Section<'_>,
    public_url: Option<&PublicUrl>,
) -> Option<CarrierSettings> {
    let window = count(section, "window", MAX_REQUESTS, DEFAULT_REQUESTS);
    let place = section.place_of("recipients_per_request");
    let recipients = count(section, "recipients_per_request", MAX_PER_REQUEST, 1);
    let at_once = window * recipients;
    if at_once > as_usize(MAX_IN_DOUBT_LIMIT) {
        let text = format!(
            "makes {at_once} recipients at once with this `window`; lower one of them, so that \
             their product is at most {MAX_IN_DOUBT_LIMIT}"
        );
        section.fault_at(&place, "recipients_per_request", text);
    }
    let in_doubt_limit = in_doubt_limit(section, at_once.min(as_usize(MAX_IN_DOUBT_LIMIT)));
    let max_per_second = section.within("max_per_second", 1..=MAX_PER_SECOND);
    let response_timeout = section.time("response_timeout", CARRIER_TIMEOUTS);
    let http = http_carrier::read(section, name, public_url, (&place, recipients));
    let tls = http
        .as_ref()
        .is_some_and(|http| http.server.scheme() == "https");
    let tls_ca = authorities(section, tls);
    Some(CarrierSettings {
        name: name.to_owned(),
        binds: 1,
        window,
        in_doubt_limit,
        max_per_second,
        response_timeout: response_timeout.unwrap_or(DEFAULT_ANSWER_TIMEOUT),
        tls_ca,
        protocol: Protocol::Http(http?),
    })
}

/// Reads the account at the SMSC.
fn smpp(section: &mut Section<'_>) -> SmppSettings {
    let password = password(section).unwrap_or_default();
    SmppSettings {
        address: address(section).unwrap_or_default(),
        system_id: system_id(section).unwrap_or_default(),
        password: password.reveal().to_owned(),
        system_type: section
            .short_text("system_type", MAX_SYSTEM_TYPE_CHARACTERS)
            .unwrap_or_default(),
        service_type: section
            .short_text("service_type", MAX_SERVICE_TYPE_CHARACTERS)
            .unwrap_or_default(),
        bind_mode: section
            .one_of("bind_mode", &BIND_MODES)
            .unwrap_or(BindMode::Transceiver),
        enquire_link: section
            .time("enquire_link", CARRIER_TIMEOUTS)
            .unwrap_or(DEFAULT_ENQUIRE_LINK),
        tls: section.get("tls").unwrap_or_default(),
        receipt_ids: section
            .one_of("receipt_ids", &ReceiptIds::WORDS)
            .unwrap_or(ReceiptIds::Exact),
        unmarked_receipts: section.get("unmarked_receipts").unwrap_or(true),
        send_validity: section.get("send_validity").unwrap_or(true),
    }
}

fn count(section: &mut Section<'_>, key: &'static str, most: u32, default: u32) -> usize {
    as_usize(section.within(key, 1..=most).unwrap_or(default))
}

/// Reads the recipients that a crash may leave in doubt for each connection. A limit below the
/// recipients of a window would leave a part of the window unused.
fn in_doubt_limit(section: &mut Section<'_>, window: usize) -> usize {
    let least = u32::try_from(window).unwrap_or(MAX_IN_DOUBT_LIMIT);
    let limit = section.within("in_doubt_limit", least..=MAX_IN_DOUBT_LIMIT);
    let default = DEFAULT_IN_DOUBT_LIMIT.max(window + window / 2);
    limit.map_or(default.min(as_usize(MAX_IN_DOUBT_LIMIT)), as_usize)
}

/// Checks a name. Names are plain words, because they are part of log lines, metrics and variables.
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
    let text = section.short_text("system_id", MAX_SYSTEM_ID_CHARACTERS)?;
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
