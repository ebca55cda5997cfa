//! Retention of texts, which are removed before their messages: a sweep along the ids, with a mark
//! of its progress.

use super::removal::{MAX_MESSAGES, Removed, open};
use crate::messages::recipient_texts;
use crate::rows::{id_bytes, message_id};
use crate::upkeep::marks::{read_mark, write_mark};
use database::{Change, Db, Result, Tx, bulk, query, value};
use domain::{Bucket, MessageId};

/// Time for which a text of an unsettled message is searched again. After that it is removed with
/// the message.
const OPEN_FOR_MS: i64 = 86_400_000;

/// The progress of the removal of texts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TextCursor {
    after: MessageId,
    /// The due time and the id of the last message that is due later than it was accepted.
    after_scheduled: (i64, MessageId),
    /// The earliest due time of a message that was skipped because it is open.
    open_at_ms: Option<i64>,
}

/// Removes the texts of some settled messages that were due before a time. Returns how many.
pub(super) async fn remove(
    db: &Db,
    bucket: Bucket,
    before_ms: i64,
    cursor: Option<TextCursor>,
) -> Result<Removed<TextCursor>> {
    let mark = texts_mark(bucket);
    let (mut cursor, found, open) = Db::in_time(async {
        let mut tx = db.read().await?;
        let cursor = if let Some(cursor) = cursor {
            cursor
        } else {
            // The mark follows a clock that was set back. Otherwise texts of that time would
            // never be found.
            let from_ms = read_mark(&mut tx, &mark).await?.min(before_ms);
            TextCursor {
                after: MessageId::lowest_at(from_ms),
                after_scheduled: (from_ms, MessageId::lowest_at(0)),
                open_at_ms: None,
            }
        };
        let found = cursor.find(&mut tx, bucket, before_ms).await?;
        let ids: Vec<MessageId> = found.all().map(|(_, message)| message).collect();
        let open = open(&mut tx, bucket, before_ms, &ids).await?;
        Ok((cursor, found, open))
    })
    .await?;
    let is_last = cursor.advance(&found);
    let (open, settled): (Vec<_>, Vec<_>) =
        found.all().partition(|(_, message)| open.contains(message));
    let open = open.into_iter().map(|(due_at_ms, _)| due_at_ms);
    cursor.open_at_ms = cursor.open_at_ms.into_iter().chain(open).min();
    let settled = settled.into_iter().map(|(_, message)| message);
    let swept = cursor
        .open_at_ms
        .map_or(before_ms, |open| open.max(before_ms - OPEN_FOR_MS));
    let removal = RemoveTexts {
        bucket,
        messages: settled.collect(),
        mark: is_last.then_some((mark, swept)),
    };
    Ok(Removed {
        count: db.change(removal).await?,
        next: (!is_last).then_some(cursor),
    })
}

/// Returns the name of the mark up to which texts are removed.
pub(crate) fn texts_mark(bucket: Bucket) -> String {
    format!("texts-removed-{}", bucket.0)
}

impl TextCursor {
    /// Returns messages with a text that were due before a time, the oldest first.
    async fn find(&self, tx: &mut Tx, bucket: Bucket, before_ms: i64) -> Result<WithText> {
        let accepted: Vec<Vec<u8>> = tx
            .fetch_all(
                query(
                    "select message_id from messages
             where bucket = $1 and message_id > $2 and message_id < $3 and body is distinct
                 from ''
                 and due_at_ms is null
             order by message_id limit $4",
                )
                .bind(bucket.0)
                .bind(id_bytes(&self.after))
                .bind(id_bytes(&MessageId::lowest_at(before_ms)))
                .bind(MAX_MESSAGES),
            )
            .await?;
        let scheduled: Vec<(i64, Vec<u8>)> = tx
            .fetch_all(
                query(
                    "select due_at_ms, message_id from messages
             where bucket = $1 and due_at_ms is not null and (due_at_ms, message_id) > ($2, $3)
                 and due_at_ms < $4 and body is distinct from ''
             order by due_at_ms, message_id limit $5",
                )
                .bind(bucket.0)
                .bind(self.after_scheduled.0)
                .bind(id_bytes(&self.after_scheduled.1))
                .bind(before_ms)
                .bind(MAX_MESSAGES),
            )
            .await?;
        let accepted = accepted.iter().map(|id| message_id(id));
        let scheduled = scheduled
            .iter()
            .map(|(due_at_ms, id)| Ok((*due_at_ms, message_id(id)?)));
        Ok(WithText {
            accepted: accepted.collect::<Result<_>>()?,
            scheduled: scheduled.collect::<Result<_>>()?,
        })
    }

    /// Advances behind the messages found. Returns `true` if they are the last ones.
    fn advance(&mut self, found: &WithText) -> bool {
        self.after = found.accepted.last().copied().unwrap_or(self.after);
        let last = found.scheduled.last().copied();
        self.after_scheduled = last.unwrap_or(self.after_scheduled);
        let is_full = |count: usize| i64::try_from(count).unwrap_or(i64::MAX) >= MAX_MESSAGES;
        !is_full(found.accepted.len()) && !is_full(found.scheduled.len())
    }
}

/// Old messages with a text.
struct WithText {
    accepted: Vec<MessageId>,
    /// The messages that were due later than they were accepted, with their due times.
    scheduled: Vec<(i64, MessageId)>,
}

impl WithText {
    /// Returns each message with its due time.
    fn all(&self) -> impl Iterator<Item = (i64, MessageId)> {
        let accepted = self.accepted.iter();
        let accepted = accepted.map(|message| (message.accepted_at_ms(), *message));
        accepted.chain(self.scheduled.iter().copied())
    }
}

struct RemoveTexts {
    bucket: Bucket,
    messages: Vec<MessageId>,
    /// The mark at the end of a pass: no earlier message has to be searched again.
    mark: Option<(String, i64)>,
}

impl Change for RemoveTexts {
    type Output = u64;

    async fn apply(&self, tx: &mut Tx) -> Result<u64> {
        let removed = tx
            .execute_each(
                bulk(
                    "update messages set body = '', raw_page = null where message_id = $1 and bucket = $2",
                    "update messages set body = '', raw_page = null where message_id in (select *
             from unnest($1::bytea[])) and bucket = $2",
                )
                .rows(&self.messages, |message| [value(id_bytes(message))])
                .bind(self.bucket.0),
            )
            .await?;
        recipient_texts::remove(tx, self.bucket, &self.messages).await?;
        if let Some((name, at_ms)) = &self.mark {
            write_mark(tx, name, *at_ms).await?;
        }
        Ok(removed)
    }
}
