//! A connection to PostgreSQL out of the pool.

use crate::citus::Placement;
use crate::error::{Error, Result};
use sqlx::pool::PoolConnection;
use sqlx::postgres::PgPool;
use sqlx::{PgConnection, Postgres};
use std::ops::{Deref, DerefMut};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// Time on loan after which a connection is not kept. Its last query may have been given up, and
/// the pool waits for the answer before the next loan. If the server has vanished, it would wait
/// for ever.
const LONG: Duration = Duration::from_secs(1);

/// Timeouts of the attempts to get a connection before the last one, which lasts as long as the
/// pool waits.
///
/// A proxy keeps a connection for seconds while its primary is lost, though the next one may reach
/// the new primary. `HAProxy` retries the server that refused it three times, a second apart.
const ATTEMPT_TIMEOUTS: [Duration; 3] = [
    Duration::from_millis(500),
    Duration::from_millis(500),
    Duration::from_secs(1),
];

/// The connections to a server.
#[derive(Clone, Debug)]
pub struct Pool {
    pub(crate) connections: PgPool,
    /// The servers that hold the rows.
    pub(crate) placement: Placement,
}

/// A connection on loan from the pool. It returns to the pool if it is at rest, and is closed
/// otherwise. In an abandoned transaction, the next user would begin in the middle of it.
#[derive(Debug)]
pub struct Pooled {
    connection: PoolConnection<Postgres>,
    since: Instant,
    in_transaction: bool,
    placement: Placement,
}

impl Pooled {
    /// Returns a pooled connection at rest, or a new one. A failure here is never the fault of a
    /// statement.
    pub(crate) async fn of(pool: &Pool) -> Result<Self> {
        let connection = Self::acquire(&pool.connections)
            .await
            .map_err(Error::Connecting)?;
        Ok(Self {
            connection,
            since: Instant::now(),
            in_transaction: false,
            placement: pool.placement,
        })
    }

    async fn acquire(pool: &PgPool) -> sqlx::Result<PoolConnection<Postgres>> {
        for attempt in ATTEMPT_TIMEOUTS {
            if let Ok(result) = timeout(attempt, pool.acquire()).await {
                return result;
            }
        }
        pool.acquire().await
    }

    /// Returns the servers that hold the rows.
    pub(crate) fn placement(&self) -> Placement {
        self.placement
    }

    /// Records that a transaction is about to begin.
    pub(super) fn begins(&mut self) {
        self.in_transaction = true;
    }

    /// Records that the server has confirmed the end of the transaction.
    pub(super) fn rests(&mut self) {
        (self.in_transaction, self.since) = (false, Instant::now());
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        if self.in_transaction || self.since.elapsed() > LONG {
            self.connection.close_on_drop();
        }
    }
}

impl Deref for Pooled {
    type Target = PgConnection;
    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Pooled {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn a_connection_that_hangs_is_followed_by_another() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let options = PgConnectOptions::new().host("127.0.0.1").port(port);
        let pool = Pool {
            connections: PgPoolOptions::new().connect_lazy_with(options),
            placement: Placement::OneServer,
        };
        let proxy = async {
            let silent = listener.accept().await.unwrap();
            drop(listener.accept().await.unwrap());
            drop(silent);
        };
        let (lent, ()) = tokio::join!(Pooled::of(&pool), proxy);
        let Err(Error::Connecting(error)) = lent else {
            panic!("the second connection was closed");
        };
        assert!(!matches!(error, sqlx::Error::PoolTimedOut), "{error}");
    }
}
