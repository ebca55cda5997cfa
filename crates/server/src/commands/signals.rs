//! The signals that end a command that runs until it is stopped.

use crate::logs;
use std::future::pending;
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, oneshot};

/// The exit code after a second signal, which ends the process at once.
const AT_ONCE: i32 = 130;

/// Handles SIGINT and SIGTERM. The returned future completes with the first of them. A second one
/// ends the process at once.
pub(super) fn stop() -> io::Result<impl Future<Output = ()>> {
    stop_with(None)
}

/// Handles SIGHUP as well. It is for commands that are run from a shell that may be closed, and
/// that have no configuration to reload.
pub(super) fn stop_or_hangup() -> io::Result<impl Future<Output = ()>> {
    stop_with(Some(signal(SignalKind::hangup())?))
}

/// Handles SIGHUP. Each signal sends one message, unless one is still waiting.
pub(super) fn hangups() -> io::Result<mpsc::Receiver<()>> {
    let mut hangup = signal(SignalKind::hangup())?;
    let (ask, asked) = mpsc::channel(1);
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            // A waiting message serves for this signal as well.
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
        // A closing shell may send several, so a second SIGHUP ends nothing at once.
        tokio::select! {
            () = next() => {}
            () = hung_up(&mut hangup) => {}
        }
        // A dropped receiver has stopped already.
        let _ = asked.send(());
        next().await;
        logs::flush();
        std::process::exit(AT_ONCE);
    });
    Ok(async {
        // A dropped sender requests the end as well.
        let _ = stop.await;
    })
}
