//! Rows, their columns, and statements that were prepared ahead.

use super::Sqlite;
use super::value::{Kind, Value, Values};
use sqlx::{ColumnIndex, Either, Error, SqlStr};
use std::sync::Arc;

/// A row that a statement returned, copied out of the database: some of the values of all of its rows.
#[derive(Debug)]
pub struct Row {
    values: Arc<Values>,
    first: usize,
    columns: Arc<[Column]>,
}

/// A column of such rows. What it holds is known of each value, not of the column.
#[derive(Debug)]
pub struct Column {
    ordinal: usize,
    name: Box<str>,
}

/// A statement prepared ahead: SQLite's cache does that, so it is only its text.
#[derive(Clone, Debug)]
pub struct Statement {
    pub(super) sql: SqlStr,
}

/// The columns of what a statement returns.
pub(super) fn columns(statement: &rusqlite::Statement<'_>) -> Arc<[Column]> {
    (0..)
        .zip(statement.column_names())
        .map(|(ordinal, name)| Column {
            ordinal,
            name: name.into(),
        })
        .collect()
}

/// Copies the values of rows behind the others, at most so many; gives how many rows there were.
pub(super) fn take(
    rows: &mut rusqlite::Rows<'_>,
    columns: usize,
    most: usize,
    values: &mut Values,
) -> rusqlite::Result<usize> {
    let mut found = 0;
    while found < most
        && let Some(row) = rows.next()?
    {
        for at in 0..columns {
            values.push(row.get_ref(at)?);
        }
        found += 1;
    }
    Ok(found)
}

/// So many rows, made of these values.
pub(super) fn rows(found: usize, columns: &Arc<[Column]>, values: Values) -> Vec<Row> {
    let values = Arc::new(values);
    let rows = (0..found).map(|row| Row {
        values: Arc::clone(&values),
        first: row * columns.len(),
        columns: Arc::clone(columns),
    });
    rows.collect()
}

impl sqlx::Row for Row {
    type Database = Sqlite;

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn try_get_raw<I>(&self, index: I) -> Result<Value<'_>, Error>
    where
        I: ColumnIndex<Self>,
    {
        Ok(self.values.get(self.first + index.index(self)?))
    }
}

sqlx_core::impl_column_index_for_row!(Row);

impl ColumnIndex<Row> for str {
    fn index(&self, row: &Row) -> Result<usize, Error> {
        let found = row.columns.iter().position(|column| &*column.name == self);
        found.ok_or_else(|| Error::ColumnNotFound(self.to_owned()))
    }
}

impl sqlx::Column for Column {
    type Database = Sqlite;

    fn ordinal(&self) -> usize {
        self.ordinal
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn type_info(&self) -> &Kind {
        &Kind::Null
    }
}

impl sqlx::Statement for Statement {
    type Database = Sqlite;

    fn into_sql(self) -> SqlStr {
        self.sql
    }

    fn sql(&self) -> &SqlStr {
        &self.sql
    }

    fn parameters(&self) -> Option<Either<&[Kind], usize>> {
        None
    }

    fn columns(&self) -> &[Column] {
        &[]
    }

    sqlx_core::impl_statement_query!(Values);
}
