//! Why the engine refuses a request, or cannot start.

use domain::Refusal;
use std::sync::Arc;
use std::time::Duration;

/// How long a request waits for an answer of the database, where it changes nothing.
pub(crate) const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// Why a request got no answer: yours, or ours.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The caller's matter.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database's.
    #[error(transparent)]
    Store(Arc<database::Error>),
}

impl From<database::Error> for Error {
    fn from(error: database::Error) -> Self {
        Self::Store(Arc::new(error))
    }
}

/// The answer of the database, unless it takes too long. Then the request may work later.
pub(crate) async fn within<T>(answer: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::time::timeout(READ_TIMEOUT, answer)
        .await
        .unwrap_or_else(|_| Err(database::Error::TimedOut.into()))
}

/// Why the engine cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] database::Error),
    /// The resolver does not take the system's configuration.
    #[error("the resolver cannot be set up")]
    Resolver(#[source] std::io::Error),
    /// Callbacks cannot be made.
    #[error("callbacks cannot be started: {0}")]
    Callbacks(#[from] CallbackStartError),
    /// A carrier's certificate authority cannot be read.
    #[error("the carrier {carrier} cannot be reached by TLS: {reason}")]
    Tls {
        /// Which carrier.
        carrier: String,
        /// Why.
        reason: String,
    },
}

/// Why callbacks cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum CallbackStartError {
    /// The TLS library does not take its own defaults.
    #[error("TLS cannot be set up")]
    Tls(#[source] rustls::Error),
    /// The secrets to sign with cannot be read.
    #[error(transparent)]
    Store(#[from] database::Error),
}
