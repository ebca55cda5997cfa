//! A connection, and how statements run on it.

use super::Sqlite;
use super::failure::{failure, is_unsynced};
use super::options::Options;
use super::row::{self, Row, Statement};
use super::value::Values;
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;
use futures_util::stream;
use sqlx::{Either, Execute, Executor, SqlStr};
use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::future::ready;
use tokio::runtime::{Handle, RuntimeFlavor};

thread_local! {
    /// Pages in the log after the last commit on this thread; a hook of SQLite's has no other place for it.
    static LOG_PAGES: Cell<u32> = const { Cell::new(0) };
}

/// A connection to a database file.
pub struct Connection {
    pub(super) raw: rusqlite::Connection,
}

/// What a statement changed.
#[derive(Debug, Default)]
pub struct Done {
    changed: u64,
}

impl Done {
    pub fn rows_affected(&self) -> u64 {
        self.changed
    }
}

impl Extend<Done> for Done {
    fn extend<T: IntoIterator<Item = Done>>(&mut self, others: T) {
        self.changed += others.into_iter().map(|done| done.changed).sum::<u64>();
    }
}

/// Runs what takes its time. A worker of the runtime gives its other tasks away meanwhile.
pub(super) fn apart<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current() {
        Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => {
            tokio::task::block_in_place(work)
        }
        _ => work(),
    }
}

impl Connection {
    pub(super) fn new(raw: rusqlite::Connection) -> Self {
        Self { raw }
    }

    /// Begins, ends or divides a transaction.
    pub fn command(&mut self, text: &str) -> sqlx::Result<()> {
        let made = self.raw.prepare_cached(text);
        made.and_then(|mut statement| statement.raw_execute())
            .map(drop)
            .map_err(failure)
    }

    /// Leaves it to [`Self::fold_back`] to fold the write-ahead log back: SQLite would do it by itself, and not say
    /// when a sync fails.
    pub fn keep_log(&self) {
        self.raw.wal_hook(Some(|_, pages| {
            LOG_PAGES.set(pages.unsigned_abs());
            Ok(())
        }));
    }

    /// Pages in the log, as far as commits on this thread tell.
    pub fn log_pages() -> u32 {
        LOG_PAGES.get()
    }

    /// Folds the log back into the database. Whatever keeps it from that passes, and the log holds it all
    /// meanwhile; but for a sync that fails.
    pub fn fold_back(&self) -> sqlx::Result<()> {
        let folded = self.raw.query_row("pragma wal_checkpoint", (), |_| Ok(()));
        match folded.map_err(failure) {
            Err(error) if is_unsynced(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Has the file grow no further, or as far as it may.
    pub fn keep_from_growing(&mut self, is_full: bool) -> sqlx::Result<()> {
        let pages: sqlx::Result<i64> = if is_full {
            let count = self
                .raw
                .pragma_query_value(None, "page_count", |row| row.get(0));
            count.map_err(failure)
        } else {
            Ok(i64::from(u32::MAX - 1))
        };
        let set = self.raw.pragma_update(None, "max_page_count", pages?);
        set.map_err(failure)
    }

    /// Runs one statement and gives the rows that it returns, at most so many.
    fn run(
        &mut self,
        sql: &str,
        values: &Values,
        most: usize,
    ) -> rusqlite::Result<(Vec<Row>, Done)> {
        let mut statement = self.raw.prepare_cached(&numbered(sql))?;
        for (at, value) in values.slice(..).enumerate() {
            statement.raw_bind_parameter(at + 1, value)?;
        }
        if statement.column_count() == 0 {
            let changed = statement.raw_execute()? as u64;
            return Ok((Vec::new(), Done { changed }));
        }
        let columns = row::columns(&statement);
        let mut values = Values::default();
        let found = row::take(&mut statement.raw_query(), columns.len(), most, &mut values)?;
        drop(statement);
        // Of a statement that only reads this is the number of another one, which nobody asks for.
        let changed = self.raw.changes();
        Ok((row::rows(found, &columns, values), Done { changed }))
    }

    /// Runs one statement for each of some rows of values. Gives how many rows they changed.
    pub fn execute_each<'q>(
        &mut self,
        query: impl Execute<'q, Sqlite>,
        rows: usize,
        columns: usize,
    ) -> sqlx::Result<u64> {
        let mut changed = 0;
        self.each(query, rows, columns, |statement| {
            changed += statement.raw_execute()? as u64;
            Ok(())
        })?;
        Ok(changed)
    }

    /// Runs one statement for each of some rows of values. Gives whether it changed anything, in their order.
    pub fn change_each<'q>(
        &mut self,
        query: impl Execute<'q, Sqlite>,
        rows: usize,
        columns: usize,
    ) -> sqlx::Result<Vec<bool>> {
        let mut changed = Vec::with_capacity(rows);
        self.each(query, rows, columns, |statement| {
            changed.push(statement.raw_execute()? > 0);
            Ok(())
        })?;
        Ok(changed)
    }

    /// Runs one statement for each of some rows of values. Gives all that they return.
    pub fn find_each<'q>(
        &mut self,
        query: impl Execute<'q, Sqlite>,
        rows: usize,
        columns: usize,
    ) -> sqlx::Result<Vec<Row>> {
        let (mut found, mut names, mut values) = (0, None, Values::default());
        self.each(query, rows, columns, |statement| {
            let names = names.get_or_insert_with(|| row::columns(statement));
            let mut rows = statement.raw_query();
            found += row::take(&mut rows, names.len(), usize::MAX, &mut values)?;
            Ok(())
        })?;
        Ok(names.map_or_else(Vec::new, |names| row::rows(found, &names, values)))
    }

