//! The signals that end a command that runs until it is told to stop.

use crate::logs;
use std::future::pending;
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, oneshot};

/// Exit code after a second signal, when nothing is waited for any more.
const AT_ONCE: i32 = 130;

/// Takes SIGINT and SIGTERM over from the system's own handling: what is given back ends with the first of
/// them. A second one ends the process at once, whatever it is doing.
pub(super) fn stop() -> io::Result<impl Future<Output = ()>> {
    stop_with(None)
}

/// The same, and SIGHUP too: for what is run from a shell that may be closed, and has no configuration to read again.
pub(super) fn stop_or_hangup() -> io::Result<impl Future<Output = ()>> {
    stop_with(Some(signal(SignalKind::hangup())?))
}

/// Takes SIGHUP over: each gives one, but those that come before the last was looked at.
pub(super) fn hangups() -> io::Result<mpsc::Receiver<()>> {
    let mut hangup = signal(SignalKind::hangup())?;
    let (ask, asked) = mpsc::channel(1);
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            // One that waits is as good.
            let _ = ask.try_send(());
        }
    });
    Ok(asked)
}

async fn hung_up(hangup: &mut Option<Signal>) {
    match hangup {
        Some(hangup) => drop(hangup.recv().await),
        None => pending().await,
    }
}

fn stop_with(mut hangup: Option<Signal>) -> io::Result<impl Future<Output = ()>> {
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
        // A shell that is closed may send more than one, so a second of these ends nothing at once.
        tokio::select! {
            () = next() => {}
            () = hung_up(&mut hangup) => {}
        }
        // A receiver that is gone has stopped already.
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
