//! One SQL text for both databases: the macros that run it, and the texts of set-based statements.

mod columns;
mod text;

/// Writes one expression into the arms of both drivers.
#[macro_export]
macro_rules! on {
    ($tx:expr, |$connection:ident| $body:expr) => {
        match $tx {
            $crate::Tx::Sqlite($connection) => {
                let $connection: &mut $crate::Connection = $connection;
                $body
            }
            $crate::Tx::Postgres($connection) => {
                let $connection: &mut $crate::sqlx::PgConnection = $connection;
                $body
            }
        }
    };
}

/// The same on a connection that only reads, as long as the database may take for it.
#[macro_export]
macro_rules! read {
    ($db:expr, |$connection:ident| $body:expr) => {
        $crate::Db::in_time(async {
            let mut tx = $db.read().await?;
            Ok($crate::on!(&mut tx, |$connection| $body))
        })
        .await?
    };
}

/// Runs a statement over many rows at once, or some at a time; gives the number of changed rows.
///
/// `values {rows}` or `values {keys}` in the text becomes the rows; the closure binds the columns of one. `$after` binds what the
/// text names behind the rows, as `{1}`, `{2}`, ….
#[macro_export]
macro_rules! execute_at_once {
    ($tx:expr, $rows:expr, $columns:literal, $sql:expr, |$query:ident, $row:ident| $bind:expr $(, after |$rest:ident| $after:expr)?) => {{
        let mut changed: u64 = 0;
        let how = $tx.rows($sql);
        for chunk in $crate::chunks($rows, how) {
            changed += $crate::bound!(
                query_with, $tx, how, chunk, $columns, $sql, |$query, $row| $bind $(, after |$rest| $after)?,
                |query, connection| query.execute(connection).await?.rows_affected()
            );
        }
        changed
    }};
}

/// Runs a statement that changes rows for each of many; gives the number of changed rows.
///
/// The text is as for `execute_at_once`, and asks for nothing of several rows together. PostgreSQL gets all rows at once.
/// SQLite has a statement for each (decision 0030): one over many takes longer, more than twice as long where it finds them by
/// their keys.
#[macro_export]
macro_rules! execute_rows {
    ($tx:expr, $rows:expr, $columns:literal, $sql:expr, |$query:ident, $row:ident| $bind:expr $(, after |$rest:ident| $after:expr)?) => {
        match $tx {
            $crate::Tx::Sqlite(connection) => {
                let query = $crate::of_each!($rows, $columns, $sql, |$query, $row| $bind $(, after |$rest| $after)?);
                let connection: &mut $crate::Connection = connection;
                connection.execute_each(query, $rows.len(), $columns)?
            }
            $crate::Tx::Postgres(_) => {
                $crate::execute_at_once!($tx, $rows, $columns, $sql, |$query, $row| $bind $(, after |$rest| $after)?)
            }
        }
    };
}

/// Like `execute_at_once`, but collects the rows that the statement returns.
#[macro_export]
macro_rules! fetch_rows {
    ($tx:expr, $rows:expr, $columns:literal, $sql:expr, |$query:ident, $row:ident| $bind:expr $(, after |$rest:ident| $after:expr)?) => {{
        let mut found = Vec::new();
        let how = $tx.rows($sql);
        for chunk in $crate::chunks($rows, how) {
            found.append(&mut $crate::bound!(
                query_as_with, $tx, how, chunk, $columns, $sql, |$query, $row| $bind $(, after |$rest| $after)?,
                |query, connection| query.fetch_all(connection).await?
            ));
        }
        found
    }};
}

