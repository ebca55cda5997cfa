//! Values on their way in and out.

use super::Sqlite;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef as Stored};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::{Decode, Encode, Type};
use std::borrow::Cow;
use std::fmt;
use std::ops::RangeBounds;

/// Values one after another: what a statement is given, in the order of `?` or of the numbers behind `$`, or what
/// it returned. Their octets lie in one piece: a piece for each was a sixth of all allocations of a message.
#[derive(Debug, Default)]
pub struct Values {
    cells: Vec<Cell>,
    octets: Vec<u8>,
}

/// A value; its octets lie in those of all, from one place to another.
#[derive(Clone, Copy, Debug)]
enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(usize, usize),
    Blob(usize, usize),
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub struct Value<'r>(pub(super) Stored<'r>);

/// One of its own.
#[derive(Debug, Default)]
pub struct Owned(Values);

/// What a value is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    Null,
    Integer,
    Real,
    Text,
    Blob,
}

impl Values {
    /// Copies a value behind the others.
    pub(super) fn push(&mut self, value: Stored<'_>) {
        let mut keep = |octets: &[u8]| {
            let from = self.octets.len();
            self.octets.extend_from_slice(octets);
            (from, self.octets.len())
        };
        let cell = match value {
            Stored::Null => Cell::Null,
            Stored::Integer(number) => Cell::Integer(number),
            Stored::Real(number) => Cell::Real(number),
            Stored::Text(octets) => {
                let (from, to) = keep(octets);
                Cell::Text(from, to)
            }
            Stored::Blob(octets) => {
                let (from, to) = keep(octets);
                Cell::Blob(from, to)
            }
        };
        self.cells.push(cell);
    }

    /// The value at this place, from 0.
    pub(super) fn get(&self, at: usize) -> Value<'_> {
        self.value(self.cells[at])
    }

    /// The values at these places.
    pub(super) fn slice(&self, places: impl RangeBounds<usize>) -> impl Iterator<Item = Value<'_>> {
        let bounds = (places.start_bound().cloned(), places.end_bound().cloned());
        self.cells[bounds].iter().map(|cell| self.value(*cell))
    }

    fn value(&self, cell: Cell) -> Value<'_> {
        Value(match cell {
            Cell::Null => Stored::Null,
            Cell::Integer(number) => Stored::Integer(number),
            Cell::Real(number) => Stored::Real(number),
            Cell::Text(from, to) => Stored::Text(&self.octets[from..to]),
            Cell::Blob(from, to) => Stored::Blob(&self.octets[from..to]),
        })
    }
}

impl Value<'_> {
    fn kind(self) -> Kind {
        match self.0 {
            Stored::Null => Kind::Null,
            Stored::Integer(_) => Kind::Integer,
            Stored::Real(_) => Kind::Real,
            Stored::Text(_) => Kind::Text,
            Stored::Blob(_) => Kind::Blob,
        }
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(self.0))
    }
}

impl sqlx::Value for Owned {
    type Database = Sqlite;

    fn as_ref(&self) -> Value<'_> {
        self.0.get(0)
    }

    fn type_info(&self) -> Cow<'_, Kind> {
        Cow::Owned(self.as_ref().kind())
    }

    fn is_null(&self) -> bool {
        self.as_ref().kind() == Kind::Null
    }
}

impl<'r> sqlx::ValueRef<'r> for Value<'r> {
    type Database = Sqlite;

    fn to_owned(&self) -> Owned {
        let mut owned = Owned::default();
        owned.0.push(self.0);
        owned
    }

    fn type_info(&self) -> Cow<'_, Kind> {
        Cow::Owned(self.kind())
    }

    fn is_null(&self) -> bool {
        self.kind() == Kind::Null
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

impl sqlx::Arguments for Values {
    type Database = Sqlite;

    fn reserve(&mut self, additional: usize, _size: usize) {
        self.cells.reserve(additional);
    }

    fn add<'t, T>(&mut self, value: T) -> Result<(), BoxDynError>
    where
        T: Encode<'t, Sqlite> + Type<Sqlite>,
    {
        if let IsNull::Yes = value.encode(self)? {
            self.push(Stored::Null);
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.cells.len()
    }
}

sqlx_core::impl_into_arguments_for_arguments!(Values);
sqlx_core::impl_encode_for_option!(Sqlite);

/// Types as which of SQLite's they are kept, and how.
macro_rules! kept {
    ($($type:ty as $kind:ident: |$given:ident| $value:expr;)*) => {$(
        impl<'q> Encode<'q, Sqlite> for $type {
            fn encode_by_ref(&self, values: &mut Values) -> Result<IsNull, BoxDynError> {
                let $given = self;
                values.push(Stored::$kind($value));
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
            fn decode(value: Value<'r>) -> Result<Self, BoxDynError> {
                match value.0 {
                    Stored::$kind($kept) => Ok($value),
                    _ => Err(format!("{} where {} was expected", value.kind(), Kind::$kind).into()),
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
    &str as Text: |text| text.as_bytes();
    String as Text: |text| text.as_bytes();
    &[u8] as Blob: |octets| octets;
    Vec<u8> as Blob: |octets| octets;
}

read! {
    i64 as Integer: |number| number;
    i32 as Integer: |number| i32::try_from(number)?;
    i16 as Integer: |number| i16::try_from(number)?;
    bool as Integer: |number| number != 0;
    String as Text: |octets| str::from_utf8(octets)?.to_owned();
    Vec<u8> as Blob: |octets| octets.to_vec();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: Value<'_>) -> Result<String, BoxDynError> {
        Decode::<Sqlite>::decode(value)
    }

    #[test]
    fn values_are_given_as_they_were_kept_and_in_their_order() {
        let kept = [
            Stored::Text("Ṣé o wà?".as_bytes()),
            Stored::Null,
            Stored::Blob(&[0, 255]),
            Stored::Text(b""),
            Stored::Integer(i64::MIN),
            Stored::Real(0.5),
            Stored::Blob(&[]),
            Stored::Text(b"last"),
        ];
        let mut values = Values::default();
        for value in kept {
            values.push(value);
        }
        let given = |values: &Values| (0..kept.len()).map(|at| values.get(at).0).eq(kept);
        assert!(given(&values));
        let some = values.slice(2..5).map(|value| value.0);
        assert!(some.eq(kept[2..5].iter().copied()));
        let owned: Owned = sqlx::ValueRef::to_owned(&values.get(7));
        assert_eq!(sqlx::Value::as_ref(&owned).0, kept[7]);
        assert_eq!(text(values.get(0)).expect("it is text"), "Ṣé o wà?");
    }

    #[test]
    fn a_text_of_another_is_an_error_and_no_panic() {
        let mut values = Values::default();
        values.push(Stored::Text(&[0xFF]));
        values.push(Stored::Blob(b"octets"));
        assert!(text(values.get(0)).is_err());
        let told = text(values.get(1)).expect_err("octets are no text");
        assert_eq!(told.to_string(), "BLOB where TEXT was expected");
    }
}
