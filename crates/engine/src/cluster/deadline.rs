//! The timeout of database calls of the heartbeat.

use std::time::Duration;
use tokio::time::timeout;

/// Longest wait for a database call of the heartbeat.
const BEAT_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns the answer of the database, or an error at the timeout.
pub(crate) async fn within<T>(
    answer: impl Future<Output = database::Result<T>>,
) -> database::Result<T> {
    timeout(BEAT_TIMEOUT, answer)
        .await
        .unwrap_or(Err(database::Error::TimedOut))
}
