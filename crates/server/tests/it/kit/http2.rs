//! HTTP/2 by hand, without TLS (RFC 9113): frames that no library would send.

use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const CONTINUATION: u8 = 9;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
/// The default maximum size of a frame.
const LONGEST_FRAME: usize = 16_384;
/// Timeout of a frame.
const TIMEOUT: Duration = Duration::from_secs(40);

/// A frame of the protocol.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short frame");
    let mut frame = length.to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Returns the header block of a GET, without compression.
pub(crate) fn get(path: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    // The first entries are from the static table: GET, and http.
    let mut block = vec![0x82, 0x86];
    for (name, value) in [(":path", path), (":authority", "localhost")]
        .iter()
        .chain(fields)
    {
        block.push(0);
        for text in [name, value] {
            length(text.len(), &mut block);
            block.extend(text.bytes());
        }
    }
    block
}

/// The length has seven bits. The rest of a longer one is in the next octets, seven bits in each
/// (RFC 7541, 5.1).
fn length(length: usize, block: &mut Vec<u8>) {
    let octet = |number: usize| u8::try_from(number).expect("an octet");
    if length < 127 {
        return block.push(octet(length));
    }
    block.push(127);
    let mut rest = length - 127;
    while rest >= 128 {
        block.push(octet(rest % 128) | 128);
        rest /= 128;
    }
    block.push(octet(rest));
}

/// A connection after its preface and settings.
pub(crate) async fn connect(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(PREFACE).await.expect("written");
    let settings = frame(SETTINGS, 0, 0, &[]);
    stream.write_all(&settings).await.expect("written");
    stream
}

/// Returns the kind, flags and payload of the next frame, or `None` at the end of the connection.
pub(crate) async fn next(stream: &mut (impl AsyncReadExt + Unpin)) -> Option<(u8, u8, Vec<u8>)> {
    let read = async {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.ok()?;
        let [high, middle, low, kind, flags, ..] = head;
        let length = u32::from_be_bytes([0, high, middle, low]);
        let mut payload = vec![0; usize::try_from(length).ok()?];
        stream.read_exact(&mut payload).await.ok()?;
        Some((kind, flags, payload))
    };
    timeout(TIMEOUT, read).await.expect("a frame in time")
}

/// Sends a request on a connection of its own. Returns the status.
pub(crate) async fn ask(address: SocketAddr, path: &str, fields: &[(&str, &str)]) -> u16 {
    let mut stream = connect(address).await;
    let block = get(path, fields);
    let mut parts = block.chunks(LONGEST_FRAME).peekable();
    let (mut kind, mut flags) = (HEADERS, END_STREAM);
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            flags |= END_HEADERS;
        }
        let headers = frame(kind, flags, 1, part);
        stream.write_all(&headers).await.expect("written");
        (kind, flags) = (CONTINUATION, 0);
    }
    loop {
        let (kind, _, payload) = next(&mut stream).await.expect("an answer");
        if kind == HEADERS {
            return status(&payload);
        }
    }
}

/// Returns the status, with which a header block begins.
fn status(block: &[u8]) -> u16 {
    // Some statuses have a place in the static table (RFC 7541, appendix A).
    match block {
        [0x88, ..] => 200,
        [0x8C, ..] => 400,
        [0x8D, ..] => 404,
        // Another status is a literal whose name is that of 200: three digits, in two octets by
        // Huffman's code.
        [0x08 | 0x48, 0x03, digits @ ..] => {
            let digits = std::str::from_utf8(&digits[..3]).expect("digits");
            digits.parse().expect("a status")
        }
        [0x08 | 0x48, 0x82, 0x68, 0x01, ..] => 401,
        [0x08 | 0x48, 0x83, 0x69, 0x90, 0xFF, ..] => 431,
        other => panic!("no status that is known here: {other:?}"),
    }
}
