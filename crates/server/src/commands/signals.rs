//! The signals that end a command that runs until it is told to stop.

use crate::logs;
use std::io;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

/// Exit code after a second signal, when nothing is waited for any more.
const AT_ONCE: i32 = 130;

/// Takes SIGINT and SIGTERM over from the system's own handling: what is given back ends with the first of
/// them. A second one ends the process at once, whatever it is doing.
pub(super) fn stop() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let (asked, stop) = oneshot::channel();
    tokio::spawn(async move {
        let mut next = async || {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        };
        next().await;
        // Whoever does not listen any more has stopped already.
        let _ = asked.send(());
        next().await;
        logs::flush();
        std::process::exit(AT_ONCE);
    });
    Ok(async {
        // A sender that is gone asks for the end just as one that speaks.
        let _ = stop.await;
    })
}
