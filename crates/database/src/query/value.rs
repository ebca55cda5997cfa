//! Values of a statement's placeholders.

use crate::error::Result;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use sqlx::Arguments;
use sqlx::postgres::PgArguments;
use std::borrow::Cow;

/// A value of a placeholder. A null keeps its type, which PostgreSQL requires.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'q> {
    /// A whole number.
    Integer(Option<i64>),
    /// A truth value.
    Bool(Option<bool>),
    /// A text.
    Text(Option<Cow<'q, str>>),
    /// Bytes.
    Bytes(Option<Cow<'q, [u8]>>),
    /// Values of one type, for PostgreSQL alone.
    Array(Vec<Value<'q>>),
}

impl Value<'_> {
    /// Appends the value to the arguments of a statement for PostgreSQL.
    pub(crate) fn add_to(&self, arguments: &mut PgArguments) -> Result<()> {
        match self {
            Self::Integer(number) => arguments.add(*number),
            Self::Bool(flag) => arguments.add(*flag),
            Self::Text(text) => arguments.add(text.as_deref()),
            Self::Bytes(bytes) => arguments.add(bytes.as_deref()),
            Self::Array(values) => add_array(values, arguments),
        }
        .map_err(|error| sqlx::Error::Encode(error).into())
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self {
            Self::Integer(Some(number)) => ValueRef::Integer(*number),
            Self::Bool(Some(flag)) => ValueRef::Integer((*flag).into()),
            Self::Text(Some(text)) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(Some(bytes)) => ValueRef::Blob(bytes),
            Self::Integer(None) | Self::Bool(None) | Self::Text(None) | Self::Bytes(None) => {
                ValueRef::Null
            }
            Self::Array(_) => {
                let fault = "SQLite has no arrays";
                return Err(rusqlite::Error::ToSqlConversionFailure(fault.into()));
            }
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

/// Converts these types, and options of them, into values.
macro_rules! values {
    ($($type:ty as $kind:ident: |$given:ident| $value:expr;)*) => {$(
        impl<'q> From<$type> for Value<'q> {
            fn from($given: $type) -> Self {
                Self::$kind(Some($value))
            }
        }
        impl<'q> From<Option<$type>> for Value<'q> {
            fn from(given: Option<$type>) -> Self {
                Self::$kind(given.map(|$given| $value))
            }
        }
    )*};
}

values! {
    i64 as Integer: |number| number;
    &'q i64 as Integer: |number| *number;
    bool as Bool: |flag| flag;
    &'q str as Text: |text| Cow::Borrowed(text);
    String as Text: |text| Cow::Owned(text);
    &'q String as Text: |text| Cow::Borrowed(text.as_str());
    &'q [u8] as Bytes: |bytes| Cow::Borrowed(bytes);
    Vec<u8> as Bytes: |bytes| Cow::Owned(bytes);
    &'q Vec<u8> as Bytes: |bytes| Cow::Borrowed(bytes.as_slice());
}

impl<'q> From<&'q Option<String>> for Value<'q> {
    fn from(text: &'q Option<String>) -> Self {
        text.as_deref().into()
    }
}

/// Binds values of one type as an array.
fn add_array(
    values: &[Value<'_>],
    arguments: &mut PgArguments,
) -> std::result::Result<(), sqlx::error::BoxDynError> {
    /// Collects the values, each of this kind.
    macro_rules! all {
        ($kind:ident as $type:ty: |$kept:ident| $value:expr) => {{
            let all = values.iter().map(|value| match value {
                Value::$kind($kept) => Ok($value),
                other => Err(format!("{other:?} in an array of {}", stringify!($kind))),
            });
            arguments.add(all.collect::<std::result::Result<Vec<Option<$type>>, _>>()?)
        }};
    }
    match values.first() {
        Some(Value::Integer(_)) => all!(Integer as i64: |number| *number),
        Some(Value::Bool(_)) => all!(Bool as bool: |flag| *flag),
        Some(Value::Text(_)) => all!(Text as &str: |text| text.as_deref()),
        Some(Value::Bytes(_)) => all!(Bytes as &[u8]: |bytes| bytes.as_deref()),
        Some(Value::Array(_)) | None => {
            Err("an array needs a first value whose type is known".into())
        }
    }
}
