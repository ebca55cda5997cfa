//! The two databases: opening them, and the transactions in which all changes are made.

mod commit;
pub mod copy;
mod diagnose;
mod files;
mod listener;
mod memory;
mod open;
mod pooled;
mod pooler;
mod relay;
mod server;

mod url;

pub use diagnose::Unusable;
pub use open::STARTED;
pub use server::Server;

use crate::error::{Error, Result};
use crate::migrate::{self, Schema};
use crate::query::query;
use crate::sqlite::{self, Options, PooledReader, Readers};
use crate::writer::Writer;
pub use files::{MODE, give_away, is_log_alone, make as make_file, take_turn};
pub use listener::Listener;
pub use pooled::{Pool, Pooled};
use sqlx::PgConnection;
use std::fs::File;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::timeout;

/// Which database to open.
#[derive(Clone, Debug)]
pub enum Target {
    /// An embedded database in this directory, made when it is not there.
    Directory(PathBuf),
    /// A database on a PostgreSQL server.
    Postgres(Server),
}

/// The embedded database in its directory.
pub const FILE: &str = "ogene.db";
/// SQLite's readers beside its one writer.
const READERS: u32 = 3;
/// How long another process (a command) may hold SQLite's write lock.
pub(crate) const BUSY: Duration = Duration::from_secs(10);
/// Timeout of a transaction or a query. A connection that takes longer is treated as lost.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Page size of a new file. A commit writes every touched page whole, and one message touches a
/// dozen.
const PAGE_BYTES: &str = "2048";

/// Page cache of the writer in kibibytes (negative, as SQLite defines it). It keeps the ends of the
/// tables and fits into the caches of the processor (decision 0032).
const WRITER_KEEPS: &str = "pragma cache_size = -2000";

/// A change of the database that applies whole or not at all. The database may ask for it to be run
/// again, so it keeps its input.
pub trait Change: Send + Sync + 'static {
    /// The result of the change, returned once the change is durable.
    type Output: Send + 'static;
    /// `true` if no caller waits for the change. SQLite's writer may then delay it until others
    /// come.
    const DEFERRABLE: bool = false;
    /// `true` if the commit waits for the disk. A change that is worthless after a crash of the
    /// server need not wait. SQLite's commits are shared, so there it waits as the others do.
    const DURABLE: bool = true;

    /// Makes the change within a transaction.
    fn apply(&self, tx: &mut Tx) -> impl Future<Output = Result<Self::Output>> + Send;

    /// Returns `true` if the change is in the database with this output. It is called when the
    /// connection is lost during the commit. A change that is not found is made again. A change
    /// that may safely be made twice keeps the default.
    fn is_committed(
        &self,
        _tx: &mut Tx,
        _output: &Self::Output,
    ) -> impl Future<Output = Result<bool>> + Send {
        async { Ok(false) }
    }
}

/// A connection in a transaction, or one that only reads.
pub enum Tx {
    /// SQLite.
    Sqlite(Box<SqliteTx>),
    /// PostgreSQL.
    Postgres(Pooled),
}

/// SQLite's connection: the writer's own, or one of a reader.
pub enum SqliteTx {
    /// The connection of the writer.
    Writer(sqlite::Connection),
    /// The connection of a reader.
    Reader(PooledReader),
}

impl std::ops::Deref for SqliteTx {
    type Target = sqlite::Connection;
    fn deref(&self) -> &sqlite::Connection {
        match self {
            Self::Writer(connection) => connection,
            Self::Reader(connection) => connection,
        }
    }
}

impl std::ops::DerefMut for SqliteTx {
    fn deref_mut(&mut self) -> &mut sqlite::Connection {
        match self {
            Self::Writer(connection) => connection,
            Self::Reader(connection) => connection,
        }
    }
}

impl Tx {
    /// Returns the connection to PostgreSQL, or an error on SQLite.
    pub fn postgres(&mut self) -> Result<&mut PgConnection> {
        match self {
            Self::Postgres(connection) => Ok(connection),
            Self::Sqlite(_) => Err(Error::Closed),
        }
    }

