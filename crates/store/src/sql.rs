//! One SQL text for both databases: the macros that run it, and the texts of set-based statements.

/// Writes one expression into the arms of both drivers.
macro_rules! on {
    ($tx:expr, |$connection:ident| $body:expr) => {
        match $tx {
            $crate::db::Tx::Sqlite($connection) => {
                let $connection: &mut sqlx::SqliteConnection = $connection;
                $body
            }
            $crate::db::Tx::Postgres($connection) => {
                let $connection: &mut sqlx::PgConnection = $connection;
                $body
            }
        }
    };
}

/// The same on a connection that only reads, as long as the database may take for it.
macro_rules! read {
    ($db:expr, |$connection:ident| $body:expr) => {
        $crate::db::Db::in_time(async {
            let mut tx = $db.read().await?;
            Ok($crate::sql::on!(&mut tx, |$connection| $body))
        })
        .await?
    };
}

/// Runs a statement over many rows, some at a time; gives the number of changed rows.
///
/// `{rows}` in the text becomes `($1, $2), ($3, $4), …`; the closure binds the columns of one row. `$after`
/// binds what the text names behind the rows, as `{1}`, `{2}`, ….
macro_rules! execute_rows {
    ($tx:expr, $rows:expr, $columns:literal, $sql:expr, |$query:ident, $row:ident| $bind:expr $(, after |$rest:ident| $after:expr)?) => {{
        let mut changed: u64 = 0;
        for chunk in $crate::sql::chunks($rows) {
            let text = $tx.with_rows($sql, chunk.len(), $columns);
            changed += $crate::sql::on!($tx, |connection| {
                let mut $query = sqlx::query(sqlx::AssertSqlSafe(text));
                for $row in chunk {
                    $query = $bind;
                }
                $($query = { let $rest = $query; $after };)?
                $query.execute(connection).await?.rows_affected()
            });
        }
        changed
    }};
}

/// Like `execute_rows`, but collects the rows that the statement returns.
macro_rules! fetch_rows {
    ($tx:expr, $rows:expr, $columns:literal, $sql:expr, |$query:ident, $row:ident| $bind:expr $(, after |$rest:ident| $after:expr)?) => {{
        let mut found = Vec::new();
        for chunk in $crate::sql::chunks($rows) {
            let text = $tx.with_rows($sql, chunk.len(), $columns);
            found.append(&mut $crate::sql::on!($tx, |connection| {
                let mut $query = sqlx::query_as(sqlx::AssertSqlSafe(text));
                for $row in chunk {
                    $query = $bind;
                }
                $($query = { let $rest = $query; $after };)?
                $query.fetch_all(connection).await?
            }));
        }
        found
    }};
}

pub(crate) use {execute_rows, fetch_rows, on, read};

/// Most rows in one statement: far below the limits on bound values (32,766 on SQLite, 65,535 on
/// PostgreSQL). With 256, SQLite planned joins in updates as scans of the table; the test of plans looks at
/// statements of this size.
const MOST_ROWS: usize = 128;

/// Cuts rows into chunks whose lengths are powers of two, so that few statement texts exist and their
/// prepared forms are found again.
pub(crate) fn chunks<T>(mut rows: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let length = 1 << rows.len().min(MOST_ROWS).checked_ilog2()?;
        let (chunk, rest) = rows.split_at(length);
        rows = rest;
        Some(chunk)
    })
}

/// How a placeholder within rows is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Placeholder {
    /// `$1`, `$2`, …
    Numbered,
    /// `?`. SQLite keeps numbered ones as names and looks through all of them at every bind, which took half
    /// of all time with a thousand of them.
    Anonymous,
}

/// Writes so many rows of placeholders in place of `{rows}`, and the numbers behind them in place of `{1}` to
/// `{4}`, which must stand behind the rows in the text too.
pub(crate) fn with_rows(
    sql: &str,
    rows: usize,
    columns: usize,
    placeholder: Placeholder,
) -> String {
    use std::fmt::Write as _;
    let mut placeholders = String::with_capacity(rows * columns * 6);
    for row in 0..rows {
        placeholders.push_str(if row == 0 { "(" } else { ",(" });
        for column in 0..columns {
            let comma = if column == 0 { "" } else { "," };
            // Writing to a String cannot fail.
            let _ = match placeholder {
                Placeholder::Numbered => {
                    write!(placeholders, "{comma}${}", row * columns + column + 1)
                }
                Placeholder::Anonymous => write!(placeholders, "{comma}?"),
            };
        }
        placeholders.push(')');
    }
    let end = sql.find("{rows}");
    debug_assert!(
        sql.find("{1}").is_none_or(|first| Some(first) > end),
        "{sql}"
    );
    let mut text = sql.replace("{rows}", &placeholders);
    for after in 1..=4 {
        let marker = format!("{{{after}}}");
        if text.contains(&marker) {
            let sign = match placeholder {
                Placeholder::Numbered => '$',
                Placeholder::Anonymous => '?',
            };
            text = text.replace(&marker, &format!("{sign}{}", rows * columns + after));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_powers_of_two_and_lose_no_row() {
        let rows: Vec<_> = (0..300).collect();
        let lengths: Vec<_> = chunks(&rows).map(<[i32]>::len).collect();
        assert_eq!(lengths, [128, 128, 32, 8, 4]);
        assert_eq!(chunks(&rows).flatten().copied().collect::<Vec<_>>(), rows);
    }

    #[test]
    fn rows_become_placeholders_and_what_follows_counts_on() {
        let sql = "insert into t values {rows} where x < {1} or y = {2}";
        assert_eq!(
            with_rows(sql, 2, 2, Placeholder::Numbered),
            "insert into t values ($1,$2),($3,$4) where x < $5 or y = $6"
        );
        assert_eq!(
            with_rows(sql, 2, 2, Placeholder::Anonymous),
            "insert into t values (?,?),(?,?) where x < ?5 or y = ?6"
        );
    }
}
