//! The log: JSON or text on standard error, as the configuration says.

use crate::config::{Log, LogFormat};
use std::io::{IsTerminal, stderr};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts logging for the rest of the process; a second call changes nothing.
pub(crate) fn start(log: &Log) {
    // The configuration has read the level already.
    let filter = EnvFilter::try_new(&log.level).unwrap_or_default();
    let json = match log.format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !stderr().is_terminal(),
    };
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr);
    let started = if json {
        builder.json().flatten_event(true).finish().try_init()
    } else {
        builder
            .with_ansi(stderr().is_terminal())
            .finish()
            .try_init()
    };
    if started.is_err() {
        tracing::debug!("Logging was started before");
    }
}
