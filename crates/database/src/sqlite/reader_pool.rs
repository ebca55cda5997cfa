//! A pool of connections that only read, opened on demand.

use super::connection::SqliteConnection;
use super::options::Options;
use crate::error::{Error, Result};
use parking_lot::Mutex;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::yield_now;
use tokio::time::timeout;

/// Timeout of a wait for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(30);

/// A pool of connections to one database file.
#[derive(Clone, Debug)]
pub struct ReaderPool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    options: Options,
    max_connections: u32,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<SqliteConnection>>,
}

/// A connection of the pool in use. Its drop returns it to the pool.
#[derive(Debug)]
pub struct PooledReader {
    /// `None` after the drop has taken it.
    connection: Option<SqliteConnection>,
    pool: ReaderPool,
    _permit: OwnedSemaphorePermit,
}

impl ReaderPool {
    /// Returns a pool of at most `max_connections`. The first connection is opened now, so that a
    /// file that cannot be opened is an error at the start.
    pub(crate) fn new(options: Options, max_connections: u32) -> Result<Self> {
        let first = options.connect()?;
        Ok(Self(Arc::new(Shared {
            options,
            max_connections,
            permits: Arc::new(Semaphore::new(max_connections as usize)),
            idle: Mutex::new(vec![first]),
        })))
    }

    /// Returns the options of its connections.
    pub(crate) fn options(&self) -> &Options {
        &self.0.options
    }

    /// Waits for a connection.
    pub(crate) async fn acquire(&self) -> Result<PooledReader> {
        // Statements on SQLite block and never yield. Without this yield, a loop of reads would
        // block the other futures of its task.
        yield_now().await;
        let permits = Arc::clone(&self.0.permits);
        let permit = timeout(ACQUIRE_TIMEOUT, permits.acquire_owned()).await;
        let permit = permit.map_err(|_| Error::TimedOut)?;
        let permit = permit.map_err(|_| Error::Closed)?;
        let idle = self.0.idle.lock().pop();
        let connection = idle.map_or_else(|| self.0.options.connect(), Ok)?;
        Ok(PooledReader {
            connection: Some(connection),
            pool: self.clone(),
            _permit: permit,
        })
    }

    /// Waits until all connections are returned, and closes them.
    pub(crate) async fn close(&self) {
        // The permits are closed already if the pool was closed before.
        let all = self.0.permits.acquire_many(self.0.max_connections).await;
        if all.is_ok() {
            self.0.permits.close();
        }
        self.0.idle.lock().clear();
    }
}

impl Drop for PooledReader {
    fn drop(&mut self) {
        // A connection inside a transaction is dropped and not returned, since its next user would
        // read the old snapshot of that transaction.
        let is_reusable = |connection: &SqliteConnection| connection.is_outside_transaction();
        if let Some(connection) = self.connection.take().filter(is_reusable) {
            self.pool.0.idle.lock().push(connection);
        }
    }
}

impl Deref for PooledReader {
    type Target = SqliteConnection;
    #[expect(clippy::expect_used, reason = "only drop takes the connection")]
    fn deref(&self) -> &SqliteConnection {
        self.connection.as_ref().expect("a connection")
    }
}

impl DerefMut for PooledReader {
    #[expect(clippy::expect_used, reason = "only drop takes the connection")]
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        self.connection.as_mut().expect("a connection")
    }
}
