//! Chunks of a table, by column, which an import moves from SQLite to PostgreSQL.

use super::table::{Bucketed, ColumnType, NamedColumn, Table};
use database::{Change, Result, Row, Tx, Value, query};
use domain::{AccountId, Bucket, MessageId};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use store::import_support::{messages_of_pages, server_bucket_of, server_bucket_of_id, with_homes};

/// The values of one column.
type Column = Vec<Value<'static>>;

/// Rows of a table in the order of its key, with all columns of the target.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chunk {
    pub(super) rows: usize,
    columns: Vec<Column>,
}

/// Returns the values of these kinds in a row of either database.
fn values(row: &Row<'_>, kinds: &[NamedColumn]) -> Result<Vec<Value<'static>>> {
    let of = |(at, (_, kind)): (usize, &NamedColumn)| {
        Ok(match kind {
            ColumnType::Int => row.get::<Option<i64>>(at)?.into(),
            ColumnType::Text => row.get::<Option<String>>(at)?.into(),
            ColumnType::Bytes => row.get::<Option<Vec<u8>>>(at)?.into(),
            ColumnType::Bool => row.get::<Option<bool>>(at)?.into(),
        })
    };
    kinds.iter().enumerate().map(of).collect()
}

/// Transposes rows into columns.
fn columns(rows: Vec<Vec<Value<'static>>>, width: usize) -> Vec<Column> {
    let mut columns: Vec<Column> = vec![Vec::with_capacity(rows.len()); width];
    for row in rows {
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    columns
}

/// Removes NUL from a text: PostgreSQL cannot store it, and no phone shows it.
fn without_nul(value: &mut Value<'static>) {
    if let Value::Text(Some(text)) = value {
        text.to_mut().retain(|character| character != '\0');
    }
}

/// Reads the rows after the ones of `before`.
pub(super) async fn read(source: &mut Tx, table: &Table, before: Option<&Chunk>) -> Result<Chunk> {
    let mut statement = query(table.read(before.is_none()));
    if let Some(before) = before {
        let follow = table.bucketed.columns().len();
        for column in &before.columns[follow..follow + table.key] {
            statement = statement.bind(column[before.rows - 1].clone());
        }
    }
    let mut owners: Vec<Option<i64>> = Vec::new();
    let rows = source.fetch_with(statement.bind(table.chunk), |row| {
        owners.push(row.get(table.columns.len())?);
        let mut values = values(row, table.columns)?;
        values.iter_mut().for_each(without_nul);
        Ok(values)
    });
    let rows = rows.await?;
    let count = rows.len();
    let mut columns = columns(rows, table.columns.len());
    if let (Bucketed::ByPrefix, [_, _, _, pages]) = (table.bucketed, &mut columns[..]) {
        write_homes(source, pages).await?;
    }
    let mut all = following(table.bucketed, &columns, &owners);
    all.append(&mut columns);
    Ok(Chunk {
        rows: count,
        columns: all,
    })
}

/// Writes into pages the buckets in which their deliveries will lie.
async fn write_homes(source: &mut Tx, rows: &mut [Value<'static>]) -> Result<()> {
    let mut homes: BTreeMap<MessageId, Bucket> = BTreeMap::new();
    for row in rows {
        let Value::Bytes(Some(pages)) = row else {
            continue;
        };
        for message in messages_of_pages(pages)? {
            if let Entry::Vacant(new) = homes.entry(message) {
                let owner =
                    query("select account_id from messages where bucket = 0 and message_id = $1");
                let owner = owner.bind(message.0.as_bytes().as_slice());
                let owner: Option<i64> = source.fetch_optional(owner).await?;
                new.insert(server_bucket_of(AccountId(owner.unwrap_or(0))));
            }
        }
        *row = with_homes(pages, &homes)?.into();
    }
    Ok(())
}

/// Returns the derived columns. Rows of a removed message lie in the first bucket.
fn following(bucketed: Bucketed, columns: &[Column], owners: &[Option<i64>]) -> Vec<Column> {
    let of_owners = || -> Column {
        let buckets = owners
            .iter()
            .map(|owner| server_bucket_of(AccountId(owner.unwrap_or(0))).0);
        buckets.map(Value::from).collect()
    };
    let of_ids = || -> Column {
        let [carriers, ids, ..] = columns else {
            return Vec::new();
        };
        let buckets = carriers.iter().zip(ids).map(|(carrier, id)| {
            let text = |value: &Value<'static>| match value {
                Value::Text(Some(text)) => text.to_string(),
                _ => String::new(),
            };
            server_bucket_of_id(&text(carrier), &text(id)).0
        });
        buckets.map(Value::from).collect()
    };
    match bucketed {
        Bucketed::No => Vec::new(),
        Bucketed::ByAccount | Bucketed::ByMessage => vec![of_owners()],
        Bucketed::ByCarrierId | Bucketed::ByPrefix => vec![of_ids()],
    }
}

/// The change that writes a chunk into the target. An existing row stays unchanged.
pub(super) struct Write {
    pub(super) table: &'static Table,
    pub(super) chunk: Arc<Chunk>,
}

impl Change for Write {
    /// `true` if all rows are now in the target and equal.
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let mut write = query(self.table.write());
        for column in &self.chunk.columns {
            write = write.bind(Value::Array(column.clone()));
        }
        let written = tx.execute(write).await?;
        if written == self.chunk.rows as u64 {
            return Ok(true);
        }
        Ok(self.found(tx).await? == *self.chunk)
    }
}

impl Write {
    /// Returns the rows of the target under the keys of the chunk.
    async fn found(&self, target: &mut Tx) -> Result<Chunk> {
        let mut find = query(self.table.find());
        for at in self.table.target_key() {
            find = find.bind(Value::Array(self.chunk.columns[at].clone()));
        }
        let kinds = self.table.all_columns();
        let rows = target.fetch_with(find, |row| values(row, &kinds)).await?;
        Ok(Chunk {
            rows: rows.len(),
            columns: columns(rows, kinds.len()),
        })
    }
}
