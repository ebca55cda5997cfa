//! Unsent batches of paused messages. They lie apart from waiting batches, as held ones do. A claim
//! that finds one among the waiting batches moves it.
//!
//! Only first batches are moved apart. A resend or a second leg belongs to a recipient that a
//! carrier has. Its receipt may end the message, and a batch moved apart would then stay for ever.

use super::batch::{Batch, QueueState};
use super::batch_rows::mark;
use crate::rows::{id_bytes, message_id};
use database::{Result, Sql, Tx, bulk, value};
use domain::{Bucket, MessageId};
use std::collections::HashSet;

/// Moves waiting batches apart whose messages are paused. A message that another transaction
/// changes is left for the next claim, because a resume waits for the rows of this one.
pub(super) async fn put_aside(tx: &mut Tx, mut batches: Vec<Batch>) -> Result<()> {
    if batches.is_empty() {
        return Ok(());
    }
    let paused = paused(tx, &batches).await?;
    batches.retain(|batch| paused.contains(&batch.message));
    mark(tx, &batches, QueueState::Paused, 0).await?;
    Ok(())
}

/// Returns the messages of these batches that are paused, and locks them until the commit.
async fn paused(tx: &mut Tx, batches: &[Batch]) -> Result<HashSet<MessageId>> {
    let mut messages: Vec<(Bucket, MessageId)> = batches
        .iter()
        .map(|batch| (batch.bucket, batch.message))
        .collect();
    messages.sort_unstable();
    messages.dedup();
    let one = Sql {
        sqlite: "select message_id from messages where bucket = $1 and message_id = $2
             and paused_at_ms is not null",
        postgres: "select message_id from messages where bucket = $1 and message_id = $2
             and paused_at_ms is not null for update skip locked",
    };
    let find = bulk(
        one,
        "select message_id from messages where (bucket, message_id) in (select *
             from unnest($1::bigint[], $2::bytea[]))
             and paused_at_ms is not null for update skip locked",
    );
    let find = find.rows(&messages, |row| [value(row.0.0), value(id_bytes(&row.1))]);
    let rows: Vec<(Vec<u8>,)> = tx.fetch_each(find).await?;
    rows.iter().map(|(id,)| message_id(id)).collect()
}
