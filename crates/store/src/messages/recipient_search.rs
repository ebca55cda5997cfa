//! The search for the messages of a recipient, along the index of recipients.

use super::message_times::TimeRange;
use super::recipient_index::{Found, find};
use super::search_candidate::{Candidate, CandidateRow, IdRange};
use crate::rows::id_bytes;
use database::{Result, Sql, Tx, bulk, query, value};
use domain::{AccountId, Bucket, Environment, MessageId, Recipient, recipient_list};

/// Units of time that are read together.
const READ_TIMES: usize = 128;

/// The messages among which a recipient is searched for.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecipientScope {
    pub(super) bucket: Bucket,
    /// The account, or `None` for the messages of all accounts.
    pub(super) account: Option<AccountId>,
    pub(super) environment: Environment,
    pub(super) recipient: Recipient,
}

/// Returns at most `limit` messages of a range whose lists have the octets of a recipient, newest
/// first. Now and then these octets belong to two adjacent numbers.
pub(super) async fn newest(
    tx: &mut Tx,
    scope: RecipientScope,
    range: IdRange,
    limit: usize,
) -> Result<Vec<Candidate>> {
    let Found { until_ms, times } = find(tx, scope.bucket, scope.recipient).await?;
    let recent = IdRange {
        from: range.from.max(MessageId::lowest_at(until_ms)),
        ..range
    };
    let mut found = compared(tx, scope, recent, limit).await?;
    let from_ms = range.from.accepted_at_ms();
    let end_ms = range.until.accepted_at_ms().saturating_add(1);
    let within = times.into_iter();
    let within = within.filter(|(from, until)| *until > from_ms && *from < end_ms);
    for times in within.collect::<Vec<_>>().chunks(READ_TIMES) {
        if found.len() >= limit {
            break;
        }
        found.extend(at_times(tx, scope, range, times, limit - found.len()).await?);
    }
    Ok(found)
}

/// Compares the messages of a range.
async fn compared(
    tx: &mut Tx,
    scope: RecipientScope,
    range: IdRange,
    limit: usize,
) -> Result<Vec<Candidate>> {
    let rows: Vec<CandidateRow> = tx
        .fetch_all(
            query(Sql {
                sqlite: "select message_id, account_id, sender, gateway,
                     cast(length(recipients) as bigint) as octets from messages
                 where bucket = $1 and message_id >= $2 and message_id < $3
                     and account_id = coalesce($4, account_id) and sandbox = $5
                     and instr(recipients, $6) > 0
                 order by message_id desc limit $7",
                postgres: "select message_id, account_id, sender, gateway,
                     cast(length(recipients) as bigint) as octets from messages
                 where bucket = $1 and message_id >= $2 and message_id < $3
                     and account_id = coalesce($4, account_id) and sandbox = $5
                     and position($6 in recipients) > 0
                 order by message_id desc limit $7",
            })
            .bind(scope.bucket.0)
            .bind(id_bytes(&range.from))
            .bind(id_bytes(&range.until))
            .bind(scope.account.map(|account| account.0))
            .bind(scope.environment == Environment::Sandbox)
            .bind(recipient_list::pack(&[scope.recipient]))
            .bind(i64::try_from(limit).unwrap_or(i64::MAX)),
        )
        .await?;
    rows.into_iter().map(CandidateRow::candidate).collect()
}

/// Compares the messages at some times.
async fn at_times(
    tx: &mut Tx,
    scope: RecipientScope,
    range: IdRange,
    times: &[TimeRange],
    limit: usize,
) -> Result<Vec<Candidate>> {
    let bounds = times.iter().map(|&(from_ms, until_ms)| {
        let from = MessageId::lowest_at(from_ms).max(range.from);
        (from, MessageId::lowest_at(until_ms).min(range.until))
    });
    let bounds: Vec<(MessageId, MessageId)> = bounds.collect();
    let find = bulk(
        Sql {
            sqlite: "select message_id, account_id, sender, gateway,
                 cast(length(recipients) as bigint) as octets from messages
             where bucket = $3 and message_id >= $1 and message_id < $2
                 and account_id = coalesce($4, account_id) and sandbox = $5
                 and instr(recipients, $6) > 0
             order by message_id desc limit $7",
            postgres: "select message_id, account_id, sender, gateway,
                 cast(length(recipients) as bigint) as octets from messages
             where bucket = $3 and message_id >= $1 and message_id < $2
                 and account_id = coalesce($4, account_id) and sandbox = $5
                 and position($6 in recipients) > 0
             order by message_id desc limit $7",
        },
        "with v (from_id, until_id) as (select * from unnest($1::bytea[], $2::bytea[]))
         select found.* from v cross join lateral (
             select message_id, account_id, sender, gateway,
                 cast(length(recipients) as bigint) as octets from messages
             where bucket = $3 and message_id >= v.from_id and message_id < v.until_id
                 and account_id = coalesce($4, account_id) and sandbox = $5
                 and position($6 in recipients) > 0
             order by message_id desc limit $7) found",
    );
    let find = find
        .rows(&bounds, |(from, until)| {
            [value(id_bytes(from)), value(id_bytes(until))]
        })
        .bind(scope.bucket.0)
        .bind(scope.account.map(|account| account.0))
        .bind(scope.environment == Environment::Sandbox)
        .bind(recipient_list::pack(&[scope.recipient]))
        .bind(i64::try_from(limit).unwrap_or(i64::MAX));
    let rows: Vec<CandidateRow> = tx.fetch_each(find).await?;
    let found = rows.into_iter().map(CandidateRow::candidate);
    let mut found: Vec<Candidate> = found.collect::<Result<_>>()?;
    found.sort_unstable_by_key(|found| std::cmp::Reverse(found.id));
    found.truncate(limit);
    Ok(found)
}
