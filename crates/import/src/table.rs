//! A table that an import moves, and the statements that read, write and find its rows.

use ColumnType::{Bool, Bytes, Int, Text};

/// The type of a column.
#[derive(Clone, Copy, Debug)]
pub(super) enum ColumnType {
    Int,
    Text,
    Bytes,
    Bool,
}

impl ColumnType {
    /// Returns PostgreSQL's type of an array of it.
    fn array(self) -> &'static str {
        match self {
            Int => "bigint[]",
            Text => "text[]",
            Bytes => "bytea[]",
            Bool => "boolean[]",
        }
    }
}

pub(super) type NamedColumn = (&'static str, ColumnType);

/// The source of a row's bucket. On SQLite it is always 0.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Bucketed {
    /// The table has no bucket.
    No,
    /// The bucket follows from the row's `account_id`.
    ByAccount,
    /// The bucket follows from the account of its message.
    ByMessage,
    /// The bucket follows from carrier and `carrier_id`, the first two columns.
    ByCarrierId,
    /// The bucket follows from carrier and `prefix`, the first two columns. The pages, the fourth
    /// column, also name the buckets of their messages' accounts.
    ByPrefix,
}

impl Bucketed {
    /// Returns the derived columns, which come first.
    pub(super) fn columns(self) -> &'static [NamedColumn] {
        match self {
            Self::No => &[],
            Self::ByAccount | Self::ByMessage | Self::ByCarrierId | Self::ByPrefix => {
                &[("bucket", Int)]
            }
        }
    }

    /// Returns the expression by which the source names the row's account.
    fn owner(self) -> &'static str {
        match self {
            Self::No | Self::ByCarrierId | Self::ByPrefix => "null",
            Self::ByAccount => "t.account_id",
            Self::ByMessage => {
                "(select m.account_id from messages m
                  where m.bucket = t.bucket and m.message_id = t.message_id)"
            }
        }
    }
}

/// A table with its columns, except for the derived ones.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) bucketed: Bucketed,
    /// The number of leading columns that form the key. The bucket precedes them.
    pub(super) key: usize,
    pub(super) columns: &'static [NamedColumn],
    /// Rows moved at a time. The number is smaller if one row may be large.
    pub(super) chunk: i64,
}

/// Lists names with commas, each after its table.
fn list(of: &str, columns: &[NamedColumn]) -> String {
    let names: Vec<String> = columns
        .iter()
        .map(|(name, _)| format!("{of}{name}"))
        .collect();
    names.join(", ")
}

/// Lists columns as they are read: integers of any width become the widest.
fn widened(of: &str, columns: &[NamedColumn]) -> String {
    let values: Vec<String> = columns
        .iter()
        .map(|(name, kind)| match kind {
            Int => format!("cast({of}{name} as bigint)"),
            Text | Bytes | Bool => format!("{of}{name}"),
        })
        .collect();
    values.join(", ")
}

/// Lists arrays of rows as placeholders.
fn arrays(columns: &[NamedColumn]) -> String {
    let arrays: Vec<String> = (1..)
        .zip(columns)
        .map(|(number, (_, kind))| format!("cast(${number} as {})", kind.array()))
        .collect();
    arrays.join(", ")
}

impl Table {
    pub(super) fn key_columns(&self) -> &'static [NamedColumn] {
        &self.columns[..self.key]
    }

    /// Returns all columns of the target.
    pub(super) fn all_columns(&self) -> Vec<NamedColumn> {
        [self.bucketed.columns(), self.columns].concat()
    }

    /// Returns the places of the target's key among all columns.
    pub(super) fn target_key(&self) -> Vec<usize> {
        let follow = self.bucketed.columns().len();
        let bucket = 0..follow.min(1);
        bucket.chain(follow..follow + self.key).collect()
    }

    /// Returns the query for the next rows of the source, with their account after the columns. Its
    /// parameters are the previous key, unless the rows are the first, and the number of rows.
    pub(super) fn read(&self, is_first: bool) -> String {
        let mut conditions = Vec::new();
        if self.bucketed != Bucketed::No {
            conditions.push("t.bucket = 0".to_owned());
        }
        let bound = if is_first { 0 } else { self.key };
        if !is_first {
            let values: Vec<String> = (1..=bound).map(|number| format!("${number}")).collect();
            let (key, values) = (list("t.", self.key_columns()), values.join(", "));
            conditions.push(format!("({key}) > ({values})"));
        }
        let conditions = match conditions.join(" and ") {
            none if none.is_empty() => none,
            some => format!("where {some}"),
        };
        format!(
            "select {}, {} as owner from {} t {conditions} order by {} limit ${}",
            list("t.", self.columns),
            self.bucketed.owner(),
            self.name,
            list("t.", self.key_columns()),
            bound + 1,
        )
    }

    /// Returns the statement that inserts rows, an array for each column, and skips existing ones.
    pub(super) fn write(&self) -> String {
        let columns = self.all_columns();
        format!(
            "insert into {} ({}) select * from unnest({}) on conflict do nothing",
            self.name,
            list("", &columns),
            arrays(&columns),
        )
    }

    /// Returns the query for rows of the target by their keys, an array for each key column, in the
    /// given order.
    pub(super) fn find(&self) -> String {
        let columns = self.all_columns();
        let key: Vec<NamedColumn> = self.target_key().iter().map(|&at| columns[at]).collect();
        let same: Vec<String> = key
            .iter()
            .map(|(name, _)| format!("t.{name} = k.{name}"))
            .collect();
        format!(
            "select {} from unnest({}) with ordinality as k ({}, place) join {} t on {}
             order by k.place",
            widened("t.", &columns),
            arrays(&key),
            list("", &key),
            self.name,
            same.join(" and "),
        )
    }
}
