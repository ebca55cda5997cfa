//! Rows as PostgreSQL takes them here: each column is one array, or one value where there is a single row, or
//! each value stands for itself where they are alternatives.
//!
//! So a statement has one text for any number of rows, and what it is given is read as fast as it is sent; a
//! placeholder for each value of each row took twice the statements, and the server's time for each.

use super::text::Rows;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgTypeInfo};
use sqlx::{Arguments, Encode, Postgres, Type};

/// The types of PostgreSQL that rows are made of: of the value, and of an array of them (`pg_type.dat`).
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    one: Oid,
    many: Oid,
}

/// What may stand in a row.
pub trait Cell {
    /// Its type.
    const KIND: Kind;

    /// Writes its binary form behind what is there; false where it is null.
    fn write(&self, out: &mut Vec<u8>) -> bool;
}

/// Where the values of rows are bound, one after the other.
#[derive(Debug)]
pub struct Columns {
    list: Vec<Column>,
    /// How many there are: with alternatives, one for each value.
    width: usize,
    /// The column of the next value.
    next: usize,
}

#[derive(Debug, Default)]
struct Column {
    kind: Option<Kind>,
    values: i32,
    has_null: bool,
    /// Each value as in an array: its length in octets, or -1 for null, and those.
    octets: Vec<u8>,
}

impl Columns {
    /// None yet, of so many columns.
    pub fn new(columns: usize, how: Rows) -> Self {
        Self {
            list: Vec::with_capacity(columns),
            width: match how {
                Rows::Alternatives => usize::MAX,
                Rows::Arrays | Rows::Values | Rows::Each => columns,
            },
            next: 0,
        }
    }

    /// Binds the next value.
    pub fn bind<T: Cell>(mut self, value: T) -> Self {
        if self.next == self.width {
            self.next = 0;
        }
        if self.next == self.list.len() {
            self.list.push(Column::default());
        }
        if let Some(column) = self.list.get_mut(self.next) {
            column.push(&value);
        }
        self.next += 1;
        self
    }

    /// All of them, as a statement takes them.
    pub fn arguments(self) -> Result<PgArguments, sqlx::Error> {
        let mut arguments = PgArguments::default();
        for column in self.list {
            arguments.add(column).map_err(sqlx::Error::Encode)?;
        }
        Ok(arguments)
    }
}

impl Column {
    fn push<T: Cell>(&mut self, value: &T) {
        self.kind = Some(T::KIND);
        self.values += 1;
        let start = self.octets.len();
        self.octets.extend([0; 4]);
        let length = if value.write(&mut self.octets) {
            i32::try_from(self.octets.len() - start - 4).unwrap_or(i32::MAX)
        } else {
            self.has_null = true;
            -1
        };
        self.octets[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }
}

impl Type<Postgres> for Column {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(<i64 as Cell>::KIND.many)
    }
}

impl Encode<'_, Postgres> for Column {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        let kind = self.kind.ok_or("a column without values")?;
        if self.values == 1 {
            if self.has_null {
                return Ok(IsNull::Yes);
            }
            buffer.extend_from_slice(&self.octets[4..]);
            return Ok(IsNull::No);
        }
        // array_send: dimensions, whether there are nulls, the type, the length, the first index.
        for word in [1, i32::from(self.has_null)] {
            buffer.extend_from_slice(&word.to_be_bytes());
        }
        buffer.extend_from_slice(&kind.one.0.to_be_bytes());
        for word in [self.values, 1] {
            buffer.extend_from_slice(&word.to_be_bytes());
        }
        buffer.extend_from_slice(&self.octets);
        Ok(IsNull::No)
    }

    fn produces(&self) -> Option<PgTypeInfo> {
        let kind = self.kind?;
        let oid = if self.values == 1 {
            kind.one
        } else {
            kind.many
        };
        Some(PgTypeInfo::with_oid(oid))
    }

    fn size_hint(&self) -> usize {
        self.octets.len() + 20
    }
}

const fn kind(one: u32, many: u32) -> Kind {
    Kind {
        one: Oid(one),
        many: Oid(many),
    }
}

impl Cell for i64 {
    const KIND: Kind = kind(20, 1016);

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.extend(self.to_be_bytes());
        true
    }
}

impl Cell for bool {
    const KIND: Kind = kind(16, 1000);

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.push(u8::from(*self));
        true
    }
}

impl Cell for str {
    const KIND: Kind = kind(25, 1009);

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.extend(self.as_bytes());
        true
    }
}

impl Cell for String {
    const KIND: Kind = <str as Cell>::KIND;

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.as_str().write(out)
    }
}

impl Cell for [u8] {
    const KIND: Kind = kind(17, 1001);

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.extend(self);
        true
    }
}

impl Cell for Vec<u8> {
    const KIND: Kind = <[u8] as Cell>::KIND;

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.as_slice().write(out)
    }
}

impl<T: Cell> Cell for Option<T> {
    const KIND: Kind = T::KIND;

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.as_ref().is_some_and(|value| value.write(out))
    }
}

impl<T: Cell + ?Sized> Cell for &T {
    const KIND: Kind = T::KIND;

    fn write(&self, out: &mut Vec<u8>) -> bool {
        (**self).write(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_many_rows_are_arrays_and_those_of_one_are_themselves() {
        let columns = || Columns::new(2, Rows::Arrays);
        let types = |columns: &Columns| -> Vec<_> {
            let kinds = columns.list.iter().map(Encode::produces);
            kinds.map(|kind| kind.unwrap().oid().unwrap().0).collect()
        };
        let one = columns().bind(7_i64).bind("a");
        assert_eq!(types(&one), [20, 25]);
        let two = one.bind(8_i64).bind(None::<&str>);
        assert_eq!(types(&two), [1016, 1009]);
        let encoded = |column: &Column| {
            let mut buffer = PgArgumentBuffer::default();
            assert!(matches!(column.encode_by_ref(&mut buffer), Ok(IsNull::No)));
            buffer.to_vec()
        };
        let words = |words: &[i32]| -> Vec<u8> {
            words.iter().flat_map(|word| word.to_be_bytes()).collect()
        };
        let numbers = words(&[1, 0, 20, 2, 1, 8, 0, 7, 8, 0, 8]);
        assert_eq!(encoded(&two.list[0]), numbers);
        let mut texts = words(&[1, 1, 25, 2, 1, 1]);
        texts.push(b'a');
        texts.extend(words(&[-1]));
        assert_eq!(encoded(&two.list[1]), texts);
    }
}
