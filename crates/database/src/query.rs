//! Statements and their values, the same for both databases.

mod row;
mod value;

pub use row::{Column, FromRow, Row};
pub use value::Value;

use crate::db::{Db, Tx};
use crate::error::{Error, Result};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{Arguments, AssertSqlSafe, PgConnection, Postgres, SqlSafeStr, SqlStr};
use std::borrow::Cow;

/// The texts of one statement where the databases need different ones.
#[derive(Clone, Copy, Debug)]
pub struct Sql {
    /// The text that SQLite runs.
    pub sqlite: &'static str,
    /// The text that PostgreSQL runs.
    pub postgres: &'static str,
}

/// The text of a statement.
#[derive(Clone, Debug)]
pub struct Text(Texts);

#[derive(Clone, Debug)]
enum Texts {
    Both(Cow<'static, str>),
    Each(Sql),
}

/// A statement with the values of its placeholders `$1`, `$2`, ….
#[derive(Debug)]
pub struct Query<'q> {
    text: Text,
    values: Vec<Value<'q>>,
}

/// Returns a statement with this text.
pub fn query<'q>(text: impl Into<Text>) -> Query<'q> {
    Query {
        text: text.into(),
        values: Vec::new(),
    }
}

impl From<&'static str> for Text {
    fn from(text: &'static str) -> Self {
        Self(Texts::Both(Cow::Borrowed(text)))
    }
}

impl From<&'static str> for Sql {
    fn from(text: &'static str) -> Self {
        Self {
            sqlite: text,
            postgres: text,
        }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Texts::Both(Cow::Owned(text)))
    }
}

impl From<Sql> for Text {
    fn from(texts: Sql) -> Self {
        Self(Texts::Each(texts))
    }
}

impl Text {
    fn sqlite(&self) -> &str {
        match &self.0 {
            Texts::Both(text) => text,
            Texts::Each(texts) => texts.sqlite,
        }
    }

    fn into_postgres(self) -> SqlStr {
        match self.0 {
            Texts::Both(Cow::Borrowed(text)) | Texts::Each(Sql { postgres: text, .. }) => {
                text.into_sql_str()
            }
            Texts::Both(Cow::Owned(text)) => AssertSqlSafe(text).into_sql_str(),
        }
    }
}

impl<'q> Query<'q> {
    /// Binds the value of the next placeholder.
    #[must_use]
    pub fn bind(mut self, value: impl Into<Value<'q>>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Binds further values.
    pub(crate) fn with(mut self, values: impl IntoIterator<Item = Value<'q>>) -> Self {
        self.values.extend(values);
        self
    }

    pub(crate) fn for_postgres(self) -> Result<sqlx::query::Query<'static, Postgres, PgArguments>> {
        let mut arguments = PgArguments::default();
        arguments.reserve(self.values.len(), 0);
        for value in &self.values {
            value.add_to(&mut arguments)?;
        }
        Ok(sqlx::query_with(self.text.into_postgres(), arguments))
    }
}

impl Tx {
    /// Runs a statement, and returns how many rows it changed.
    pub async fn execute(&mut self, query: Query<'_>) -> Result<u64> {
        match self {
            Self::Sqlite(connection) => connection.execute(query.text.sqlite(), &query.values),
            Self::Postgres(connection) => {
                let connection: &mut PgConnection = connection;
                let done = query.for_postgres()?.execute(connection).await?;
                Ok(done.rows_affected())
            }
        }
    }

    /// Returns all rows of a statement.
    pub async fn fetch_all<T: FromRow>(&mut self, query: Query<'_>) -> Result<Vec<T>> {
        self.fetch_with(query, T::from_row).await
    }

    /// Returns all rows of a statement, each converted by `read`.
    pub async fn fetch_with<T>(
        &mut self,
        query: Query<'_>,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        match self {
            Self::Sqlite(connection) => {
                connection.fetch_with(query.text.sqlite(), &query.values, usize::MAX, read)
            }
            Self::Postgres(connection) => {
                let connection: &mut PgConnection = connection;
                let rows = query.for_postgres()?.fetch_all(connection).await?;
                rows.iter().map(|row| read(&Row::Postgres(row))).collect()
            }
        }
    }

    /// Returns the first row of a statement, if it has one.
    pub async fn fetch_optional<T: FromRow>(&mut self, query: Query<'_>) -> Result<Option<T>> {
        match self {
            Self::Sqlite(connection) => {
                let found = connection.fetch(query.text.sqlite(), &query.values, 1)?;
                Ok(found.into_iter().next())
            }
            Self::Postgres(connection) => {
                let connection: &mut PgConnection = connection;
                let row = query.for_postgres()?.fetch_optional(connection).await?;
                row.as_ref().map(from_postgres).transpose()
            }
        }
    }

    /// Returns the first row of a statement that always has one.
    pub async fn fetch_one<T: FromRow>(&mut self, query: Query<'_>) -> Result<T> {
        let found = self.fetch_optional(query).await?;
        found.ok_or(Error::NoRow)
    }
}

/// A statement that locks rows. On PostgreSQL the clause after the semicolon is added. SQLite has
/// one writer and needs no locks.
#[macro_export]
macro_rules! locking {
    ($text:expr; $lock:literal) => {
        $crate::Sql {
            sqlite: $text,
            postgres: concat!($text, " ", $lock),
        }
    };
}

impl Db {
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
}

fn from_postgres<T: FromRow>(row: &PgRow) -> Result<T> {
    T::from_row(&Row::Postgres(row))
}
