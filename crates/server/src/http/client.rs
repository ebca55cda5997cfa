//! Whose request it is, as far as the network tells.

use super::serve::Peer;
use axum::http::request::Parts;
use domain::client::{self, AddressRange};
use std::net::{IpAddr, Ipv4Addr};

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The address of the client: that of the connection, or whom trusted proxies name.
pub(super) fn address(parts: &Parts, trusted: &[AddressRange]) -> IpAddr {
    // Whatever came over no connection of ours is nobody's, and on no allow-list.
    let nobody = Peer(Ipv4Addr::UNSPECIFIED.into());
    let Peer(peer) = parts.extensions.get().copied().unwrap_or(nobody);
    // A line that is no text is no address either.
    let lines = parts.headers.get_all(FORWARDED_FOR).iter();
    let lines: Vec<&str> = lines
        .map(|line| line.to_str().unwrap_or_default())
        .collect();
    client::client(peer, lines.into_iter(), trusted)
}
