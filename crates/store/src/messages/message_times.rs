//! The times at which an account sent, by which lists find its messages.
//!
//! A row stands for a span of time with messages and not for one message, so it costs little where
//! traffic is dense (decision 0043). An account has a row for each span of [`SPAN_MS`] with a
//! message. It has a row for each sender and span of [`SENDER_SPAN_MS`] too.

use crate::rows::{id_bytes, message_id};
use crate::wallets::Owner;
use database::{Result, Tx, bulk, query, value};
use domain::{AccountId, Bucket, Environment, MessageId, sender};
use std::collections::BTreeSet;

/// Length of a span of all messages of an account. A list reads the messages of all accounts in
/// it.
pub(super) const SPAN_MS: i64 = 8;
/// Length of a span of the messages of one sender.
pub(super) const SENDER_SPAN_MS: i64 = 60_000;
/// The key of the spans of all messages. A sender has a character.
const ALL_SENDERS: &str = "";

/// A row: a span of time with messages.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Span {
    owner: Owner,
    sandbox: bool,
    sender_key: String,
    from_ms: i64,
}

/// The account and the environment of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListOwner {
    pub(super) bucket: Bucket,
    pub(super) account: AccountId,
    pub(super) environment: Environment,
}

/// Moments from the first, up to but not including the last, Unix milliseconds.
pub(super) type TimeRange = (i64, i64);

impl Span {
    /// Returns the spans of a message.
    pub(super) fn of_message(
        owner: Owner,
        sandbox: bool,
        message: MessageId,
        sender: &str,
    ) -> [Self; 2] {
        let at_ms = message.accepted_at_ms();
        let span = |sender_key, length_ms| Self {
            owner,
            sandbox,
            sender_key,
            from_ms: at_ms - at_ms.rem_euclid(length_ms),
        };
        [
            span(ALL_SENDERS.to_owned(), SPAN_MS),
            span(sender::key(sender), SENDER_SPAN_MS),
        ]
    }
}

/// Stores spans. A span that has a row keeps it.
pub(super) async fn insert(tx: &mut Tx, spans: &BTreeSet<Span>) -> Result<()> {
    let insert = bulk(
        "insert into message_times (bucket, account_id, sandbox, sender_key, from_ms)
         values ($1, $2, $3, $4, $5) on conflict do nothing",
        "insert into message_times (bucket, account_id, sandbox, sender_key, from_ms)
         select * from unnest($1::bigint[], $2::bigint[], $3::boolean[], $4::text[],
             $5::bigint[]) on conflict do nothing",
    );
    tx.execute_each(insert.rows(spans, values)).await?;
    Ok(())
}

fn values(span: &Span) -> [database::Value<'_>; 5] {
    [
        value(span.owner.0.0),
        value(span.owner.1.0),
        value(span.sandbox),
        value(&span.sender_key),
        value(span.from_ms),
    ]
}

/// Returns the beginnings of at most `limit` spans of a range, newest first. A span may begin
/// before the range.
pub(super) async fn read(
    tx: &mut Tx,
    of: ListOwner,
    sender_key: Option<&str>,
    (from_ms, until_ms): TimeRange,
    limit: usize,
) -> Result<Vec<i64>> {
    let length_ms = sender_key.map_or(SPAN_MS, |_| SENDER_SPAN_MS);
    tx.fetch_all(
        query(
            "select from_ms from message_times
             where bucket = $1 and account_id = $2 and sandbox = $3 and sender_key = $4
                 and from_ms > $5 and from_ms < $6
             order by from_ms desc limit $7",
        )
        .bind(of.bucket.0)
        .bind(of.account.0)
        .bind(of.environment == Environment::Sandbox)
        .bind(sender_key.unwrap_or(ALL_SENDERS))
        .bind(from_ms - length_ms)
        .bind(until_ms)
        .bind(i64::try_from(limit).unwrap_or(i64::MAX)),
    )
    .await
}

/// Returns the spans of all senders in some ranges, the newest `limit` of each range, newest first.
pub(super) async fn read_each(
    tx: &mut Tx,
    of: ListOwner,
    ranges: &[TimeRange],
    limit: usize,
) -> Result<Vec<i64>> {
    let find = bulk(
        "select from_ms from message_times
         where bucket = $3 and account_id = $4 and sandbox = $5 and sender_key = $6
             and from_ms > $1 and from_ms < $2
         order by from_ms desc limit $7",
        "with v (after_ms, until_ms) as (select * from unnest($1::bigint[], $2::bigint[]))
         select found.from_ms from v cross join lateral (
             select from_ms from message_times
             where bucket = $3 and account_id = $4 and sandbox = $5 and sender_key = $6
                 and from_ms > v.after_ms and from_ms < v.until_ms
             order by from_ms desc limit $7) found",
    );
    let find = find
        .rows(ranges, |(from_ms, until_ms)| {
            [value(from_ms - SPAN_MS), value(*until_ms)]
        })
        .bind(of.bucket.0)
        .bind(of.account.0)
        .bind(of.environment == Environment::Sandbox)
        .bind(ALL_SENDERS)
        .bind(i64::try_from(limit).unwrap_or(i64::MAX));
    let mut found: Vec<i64> = tx.fetch_each(find).await?;
    found.sort_unstable_by_key(|from_ms| std::cmp::Reverse(*from_ms));
    Ok(found)
}

