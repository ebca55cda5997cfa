//! Rows that a statement returns.

use crate::error::{Error, Result};
use crate::failure::failure;
use rusqlite::types::{FromSqlError, ValueRef};
use sqlx::Row as _;
use sqlx::postgres::PgRow;

/// A row of either database.
#[derive(Clone, Copy, Debug)]
pub enum Row<'r> {
    /// A row of SQLite.
    Sqlite(&'r rusqlite::Row<'r>),
    /// A row of PostgreSQL.
    Postgres(&'r PgRow),
}

/// A type that is read from a column.
pub trait Column: Sized {
    /// Reads the column at this place, from 0.
    fn read(row: &Row<'_>, at: usize) -> Result<Self>;
}

/// A type that is read from a row, column by column.
pub trait FromRow: Sized {
    /// Reads a row.
    fn from_row(row: &Row<'_>) -> Result<Self>;
}

impl Row<'_> {
    /// Returns the value of the column at this place, from 0.
    pub fn get<T: Column>(&self, at: usize) -> Result<T> {
        T::read(self, at)
    }

    /// Returns the place of the column of this name. `guess` is checked first.
    pub fn place(&self, name: &str, guess: usize) -> Result<usize> {
        if self.name(guess) == Some(name) {
            return Ok(guess);
        }
        let mut places = (0..).map_while(|at| self.name(at).map(|found| (at, found)));
        let place = places.find(|(_, found)| *found == name);
        place
            .map(|(at, _)| at)
            .ok_or_else(|| Error::Unreadable(format!("rows have no column {name}")))
    }

    /// Returns the name of the column at this place, from 0.
    fn name(&self, at: usize) -> Option<&str> {
        match self {
            Self::Sqlite(row) => row.as_ref().column_name(at).ok(),
            Self::Postgres(row) => row.columns().get(at).map(sqlx::Column::name),
        }
    }
}

/// Implements `Column` for a type in both databases. `$kind` is its storage type in SQLite.
macro_rules! columns {
    ($($type:ty as $kind:ident: |$kept:ident| $value:expr;)*) => {$(
        impl Column for $type {
            fn read(row: &Row<'_>, at: usize) -> Result<Self> {
                let found: Option<Self> = row.get(at)?;
                found.ok_or_else(|| {
                    let name = row.name(at).unwrap_or("?");
                    Error::Unreadable(format!("null in {name}"))
                })
            }
        }
        impl Column for Option<$type> {
            fn read(row: &Row<'_>, at: usize) -> Result<Self> {
                match row {
                    Row::Sqlite(row) => match row.get_ref(at).map_err(failure)? {
                        ValueRef::Null => Ok(None),
                        ValueRef::$kind($kept) => {
                            let value = $value.map_err(|fault| unreadable(at, &fault))?;
                            Ok(Some(value))
                        }
                        other => Err(unexpected(at, other.data_type(), stringify!($kind))),
                    },
                    Row::Postgres(row) => Ok(row.try_get(at)?),
                }
            }
        }
        impl FromRow for $type {
            fn from_row(row: &Row<'_>) -> Result<Self> {
                row.get(0)
            }
        }
        impl FromRow for Option<$type> {
            fn from_row(row: &Row<'_>) -> Result<Self> {
                row.get(0)
            }
        }
    )*};
}

columns! {
    i64 as Integer: |number| Ok::<_, FromSqlError>(number);
    i32 as Integer: |number| i32::try_from(number);
    i16 as Integer: |number| i16::try_from(number);
    bool as Integer: |number| Ok::<_, FromSqlError>(number != 0);
    String as Text: |bytes| std::str::from_utf8(bytes).map(str::to_owned);
    Vec<u8> as Blob: |bytes| Ok::<_, FromSqlError>(bytes.to_vec());
}

fn unreadable(at: usize, fault: &dyn std::fmt::Display) -> Error {
    Error::Unreadable(format!("column {}: {fault}", at + 1))
}

fn unexpected(at: usize, found: rusqlite::types::Type, expected: &str) -> Error {
    unreadable(at, &format!("{found} where {expected} was expected"))
}

/// Reads tuples, column by column.
macro_rules! tuples {
    ($($($name:ident $at:tt)+;)*) => {$(
        impl<$($name: Column),+> FromRow for ($($name,)+) {
            fn from_row(row: &Row<'_>) -> Result<Self> {
                Ok(($(row.get::<$name>($at)?,)+))
            }
        }
    )*};
}

tuples! {
    A 0;
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
    A 0 B 1 C 2 D 3 E 4 F 5;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9;
}