/// Runs a statement that changes no more than one row for each of many; gives whether it did, in their order.
///
/// The text is as for `execute_at_once`, with `returning` at its end. PostgreSQL gets all rows at once; `told` says what it
/// returns for one that was changed, and of what type. SQLite has a statement for each, which returns nothing: one over
/// many keys takes more than twice as long, and longer still where it returns something.
#[macro_export]
macro_rules! changed_rows {
    ($tx:expr, $rows:expr, $columns:literal, $sql:expr, |$query:ident, $row:ident| $bind:expr $(, after |$rest:ident| $after:expr)?, told |$of:ident| -> $told:ty $key:block) => {
        match $tx {
            $crate::Tx::Sqlite(connection) => {
                let query = $crate::of_each!($rows, $columns, $sql, |$query, $row| $bind $(, after |$rest| $after)?);
                let connection: &mut $crate::Connection = connection;
                connection.change_each(query, $rows.len(), $columns)?
            }
            $crate::Tx::Postgres(_) => {
                let told: Vec<$told> = $crate::fetch_rows!($tx, $rows, $columns, $sql, |$query, $row| $bind $(, after |$rest| $after)?);
                let mut told: std::collections::HashSet<$told> = told.into_iter().collect();
                $rows.iter().map(|$of| told.remove(&$key)).collect::<Vec<bool>>()
            }
        }
    };
}

/// Collects the rows that a statement finds for each of many keys. SQLite has a statement for each key here too, so it finds
/// twice what is asked for twice; PostgreSQL gets all at once.
#[macro_export]
macro_rules! find_rows {
    ($tx:expr, $rows:expr, $columns:literal, $sql:expr, |$query:ident, $row:ident| $bind:expr $(, after |$rest:ident| $after:expr)?) => {
        match $tx {
            $crate::Tx::Sqlite(connection) => {
                let query = $crate::of_each!($rows, $columns, $sql, |$query, $row| $bind $(, after |$rest| $after)?);
                let connection: &mut $crate::Connection = connection;
                let rows = connection.find_each(query, $rows.len(), $columns)?;
                let rows = rows.iter().map($crate::sqlx::FromRow::from_row);
                rows.collect::<$crate::sqlx::Result<Vec<_>>>()?
            }
            $crate::Tx::Postgres(_) => {
                $crate::fetch_rows!($tx, $rows, $columns, $sql, |$query, $row| $bind $(, after |$rest| $after)?)
            }
        }
    };
}

/// A statement that SQLite is to run for each of some rows, with all that is bound.
#[macro_export]
macro_rules! of_each {
    ($rows:expr, $columns:literal, $sql:expr, |$query:ident, $row:ident| $bind:expr $(, after |$rest:ident| $after:expr)?) => {{
        let text = $crate::with_rows($sql, 1, $columns, $crate::Rows::Each);
        let mut $query = $crate::sqlx::query_with($crate::sqlx::AssertSqlSafe(text), $crate::Values::default());
        for $row in $rows {
            $query = $bind;
        }
        $(let $query = { let $rest = $query; $after };)?
        $query
    }};
}

/// Binds some rows as the database takes them, and runs the statement.
#[macro_export]
macro_rules! bound {
    ($with:ident, $tx:expr, $how:ident, $chunk:ident, $columns:literal, $sql:expr, |$query:ident, $row:ident| $bind:expr $(, after |$rest:ident| $after:expr)?, |$bound:ident, $connection:ident| $run:expr) => {{
        let text = $crate::with_rows($sql, $chunk.len(), $columns, $how);
        let text = $crate::sqlx::AssertSqlSafe(text);
        match $tx {
            $crate::Tx::Sqlite($connection) => {
                let $connection: &mut $crate::Connection = $connection;
                let mut $query = $crate::sqlx::$with(text, $crate::Values::default());
                for $row in $chunk {
                    $query = $bind;
                }
                $(let $query = { let $rest = $query; $after };)?
                let $bound = $query;
                $run
            }
            $crate::Tx::Postgres($connection) => {
                let $connection: &mut $crate::sqlx::PgConnection = $connection;
                let mut $query = $crate::Columns::new($columns, $how);
                for $row in $chunk {
                    $query = $bind;
                }
                let $query = $crate::sqlx::$with(text, $query.arguments()?);
                $(let $query = { let $rest = $query; $after };)?
                let $bound = $query;
                $run
            }
        }
    }};
}

pub use columns::{Cell, Columns, Kind};
pub use text::{Rows, chunks, with_rows};
