//! One statement over many rows.
//!
//! A statement has two texts. `one` changes or finds one row, and `many` takes each column as an
//! array. SQLite runs `one` for each row, which is faster there than a statement over many.
//! PostgreSQL runs `many` in one round trip. For a single row PostgreSQL runs `one`, and Citus runs
//! it for each row.

use crate::citus::Placement;
use crate::query::{Query, Sql, Value, query};

/// Rows of one statement on PostgreSQL at most. A statement blocks its connection, so it must not
/// be long.
const MAX_ROWS: usize = 1_024;

/// A statement over many rows, with the values of all of them.
#[derive(Debug)]
pub struct Bulk<'q> {
    one: Sql,
    many: Many,
    /// The number of values in a row.
    width: usize,
    values: Vec<Value<'q>>,
    /// Values after the ones of the row.
    rest: Vec<Value<'q>>,
}

/// The text for many rows on PostgreSQL.
#[derive(Clone, Copy, Debug)]
enum Many {
    /// The text takes arrays.
    Arrays(&'static str),
    /// The text names the whole keys.
    Keys(Keys),
}

/// A statement over rows that are found by their whole keys. See [`by_whole_keys`].
#[derive(Clone, Copy, Debug)]
struct Keys {
    before: &'static str,
    columns: &'static [&'static str],
    after: &'static str,
}

/// Returns a statement with a text for one row and a text for many. `many` has the same
/// placeholders, and takes an array for each value of the row. For [`crate::Tx::changed_each`],
/// `many` also returns the keys of the changed rows.
pub fn bulk<'q>(one: impl Into<Sql>, many: &'static str) -> Bulk<'q> {
    Bulk::new(one.into(), Many::Arrays(many))
}

/// Returns a statement on rows of a queue. On PostgreSQL its text is `before`, the keys as `(a=$1
/// and b=$2 or a=$3 and b=$4)`, and `after`. With arrays PostgreSQL may scan a whole queue that it
/// takes for empty, which took seconds. With each key in the text it must use the index.
pub fn by_whole_keys<'q>(
    one: impl Into<Sql>,
    before: &'static str,
    columns: &'static [&'static str],
    after: &'static str,
) -> Bulk<'q> {
    let keys = Keys {
        before,
        columns,
        after,
    };
    Bulk::new(one.into(), Many::Keys(keys))
}

/// Returns a value of a row.
pub fn value<'q>(value: impl Into<Value<'q>>) -> Value<'q> {
    value.into()
}

impl<'q> Bulk<'q> {
    fn new(one: Sql, many: Many) -> Self {
        Self {
            one,
            many,
            width: 1,
            values: Vec::new(),
            rest: Vec::new(),
        }
    }

    /// Sets the rows of the statement.
    #[must_use]
    pub fn rows<R, const WIDTH: usize>(
        mut self,
        rows: impl IntoIterator<Item = R>,
        values: impl FnMut(R) -> [Value<'q>; WIDTH],
    ) -> Self {
        self.width = WIDTH;
        self.values = rows.into_iter().flat_map(values).collect();
        self
    }

    /// Binds the value of the next placeholder after the ones of the row. It is the same for all
    /// rows.
    #[must_use]
    pub fn bind(mut self, value: impl Into<Value<'q>>) -> Self {
        self.rest.push(value.into());
        self
    }

    /// Returns the statements that PostgreSQL runs, each with its number of rows.
    pub(crate) fn on_postgres(
        self,
        placement: Placement,
    ) -> impl Iterator<Item = (Query<'q>, usize)> {
        let most = placement.max_rows(match self.many {
            Many::Arrays(_) => MAX_ROWS,
            Many::Keys(_) => Keys::MAX_ROWS,
        });
        let mut left = self.values.len() / self.width;
        let mut values = self.values.into_iter();
        std::iter::from_fn(move || {
            let rows = left.min(most);
            left -= rows;
            let values = values.by_ref().take(rows * self.width);
            let statement = match self.many {
                _ if rows == 0 => return None,
                _ if rows == 1 => query(self.one).with(values),
                Many::Arrays(many) => query(many).with(arrays(values, self.width, rows)),
                Many::Keys(keys) => query(keys.text(rows)).with(values),
            };
            Some((statement.with(self.rest.iter().cloned()), rows))
        })
    }

    /// Returns the text for one row, the values of each row, and the values after them.
    pub(crate) fn each_row(
        &self,
    ) -> (
        &'static str,
        impl Iterator<Item = &[Value<'q>]>,
        &[Value<'q>],
    ) {
        (self.one.sqlite, self.values.chunks(self.width), &self.rest)
    }
}

impl Keys {
    /// Keys of one statement at most.
    const MAX_ROWS: usize = 64;

    /// Returns the text for a number of keys.
    fn text(self, rows: usize) -> String {
        let key = |row: usize| {
            let numbers = row * self.columns.len() + 1..;
            let parts = self.columns.iter().zip(numbers);
            let parts = parts.map(|(column, number)| format!("{column}=${number}"));
            parts.collect::<Vec<_>>().join(" and ")
        };
        let keys: Vec<String> = (0..rows).map(key).collect();
        format!("{}({}){}", self.before, keys.join(" or "), self.after)
    }
}

/// Returns the values of some rows as one array for each column.
fn arrays<'q>(
    values: impl Iterator<Item = Value<'q>>,
    width: usize,
    rows: usize,
) -> impl Iterator<Item = Value<'q>> {
    let mut columns: Vec<_> = (0..width).map(|_| Vec::with_capacity(rows)).collect();
    for (at, value) in values.enumerate() {
        columns[at % width].push(value);
    }
    columns.into_iter().map(Value::Array)
}
