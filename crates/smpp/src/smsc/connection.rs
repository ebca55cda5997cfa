//! One client's connection: octets between the socket and the conversation.

use super::Server;
use super::conversation::{Conversation, End};
use crate::input::Input;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// Rounds before other tasks get their turn.
const ROUNDS: usize = 32;
/// Reading stops while this many octets wait to be written.
const MAX_UNWRITTEN_OCTETS: usize = 1024 * 1024;
/// How long the timer sleeps when nothing is due.
const FAR: Duration = Duration::from_hours(1);

pub(super) struct Connection {
    stream: TcpStream,
    input: Input,
    conversation: Conversation,
    server: Arc<Server>,
    timer: Pin<Box<Sleep>>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, server: Arc<Server>, number: u64) -> Self {
        let now = Instant::now();
        Self {
            stream,
            input: Input::new(),
            conversation: Conversation::new(Arc::clone(&server), number, now),
            server,
            timer: Box::pin(sleep_until(now + FAR)),
        }
    }

    /// Ready when the connection is over.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for _ in 0..ROUNDS {
            let now = Instant::now();
            self.conversation.script = self.server.script();
            let read = self.read(cx, now);
            self.conversation.on_time(now, cx);
            let written = self.write(cx);
            self.conversation.report();
            match self.conversation.end {
                End::Open => {}
                End::Flushing if !self.conversation.output.is_done() => {}
                End::Flushing | End::Now => return Poll::Ready(()),
            }
            if !read && !written && !self.time_is_due(cx) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn read(&mut self, cx: &mut Context<'_>, now: Instant) -> bool {
        if self.conversation.output.waiting() >= MAX_UNWRITTEN_OCTETS {
            return false;
        }
        match self.input.poll_fill(&mut self.stream, cx) {
            Poll::Pending => return false,
            Poll::Ready(Ok(0) | Err(_)) => {
                self.conversation.end = End::Now;
                return false;
            }
            Poll::Ready(Ok(_)) => {}
        }
        while self.conversation.end == End::Open {
            match self.input.next_frame() {
                Ok(Some(frame)) => self.conversation.on_frame(&frame, now),
                Ok(None) => break,
                Err(_) => self.conversation.end = End::Now,
            }
        }
        true
    }

    fn write(&mut self, cx: &mut Context<'_>) -> bool {
        let conversation = &mut self.conversation;
        let written = conversation.output.poll_write(&mut self.stream, cx);
        written.unwrap_or_else(|_| {
            conversation.end = End::Now;
            false
        })
    }

    fn time_is_due(&mut self, cx: &mut Context<'_>) -> bool {
        let deadline = self.conversation.deadline();
        let deadline = deadline.unwrap_or_else(|| Instant::now() + FAR);
        if self.timer.is_elapsed() || self.timer.deadline() > deadline {
            self.timer.as_mut().reset(deadline);
        }
        self.timer.as_mut().poll(cx).is_ready()
    }
}