    /// Runs one statement for each of some rows of values, with those that follow all rows each time.
    fn each<'q>(
        &mut self,
        mut query: impl Execute<'q, Sqlite>,
        rows: usize,
        columns: usize,
        mut run: impl FnMut(&mut rusqlite::CachedStatement<'_>) -> rusqlite::Result<()>,
    ) -> sqlx::Result<()> {
        let values = query
            .take_arguments()
            .map_err(sqlx::Error::Encode)?
            .unwrap_or_default();
        let sql = query.sql();
        let keys = rows * columns;
        if keys == 0 {
            return Ok(());
        }
        let run_all = || {
            let mut statement = self.raw.prepare_cached(sql.as_str())?;
            for (at, value) in values.slice(keys..).enumerate() {
                statement.raw_bind_parameter(columns + at + 1, value)?;
            }
            for key in (0..keys).step_by(columns) {
                for (at, value) in values.slice(key..key + columns).enumerate() {
                    statement.raw_bind_parameter(at + 1, value)?;
                }
                run(&mut statement)?;
            }
            Ok(())
        };
        apart(run_all).map_err(failure)
    }

    fn answer<'q>(
        &mut self,
        mut query: impl Execute<'q, Sqlite>,
        most: usize,
    ) -> sqlx::Result<(Vec<Row>, Done)> {
        let values = query
            .take_arguments()
            .map_err(sqlx::Error::Encode)?
            .unwrap_or_default();
        let sql = query.sql();
        apart(|| self.run(sql.as_str(), &values, most)).map_err(failure)
    }
}

/// SQLite takes `$1` for a name, `?1` for the first value.
fn numbered(sql: &str) -> Cow<'_, str> {
    if sql.contains('$') {
        Cow::Owned(sql.replace('$', "?"))
    } else {
        Cow::Borrowed(sql)
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl<'c> Executor<'c> for &'c mut Connection {
    type Database = Sqlite;

    fn execute<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, sqlx::Result<Done>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Sqlite>,
    {
        Box::pin(async move { self.answer(query, usize::MAX).map(|(_, done)| done) })
    }

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxStream<'e, sqlx::Result<Either<Done, Row>>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Sqlite>,
    {
        let answered = match self.answer(query, usize::MAX) {
            Ok((rows, done)) => {
                let rows = rows.into_iter().map(|row| Ok(Either::Right(row)));
                Either::Left(rows.chain([Ok(Either::Left(done))]))
            }
            Err(error) => Either::Right([Err(error)].into_iter()),
        };
        Box::pin(stream::iter(answered))
    }

    fn fetch_all<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, sqlx::Result<Vec<Row>>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Sqlite>,
    {
        Box::pin(async move { self.answer(query, usize::MAX).map(|(rows, _)| rows) })
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, sqlx::Result<Option<Row>>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Sqlite>,
    {
        Box::pin(async move {
            self.answer(query, 1)
                .map(|(rows, _)| rows.into_iter().next())
        })
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        _parameters: &'e [super::Kind],
    ) -> BoxFuture<'e, sqlx::Result<Statement>>
    where
        'c: 'e,
    {
        Box::pin(ready(Ok(Statement { sql })))
    }

    fn describe<'e>(self, _sql: SqlStr) -> BoxFuture<'e, sqlx::Result<sqlx::Describe<Sqlite>>>
    where
        'c: 'e,
    {
        Box::pin(ready(Err(sqlx::Error::Protocol(
            "statements are not described".to_owned(),
        ))))
    }
}

sqlx_core::impl_acquire!(Sqlite, Connection);

impl sqlx::Connection for Connection {
    type Database = Sqlite;
    type Options = Options;

    async fn close(self) -> sqlx::Result<()> {
        apart(|| self.raw.close().map_err(|(_, error)| error)).map_err(failure)
    }

    async fn close_hard(self) -> sqlx::Result<()> {
        self.close().await
    }

    async fn ping(&mut self) -> sqlx::Result<()> {
        Ok(())
    }

    async fn begin(&mut self) -> sqlx::Result<sqlx::Transaction<'_, Sqlite>> {
        sqlx::Transaction::begin(self, None).await
    }

    fn shrink_buffers(&mut self) {}

    async fn flush(&mut self) -> sqlx::Result<()> {
        Ok(())
    }

    fn should_flush(&self) -> bool {
        false
    }
}

/// sqlx asks for transactions of its own; ours are begun and ended by statements.
#[derive(Debug)]
pub struct Transactions;

impl sqlx_core::transaction::TransactionManager for Transactions {
    type Database = Sqlite;

    async fn begin(connection: &mut Connection, statement: Option<SqlStr>) -> sqlx::Result<()> {
        connection.command(statement.as_ref().map_or("begin", SqlStr::as_str))
    }

    async fn commit(connection: &mut Connection) -> sqlx::Result<()> {
        connection.command("commit")
    }

    async fn rollback(connection: &mut Connection) -> sqlx::Result<()> {
        connection.command("rollback")
    }

    fn start_rollback(connection: &mut Connection) {
        // Where it fails, the transaction has ended by itself.
        let _ = connection.command("rollback");
    }

    fn get_transaction_depth(connection: &Connection) -> usize {
        usize::from(!connection.raw.is_autocommit())
    }
}
