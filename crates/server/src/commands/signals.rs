//! The signals that end a command that runs until it is told to stop.

use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Exit code after a second signal, when nothing is waited for any more.
const AT_ONCE: i32 = 130;

/// The signals that ask for an end.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Takes them over from the system's own handling.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Ends with the first signal; the second one ends the process at once.
    pub(super) async fn stop(mut self) {
        self.next().await;
        tokio::spawn(async move {
            self.next().await;
            std::process::exit(AT_ONCE);
        });
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
