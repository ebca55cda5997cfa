//! One connection: it moves octets between the socket and the conversation.

use super::conversation::Conversation;
use super::done::Done;
use super::receiving::Receiving;
use super::requests::Requests;
use smpp::FrameBuffer;
use std::future::poll_fn;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Duration of the timer when nothing is due.
const IDLE_TIMEOUT: Duration = Duration::from_hours(1);

/// The next event of a connection.
enum Step {
    /// So many octets were read. Zero is the end of the stream.
    Read(usize),
    /// So many octets were written. Zero is the end of the stream.
    Written(usize),
    /// The work for a request is done, or its task panicked.
    Done(Option<Done>),
    /// Receipts may wait.
    Hinted,
    /// The user may not be bound any more.
    UserEnded,
    /// The service stops.
    Stopping,
    /// A timer is due.
    Time,
}

/// Serves a client until its session or its connection ends.
pub(super) async fn run(
    stream: impl AsyncRead + AsyncWrite,
    mut conversation: Conversation,
    mut stopping: watch::Receiver<bool>,
) {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let mut input = FrameBuffer::new();
    loop {
        let now = Instant::now();
        if let Some(end) = conversation.on_time(now) {
            conversation.leave(&end.to_string());
            // The client may still read the last answer.
            let _ = writer.shutdown().await;
            return;
        }
        let deadline = conversation.deadline(now).unwrap_or(now + IDLE_TIMEOUT);
        let (reads, follows) = (conversation.reads(now), !conversation.is_unbinding);
        let waits = conversation.waits_for_receipts(now);
        let has_output = !conversation.requests.session.unsent().is_empty();
        let Conversation {
            requests,
            receiving,
            ..
        } = &mut conversation;
        let Requests {
            session,
            work,
            bind,
            ..
        } = requests;
        let step = tokio::select! {
            read = poll_fn(|cx| input.poll_fill(&mut reader, cx)), if reads => {
                Step::Read(read.unwrap_or_default())
            }
            written = writer.write(session.unsent()), if has_output => {
                Step::Written(written.unwrap_or_default())
            }
            Some(done) = work.join_next() => Step::Done(done.ok()),
            () = hinted(receiving.as_mut()), if waits => Step::Hinted,
            () = user_ended(bind.as_deref()), if follows => Step::UserEnded,
            _ = stopping.wait_for(|stop| *stop), if follows => Step::Stopping,
            () = sleep_until(deadline) => Step::Time,
        };
        let now = Instant::now();
        match step {
            Step::Read(0) | Step::Written(0) => {
                conversation.leave("closed by the client");
                return;
            }
            Step::Read(_) => conversation.on_input(&mut input, now),
            Step::Written(octets) => conversation.on_written(octets),
            Step::Hinted => conversation.on_hint(now),
            Step::Done(Some(done)) => conversation.on_done(done, now),
            Step::Done(None) | Step::Time => {}
            Step::UserEnded => {
                conversation.unbind("the user is revoked, or its account may not be used", now);
            }
            Step::Stopping => {
                if !conversation.unbind("the service stops", now) {
                    return;
                }
            }
        }
    }
}

async fn user_ended(bind: Option<&engine::SmppBind>) {
    match bind {
        Some(bind) => bind.ended().await,
        None => std::future::pending().await,
    }
}

async fn hinted(receiving: Option<&mut Receiving>) {
    match receiving {
        Some(receiving) => receiving.hinted().await,
        None => std::future::pending().await,
    }
}
