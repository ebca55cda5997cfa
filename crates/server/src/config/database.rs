//! `database_url`: the PostgreSQL database that is used in place of the embedded one.

use super::secret::Secret;
use super::section::Section;
use ::database::Server;
use std::ops::RangeInclusive;

/// Allowed numbers of connections. With a single one, reads would wait for writes.
const CONNECTIONS: RangeInclusive<u32> = 2..=200;

/// The PostgreSQL database, as the configuration names it.
#[derive(Clone, Debug)]
pub struct Database {
    /// The URL with its password.
    pub url: Secret,
    /// The connections that this process keeps.
    pub connections: u32,
    /// The server, from both.
    pub server: Server,
}

/// Reads `database_url` or `database_url_file`: the PostgreSQL database, if one is used.
pub(super) fn read(root: &mut Section<'_>) -> Option<Database> {
    let place = root.place_of("database_url");
    let url = root.secret("database_url", "database_url_file");
    let connections = root.within("database_connections", CONNECTIONS);
    let (url, connections) = (url?, connections.unwrap_or_default());
    match Server::new(url.reveal(), connections) {
        Ok(server) => Some(Database {
            url,
            connections,
            server,
        }),
        Err(fault) => {
            root.fault_at(&place, "database_url", fault);
            None
        }
    }
}
