//! The deadline of a call to the database.

use std::time::Duration;
use tokio::time::timeout;

/// How long the database may take for it.
const BEAT_TIMEOUT: Duration = Duration::from_secs(2);

/// The answer of the database, or an error where it takes too long.
pub(crate) async fn within<T>(
    answer: impl Future<Output = database::Result<T>>,
) -> database::Result<T> {
    timeout(BEAT_TIMEOUT, answer)
        .await
        .unwrap_or(Err(database::Error::TimedOut))
}
