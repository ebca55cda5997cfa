//! The list of an account's messages, read along the times at which it sent.

use super::message_times::{self, ListOwner, SENDER_SPAN_MS, SPAN_MS, TimeRange, ranges_of};
use super::search_candidate::{Candidate, CandidateRow, IdRange};
use crate::rows::id_bytes;
use database::{Result, Sql, Tx, bulk, query, value};
use domain::{Environment, MessageId};

/// Number of spans that are read first, and at most at a time. Each further read takes four times
/// as many, since few of them have enough messages where traffic is dense.
const FIRST_SPANS: usize = 16;
const MAX_SPANS: usize = 128;

/// Returns at most `limit` messages of a range, newest first. With a sender these are the messages
/// of all senders in the minutes in which that one sent.
pub(super) async fn newest(
    tx: &mut Tx,
    of: ListOwner,
    sender_key: Option<&str>,
    range: IdRange,
    limit: usize,
) -> Result<Vec<Candidate>> {
    let from_ms = range.from.accepted_at_ms();
    let mut until_ms = range.until.accepted_at_ms().saturating_add(1);
    let mut found = Vec::new();
    let mut count = FIRST_SPANS;
    loop {
        let wanted = limit - found.len();
        let times = (from_ms, until_ms);
        let (ranges, read_to_ms) = match sender_key {
            None => {
                let spans = message_times::read(tx, of, None, times, count).await?;
                let is_end = spans.len() < count;
                let last = spans.last().copied().filter(|_| !is_end);
                (ranges_of(&spans, SPAN_MS, times), last)
            }
            Some(key) => of_sender(tx, of, key, times, (count, wanted)).await?,
        };
        found.extend(messages(tx, of, range, &ranges, wanted).await?);
        let Some(read_to_ms) = read_to_ms.filter(|_| found.len() < limit) else {
            return Ok(found);
        };
        until_ms = read_to_ms;
        count = (4 * count).min(MAX_SPANS);
    }
}

/// Returns the spans in the next minutes of a sender as ranges, and the time down to which all were
/// read, unless that is the end. A minute gives the newest `wanted` of its spans.
async fn of_sender(
    tx: &mut Tx,
    of: ListOwner,
    key: &str,
    times: TimeRange,
    (count, wanted): (usize, usize),
) -> Result<(Vec<TimeRange>, Option<i64>)> {
    let minutes = message_times::read(tx, of, Some(key), times, count).await?;
    let is_end = minutes.len() < count;
    let mut read_to_ms = minutes.last().copied().filter(|_| !is_end);
    let each = ranges_of(&minutes, SENDER_SPAN_MS, times);
    let mut spans = message_times::read_each(tx, of, &each, wanted).await?;
    // A range with as many spans as were wanted may have more, so nothing older is read yet.
    for (from_ms, until_ms) in each {
        let first = spans.partition_point(|span| *span >= until_ms);
        let end = spans.partition_point(|span| span + SPAN_MS > from_ms);
        if end - first >= wanted {
            spans.truncate(end);
            read_to_ms = spans.last().copied();
            break;
        }
    }
    Ok((ranges_of(&spans, SPAN_MS, times), read_to_ms))
}

/// Returns the newest messages of an account in ranges of time, at most `limit`.
async fn messages(
    tx: &mut Tx,
    of: ListOwner,
    range: IdRange,
    ranges: &[TimeRange],
    limit: usize,
) -> Result<Vec<Candidate>> {
    let bounds = ranges.iter().map(|&(from_ms, until_ms)| {
        let from = MessageId::lowest_at(from_ms).max(range.from);
        (from, MessageId::lowest_at(until_ms).min(range.until))
    });
    let bounds: Vec<(MessageId, MessageId)> = bounds.collect();
    let find = bulk(
        "select message_id, account_id, sender, gateway,
             cast(length(recipients) as bigint) as octets from messages
         where bucket = $3 and message_id >= $1 and message_id < $2 and account_id = $4
             and sandbox = $5 and length(recipients) > 0
         order by message_id desc limit $6",
        "with v (from_id, until_id) as (select * from unnest($1::bytea[], $2::bytea[]))
         select found.* from v cross join lateral (
             select message_id, account_id, sender, gateway,
                 cast(length(recipients) as bigint) as octets from messages
             where bucket = $3 and message_id >= v.from_id and message_id < v.until_id
                 and account_id = $4 and sandbox = $5 and length(recipients) > 0
             order by message_id desc limit $6) found",
    );
    let find = find
        .rows(&bounds, |(from, until)| {
            [value(id_bytes(from)), value(id_bytes(until))]
        })
        .bind(of.bucket.0)
        .bind(of.account.0)
        .bind(of.environment == Environment::Sandbox)
        .bind(i64::try_from(limit).unwrap_or(i64::MAX));
    let rows: Vec<CandidateRow> = tx.fetch_each(find).await?;
    let found = rows.into_iter().map(CandidateRow::candidate);
    let mut found: Vec<Candidate> = found.collect::<Result<_>>()?;
    found.sort_unstable_by_key(|found| std::cmp::Reverse(found.id));
    found.truncate(limit);
    Ok(found)
}

/// Reads the index of references. The plus keeps SQLite from the primary key, which has the messages
/// of all accounts.
pub(super) async fn by_reference(
    tx: &mut Tx,
    of: ListOwner,
    reference: &str,
    range: IdRange,
    limit: usize,
) -> Result<Vec<Candidate>> {
    let rows: Vec<CandidateRow> = tx
        .fetch_all(
            query(Sql {
                sqlite: "select message_id, account_id, sender, gateway,
                 cast(length(recipients) as bigint) as octets from messages
                 where +bucket = $1 and account_id = $2 and sandbox = $3 and message_id >= $4
                     and message_id < $5 and length(recipients) > 0 and customer_reference = $7
                 order by message_id desc limit $6",
                postgres: "select message_id, account_id, sender, gateway,
                 cast(length(recipients) as bigint) as octets from messages
                 where bucket = $1 and account_id = $2 and sandbox = $3 and message_id >= $4
                     and message_id < $5 and length(recipients) > 0 and customer_reference = $7
                 order by message_id desc limit $6",
            })
            .bind(of.bucket.0)
            .bind(of.account.0)
            .bind(of.environment == Environment::Sandbox)
            .bind(id_bytes(&range.from))
            .bind(id_bytes(&range.until))
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .bind(reference),
        )
        .await?;
    rows.into_iter().map(CandidateRow::candidate).collect()
}
