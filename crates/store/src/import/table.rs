//! A table that an import moves, and the statements that read, write and find its rows.

use Kind::{Bool, Bytes, Int, Text};

/// What a column holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Int,
    Text,
    Bytes,
    Bool,
}

impl Kind {
    /// The type of many of them, in PostgreSQL.
    fn array(self) -> &'static str {
        match self {
            Int => "bigint[]",
            Text => "text[]",
            Bytes => "bytea[]",
            Bool => "boolean[]",
        }
    }
}

pub(super) type Named = (&'static str, Kind);

/// From what the bucket of a row follows. On SQLite it is always 0.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Bucketed {
    /// It has none.
    No,
    /// From its own `account_id`.
    ByAccount,
    /// From the account of its message.
    ByMessage,
    /// From its carrier and `carrier_id`, the first two columns.
    ByCarrierId,
    /// From its carrier and `stem`, the first two columns; its pages, the fourth, name the buckets of their messages'
    /// accounts as well.
    ByStem,
}

impl Bucketed {
    /// The columns that do not come from the source but follow from it. They stand first.
    pub(super) fn columns(self) -> &'static [Named] {
        match self {
            Self::No => &[],
            Self::ByAccount | Self::ByMessage | Self::ByCarrierId | Self::ByStem => {
                &[("bucket", Int)]
            }
        }
    }

    /// Whose row it is, as the source is asked.
    fn owner(self) -> &'static str {
        match self {
            Self::No | Self::ByCarrierId | Self::ByStem => "null",
            Self::ByAccount => "t.account_id",
            Self::ByMessage => {
                "(select m.account_id from messages m
                  where m.bucket = t.bucket and m.message_id = t.message_id)"
            }
        }
    }
}

/// A table, with its columns but for those that follow from others.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) bucketed: Bucketed,
    /// So many columns, from the first on, are its key; the bucket goes before them.
    pub(super) key: usize,
    pub(super) columns: &'static [Named],
    /// Rows moved at a time: fewer where one may be large.
    pub(super) chunk: i64,
}

/// Names with a table before each, and commas between them.
fn list(of: &str, columns: &[Named]) -> String {
    let names: Vec<String> = columns
        .iter()
        .map(|(name, _)| format!("{of}{name}"))
        .collect();
    names.join(", ")
}

/// The same as they are read: whole numbers of any width as the widest.
fn widened(of: &str, columns: &[Named]) -> String {
    let values: Vec<String> = columns
        .iter()
        .map(|(name, kind)| match kind {
            Int => format!("cast({of}{name} as bigint)"),
            Text | Bytes | Bool => format!("{of}{name}"),
        })
        .collect();
    values.join(", ")
}

/// Arrays of rows as placeholders.
fn arrays(columns: &[Named]) -> String {
    let arrays: Vec<String> = (1..)
        .zip(columns)
        .map(|(number, (_, kind))| format!("cast(${number} as {})", kind.array()))
        .collect();
    arrays.join(", ")
}

impl Table {
    pub(super) fn key_columns(&self) -> &'static [Named] {
        &self.columns[..self.key]
    }

    /// All columns, as the target has them.
    pub(super) fn all_columns(&self) -> Vec<Named> {
        [self.bucketed.columns(), self.columns].concat()
    }

    /// Where in all columns the key stands that a row has in the target.
    pub(super) fn target_key(&self) -> Vec<usize> {
        let follow = self.bucketed.columns().len();
        let bucket = 0..follow.min(1);
        bucket.chain(follow..follow + self.key).collect()
    }

    /// Reads the next rows of the source, with whose they are behind the columns. The values of the key after
    /// which they come are bound, unless they are the first; then how many.
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

    /// Writes rows, an array for each column, and leaves out those that are there.
    pub(super) fn write(&self) -> String {
        let columns = self.all_columns();
        format!(
            "insert into {} ({}) select * from unnest({}) on conflict do nothing",
            self.name,
            list("", &columns),
            arrays(&columns),
        )
    }

    /// Finds rows of the target by their keys, an array for each of its columns, in the order given.
    pub(super) fn find(&self) -> String {
        let columns = self.all_columns();
        let key: Vec<Named> = self.target_key().iter().map(|&at| columns[at]).collect();
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
