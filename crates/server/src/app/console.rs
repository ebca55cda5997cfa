//! The console of a running service.

use crate::config::{Config, Metrics, PublicUrl};
use crate::http;
use axum::Router;
use engine::Engine;
use std::net::SocketAddr;

/// Returns all routes of the service: those of the API, and the pages if the console is enabled.
pub(super) fn router(config: &Config, state: http::State) -> Router {
    let pages = pages(config, &state);
    http::router(state, pages, config.http.metrics == Metrics::Shared)
}

fn pages(config: &Config, state: &http::State) -> Option<http::Console> {
    let public = config.http.public_url.as_ref();
    let is_https = public.map_or(config.http.tls.is_some(), PublicUrl::is_https);
    let origin = public.map(|public| public.origin().to_owned());
    let is_enabled = config.console.enabled;
    let smpp = http::SmppServers {
        plain: config.smpp_server.listen,
        secured: config.smpp_server.tls_listen,
    };
    is_enabled.then(|| http::Console::new(state, origin, config.mail.clone(), smpp, is_https))
}

/// Logs a one-time link that makes the first operator, if there is none. The link is good once and
/// for 30 minutes, so the log holds no lasting secret.
pub(super) async fn set_up(config: Config, engine: Engine, address: SocketAddr) {
    if !config.console.enabled {
        return;
    }
    match engine
        .sessions()
        .operations_of_node()
        .users()
        .set_up_link()
        .await
    {
        Ok(Some(link)) => {
            let link = config.link(&link.secret, address);
            tracing::info!("console: no operator yet, set it up within 30 minutes at {link}");
        }
        Ok(None) => {}
        Err(error) => tracing::warn!(%error, "console: no set-up link, the database failed"),
    }
}
