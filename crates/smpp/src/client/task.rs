//! The task of a session: it only moves octets between the socket and the link.

use super::commands::Commands;
use super::event::{CloseReason, Submit};
use super::link::Link;
use super::mailbox::{MAX_UNREAD_OCTETS, Mailbox};
use crate::frame::first_frame;
use crate::frame_buffer::FrameBuffer;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, Sleep, sleep_until};

/// Size of the unwritten output from which the connection is no longer read, because the peer
/// does not read either.
const MAX_UNWRITTEN_OCTETS: usize = 1024 * 1024;
/// Maximum number of rounds before the task yields.
const MAX_ROUNDS: usize = 32;
/// Duration of the timer when nothing is due.
const IDLE_TIMEOUT: Duration = Duration::from_hours(1);

pub(super) struct Task<S> {
    stream: S,
    input: FrameBuffer,
    link: Link,
    mailbox: Arc<Mailbox>,
    commands: Commands,
    timer: Pin<Box<Sleep>>,
    /// The time since which the caller is behind. Reads and timeouts are suspended meanwhile.
    behind_since: Option<Instant>,
    /// `true` if the last read returned nothing.
    drained: bool,
    ended: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Task<S> {
    pub(super) fn new(stream: S, input: FrameBuffer, link: Link, mailbox: Arc<Mailbox>) -> Self {
        Self {
            stream,
            input,
            link,
            mailbox,
            commands: Commands::default(),
            timer: Box::pin(sleep_until(Instant::now() + IDLE_TIMEOUT)),
            behind_since: None,
            drained: false,
            ended: false,
        }
    }

    /// Handles PDUs that arrived before the response to the bind, and PDUs that were read together
    /// with it.
    pub(super) fn take_early(&mut self, mut octets: &[u8]) {
        let now = Instant::now();
        while let Ok(Some(frame)) = first_frame(octets) {
            self.link.on_frame(&frame, now);
            octets = &octets[frame.octets()..];
        }
        self.handle_frames(now);
    }

    /// Returns `Ready` when the session is over.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for _ in 0..MAX_ROUNDS {
            let now = Instant::now();
            // Responses are read first, because they free the window.
            let read = self.read(cx, now);
            self.apply_commands(cx, now);
            if self.drained {
                self.link.on_time(now);
            }
            let written = self.write(cx, now);
            self.publish();
            if let Some(reason) = self.link.ended(self.drained, now) {
                finish(self, reason);
                let _ = Pin::new(&mut self.stream).poll_shutdown(cx);
                return Poll::Ready(());
            }
            if !read && !written && !self.time_is_due(cx) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Reads once and handles every complete PDU. Returns `false` if nothing was read.
    fn read(&mut self, cx: &mut Context<'_>, now: Instant) -> bool {
        self.drained = false;
        if self.is_behind(now) {
            return false;
        }
        if self.link.writer.output.waiting() >= MAX_UNWRITTEN_OCTETS {
            // The timeouts of a peer that does not read continue.
            self.drained = true;
            return false;
        }
        match self.input.poll_fill(&mut self.stream, cx) {
            Poll::Pending => {
                self.drained = true;
                false
            }
            Poll::Ready(Ok(0)) => self.stop(CloseReason::PeerClosed, now),
            Poll::Ready(Err(error)) => self.stop(CloseReason::Io(error.kind()), now),
            Poll::Ready(Ok(_)) => {
                self.link.note_received(now);
                self.handle_frames(now);
                true
            }
        }
    }

    /// Returns `true` if the caller is behind. Once it has caught up, all timeouts are extended by
    /// the pause.
    fn is_behind(&mut self, now: Instant) -> bool {
        if self.mailbox.unread_octets() >= MAX_UNREAD_OCTETS {
            self.behind_since.get_or_insert(now);
        } else if let Some(since) = self.behind_since.take() {
            self.link.postpone(now - since);
        }
        self.behind_since.is_some()
    }

    /// Records that nothing more can be read.
    fn stop(&mut self, reason: CloseReason, now: Instant) -> bool {
        self.link.leave(reason, now);
        self.drained = true;
        false
    }

    fn handle_frames(&mut self, now: Instant) {
        loop {
            match self.input.next_frame() {
                Ok(Some(frame)) => self.link.on_frame(&frame, now),
                Ok(None) => return,
                Err(broken) => {
                    tracing::warn!(
                        smpp.length = broken.0,
                        "SMPP connection: broken command_length, closing it"
                    );
                    self.link.on_broken_length(now);
                    self.input = FrameBuffer::new();
                    return;
                }
            }
        }
    }

    fn apply_commands(&mut self, cx: &Context<'_>, now: Instant) {
        let available = self.link.available();
        self.mailbox.take(available, &mut self.commands, cx);
        if self.commands.unbind || self.link.is_unbound_by_peer() {
            for submit in self.mailbox.stop_submits() {
                self.link.return_unsent(&submit);
            }
        }
        self.link.apply_commands(&mut self.commands, now);
    }

    fn write(&mut self, cx: &mut Context<'_>, now: Instant) -> bool {
        match self.link.writer.output.poll_write(&mut self.stream, cx) {
            Ok(progress) => progress,
            Err(error) => {
                // Octets that the peer wrote earlier may still be readable, such as responses.
                let reason = CloseReason::Io(error.kind());
                self.link.leave(reason, now + Duration::from_secs(1));
                true
            }
        }
    }

    fn publish(&mut self) {
        let outstanding = self.link.outstanding();
        self.mailbox.publish(&mut self.link, outstanding);
    }

    /// Sets the timer. Returns `true` if it has expired.
    fn time_is_due(&mut self, cx: &mut Context<'_>) -> bool {
        let deadline = self
            .link
            .deadline()
            .unwrap_or_else(|| Instant::now() + IDLE_TIMEOUT);
        if self.timer.is_elapsed() || self.timer.deadline() > deadline {
            self.timer.as_mut().reset(deadline);
        }
        // A caller that is behind wakes the task when it has caught up.
        self.timer.as_mut().poll(cx).is_ready() && self.behind_since.is_none()
    }
}

/// Ends a session, and records its counters.
fn finish<S>(task: &mut Task<S>, reason: CloseReason) {
    task.ended = true;
    task.link.abandon();
    let counters = task.link.counters;
    tracing::info!(
        smpp.reason = %reason,
        smpp.submits = counters.submits,
        smpp.responses = counters.responses,
        smpp.delivers = counters.delivers,
        smpp.odd_pdus = counters.odd_pdus,
        smpp.timeouts = counters.timeouts,
        "SMPP session: ended"
    );
    task.mailbox.publish(&mut task.link, 0);
    task.mailbox.finish(reason);
}

/// Every submit gets its outcome, even if the runtime drops the task.
impl<S> Drop for Task<S> {
    fn drop(&mut self) {
        if !self.ended {
            let submits: Vec<Submit> = self.commands.submits.drain(..).collect();
            for submit in &submits {
                self.link.return_unsent(submit);
            }
            finish(self, CloseReason::Aborted);
        }
    }
}
