//! `[smpp_server]`: the entrance of customers who bind by SMPP.

use super::carrier::as_usize;
use super::section::Section;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

const MAX_CONNECTIONS: u32 = 100_000;
const SILENCE: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_mins(10);
/// It is shorter than the claim of a receipt.
const RESPONSES: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_mins(2);

/// `[smpp_server]`
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SmppServer {
    /// The address, or `None` if no customer binds by SMPP.
    pub listen: Option<SocketAddr>,
    /// Maximum simultaneous connections.
    pub max_connections: usize,
    /// The silence of a client after which an `enquire_link` is sent.
    pub enquire_link: Duration,
    /// Timeout of a client's answer to a receipt, `enquire_link` or `unbind`.
    pub response_timeout: Duration,
}

pub(super) fn read(mut section: Section<'_>) -> SmppServer {
    let server = SmppServer {
        listen: section.get("listen"),
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
