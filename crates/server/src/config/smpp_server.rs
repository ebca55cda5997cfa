//! `[smpp_server]`: the entrance of customers who bind by SMPP.

use super::carrier::as_usize;
use super::section::Section;
use std::net::SocketAddr;

const MAX_CONNECTIONS: u32 = 100_000;

/// `[smpp_server]`
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SmppServer {
    /// The address, or `None` if no customer binds by SMPP.
    pub listen: Option<SocketAddr>,
    /// Maximum simultaneous connections.
    pub max_connections: usize,
}

pub(super) fn read(mut section: Section<'_>) -> SmppServer {
    let server = SmppServer {
        listen: section.get("listen"),
        max_connections: as_usize(
            section
                .within("max_connections", 1..=MAX_CONNECTIONS)
                .unwrap_or_default(),
        ),
    };
    section.finish();
    server
}
