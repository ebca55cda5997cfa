//! The first connections to a server.

use super::diagnose::{judge, unusable};
use super::remedy::Diagnosis;
use super::server::{CONNECT_TIMEOUT, Server};
use super::tls_relay::{self, Relay};
use crate::error::Result;
use sqlx::ConnectOptions;
use sqlx::postgres::PgConnection;
use std::io;
use tokio::time::timeout;

/// Opens the first connection. It also returns a relay if we trust the server's certificate and
/// sqlx does not.
pub(super) async fn connect(server: &Server) -> Result<(PgConnection, Option<Relay>)> {
    let late = |_| unusable(server, Diagnosis::Unreachable("no answer".to_owned()));
    match timeout(CONNECT_TIMEOUT, server.options.connect())
        .await
        .map_err(late)?
    {
        Err(error) if tls_relay::is_needed(server, &error) => {
            let fault = |error: io::Error| unusable(server, Diagnosis::Tls(error.to_string()));
            let relay = Relay::start(server).map_err(fault)?;
            let connecting = relay.through(*server.options.clone());
            let connected = timeout(CONNECT_TIMEOUT, connecting.connect())
                .await
                .map_err(late)?;
            let connection = connected.map_err(|error| judge(server, error))?;
            Ok((connection, Some(relay)))
        }
        connected => Ok((connected.map_err(|error| judge(server, error))?, None)),
    }
}
