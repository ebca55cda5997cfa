//! Values on their way in and out.

use super::Sqlite;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef as Stored};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::{Decode, Encode, Type};
use std::borrow::Cow;
use std::fmt;

/// One value of a row or of a statement.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(Box<str>),
    Blob(Box<[u8]>),
}

/// What a value is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Null,
    Integer,
    Real,
    Text,
    Blob,
}

/// What a statement is given, in the order of `?`, or of the numbers behind `$`.
#[derive(Debug, Default)]
pub(crate) struct Arguments(pub(super) Vec<Value>);

impl Value {
    /// Copies a value out of a row. Texts that are not UTF-8 come from others than us: they stay octets.
    pub(super) fn copy(stored: Stored<'_>) -> Self {
        match stored {
            Stored::Null => Self::Null,
            Stored::Integer(number) => Self::Integer(number),
            Stored::Real(number) => Self::Real(number),
            Stored::Text(octets) => match str::from_utf8(octets) {
                Ok(text) => Self::Text(text.into()),
                Err(_) => Self::Blob(octets.into()),
            },
            Stored::Blob(octets) => Self::Blob(octets.into()),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Integer(_) => Kind::Integer,
            Self::Real(_) => Kind::Real,
            Self::Text(_) => Kind::Text,
            Self::Blob(_) => Kind::Blob,
        }
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => Stored::Null,
            Self::Integer(number) => Stored::Integer(*number),
            Self::Real(number) => Stored::Real(*number),
            Self::Text(text) => Stored::Text(text.as_bytes()),
            Self::Blob(octets) => Stored::Blob(octets),
        }))
    }
}

impl sqlx::Value for Value {
    type Database = Sqlite;

    fn as_ref(&self) -> &Self {
        self
    }

    fn type_info(&self) -> Cow<'_, Kind> {
        Cow::Owned(self.kind())
    }

    fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

impl<'r> sqlx::ValueRef<'r> for &'r Value {
    type Database = Sqlite;

    fn to_owned(&self) -> Value {
        (*self).clone()
    }

    fn type_info(&self) -> Cow<'_, Kind> {
        Cow::Owned(self.kind())
    }

    fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(sqlx::TypeInfo::name(self))
    }
}

impl sqlx::TypeInfo for Kind {
    fn is_null(&self) -> bool {
        *self == Self::Null
    }

    fn name(&self) -> &str {
        match self {
            Self::Null => "NULL",
            Self::Integer => "INTEGER",
            Self::Real => "REAL",
            Self::Text => "TEXT",
            Self::Blob => "BLOB",
        }
    }
}

impl sqlx::Arguments for Arguments {
    type Database = Sqlite;

    fn reserve(&mut self, additional: usize, _size: usize) {
        self.0.reserve(additional);
    }

    fn add<'t, T>(&mut self, value: T) -> Result<(), BoxDynError>
    where
        T: Encode<'t, Sqlite> + Type<Sqlite>,
    {
        if let IsNull::Yes = value.encode(&mut self.0)? {
            self.0.push(Value::Null);
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

sqlx_core::impl_into_arguments_for_arguments!(Arguments);
sqlx_core::impl_encode_for_option!(Sqlite);

/// Types as which of SQLite's they are kept, and how.
macro_rules! kept {
    ($($type:ty as $kind:ident: |$given:ident| $value:expr;)*) => {$(
        impl<'q> Encode<'q, Sqlite> for $type {
            fn encode_by_ref(&self, values: &mut Vec<Value>) -> Result<IsNull, BoxDynError> {
                let $given = self;
                values.push(Value::$kind($value));
                Ok(IsNull::No)
            }
        }
    )*};
}

/// The types themselves; references to them are of the same.
macro_rules! typed {
    ($($type:ty as $kind:ident;)*) => {$(
        impl Type<Sqlite> for $type {
            fn type_info() -> Kind {
                Kind::$kind
            }
        }
    )*};
}

/// How they are read again.
macro_rules! read {
    ($($type:ty as $kind:ident: |$kept:ident| $value:expr;)*) => {$(
        impl<'r> Decode<'r, Sqlite> for $type {
            fn decode(value: &'r Value) -> Result<Self, BoxDynError> {
                match value {
                    Value::$kind($kept) => Ok($value),
                    other => Err(format!("{} where {} was expected", other.kind(), Kind::$kind).into()),
                }
            }
        }
    )*};
}

typed! {
    i64 as Integer;
    i32 as Integer;
    i16 as Integer;
    bool as Integer;
    str as Text;
    String as Text;
    [u8] as Blob;
    Vec<u8> as Blob;
}

kept! {
    i64 as Integer: |number| *number;
    bool as Integer: |yes| i64::from(*yes);
    &str as Text: |text| (**text).into();
    String as Text: |text| text.as_str().into();
    &[u8] as Blob: |octets| (**octets).into();
    Vec<u8> as Blob: |octets| octets.as_slice().into();
}

read! {
    i64 as Integer: |number| *number;
    i32 as Integer: |number| i32::try_from(*number)?;
    i16 as Integer: |number| i16::try_from(*number)?;
    bool as Integer: |number| *number != 0;
    String as Text: |text| text.to_string();
    Vec<u8> as Blob: |octets| octets.to_vec();
}