/// Returns the ranges that spans cover within a range, newest first. Adjacent ones are one.
pub(super) fn ranges_of(
    spans: &[i64],
    length_ms: i64,
    (from_ms, until_ms): TimeRange,
) -> Vec<TimeRange> {
    let mut ranges: Vec<TimeRange> = Vec::with_capacity(spans.len());
    for &span in spans {
        let (begin, end) = (span.max(from_ms), (span + length_ms).min(until_ms));
        match ranges.last_mut() {
            Some(newer) if newer.0 <= end => newer.0 = begin,
            _ if begin < end => ranges.push((begin, end)),
            _ => {}
        }
    }
    ranges
}

/// Returns the spans of messages that are about to be removed.
pub(crate) async fn spans_of(
    tx: &mut Tx,
    bucket: Bucket,
    messages: &[MessageId],
) -> Result<Vec<[Span; 2]>> {
    let find = bulk(
        "select message_id, account_id, sandbox, sender from messages
         where message_id = $1 and bucket = $2",
        "select message_id, account_id, sandbox, sender from messages
         where message_id in (select * from unnest($1::bytea[])) and bucket = $2",
    );
    let find = find.rows(messages, |message| [value(id_bytes(message))]);
    let rows: Vec<(Vec<u8>, i64, bool, String)> = tx.fetch_each(find.bind(bucket.0)).await?;
    rows.into_iter()
        .map(|(id, account, sandbox, sender)| {
            let owner = (bucket, AccountId(account));
            Ok(Span::of_message(owner, sandbox, message_id(&id)?, &sender))
        })
        .collect()
}

/// Removes those of some spans that have no message any more.
pub(crate) async fn remove_empty(tx: &mut Tx, spans: Vec<[Span; 2]>) -> Result<()> {
    let (all, of_senders): (BTreeSet<Span>, BTreeSet<Span>) = spans
        .into_iter()
        .map(|[all, of_sender]| (all, of_sender))
        .unzip();
    let remove = bulk(
        "delete from message_times where bucket = $1 and account_id = $2 and sandbox = $3
             and sender_key = $4 and from_ms = $5 and not exists (
             select 1 from messages m where m.bucket = $1 and m.message_id >= $6
                 and m.message_id < $7 and m.account_id = $2 and m.sandbox = $3)",
        "with v (bucket, account_id, sandbox, sender_key, from_ms, from_id, until_id) as (select *
             from unnest($1::bigint[], $2::bigint[], $3::boolean[], $4::text[], $5::bigint[],
                 $6::bytea[], $7::bytea[]))
         delete from message_times t using v where t.bucket = v.bucket
             and t.account_id = v.account_id and t.sandbox = v.sandbox
             and t.sender_key = v.sender_key and t.from_ms = v.from_ms and not exists (
             select 1 from messages m where m.bucket = v.bucket and m.message_id >= v.from_id
                 and m.message_id < v.until_id and m.account_id = v.account_id
                 and m.sandbox = v.sandbox)",
    );
    let remove = remove.rows(&all, |span| {
        let [bucket, account, sandbox, sender_key, from_ms] = values(span);
        let bound = |at_ms| value(id_bytes(&MessageId::lowest_at(at_ms)).to_vec());
        let (from, until) = (bound(span.from_ms), bound(span.from_ms + SPAN_MS));
        [bucket, account, sandbox, sender_key, from_ms, from, until]
    });
    tx.execute_each(remove).await?;
    let remove = bulk(
        "delete from message_times where bucket = $1 and account_id = $2 and sandbox = $3
             and sender_key = $4 and from_ms = $5 and not exists (
             select 1 from message_times t where t.bucket = $1 and t.account_id = $2
                 and t.sandbox = $3 and t.sender_key = '' and t.from_ms >= $5
                 and t.from_ms < $5 + $6)",
        "with v (bucket, account_id, sandbox, sender_key, from_ms) as (select *
             from unnest($1::bigint[], $2::bigint[], $3::boolean[], $4::text[], $5::bigint[]))
         delete from message_times s using v where s.bucket = v.bucket
             and s.account_id = v.account_id and s.sandbox = v.sandbox
             and s.sender_key = v.sender_key and s.from_ms = v.from_ms and not exists (
             select 1 from message_times t where t.bucket = v.bucket
                 and t.account_id = v.account_id and t.sandbox = v.sandbox
                 and t.sender_key = '' and t.from_ms >= v.from_ms
                 and t.from_ms < v.from_ms + $6)",
    );
    let remove = remove.rows(&of_senders, values);
    tx.execute_each(remove.bind(SENDER_SPAN_MS)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_spans_are_read_as_one_range() {
        let ranges = |spans: &[i64]| ranges_of(spans, SPAN_MS, (100, 1_000));
        assert_eq!(ranges(&[]), []);
        assert_eq!(ranges(&[208, 200, 192]), [(192, 216)]);
        assert_eq!(ranges(&[400, 208, 200]), [(400, 408), (200, 216)]);
    }

    #[test]
    fn a_range_ends_where_the_list_ends() {
        let ranges = |spans: &[i64]| ranges_of(spans, SPAN_MS, (101, 203));
        assert_eq!(ranges(&[200, 96]), [(200, 203), (101, 104)]);
        assert_eq!(ranges(&[208, 88]), []);
    }
}
