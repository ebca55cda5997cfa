//! The two databases behind one type.

use crate::change::Change;
use crate::error::{Error, Result};
#[cfg(feature = "test-support")]
use crate::memory::Disk;
use crate::postgres::commit;
use crate::postgres::listener::{Listener, listen};
use crate::postgres::pooled::{Pool, Pooled};
use crate::postgres::server::Server;
use crate::query::{FromRow, Query};
use crate::schema::Schema;
use crate::sqlite::connection::SqliteConnection;
use crate::sqlite::options::Options;
use crate::sqlite::reader_pool::ReaderPool;
use crate::tx::{SqliteTx, TIMEOUT, Tx};
use crate::writer::Writer;
use crate::{postgres, sqlite};
use std::future::Future;
use std::path::PathBuf;
use tokio::time::timeout;

/// The database to open.
#[derive(Clone, Debug)]
pub enum Target {
    /// An embedded database in this directory, made when it is not there.
    Directory(PathBuf),
    /// A database on a PostgreSQL server.
    Postgres(Server),
}

/// An open database.
#[derive(Clone)]
pub enum Db {
    /// SQLite in a directory or in memory.
    Sqlite {
        /// Applies all changes.
        writer: Writer,
        /// Connections that only read.
        readers: ReaderPool,
    },
    /// A PostgreSQL server.
    Postgres {
        /// Connections.
        pool: Pool,
    },
}

impl Db {
    /// Opens the database and brings its schema up to date.
    pub async fn open(target: &Target, schema: &Schema) -> Result<Self> {
        match target {
            Target::Directory(path) => {
                let opened = sqlite::open::directory(path, schema).await;
                let (writer, readers) = opened.map_err(|error| error.at_start(path))?;
                Ok(Self::Sqlite { writer, readers })
            }
            Target::Postgres(server) => {
                let pool = postgres::open::open(server, schema).await?;
                Ok(Self::Postgres { pool })
            }
        }
    }

    /// Opens the database of this name in memory, and makes its tables if it is new.
    #[cfg(feature = "test-support")]
    pub fn in_memory(name: &str, disk: Disk, schema: &Schema) -> Result<Self> {
        let (writer, readers) = sqlite::open::in_memory(name, disk, schema)?;
        Ok(Self::Sqlite { writer, readers })
    }

    /// Returns a connection that only reads.
    pub async fn read(&self) -> Result<Tx> {
        Ok(match self {
            Self::Sqlite { readers, .. } => {
                Tx::Sqlite(Box::new(SqliteTx::Reader(readers.acquire().await?)))
            }
            Self::Postgres { pool, .. } => Tx::Postgres(Pooled::of(pool).await?),
        })
    }

    /// Runs a read with the timeout of the database.
    pub fn in_time<T>(reading: impl Future<Output = Result<T>>) -> impl Future<Output = Result<T>> {
        // The box keeps the future of each caller small.
        let reading = timeout(TIMEOUT, Box::pin(reading));
        async { reading.await.unwrap_or(Err(Error::TimedOut)) }
    }

    /// Makes a change and waits until it is durable.
    pub async fn change<C: Change>(&self, change: C) -> Result<C::Output> {
        match self {
            Self::Sqlite { writer, .. } => writer.change(change).await,
            // The box keeps 4 KB of PostgreSQL's path out of the futures that wait for SQLite.
            Self::Postgres { pool, .. } => Box::pin(commit::change(pool, &change)).await,
        }
    }

    /// Returns `true` if the database keeps all accounts in one bucket.
    pub fn is_embedded(&self) -> bool {
        matches!(self, Self::Sqlite { .. })
    }

    /// Returns `true` if one transaction may change rows of several buckets. On Citus they may lie
    /// on two servers, and money never moves on two at once. On one server a large transaction
    /// costs less than many.
    pub fn has_one_server(&self) -> bool {
        match self {
            Self::Sqlite { .. } => true,
            Self::Postgres { pool } => pool.placement.has_one_server(),
        }
    }

    /// Returns the same database, treated as if each bucket lay on another server.
    #[cfg(feature = "test-support")]
    #[must_use]
    pub fn as_distributed(mut self) -> Self {
        if let Self::Postgres { pool } = &mut self {
            pool.placement = crate::citus::Placement::ByBucket;
        }
        self
    }

    /// Returns when no change is possible any more: the database was closed, or its disk cannot be
    /// trusted.
    pub async fn ended(&self) {
        match self {
            Self::Sqlite { writer, .. } => writer.ended().await,
            Self::Postgres { pool, .. } => pool.connections.close_event().await,
        }
    }

    /// Closes all connections and checkpoints the write-ahead log.
    pub async fn close(&self) {
        match self {
            Self::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Self::Postgres { pool, .. } => pool.connections.close().await,
        }
    }

    /// Runs a statement outside a transaction, as maintenance of PostgreSQL requires.
    pub async fn execute(&self, query: Query<'_>) -> Result<u64> {
        Self::in_time(async { self.read().await?.execute(query).await }).await
    }

    /// Returns all rows of a statement that only reads.
    pub async fn fetch_all<T: FromRow + Send>(&self, query: Query<'_>) -> Result<Vec<T>> {
        Self::in_time(async { self.read().await?.fetch_all(query).await }).await
    }

    /// Returns the first row of a statement that only reads, if it has one.
    pub async fn fetch_optional<T: FromRow + Send>(&self, query: Query<'_>) -> Result<Option<T>> {
        Self::in_time(async { self.read().await?.fetch_optional(query).await }).await
    }

    /// Returns the first row of a statement that only reads and always has one.
    pub async fn fetch_one<T: FromRow + Send>(&self, query: Query<'_>) -> Result<T> {
        Self::in_time(async { self.read().await?.fetch_one(query).await }).await
    }

    /// Listens on a channel. It returns `None` for an embedded database, which has no other node.
    pub async fn listen(&self, channel: &str) -> Result<Option<Listener>> {
        let Self::Postgres { pool } = self else {
            return Ok(None);
        };
        Self::in_time(listen(pool, channel)).await.map(Some)
    }

    /// Opens a separate connection to an embedded database for copying, so that neither the writer
    /// nor a reader waits.
    pub fn connect_to_copy(&self) -> Result<SqliteConnection> {
        let Self::Sqlite { readers, .. } = self else {
            return Err(Error::Impossible(
                "a backup is made of an embedded database",
            ));
        };
        // The setting `query_only` would also refuse to write the copy.
        let options = Options::clone(readers.options())
            .pragma("query_only", "off")
            .read_only();
        options.connect()
    }
}
