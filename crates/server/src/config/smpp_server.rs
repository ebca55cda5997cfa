//! `[smpp_server]`: the entrance of customers who bind by SMPP.

use super::carrier::as_usize;
use super::http::certificate;
use super::section::Section;
use super::tls::Tls;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

const MAX_CONNECTIONS: u32 = 100_000;
const SILENCE: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_mins(10);
/// It is shorter than the claim of a receipt.
const RESPONSES: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_mins(2);

/// `[smpp_server]`
#[derive(Clone, Debug)]
pub struct SmppServer {
    /// The address without TLS.
    pub listen: Option<SocketAddr>,
    /// The address with TLS.
    pub tls_listen: Option<SocketAddr>,
    /// Its certificate and key, or `None` for those of the API.
    pub tls: Option<Tls>,
    /// Maximum simultaneous connections.
    pub max_connections: usize,
    /// The silence of a client after which an `enquire_link` is sent.
    pub enquire_link: Duration,
    /// Timeout of a client's answer to a receipt, `enquire_link` or `unbind`.
    pub response_timeout: Duration,
}

impl SmppServer {
    /// Returns `true` if customers can bind.
    pub const fn listens(&self) -> bool {
        self.listen.is_some() || self.tls_listen.is_some()
    }
}

/// Reads the section. `has_certificate` is `true` if the API has one.
pub(super) fn read(mut section: Section<'_>, has_certificate: bool) -> SmppServer {
    let tls_place = section.place_of("tls_listen");
    let (tls_listen, has_own) = (section.get("tls_listen"), section.has("tls"));
    if tls_listen.is_some() && !has_own && !has_certificate {
        let fault = "needs a certificate: set `smpp_server.tls` or `http.tls`";
        section.fault_at(&tls_place, "tls_listen", fault);
    }
    let server = SmppServer {
        listen: section.get("listen"),
        tls_listen,
        tls: has_own.then(|| certificate(&mut section)).flatten(),
        max_connections: as_usize(
            section
                .within("max_connections", 1..=MAX_CONNECTIONS)
                .unwrap_or_default(),
        ),
        enquire_link: section.time("enquire_link", SILENCE).unwrap_or_default(),
        response_timeout: section
            .time("response_timeout", RESPONSES)
            .unwrap_or_default(),
    };
    section.finish();
    server
}
