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
/// How long a frame is waited for.
const PATIENCE: Duration = Duration::from_secs(40);

/// A frame as it goes over the wire.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short frame");
    let mut frame = length.to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The header block of a GET, nothing of it compressed.
pub(crate) fn get(path: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    // From the static table: GET, and http.
    let mut block = vec![0x82, 0x86];
    for (name, value) in [(":path", path), (":authority", "localhost")]
        .iter()
        .chain(fields)
    {
        block.push(0);
        for text in [name, value] {
            // Seven bits of length; what is longer goes on in the next octet.
            match u8::try_from(text.len()) {
                Ok(short @ 0..=126) => block.push(short),
                Ok(more) if more < 255 => block.extend([127, more - 127]),
                _ => panic!("too long for here"),
            }
            block.extend(text.bytes());
        }
    }
    block
}

/// A connection of which the preface and the settings are said.
pub(crate) async fn connect(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(PREFACE).await.expect("written");
    let settings = frame(SETTINGS, 0, 0, &[]);
    stream.write_all(&settings).await.expect("written");
    stream
}

/// The next frame: its kind, its flags and its payload; `None` where the connection is over.
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
    timeout(PATIENCE, read).await.expect("a frame in time")
}

/// Asks over a connection of its own; gives the status.
pub(crate) async fn ask(address: SocketAddr, path: &str, fields: &[(&str, &str)]) -> u16 {
    let mut stream = connect(address).await;
    let headers = frame(HEADERS, END_HEADERS | END_STREAM, 1, &get(path, fields));
    stream.write_all(&headers).await.expect("written");
    loop {
        let (kind, _, payload) = next(&mut stream).await.expect("an answer");
        if kind == HEADERS {
            return status(&payload);
        }
    }
}

/// The status that a header block begins with.
fn status(block: &[u8]) -> u16 {
    // Some have a place in the static table (RFC 7541, appendix A).
    match block {
        [0x88, ..] => 200,
        [0x8C, ..] => 400,
        [0x8D, ..] => 404,
        // Another is a literal whose name is that of 200: three digits, in two octets by Huffman's code.
        [0x08 | 0x48, 0x03, digits @ ..] => {
            let digits = std::str::from_utf8(&digits[..3]).expect("digits");
            digits.parse().expect("a status")
        }
        [0x08 | 0x48, 0x82, 0x68, 0x01, ..] => 401,
        other => panic!("no status that is known here: {other:?}"),
    }
}
