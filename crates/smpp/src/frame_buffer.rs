//! The read buffer of a connection: filled by large reads, emptied frame by frame.

use crate::frame::{BrokenLength, Frame, MAX_FRAME_OCTETS, first_frame, first_frame_in_part};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};

/// As large as the longest frame, so that a frame always fits once those before it are gone.
const BUFFER_OCTETS: usize = MAX_FRAME_OCTETS;

/// Octets read and not yet understood.
#[derive(Debug)]
pub struct FrameBuffer {
    octets: Box<[u8]>,
    start: usize,
    end: usize,
    /// Octets still to come that belong to an overlong frame, and are dropped.
    skipped: usize,
}

impl Default for FrameBuffer {
    fn default() -> Self {
        Self::new()
    }
}

impl FrameBuffer {
    /// An empty buffer.
    pub fn new() -> Self {
        Self {
            octets: vec![0; BUFFER_OCTETS].into(),
            start: 0,
            end: 0,
            skipped: 0,
        }
    }

    /// Reads once. Call it only when `next_frame` has nothing more to give. Zero is the end of the stream.
    pub(crate) fn poll_fill<S: AsyncRead + Unpin>(
        &mut self,
        stream: &mut S,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        self.make_room();
        let mut room = ReadBuf::new(&mut self.octets[self.end..]);
        ready!(Pin::new(stream).poll_read(cx, &mut room))?;
        let read = room.filled().len();
        self.end += read;
        self.skip();
        Poll::Ready(Ok(read))
    }

    /// Takes as many of these octets as there is room for, and returns their number. There is room for at least one once
    /// [`Self::next_whole_frame`] has nothing more to give.
    pub fn push(&mut self, octets: &[u8]) -> usize {
        self.make_room();
        let room = &mut self.octets[self.end..];
        let taken = octets.len().min(room.len());
        room[..taken].copy_from_slice(&octets[..taken]);
        self.end += taken;
        self.skip();
        taken
    }

    /// Takes the next frame out, where it is whole. One that is longer than [`MAX_FRAME_OCTETS`] is broken.
    pub fn next_whole_frame(&mut self) -> Result<Option<Frame<'_>>, BrokenLength> {
        let (start, end) = (self.start, self.end);
        let frame = first_frame(&self.octets[start..end])?;
        self.start += frame.map_or(0, |frame| frame.octets());
        Ok(frame)
    }

    /// Takes the next frame out: whole, or the beginning of one that is overlong.
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

    fn make_room(&mut self) {
        if self.start > 0 {
            self.octets.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
    }

    /// Drops what belongs to an overlong frame. Its frame was given already, so nothing else is in the buffer.
    fn skip(&mut self) {
        let dropped = self.skipped.min(self.end - self.start);
        self.start += dropped;
        self.skipped -= dropped;
    }
}
