//! Some rows of a table, by column, on their way from SQLite to PostgreSQL.

use super::table::{Bucketed, Kind, Table};
use crate::parts::stored::{decode, encode};
use crate::rows::{bucket_of, bucket_of_id, id_bytes};
use database::{Change, Connection, Result, Tx};
use domain::{AccountId, Bucket, MessageId};
use sqlx::{AssertSqlSafe, PgConnection, Row};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
enum Column {
    Int(Vec<Option<i64>>),
    Text(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
    Bool(Vec<Option<bool>>),
}

/// Rows of a table in the order of its key, with all columns of the target.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chunk {
    pub(super) rows: usize,
    columns: Vec<Column>,
}

/// Takes the values of a column out of rows of either database.
macro_rules! values {
    ($rows:expr, $at:expr) => {
        $rows
            .iter()
            .map(|row| row.try_get($at))
            .collect::<sqlx::Result<_>>()?
    };
}

/// Takes a column out of rows of either database.
macro_rules! column {
    ($rows:expr, $at:expr, $kind:expr) => {
        match $kind {
            Kind::Int => Column::Int(values!($rows, $at)),
            Kind::Text => Column::Text(values!($rows, $at)),
            Kind::Bytes => Column::Bytes(values!($rows, $at)),
            Kind::Bool => Column::Bool(values!($rows, $at)),
        }
    };
}

/// Binds a value of a column.
macro_rules! bind {
    ($query:expr, $column:expr, |$values:ident| $value:expr) => {
        match $column {
            Column::Int($values) => $query.bind($value),
            Column::Text($values) => $query.bind($value),
            Column::Bytes($values) => $query.bind($value),
            Column::Bool($values) => $query.bind($value),
        }
    };
}

impl Column {
    /// PostgreSQL holds no NUL in a text, and no phone shows one.
    fn without_nul(mut self) -> Self {
        if let Self::Text(texts) = &mut self {
            for text in texts.iter_mut().flatten() {
                text.retain(|character| character != '\0');
            }
        }
        self
    }
}

/// Reads the rows that come after those of `before`.
pub(super) async fn read(
    source: &mut Connection,
    table: &Table,
    before: Option<&Chunk>,
) -> Result<Chunk> {
    let mut query = sqlx::query(AssertSqlSafe(table.read(before.is_none())));
    if let Some(before) = before {
        let follow = table.bucketed.columns().len();
        for column in &before.columns[follow..follow + table.key] {
            query = bind!(query, column, |values| values[before.rows - 1].as_ref());
        }
    }
    let rows = query.bind(table.chunk).fetch_all(&mut *source).await?;
    let mut columns = Vec::with_capacity(table.columns.len() + 1);
    for (at, (_, kind)) in table.columns.iter().enumerate() {
        columns.push(column!(rows, at, kind).without_nul());
    }
    if let (Bucketed::ByStem, [_, _, _, Column::Bytes(pages)]) = (table.bucketed, &mut columns[..])
    {
        tell_homes(source, pages).await?;
    }
    let owners: Vec<Option<i64>> = values!(rows, table.columns.len());
    let mut all = following(table.bucketed, &columns, &owners);
    all.append(&mut columns);
    Ok(Chunk {
        rows: rows.len(),
        columns: all,
    })
}

/// Has pages name the buckets in which their deliveries will lie.
async fn tell_homes(source: &mut Connection, rows: &mut [Option<Vec<u8>>]) -> Result<()> {
    let mut homes: HashMap<MessageId, Bucket> = HashMap::new();
    for row in rows.iter_mut().flatten() {
        let mut pages = decode(row, 0)?;
        for (_, part) in &mut pages {
            part.home = match homes.entry(part.message) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    let owner: Option<i64> = sqlx::query_scalar(
                        "select account_id from messages where bucket = 0 and message_id = $1",
                    )
                    .bind(id_bytes(&part.message))
                    .fetch_optional(&mut *source)
                    .await?;
                    *new.insert(bucket_of(AccountId(owner.unwrap_or(0)), false))
                }
            };
        }
        *row = encode(&pages);
    }
    Ok(())
}

/// The columns that follow from others. What belongs to a message that is gone lies in the first bucket.
fn following(bucketed: Bucketed, columns: &[Column], owners: &[Option<i64>]) -> Vec<Column> {
    let of_owners = || {
        let buckets = owners
            .iter()
            .map(|owner| Some(bucket_of(AccountId(owner.unwrap_or(0)), false).0));
        Column::Int(buckets.collect())
    };
    let of_ids = || {
        let [Column::Text(carriers), Column::Text(ids), ..] = columns else {
            return Column::Int(Vec::new());
        };
        let buckets = carriers.iter().zip(ids).map(|(carrier, id)| {
            let (carrier, id) = (carrier.as_deref(), id.as_deref());
            Some(bucket_of_id(carrier.unwrap_or_default(), id.unwrap_or_default(), false).0)
        });
        Column::Int(buckets.collect())
    };
    match bucketed {
        Bucketed::No => Vec::new(),
        Bucketed::ByAccount | Bucketed::ByMessage => vec![of_owners()],
        Bucketed::ByCarrierId | Bucketed::ByStem => vec![of_ids()],
    }
}

/// Writes a chunk into the target. What is there already is left as it is.
pub(super) struct Write {
    pub(super) table: &'static Table,
    pub(super) chunk: Arc<Chunk>,
}

impl Change for Write {
    /// Whether all of it is there now, and equal.
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let mut query = sqlx::query(AssertSqlSafe(self.table.write()));
        for column in &self.chunk.columns {
            query = bind!(query, column, |values| values.as_slice());
        }
        let target = tx.postgres()?;
        let written = query.execute(&mut *target).await?.rows_affected();
        if written == self.chunk.rows as u64 {
            return Ok(true);
        }
        Ok(self.found(target).await? == *self.chunk)
    }
}

impl Write {
    /// The rows of the target under the keys of the chunk.
    async fn found(&self, target: &mut PgConnection) -> Result<Chunk> {
        let mut query = sqlx::query(AssertSqlSafe(self.table.find()));
        for at in self.table.target_key() {
            query = bind!(query, &self.chunk.columns[at], |values| values.as_slice());
        }
        let rows = query.fetch_all(target).await?;
        let mut columns = Vec::with_capacity(self.chunk.columns.len());
        for (at, (_, kind)) in self.table.all_columns().iter().enumerate() {
            columns.push(column!(rows, at, kind));
        }
        Ok(Chunk {
            rows: rows.len(),
            columns,
        })
    }
}