    /// Begins a snapshot: all reads see the database as it is at this moment. It suits large reads.
    pub async fn begin_snapshot(&mut self) -> Result<()> {
        match self {
            Self::Sqlite(connection) => connection.command("begin"),
            Self::Postgres(connection) => {
                let begin = sqlx::raw_sql(
                    "begin isolation level repeatable read, read only;
                 set local enable_seqscan = on; set local enable_hashjoin = on;
                 set local enable_mergejoin = on",
                );
                begin.execute(&mut **connection).await?;
                Ok(())
            }
        }
    }

    /// Ends the snapshot of [`Self::begin_snapshot`].
    pub async fn end_snapshot(&mut self) -> Result<()> {
        self.execute(query("commit")).await.map(drop)
    }

    /// Returns the connection to SQLite, or an error on PostgreSQL.
    pub fn sqlite(&mut self) -> Result<&mut sqlite::Connection> {
        match self {
            Self::Sqlite(connection) => Ok(connection),
            Self::Postgres(_) => Err(Error::Closed),
        }
    }

    /// Returns `true` if the tables may lie on the workers of Citus.
    pub(crate) fn is_citus(&self) -> bool {
        matches!(self, Self::Postgres(connection) if connection.is_citus())
    }
}

/// An open database.
#[derive(Clone)]
pub enum Db {
    /// SQLite in a directory or in memory.
    Sqlite {
        /// Applies all changes.
        writer: Writer,
        /// Connections that only read.
        readers: Readers,
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
            Target::Directory(path) => files::open(path, schema)
                .await
                .map_err(|error| error.at_start(path)),
            Target::Postgres(server) => open::postgres(server, schema).await,
        }
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

    /// Returns `true` if the tables may lie on the workers of Citus.
    pub fn is_citus(&self) -> bool {
        matches!(self, Self::Postgres { pool } if pool.is_citus)
    }

    /// Returns the same database, treated as if its tables lay on the workers of Citus.
    #[must_use]
    pub fn as_citus(mut self) -> Self {
        if let Self::Postgres { pool } = &mut self {
            pool.is_citus = true;
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
}

/// Makes the directory, readable by its owner alone, and syncs it. A disk that cannot sync is so
/// detected while the directory is still empty.
pub fn prepare_directory(path: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .and_then(|()| sync_directory(path))
        .map_err(|source| Error::directory(path, source))
}

/// Syncs a directory, which makes the names of its files durable. SQLite would sync it with its
/// first commit and ignore a failure, so it is compiled without (`.cargo/config.toml`).
pub fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

fn open_sqlite(options: Options, schema: &Schema) -> Result<Db> {
    let options = options
        .pragma("page_size", PAGE_BYTES)
        .pragma("journal_mode", "wal")
        .pragma("synchronous", "full")
        .pragma("cache_size", "-16000");
    let mut writer = options.connect()?;
    read_back(&mut writer)?;
    writer.keep_log()?;
    // A process that ended with a failed sync may have left log pages in the system's memory alone.
    // Later writes would be lost with them, so the log is checkpointed first.
    writer.fold_back()?;
    migrate::sqlite(&mut writer, schema.sqlite)?;
    // This setting follows the migrations. A migration may sort a whole table, which memory may not
    // hold, and is faster when its connection has more memory.
    writer.command("pragma temp_store = memory")?;
    writer.command(WRITER_KEEPS)?;
    Ok(Db::Sqlite {
        readers: readers(options)?,
        writer: Writer::start(writer)?,
    })
}

fn readers(options: Options) -> Result<Readers> {
    let options = options
        .pragma("cache_size", "-4000")
        .pragma("temp_store", "memory")
        .pragma("query_only", "on");
    Readers::new(options, READERS)
}

/// A failed switch to WAL is silent unless its result is read.
fn read_back(connection: &mut sqlite::Connection) -> Result<()> {
    let journal: String = connection.fetch_one("pragma journal_mode", &[])?;
    let synchronous: i64 = connection.fetch_one("pragma synchronous", &[])?;
    let foreign_keys: i64 = connection.fetch_one("pragma foreign_keys", &[])?;
    for (setting, value, wanted, found) in [
        ("journal_mode", "wal", "wal", journal),
        ("synchronous", "2", "full (2)", synchronous.to_string()),
        ("foreign_keys", "1", "on (1)", foreign_keys.to_string()),
    ] {
        if found != value {
            return Err(Error::Setting {
                setting,
                wanted,
                found,
            });
        }
    }
    Ok(())
}
