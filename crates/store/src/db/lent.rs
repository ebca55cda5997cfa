//! A connection that the pool has lent.

use crate::error::{Error, Result};
use sqlx::pool::PoolConnection;
use sqlx::postgres::PgPool;
use sqlx::{PgConnection, Postgres};
use std::ops::{Deref, DerefMut};
use std::time::Duration;
use tokio::time::Instant;

/// What was lent for longer is not kept. Its last question may have been given up, and the pool waits for the
/// answer before it lends the connection again: for ever, where the server has vanished without a word.
const LONG: Duration = Duration::from_secs(1);

/// Goes back to the pool if it is at rest, and is closed if it may not be: in a transaction that was given up, the
/// next one would begin in the middle of it.
pub(crate) struct Lent {
    connection: PoolConnection<Postgres>,
    since: Instant,
    in_transaction: bool,
}

impl Lent {
    /// A connection at rest, or a new one. Whatever fails here, no statement is to blame.
    pub(crate) async fn by(pool: &PgPool) -> Result<Self> {
        let connection = pool.acquire().await.map_err(Error::Connecting)?;
        Ok(Self {
            connection,
            since: Instant::now(),
            in_transaction: false,
        })
    }

    /// A transaction is about to begin.
    pub(super) fn begins(&mut self) {
        self.in_transaction = true;
    }

    /// It has ended, by the word of the server.
    pub(super) fn rests(&mut self) {
        (self.in_transaction, self.since) = (false, Instant::now());
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if self.in_transaction || self.since.elapsed() > LONG {
            self.connection.close_on_drop();
        }
    }
}

impl Deref for Lent {
    type Target = PgConnection;
    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}
