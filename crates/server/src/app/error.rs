//! The reasons for which the service does not start, or stops.

use std::io;
use std::net::SocketAddr;

/// The reason why the service cannot start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The data directory cannot be used.
    #[error("the data directory {path} cannot be used: {source}")]
    DataDir {
        /// Its path.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
    /// Another process serves from the same directory.
    #[error(
        "another ogene serves from {0} already: stop it, or give this one a `data_dir` of its own"
    )]
    Locked(String),
    /// The embedded database was moved to PostgreSQL.
    #[error(
        "the database in {0} was moved to PostgreSQL: set `database_url` to work with it there. To work with {0} \
         again, without all changes since: sqlite3 {0}/ogene.db \"delete from marks where name = \
         'moved'\""
    )]
    Moved(String),
    /// The PostgreSQL database is half filled.
    #[error(
        "an import into the PostgreSQL database is not complete: run `ogene import-sqlite` again, with the \
         same directory"
    )]
    Importing,
    /// The database.
    #[error(transparent)]
    Store(#[from] database::Error),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] engine::StartError),
    /// The database accepts no more changes.
    #[error(
        "the disk failed to keep what was written: repair the disk, and start again; all answered sends are kept"
    )]
    Disk,
    /// TLS.
    #[error("HTTPS cannot be served: {0}")]
    Tls(#[from] rustls::Error),
    /// The address of the metrics is taken.
    #[error("cannot listen on {address}: {source}; choose another `http.metrics_listen`")]
    Metrics {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// The address of the SMPP server is taken.
    #[error("cannot listen on {address}: {source}; choose another `smpp_server.listen`")]
    Smpp {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// The HTTP server.
    #[error("the HTTP server stopped: {0}")]
    Http(#[source] io::Error),
}
