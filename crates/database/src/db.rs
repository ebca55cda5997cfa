//! The two databases: opening them, and the transactions in which all changes are made.

mod commit;
pub mod copy;
mod files;
mod lent;
mod memory;
mod open;
mod pooler;
mod relay;
mod server;
mod unusable;
mod url;

pub use open::STARTED;
pub use server::Server;
pub use unusable::Unusable;

use crate::error::{Error, Result};
use crate::on;
use crate::sql::Rows;
use crate::sqlite::{self, Options, Readers, Sqlite};
use crate::writer::Writer;
pub use files::{MODE, give_away, is_log_alone, make as make_file, take_turn};
pub use lent::Lent;
use sqlx::migrate::Migrator;
use sqlx::pool::PoolConnection;
use sqlx::pool::PoolOptions;
use sqlx::postgres::PgPool;
use sqlx::{ConnectOptions, PgConnection};
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

/// The migrations that make the tables, for each database.
#[derive(Debug)]
pub struct Schema {
    /// Those of SQLite.
    pub sqlite: Migrator,
    /// Those of PostgreSQL.
    pub postgres: Migrator,
}

/// A change of the database that applies whole or not at all. It may be run again when the
/// database asks for it, so it keeps its input.
pub trait Change: Send + Sync + 'static {
    /// What the change gives once it is durable.
    type Output: Send + 'static;
    /// Whether nobody waits for it, so that SQLite's writer may keep it until others come.
    const PATIENT: bool = false;
    /// Whether its commit waits for the disk. What is worth nothing once the server has crashed need not; SQLite's commits
    /// are shared, so it waits as the others do.
    const DURABLE: bool = true;

    /// Makes the change within a transaction.
    fn apply(&self, tx: &mut Tx) -> impl Future<Output = Result<Self::Output>> + Send;

    /// Whether the change is in the database with this output. Asked where the connection was lost in the
    /// middle of the commit; what does not stand is made again, and a change that may be made twice without
    /// harm need not know.
    fn stands(
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
    Postgres(Lent),
}

/// SQLite's connection is the writer's own or one of the readers'.
pub enum SqliteTx {
    /// The writer's own.
    Writer(sqlite::Connection),
    /// One of the readers'.
    Reader(PoolConnection<Sqlite>),
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
            Self::Postgres(connection) => sqlx::raw_sql(
                "begin isolation level repeatable read, read only;
                 set local enable_seqscan = on; set local enable_hashjoin = on;
                 set local enable_mergejoin = on",
            )
            .execute(&mut **connection)
            .await
            .map(drop),
        }?;
        Ok(())
    }

    /// Ends what [`Self::begin_snapshot`] began.
    pub async fn end_snapshot(&mut self) -> Result<()> {
        on!(self, |connection| sqlx::raw_sql("commit")
            .execute(connection)
            .await
            .map(drop))?;
        Ok(())
    }

    /// The connection, where it is one to SQLite.
    pub fn sqlite(&mut self) -> Result<&mut sqlite::Connection> {
        match self {
            Self::Sqlite(connection) => Ok(connection),
            Self::Postgres(_) => Err(Error::Closed),
        }
    }

    /// How the rows of a statement are written.
    pub fn rows(&self, sql: &str) -> Rows {
        match self {
            Self::Sqlite(_) => Rows::Values,
            Self::Postgres(_) => Rows::on_postgres(sql),
        }
    }

    /// Locks the rows that a select reads; SQLite's one writer needs no such thing.
    pub fn for_update(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "",
            Self::Postgres(_) => " for update",
        }
    }

    /// The same, of one of the tables alone: PostgreSQL locks no row that an outer join may leave out.
    pub fn for_update_of(&self, table: &'static str) -> String {
        match self {
            Self::Sqlite(_) => String::new(),
            Self::Postgres(_) => format!(" for update of {table}"),
        }
    }

    /// A query in which ids are shown as hexadecimal digits.
    pub fn hex(&self, sql: &str) -> String {
        match self {
            Self::Sqlite(_) => sql.to_owned(),
            Self::Postgres(_) => sql
                .replace("lower(hex(", "encode(cast(")
                .replace("message_id))", "message_id as bytea), 'hex')")
                .replace("subject))", "subject as bytea), 'hex')"),
        }
    }

    /// Locks the rows that a select reads, passing over those that another node has locked.
    pub fn skip_locked(&self, table: &'static str) -> String {
        match self {
            Self::Sqlite(_) => String::new(),
            Self::Postgres(_) => format!(" for update of {table} skip locked"),
        }
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
        pool: PgPool,
        /// Whether buckets may lie on several servers.
        is_spread: bool,
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
            Self::Postgres { pool, .. } => Tx::Postgres(Lent::by(pool).await?),
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

    /// Whether buckets may lie on several servers.
    pub fn is_spread(&self) -> bool {
        matches!(
            self,
            Self::Postgres {
                is_spread: true,
                ..
            }
        )
    }

    /// Comes back when nothing can be changed any more: the database was closed, or its disk cannot be trusted.
    pub async fn ended(&self) {
        match self {
            Self::Sqlite { writer, .. } => writer.ended().await,
            Self::Postgres { pool, .. } => pool.close_event().await,
        }
    }

    /// Ends all connections; the write-ahead log is folded back.
    pub async fn close(&self) {
        match self {
            Self::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Self::Postgres { pool, .. } => pool.close().await,
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

async fn open_sqlite(options: Options, schema: &Schema) -> Result<Db> {
    let options = options
        .pragma("page_size", PAGE_BYTES)
        .pragma("journal_mode", "wal")
        .pragma("synchronous", "full")
        .pragma("cache_size", "-16000");
    let mut writer = options.connect().await?;
    read_back(&mut writer).await?;
    writer.keep_log();
    // A process that ended with a failed sync may have left in the log what is in the system's memory alone, and
    // what is written after it would be lost with it.
    writer.fold_back()?;
    open::migrate(&schema.sqlite, &mut writer).await?;
    // Only now: a migration may sort a whole table, which is more than memory may hold, and is quicker with more of it.
    writer.command("pragma temp_store = memory")?;
    writer.command(WRITER_KEEPS)?;
    Ok(Db::Sqlite {
        readers: readers(options).await?,
        writer: Writer::start(writer)?,
    })
}

async fn readers(options: Options) -> Result<Readers> {
    let options = options
        .pragma("cache_size", "-4000")
        .pragma("temp_store", "memory")
        .pragma("query_only", "on");
    let pool = PoolOptions::new()
        .max_connections(READERS)
        .min_connections(0);
    Ok(pool.connect_with(options).await?)
}

/// A failed switch to WAL is silent unless its result is read.
async fn read_back(connection: &mut sqlite::Connection) -> Result<()> {
    let journal: String = sqlx::query_scalar("pragma journal_mode")
        .fetch_one(&mut *connection)
        .await?;
    let synchronous: i64 = sqlx::query_scalar("pragma synchronous")
        .fetch_one(&mut *connection)
        .await?;
    let foreign_keys: i64 = sqlx::query_scalar("pragma foreign_keys")
        .fetch_one(connection)
        .await?;
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
