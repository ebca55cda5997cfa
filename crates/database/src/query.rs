//! Statements and their values, the same for both databases.

pub(crate) mod row;
pub(crate) mod value;

pub use row::{Column, FromRow, Row};
pub use value::Value;

use crate::error::Result;
use sqlx::postgres::PgArguments;
use sqlx::{Arguments, AssertSqlSafe, Postgres, SqlSafeStr, SqlStr};
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
    pub(crate) text: Text,
    pub(crate) values: Vec<Value<'q>>,
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
    /// Returns the text that SQLite runs.
    pub(crate) fn sqlite(&self) -> &str {
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

    /// Returns the statement as the driver of PostgreSQL takes it.
    pub(crate) fn for_postgres(self) -> Result<sqlx::query::Query<'static, Postgres, PgArguments>> {
        let mut arguments = PgArguments::default();
        arguments.reserve(self.values.len(), 0);
        for value in &self.values {
            value.add_to(&mut arguments)?;
        }
        Ok(sqlx::query_with(self.text.into_postgres(), arguments))
    }
}
