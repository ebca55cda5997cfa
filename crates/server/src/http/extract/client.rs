//! The address of the client of a request.

use axum::http::request::Parts;
use domain::client_address::{self, AddressRange};
use std::net::{IpAddr, Ipv4Addr};

/// The address of the peer of a request's connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

const FORWARDED_FOR: &str = "x-forwarded-for";

/// Returns the address of the client: that of the connection, or the one that trusted proxies name.
pub(crate) fn address(parts: &Parts, trusted: &[AddressRange]) -> IpAddr {
    // A request without a connection has an address that is on no allow-list.
    let nobody = Peer(Ipv4Addr::UNSPECIFIED.into());
    let Peer(peer) = parts.extensions.get().copied().unwrap_or(nobody);
    // A header that is no text is no address either.
    let lines = parts.headers.get_all(FORWARDED_FOR).iter();
    let lines: Vec<&str> = lines
        .map(|line| line.to_str().unwrap_or_default())
        .collect();
    client_address::client(peer, lines.into_iter(), trusted)
}
