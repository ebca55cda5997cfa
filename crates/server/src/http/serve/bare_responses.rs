//! Bare responses of the HTTP library. It refuses some requests before they reach the router: a
//! head that is too large, has too many headers, or is no HTTP. It answers without a body, and this
//! module replaces that answer with the envelope of all others.

use crate::http::head::{MAX_HEAD_BYTES, MAX_HEADERS};
use crate::http::respond::codes::Codes;
use crate::http::respond::error::{Failure, Shape};
use crate::http::respond::request_id;
use axum::body::Bytes;
use domain::Refusal;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The beginning of an answer that the library makes by itself.
const BEGINNING: &[u8] = b"HTTP/1.1 ";
const WITHOUT_BODY: &[u8] = b"\r\ncontent-length: 0\r\n";
const END: &[u8] = b"\r\n\r\n";
/// Maximum length of such an answer, bytes.
const MAX_BARE: usize = 256;

/// A connection on which bare answers are replaced before they are sent.
pub(crate) struct CompletedStream<S> {
    stream: S,
    codes: Codes,
    /// The rest of the answer that replaces a bare one.
    instead: Bytes,
}

impl<S: AsyncWrite + Unpin> CompletedStream<S> {
    pub(crate) fn new(stream: S, codes: Codes) -> Self {
        Self {
            stream,
            codes,
            instead: Bytes::new(),
        }
    }

    /// Writes the replacement of a bare answer.
    fn poll_instead(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.instead.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, &self.instead))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            let _written = self.instead.split_to(written);
        }
        Poll::Ready(Ok(()))
    }
}

/// Returns the place of a bare answer at the end of these octets, and its status.
fn bare(octets: &[u8]) -> Option<(usize, u16)> {
    if !octets.ends_with(END) {
        return None;
    }
    let from = octets.len().saturating_sub(MAX_BARE);
    let tail = &octets[from..];
    let begins = tail
        .windows(BEGINNING.len())
        .rposition(|at| at == BEGINNING)?;
    let answer = &tail[begins..];
    let digits = answer.get(BEGINNING.len()..BEGINNING.len() + 3)?;
    let status = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let is_empty = answer
        .windows(WITHOUT_BODY.len())
        .any(|at| at == WITHOUT_BODY);
    (is_empty && [400, 414, 431].contains(&status)).then_some((from + begins, status))
}

/// Returns the complete answer, which replaces the bare one.
fn whole(status: u16, codes: &Codes) -> Vec<u8> {
    let refusal = match status {
        400 => Refusal::Malformed("The request is not valid HTTP.".to_owned()),
        _ => Refusal::HeadTooLarge {
            headers: MAX_HEADERS,
            bytes: MAX_HEAD_BYTES as usize,
        },
    };
    let failure = Failure::from(refusal);
    failure.count();
    let status = failure.kind().status;
    let body = serde_json::to_vec(&failure.envelope(Shape::V2).with(codes)).unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\
         cache-control: no-store\r\nx-content-type-options: nosniff\r\nx-request-id: {}\r\n\r\n",
        body.len(),
        request_id::new(),
    );
    [head.as_bytes(), &body].concat()
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CompletedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        octets: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_instead(context))?;
        let Some((begins, status)) = bare(octets) else {
            return Pin::new(&mut self.stream).poll_write(context, octets);
        };
        let whole = whole(status, &self.codes);
        self.instead = [&octets[..begins], &whole].concat().into();
        // The rest is written before the next octets, and with the next flush.
        if let Poll::Ready(Err(fault)) = self.poll_instead(context) {
            return Poll::Ready(Err(fault));
        }
        Poll::Ready(Ok(octets.len()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_instead(context))?;
        let last = slices.iter().rfind(|slice| !slice.is_empty());
        if last.is_some_and(|last| bare(last).is_some()) {
            let octets: Vec<&[u8]> = slices.iter().map(|slice| &**slice).collect();
            return self.poll_write(context, &octets.concat());
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_instead(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_instead(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CompletedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        octets: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, octets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_of_the_library_without_a_body_is_completed() {
        let answer = |status: &str, length: usize| {
            format!(
                "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\ndate: x\r\n\r\n"
            )
        };
        let own = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        let behind = format!("{own}{}", answer("431 Too Large", 0));
        let table = [
            (
                answer("431 Request Header Fields Too Large", 0),
                Some((0, 431)),
            ),
            (answer("400 Bad Request", 0), Some((0, 400))),
            (answer("414 URI Too Long", 0), Some((0, 414))),
            (behind, Some((own.len(), 431))),
            (answer("400 Bad Request", 7), None),
            (answer("200 OK", 0), None),
            (own.to_owned(), None),
            ("\r\n\r\n".to_owned(), None),
            (String::new(), None),
        ];
        for (octets, expected) in table {
            assert_eq!(bare(octets.as_bytes()), expected, "{octets:?}");
        }
    }
}
