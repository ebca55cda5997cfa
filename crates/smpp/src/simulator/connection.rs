//! One connection of the simulator, which moves octets between the socket and the conversation.

use super::conversation::Conversation;
use super::shared::Shared;
use crate::frame_buffer::FrameBuffer;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// Maximum number of rounds before the task yields.
const MAX_ROUNDS: usize = 32;
/// Duration of the timer when nothing is due.
const IDLE_TIMEOUT: Duration = Duration::from_hours(1);

pub(super) struct Connection {
    stream: TcpStream,
    input: FrameBuffer,
    conversation: Conversation,
    shared: Arc<Shared>,
    timer: Pin<Box<Sleep>>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, shared: Arc<Shared>, number: u64) -> Self {
        let now = Instant::now();
        Self {
            stream,
            input: FrameBuffer::new(),
            conversation: Conversation::new(Arc::clone(&shared), number, now),
            shared,
            timer: Box::pin(sleep_until(now + IDLE_TIMEOUT)),
        }
    }

    /// Returns `Ready` when the connection is over.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for _ in 0..MAX_ROUNDS {
            let now = Instant::now();
            self.conversation.set_script(self.shared.script());
            let read = self.read(cx, now);
            self.conversation.on_time(now, cx);
            let written = self.write(cx);
            self.conversation.report();
            if self.conversation.is_over(now) {
                return Poll::Ready(());
            }
            if !read && !written && !self.time_is_due(cx) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn read(&mut self, cx: &mut Context<'_>, now: Instant) -> bool {
        if self.conversation.session.is_congested() {
            return false;
        }
        match self.input.poll_fill(&mut self.stream, cx) {
            Poll::Pending => return false,
            Poll::Ready(Ok(0) | Err(_)) => {
                self.conversation.hang_up();
                return false;
            }
            Poll::Ready(Ok(_)) => {}
        }
        while self.conversation.is_open() {
            match self.input.next_whole_frame() {
                Ok(Some(frame)) => self.conversation.on_frame(&frame, now),
                Ok(None) => break,
                Err(_) => self.conversation.session.on_broken_length(now),
            }
        }
        true
    }

    fn write(&mut self, cx: &mut Context<'_>) -> bool {
        let output = &mut self.conversation.session.output;
        let written = output.poll_write(&mut self.stream, cx);
        written.unwrap_or_else(|_| {
            self.conversation.hang_up();
            false
        })
    }

    fn time_is_due(&mut self, cx: &mut Context<'_>) -> bool {
        let deadline = self.conversation.deadline();
        let deadline = deadline.unwrap_or_else(|| Instant::now() + IDLE_TIMEOUT);
        if self.timer.is_elapsed() || self.timer.deadline() > deadline {
            self.timer.as_mut().reset(deadline);
        }
        self.timer.as_mut().poll(cx).is_ready()
    }
}
