//! `[http]`: addresses, TLS and limits of connections.

use super::carrier::as_usize;
use super::public_url::PublicUrl;
use super::section::Section;
use super::tls::Tls;
use crate::http::{Codes, ConnectionLimits};
use domain::client_address::AddressRange;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

const MAX_CONNECTIONS: u32 = 1_000_000;
/// Allowed timeouts for clients. A shorter one would close connections of honest clients.
const CLIENT_TIMEOUTS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(1);

/// The place where `/metrics` is served.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Metrics {
    /// On the address of the API.
    Shared,
    /// On an address of its own.
    At(SocketAddr),
    /// Nowhere.
    Closed,
}

/// `[http]`
#[derive(Clone, Debug)]
pub struct Http {
    /// The address of the API.
    pub listen: SocketAddr,
    /// The place where `/metrics` is served.
    pub metrics: Metrics,
    /// The certificate and key, if the API is served over TLS.
    pub tls: Option<Tls>,
    /// The address at which browsers reach the service, if it differs from `listen`.
    pub public_url: Option<PublicUrl>,
    /// Proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<AddressRange>,
    /// The form of codes.
    pub code_prefix: Codes,
    /// The limits of connections.
    pub connections: ConnectionLimits,
    /// The time in which the body of a request must arrive.
    pub body_timeout: Duration,
}

impl Http {
    pub(super) fn read(mut section: Section<'_>) -> Self {
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let http = Self {
            listen: section.require("listen").unwrap_or(anywhere),
            metrics: metrics(&mut section),
            tls: section
                .has("tls")
                .then(|| certificate(&mut section))
                .flatten(),
            public_url: section.get("public_url"),
            trusted_proxies: section.get("trusted_proxies").unwrap_or_default(),
            code_prefix: codes(&mut section),
            connections: ConnectionLimits {
                max: as_usize(
                    section
                        .within("max_connections", 1..=MAX_CONNECTIONS)
                        .unwrap_or_default(),
                ),
                idle_timeout: section
                    .time("idle_timeout", CLIENT_TIMEOUTS)
                    .unwrap_or_default(),
            },
            body_timeout: section
                .time("body_timeout", CLIENT_TIMEOUTS)
                .unwrap_or_default(),
        };
        section.finish();
        http
    }
}

fn metrics(section: &mut Section<'_>) -> Metrics {
    let place = section.place_of("metrics_listen");
    let text: Option<String> = section.get("metrics_listen");
    match text.as_deref() {
        None => Metrics::Shared,
        Some("off") => Metrics::Closed,
        Some(text) => text.parse().map_or_else(
            |_| {
                let fault = format!(
                    "{text:?} is neither \"off\" nor an IP address and port such as 127.0.0.1:9090"
                );
                section.fault_at(&place, "metrics_listen", fault);
                Metrics::Shared
            },
            Metrics::At,
        ),
    }
}

fn codes(section: &mut Section<'_>) -> Codes {
    let place = section.place_of("code_prefix");
    let prefix: Option<String> = section.get("code_prefix");
    let codes = prefix.map_or_else(|| Ok(Codes::default()), |prefix| Codes::new(&prefix));
    codes.unwrap_or_else(|fault| {
        section.fault_at(&place, "code_prefix", fault);
        Codes::default()
    })
}

/// Reads the certificate and key of `tls`.
pub(super) fn certificate(section: &mut Section<'_>) -> Option<Tls> {
    let place = section.place_of("tls");
    let mut tls = section.section("tls");
    let (certificate, key) = (tls.require("certificate"), tls.require("key"));
    tls.finish();
    let (certificate, key): (PathBuf, PathBuf) = (certificate?, key?);
    match Tls::read(certificate, key) {
        Ok(tls) => Some(tls),
        Err(text) => {
            section.fault_at(&place, "tls", text);
            None
        }
    }
}
