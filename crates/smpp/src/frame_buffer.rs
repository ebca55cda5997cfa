//! The read buffer of a connection. Large reads fill it, and frames are taken out one by one.

use crate::frame::{BrokenLength, Frame, MAX_FRAME_OCTETS, first_frame, first_frame_in_part};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};

/// Size of the longest frame, so that every frame fits once earlier ones are removed.
const MAX_BUFFER_OCTETS: usize = MAX_FRAME_OCTETS;
/// Size of a new buffer. It doubles whenever a read fills it, so an idle connection takes little
/// memory.
const MIN_BUFFER_OCTETS: usize = 2 * 1024;

/// Octets that were read and not decoded yet.
#[derive(Debug)]
pub struct FrameBuffer {
    octets: Vec<u8>,
    start: usize,
    end: usize,
    /// Number of octets of an overlong frame that are still to be skipped.
    skipped: usize,
}

impl Default for FrameBuffer {
    fn default() -> Self {
        Self::new()
    }
}

impl FrameBuffer {
    /// Creates an empty buffer.
    pub fn new() -> Self {
        Self {
            octets: vec![0; MIN_BUFFER_OCTETS],
            start: 0,
            end: 0,
            skipped: 0,
        }
    }

    /// Reads once, and returns the number of octets. `next_frame` must have returned `None` before.
    /// Zero is the end of the stream.
    pub fn poll_fill<S: AsyncRead + Unpin>(
        &mut self,
        stream: &mut S,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        self.compact();
        let mut free = ReadBuf::new(&mut self.octets[self.end..]);
        ready!(Pin::new(stream).poll_read(cx, &mut free))?;
        let read = free.filled().len();
        self.end += read;
        self.grow();
        self.skip();
        Poll::Ready(Ok(read))
    }

    /// Adds as many of these octets as fit, and returns their number. At least one fits after
    /// [`Self::next_whole_frame`] returned `None`.
    pub fn push(&mut self, octets: &[u8]) -> usize {
        self.compact();
        let free = &mut self.octets[self.end..];
        let taken = octets.len().min(free.len());
        free[..taken].copy_from_slice(&octets[..taken]);
        self.end += taken;
        self.grow();
        self.skip();
        taken
    }

    /// Takes the next complete frame. A frame longer than [`MAX_FRAME_OCTETS`] is an error.
    pub fn next_whole_frame(&mut self) -> Result<Option<Frame<'_>>, BrokenLength> {
        let (start, end) = (self.start, self.end);
        let frame = first_frame(&self.octets[start..end])?;
        self.start += frame.map_or(0, |frame| frame.octets());
        Ok(frame)
    }

    /// Takes the next frame: a complete one, or the beginning of an overlong one.
    pub(crate) fn next_frame(&mut self) -> Result<Option<Frame<'_>>, BrokenLength> {
        let (start, end) = (self.start, self.end);
        let Some((frame, rest)) = first_frame_in_part(&self.octets[start..end])? else {
            return Ok(None);
        };
        self.start += frame.octets();
        self.skipped = rest.saturating_sub(end - self.start);
        self.start += rest - self.skipped;
        Ok(Some(frame))
    }

    fn compact(&mut self) {
        if self.start > 0 {
            self.octets.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
    }

    /// Makes room in a buffer that is full.
    fn grow(&mut self) {
        let octets = self.octets.len();
        if self.end == octets && octets < MAX_BUFFER_OCTETS {
            self.octets.resize(MAX_BUFFER_OCTETS.min(2 * octets), 0);
        }
    }

    /// Drops octets of an overlong frame, whose beginning was already returned.
    fn skip(&mut self) {
        let dropped = self.skipped.min(self.end - self.start);
        self.start += dropped;
        self.skipped -= dropped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::HEADER_OCTETS;

    fn frame(octets: usize) -> Vec<u8> {
        let mut frame = vec![0; octets];
        frame[..4].copy_from_slice(&u32::try_from(octets).unwrap().to_be_bytes());
        frame
    }

    #[test]
    fn a_buffer_grows_until_the_longest_frame_fits() {
        let mut buffer = FrameBuffer::new();
        assert_eq!(buffer.octets.len(), MIN_BUFFER_OCTETS);
        for length in [HEADER_OCTETS, MIN_BUFFER_OCTETS, MAX_FRAME_OCTETS] {
            let octets = frame(length);
            let mut rest = &octets[..];
            while !rest.is_empty() {
                assert_eq!(buffer.next_whole_frame(), Ok(None));
                let taken = buffer.push(rest);
                assert!(taken > 0, "{length}");
                rest = &rest[taken..];
            }
            let whole = buffer.next_whole_frame().unwrap().unwrap();
            assert_eq!(whole.octets(), length);
        }
        assert_eq!(buffer.octets.len(), MAX_BUFFER_OCTETS);
    }
}
