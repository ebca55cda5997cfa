//! The limit of the system on open files (`ulimit -n`), and the connections that fit into it.
//! Carriers, callbacks and the database have files in reserve, and clients get the rest. So no
//! client can take these files by holding connections.

use crate::config::Config;
use database::Target;
use engine::{BindMode, CarrierSettings, Protocol};

/// Files of the process: standard streams, timers, signals, listeners, the lock, scrapes, name
/// servers.
const OWN_FILES: usize = 56;
/// Files of an embedded database: each connection opens the database and its log, and a backup
/// opens both again.
const EMBEDDED_FILES: usize = 24;
/// Connections to PostgreSQL outside of the pool.
const EXTRA_CONNECTIONS: usize = 4;
/// Files of a callback in flight: its connection, and one that is kept open for the next.
const FILES_OF_CALLBACK: usize = 2;
/// Callbacks take at most one file of this many.
const CALLBACK_SHARE: usize = 4;
/// Minimum number of clients that are served, whatever the limit.
const MIN_CONNECTIONS: usize = 8;
const MIN_CALLBACKS: usize = 4;

/// The files that the process needs.
#[derive(Clone, Copy, Debug)]
struct Needs {
    /// Files in reserve for the process, the database, the carriers and the SMPP server.
    reserved: usize,
    connections: usize,
    callbacks: usize,
}

/// The shares of clients and callbacks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Shares {
    connections: usize,
    callbacks: usize,
}

impl Needs {
    fn of(config: &Config) -> Self {
        let database = match config.target() {
            Target::Directory(_) => EMBEDDED_FILES,
            Target::Postgres(server) => server.connections() + EXTRA_CONNECTIONS,
        };
        let carriers: usize = config.carriers.iter().map(files_of).sum();
        Self {
            reserved: OWN_FILES + database + carriers + smpp_connections(config),
            connections: config.http.connections.max,
            callbacks: config.callbacks.concurrency,
        }
    }

    fn all(&self) -> usize {
        let callbacks = self.callbacks.saturating_mul(FILES_OF_CALLBACK);
        let all = self.reserved.saturating_add(self.connections);
        all.saturating_add(callbacks)
    }

    /// Returns the shares that fit into this limit.
    fn within(&self, limit: usize) -> Shares {
        if self.all() <= limit {
            return Shares {
                connections: self.connections,
                callbacks: self.callbacks,
            };
        }
        let left = limit.saturating_sub(self.reserved);
        let most = left / CALLBACK_SHARE / FILES_OF_CALLBACK;
        let callbacks = most.max(MIN_CALLBACKS).min(self.callbacks);
        let connections = left.saturating_sub(callbacks * FILES_OF_CALLBACK);
        Shares {
            connections: connections.max(MIN_CONNECTIONS).min(self.connections),
            callbacks,
        }
    }
}

/// Returns the connections that the SMPP server may have.
fn smpp_connections(config: &Config) -> usize {
    let server = &config.smpp_server;
    if server.listens() {
        server.max_connections
    } else {
        0
    }
}

/// Returns the files of a carrier. A lost connection may be replaced before its file is closed.
fn files_of(carrier: &CarrierSettings) -> usize {
    let of_bind = match &carrier.protocol {
        Protocol::Smpp(smpp) => match smpp.bind_mode {
            BindMode::Transceiver => 1,
            BindMode::TransmitterAndReceiver => 2,
        },
        // Each request may have a connection of its own.
        Protocol::Http(_) => carrier.window,
    };
    carrier.binds * of_bind + 1
}

/// Raises the limit as far as the process may, and lowers the shares to fit. It logs a lower share.
pub(super) fn fit(config: &mut Config) {
    let limit = match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) => usize::try_from(limit).unwrap_or(usize::MAX),
        Err(error) => {
            tracing::warn!(%error, "open files: limit not raised");
            return;
        }
    };
    let needs = Needs::of(config);
    let shares = needs.within(limit);
    let needed = needs.all();
    if needed > limit {
        tracing::warn!(
            files.limit = limit,
            files.needed = needed,
            http.max_connections = shares.connections,
            callbacks.concurrency = shares.callbacks,
            "open files: limit too low (ulimit -n, LimitNOFILE), `http.max_connections` and \
             `callbacks.concurrency` are lowered to fit"
        );
    }
    config.http.connections.max = shares.connections;
    config.callbacks.concurrency = shares.callbacks;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriers_callbacks_and_the_database_have_files_in_reserve() {
        let needs = Needs {
            reserved: 60,
            connections: 10_000,
            callbacks: 512,
        };
        let table = [
            (1 << 20, 10_000, 512),
            (11_084, 10_000, 512),
            (11_083, 9_999, 512),
            (4_096, 3_028, 504),
            (1_024, 724, 120),
            (256, 148, 24),
            (64, 8, 4),
        ];
        for (limit, connections, callbacks) in table {
            let shares = Shares {
                connections,
                callbacks,
            };
            assert_eq!(needs.within(limit), shares, "{limit}");
        }
    }
}
