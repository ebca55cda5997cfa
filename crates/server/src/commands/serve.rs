//! `ogene serve`

use super::answer::{Answer, Failure};
use super::context::Context;
use super::signals;
use crate::{app, logs};
use engine::Clock;
use serde_json::json;
use std::net::SocketAddr;
use tokio::net::TcpListener;

pub(super) async fn run(context: &Context) -> Result<Answer, Failure> {
    // Signals are handled before everything else, so that a SIGHUP during the start is not lost.
    let hangups = signals::hangups()?;
    let config = context.config()?;
    logs::start(&config.log);
    match &config.file {
        Some(file) => tracing::info!(config.file = %file.display(), "configuration: read"),
        None => {
            tracing::info!(
                "configuration: no file, the defaults apply (see `ogene config default`)"
            );
        }
    }
    for note in &config.notes {
        tracing::warn!("{note}");
    }
    let stop = signals::stop()?;
    let listener = bind(config.http.listen, "`http.listen`").await?;
    let source = app::Source::new(context.reader()?, hangups);
    app::serve(config, source, Clock::system(), listener, stop).await?;
    tracing::info!("stopped");
    Answer::for_machines(&json!({ "stopped": true }))
}

/// Listens on `address`. A failure names the obstacle and the setting to change.
pub(super) async fn bind(address: SocketAddr, setting: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| {
        Failure::new(format!(
            "cannot listen on {address}: {error}; choose another {setting}"
        ))
    })
}
