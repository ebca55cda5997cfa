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
/// Readers beside the one writer of SQLite.
const READERS: u32 = 3;
/// How long another process (a command) may hold SQLite's write lock.
pub(crate) const BUSY: Duration = Duration::from_secs(10);
/// How long a transaction may take, or a question, before its connection is taken for lost.
const PATIENCE: Duration = Duration::from_secs(15);
/// The size of a page of a new file: each commit writes every page that it touched whole, and a message alone
/// touches a dozen.
const PAGE_BYTES: &str = "2048";

/// How much of the file the writer keeps in memory, in kibibytes (negative, as SQLite has it): the ends of the tables, and
/// no more than the caches of the processor hold (decision 0032).
const WRITER_KEEPS: &str = "pragma cache_size = -2000";

/// A change of the database that applies whole or not at all. It may be run again when the
/// database asks for it, so it keeps its input.
pub trait Change: Send + Sync + 'static {
    /// What the change gives once it is durable.
    type Output: Send + 'static;
    /// Whether nobody waits for it, so that SQLite's writer may keep it until others come.
    const DEFERRABLE: bool = false;
    /// Whether its commit waits for the disk. What is worth nothing once the server has crashed need not; SQLite's commits
    /// are shared, so it waits as the others do.
    const DURABLE: bool = true;

    /// Makes the change within a transaction.
    fn apply(&self, tx: &mut Tx) -> impl Future<Output = Result<Self::Output>> + Send;

    /// Whether the change is in the database with this output. Asked where the connection was lost in the
    /// middle of the commit; what does not stand is made again, and a change that may be made twice without
    /// harm need not know.
    fn is_committed(
        &self,
        _tx: &mut Tx,
        _output: &Self::Output,
    ) -> impl Future<Output = Result<bool>> + Send {
        async { Ok(false) }
    }
}

/// A connection within a transaction, or one that reads.
pub enum Tx {
    /// SQLite.
    Sqlite(Box<SqliteTx>),
    /// PostgreSQL.
    Postgres(Pooled),
}

/// SQLite's connection is the writer's own or one of the readers'.
pub enum SqliteTx {
    /// The writer's own.
    Writer(sqlite::Connection),
    /// One of the readers'.
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
    /// The connection, where it is one to PostgreSQL.
    pub fn postgres(&mut self) -> Result<&mut PgConnection> {
        match self {
            Self::Postgres(connection) => Ok(connection),
            Self::Sqlite(_) => Err(Error::Closed),
        }
    }

    /// Begins to read the database as it is at this moment, much of it at once.
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

    /// Ends what [`Self::begin_snapshot`] began.
    pub async fn end_snapshot(&mut self) -> Result<()> {
        self.execute(query("commit")).await.map(drop)
    }

    /// The connection, where it is one to SQLite.
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

    /// A connection that only reads.
    pub async fn read(&self) -> Result<Tx> {
        Ok(match self {
            Self::Sqlite { readers, .. } => {
                Tx::Sqlite(Box::new(SqliteTx::Reader(readers.acquire().await?)))
            }
            Self::Postgres { pool, .. } => Tx::Postgres(Pooled::of(pool).await?),
        })
    }

    /// Runs what only reads, as long as the database may take for it.
    pub fn in_time<T>(reading: impl Future<Output = Result<T>>) -> impl Future<Output = Result<T>> {
        // Boxed here, so that nobody who waits for it carries all that it takes.
        let reading = timeout(PATIENCE, Box::pin(reading));
        async { reading.await.unwrap_or(Err(Error::TimedOut)) }
    }

    /// Makes a change and waits until it is durable.
    pub async fn change<C: Change>(&self, change: C) -> Result<C::Output> {
        match self {
            Self::Sqlite { writer, .. } => writer.change(change).await,
            // Boxed, so that whoever waits for SQLite does not carry what PostgreSQL's way takes: 4 KB each.
            Self::Postgres { pool, .. } => Box::pin(commit::change(pool, &change)).await,
        }
    }

    /// Whether the database keeps all accounts in one bucket.
    pub fn is_embedded(&self) -> bool {
        matches!(self, Self::Sqlite { .. })
    }

    /// Returns `true` if the tables may lie on the workers of Citus.
    pub fn is_citus(&self) -> bool {
        matches!(self, Self::Postgres { pool } if pool.is_citus)
    }

    /// The same database, worked on as if its tables lay on the workers of Citus.
    #[must_use]
    pub fn as_citus(mut self) -> Self {
        if let Self::Postgres { pool } = &mut self {
            pool.is_citus = true;
        }
        self
    }

    /// Comes back when nothing can be changed any more: the database was closed, or its disk cannot be trusted.
    pub async fn ended(&self) {
        match self {
            Self::Sqlite { writer, .. } => writer.ended().await,
            Self::Postgres { pool, .. } => pool.connections.close_event().await,
        }
    }

    /// Ends all connections; the write-ahead log is folded back.
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

/// Makes the directory, readable by its owner alone, and syncs it, so that a disk that cannot do it is found out
/// before anything is in it.
pub fn prepare_directory(path: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .and_then(|()| sync_directory(path))
        .map_err(|source| Error::directory(path, source))
}

/// Keeps the names of the files in a directory. SQLite would do it with its first commit, and ignore that it failed:
/// it is compiled not to (`.cargo/config.toml`).
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
    // A process that ended with a failed sync may have left in the log what is in the system's memory alone, and
    // what is written after it would be lost with it.
    writer.fold_back()?;
    migrate::sqlite(&mut writer, schema.sqlite)?;
    // Only now: a migration may sort a whole table, which is more than memory may hold, and is quicker with more of it.
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
