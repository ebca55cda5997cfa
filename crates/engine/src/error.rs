//! The errors of a request and of a start.

use domain::Refusal;
use std::sync::Arc;
use std::time::Duration;

/// Longest wait of a request for a database read.
pub(crate) const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// The reason why a request failed: the caller's fault or ours.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The request breaks a rule.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database failed.
    #[error(transparent)]
    Store(Arc<database::Error>),
}

impl From<database::Error> for Error {
    fn from(error: database::Error) -> Self {
        Self::Store(Arc::new(error))
    }
}

/// Returns the answer of a database read, or an error at its timeout.
pub(crate) async fn within<T>(answer: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::time::timeout(READ_TIMEOUT, answer)
        .await
        .unwrap_or_else(|_| Err(database::Error::TimedOut.into()))
}

/// The reason why the engine cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] database::Error),
    /// The resolver rejects the system's configuration.
    #[error("the resolver cannot be set up")]
    Resolver(#[source] std::io::Error),
    /// The callback stage cannot start.
    #[error("callbacks cannot be started: {0}")]
    Callbacks(#[from] CallbackStartError),
    /// The TLS library rejects its own defaults.
    #[error("TLS to payment providers cannot be set up")]
    Payments(#[source] rustls::Error),
    /// A certificate authority of a carrier is unusable.
    #[error("the carrier {carrier} cannot be reached by TLS: {reason}")]
    Tls {
        /// The name of the carrier.
        carrier: String,
        /// The reason.
        reason: String,
    },
}

/// The reason why the callback stage cannot start.
#[derive(Debug, thiserror::Error)]
pub enum CallbackStartError {
    /// The TLS library rejects its own defaults.
    #[error("TLS cannot be set up")]
    Tls(#[source] rustls::Error),
    /// The signing secrets cannot be read.
    #[error(transparent)]
    Store(#[from] database::Error),
}
