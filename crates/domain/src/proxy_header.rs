//! The header by which a proxy names the address of its client: the PROXY protocol, versions 1 and 2.

use std::net::IpAddr;

/// Maximum number of octets of a header.
pub const MAX_OCTETS: usize = 1_024;

/// The begin of a header of version 1.
const TEXT: &[u8] = b"PROXY ";
/// The begin of a header of version 2.
const BINARY: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
/// Maximum number of octets of a header of version 1.
const MAX_TEXT_OCTETS: usize = 107;
/// Number of octets of version 2 before its addresses: begin, command, family, and their length.
const FIXED_OCTETS: usize = BINARY.len() + 4;

/// The state of a header of which some octets were read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ProxyHeader {
    /// The octets are no header.
    None,
    /// More octets are needed.
    Partial,
    /// The octets are a whole header. It has the address of the client, unless the proxy speaks for
    /// itself.
    Whole(Option<IpAddr>),
    /// The header cannot be read.
    Broken,
}

impl ProxyHeader {
    /// Reads the octets at the begin of a connection, one more at each call.
    pub fn read(octets: &[u8]) -> Self {
        if octets.starts_with(TEXT) {
            text(octets)
        } else if octets.starts_with(BINARY) {
            binary(octets)
        } else if TEXT.starts_with(octets) || BINARY.starts_with(octets) {
            Self::Partial
        } else {
            Self::None
        }
    }
}

fn text(octets: &[u8]) -> ProxyHeader {
    let Some(line) = octets.strip_suffix(b"\r\n") else {
        return if octets.len() < MAX_TEXT_OCTETS {
            ProxyHeader::Partial
        } else {
            ProxyHeader::Broken
        };
    };
    let line = std::str::from_utf8(line).unwrap_or_default();
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        [_, "UNKNOWN", ..] => ProxyHeader::Whole(None),
        [_, "TCP4" | "TCP6", source, _, _, _] => match source.parse() {
            Ok(client) => ProxyHeader::Whole(Some(client)),
            Err(_) => ProxyHeader::Broken,
        },
        _ => ProxyHeader::Broken,
    }
}

fn binary(octets: &[u8]) -> ProxyHeader {
    let Some((fixed, addresses)) = octets.split_first_chunk::<FIXED_OCTETS>() else {
        return ProxyHeader::Partial;
    };
    let [.., command, family, high, low] = *fixed;
    let length = usize::from(u16::from_be_bytes([high, low]));
    if FIXED_OCTETS + length > MAX_OCTETS || command >> 4 != 2 {
        return ProxyHeader::Broken;
    }
    if addresses.len() < length {
        return ProxyHeader::Partial;
    }
    match (command & 0x0F, family) {
        (1, 0x11) => client::<4>(addresses),
        (1, 0x21) => client::<16>(addresses),
        // The proxy speaks for itself, or the address is of another kind, such as that of a Unix socket.
        (0 | 1, _) => ProxyHeader::Whole(None),
        _ => ProxyHeader::Broken,
    }
}

/// Returns the first address, which is that of the client.
fn client<const OCTETS: usize>(addresses: &[u8]) -> ProxyHeader
where
    IpAddr: From<[u8; OCTETS]>,
{
    match addresses.first_chunk::<OCTETS>() {
        Some(client) => ProxyHeader::Whole(Some(IpAddr::from(*client))),
        None => ProxyHeader::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version_2(command: u8, family: u8, addresses: &[u8]) -> Vec<u8> {
        let length = u16::try_from(addresses.len()).unwrap().to_be_bytes();
        [BINARY, &[command, family], &length, addresses].concat()
    }

    /// Reads octets one by one, as from a connection. Returns the result with the octets it took.
    fn read(octets: &[u8]) -> (ProxyHeader, usize) {
        for end in 0..=octets.len() {
            let state = ProxyHeader::read(&octets[..end]);
            if state != ProxyHeader::Partial {
                return (state, end);
            }
        }
        (ProxyHeader::Partial, octets.len())
    }

    #[test]
    fn both_versions_name_the_client() {
        let v4: IpAddr = "203.0.113.9".parse().unwrap();
        let v6: IpAddr = "2001:db8::9".parse().unwrap();
        let (IpAddr::V4(four), IpAddr::V6(six)) = (v4, v6) else {
            unreachable!()
        };
        let ports = [0x12, 0x34, 0x0A, 0xD8];
        let of_4 = [&four.octets()[..], &[10, 0, 0, 1], &ports].concat();
        // Further fields follow the addresses.
        let of_6 = [&six.octets()[..], &[0; 16], &ports, &[4, 0, 1, 0]].concat();
        let table = [
            (
                b"PROXY TCP4 203.0.113.9 10.0.0.1 4660 2776\r\n".to_vec(),
                Some(v4),
            ),
            (
                b"PROXY TCP6 2001:db8::9 ::1 4660 2776\r\n".to_vec(),
                Some(v6),
            ),
            (b"PROXY UNKNOWN\r\n".to_vec(), None),
            (version_2(0x21, 0x11, &of_4), Some(v4)),
            (version_2(0x21, 0x21, &of_6), Some(v6)),
            (version_2(0x20, 0x00, &[]), None),
            (version_2(0x21, 0x31, &[0; 216]), None),
        ];
        for (header, client) in table {
            let whole = header.len();
            let followed = [&header[..], &[0, 0, 0, 16]].concat();
            assert_eq!(read(&followed), (ProxyHeader::Whole(client), whole));
            assert_eq!(read(&header[..whole - 1]).0, ProxyHeader::Partial);
        }
    }

    #[test]
    fn a_connection_without_a_header_is_known_by_its_first_octets() {
        for octets in [&[0, 0, 0, 32][..], &[0x16, 3, 1], b"GET /", b"PROXIES "] {
            assert_eq!(read(octets).0, ProxyHeader::None, "{octets:?}");
        }
    }

    #[test]
    fn a_header_that_cannot_be_read_is_broken() {
        let long = [b"PROXY UNKNOWN ", &[b'x'; 200][..]].concat();
        let table = [
            long,
            b"PROXY TCP4 203.0.113 10.0.0.1 1 2\r\n".to_vec(),
            b"PROXY TCP4 203.0.113.9\r\n".to_vec(),
            version_2(0x31, 0x11, &[0; 12]),
            version_2(0x22, 0x11, &[0; 12]),
            version_2(0x21, 0x11, &[0; 3]),
            version_2(0x21, 0x11, &[0; 2_000]),
        ];
        for header in table {
            assert_eq!(read(&header).0, ProxyHeader::Broken);
        }
    }
}
