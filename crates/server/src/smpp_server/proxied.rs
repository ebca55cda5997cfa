//! The header of a proxy before the octets of its client.

use domain::proxy_header::{MAX_OCTETS, ProxyHeader};
use std::io;
use std::net::IpAddr;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

/// Reads the header of a connection from a trusted proxy. Returns the address of the client, or `None`
/// if there is no header or the proxy speaks for itself.
pub(super) async fn client_of(stream: &mut TcpStream) -> io::Result<Option<IpAddr>> {
    let mut octets = Vec::new();
    let mut peeked = [0; 1];
    // Neither an SMPP PDU nor a TLS handshake begins like a header, so its first octet decides.
    if stream.peek(&mut peeked).await? == 0 || ProxyHeader::read(&peeked) != ProxyHeader::Partial {
        return Ok(None);
    }
    while octets.len() < MAX_OCTETS {
        // Single octets are read, so that none of the client's is taken.
        octets.push(stream.read_u8().await?);
        match ProxyHeader::read(&octets) {
            ProxyHeader::Partial => {}
            ProxyHeader::Whole(client) => return Ok(client),
            ProxyHeader::None | ProxyHeader::Broken => break,
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}
