//! The write buffer of a connection, which writes many PDUs at once.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;

/// Number of written octets from which they are removed from a buffer with unwritten ones.
const COMPACT_OCTETS: usize = 64 * 1024;

/// Encoded octets, and their position in the stream.
#[derive(Debug, Default)]
pub(crate) struct Output {
    /// New PDUs are appended here.
    pub(crate) octets: Vec<u8>,
    written: usize,
    /// Number of octets of the stream before the first of `octets`.
    base: u64,
    /// `true` if written octets may still be buffered by the transport, as with TLS.
    unflushed: bool,
    broken: bool,
}

impl Output {
    /// Returns the position of the next PDU in the stream.
    pub(crate) fn position(&self) -> u64 {
        self.base + self.octets.len() as u64
    }

    /// Returns how many octets of the stream were written. A PDU that starts at or after this
    /// position was certainly not sent.
    pub(crate) fn sent(&self) -> u64 {
        self.base + self.written as u64
    }

    /// Returns `true` if nothing is left to write.
    pub(crate) fn is_done(&self) -> bool {
        self.broken || (self.waiting() == 0 && !self.unflushed)
    }

    /// Returns the number of unwritten octets.
    pub(crate) fn waiting(&self) -> usize {
        if self.broken {
            0
        } else {
            self.octets.len() - self.written
        }
    }

    /// Returns the unwritten octets.
    pub(crate) fn unsent(&self) -> &[u8] {
        if self.broken {
            &[]
        } else {
            self.octets.get(self.written..).unwrap_or_default()
        }
    }

    /// Records that octets were written.
    pub(crate) fn advance(&mut self, octets: usize) {
        self.written = self.octets.len().min(self.written + octets);
        self.compact();
    }

    /// Writes as much as the transport accepts. After an error, nothing further is written.
    pub(crate) fn poll_write<S: AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
        cx: &mut Context<'_>,
    ) -> io::Result<bool> {
        let mut progress = false;
        while self.waiting() > 0 {
            match Pin::new(&mut *stream).poll_write(cx, &self.octets[self.written..]) {
                Poll::Pending => break,
                Poll::Ready(Ok(0)) => return Err(self.fail(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(written)) => {
                    self.written += written;
                    progress = true;
                }
                Poll::Ready(Err(error)) => return Err(self.fail(error)),
            }
        }
        self.compact();
        self.unflushed |= progress;
        if self.unflushed {
            match Pin::new(stream).poll_flush(cx) {
                Poll::Pending => {}
                Poll::Ready(Ok(())) => self.unflushed = false,
                Poll::Ready(Err(error)) => return Err(self.fail(error)),
            }
        }
        Ok(progress)
    }

    fn fail(&mut self, error: io::Error) -> io::Error {
        self.broken = true;
        self.unflushed = false;
        error
    }

    fn compact(&mut self) {
        if self.written == self.octets.len() {
            self.base += self.written as u64;
            self.octets.clear();
            self.written = 0;
        } else if self.written >= COMPACT_OCTETS {
            self.base += self.written as u64;
            self.octets.drain(..self.written);
            self.written = 0;
        }
    }
}
