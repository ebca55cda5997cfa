//! Retention of the sandbox. Its messages are removed by age alone, together with their waiting
//! callbacks: they cost nothing, and the simulated carrier sends no late receipts.

use super::removal::{MAX_MESSAGES, Old, RemoveMessages, Removed, fitting};
use crate::rows::{id_bytes, message_id};
use database::{Db, Result, query};
use domain::{Bucket, MessageId};
use std::collections::HashSet;

/// Removes some messages of the sandbox that were due before a time. Returns how many are gone.
/// A message that the simulated carrier `carrier` has not accepted yet stays until it has.
pub(super) async fn remove(
    db: &Db,
    bucket: Bucket,
    carrier: &str,
    before_ms: i64,
    after: Option<MessageId>,
) -> Result<Removed<MessageId>> {
    let after = after.unwrap_or(MessageId::lowest_at(0));
    let before = MessageId::lowest_at(before_ms);
    let (taken, untaken) = Db::in_time(async {
        let mut tx = db.read().await?;
        // The query uses the index of sandbox messages. A list has seven bytes a number, see
        // `domain::recipient_list`.
        let next = query(
            "select message_id, cast(length(recipients) / 7 as bigint) from messages
             where bucket = $1 and sandbox and message_id > $2 and message_id < $3
                 and (due_at_ms is null or due_at_ms < $5)
             order by message_id limit $4",
        );
        let next = next.bind(bucket.0).bind(id_bytes(&after));
        let next = next
            .bind(id_bytes(&before))
            .bind(MAX_MESSAGES)
            .bind(before_ms);
        let rows: Vec<(Vec<u8>, i64)> = tx.fetch_all(next).await?;
        let untaken: Vec<Vec<u8>> = tx
            .fetch_all(
                query(
                    "select distinct message_id from batches
             where bucket = $1 and carrier = $2 and message_id < $3",
                )
                .bind(bucket.0)
                .bind(carrier)
                .bind(id_bytes(&before)),
            )
            .await?;
        let mut taken = Vec::with_capacity(rows.len());
        for (id, recipients) in rows {
            let message = message_id(&id)?;
            taken.push(Old {
                message,
                recipients,
            });
        }
        let untaken: Result<HashSet<MessageId>> = untaken.iter().map(|id| message_id(id)).collect();
        Ok((taken, untaken?))
    })
    .await?;
    let taken = taken.get(..fitting(&taken)).unwrap_or_default();
    let Some(last) = taken.last().map(|old| old.message) else {
        return Ok(Removed {
            count: 0,
            next: None,
        });
    };
    let messages = taken.iter().map(|old| old.message);
    let messages: Vec<MessageId> = messages
        .filter(|message| !untaken.contains(message))
        .collect();
    let wanted = messages.len() as u64;
    let count = if messages.is_empty() {
        0
    } else {
        let removal = RemoveMessages {
            bucket,
            messages,
            with_callbacks: true,
        };
        db.change(removal).await?
    };
    let next = if count < wanted { after } else { last };
    Ok(Removed {
        count,
        next: Some(next),
    })
}
