//! The search of the index for a recipient.

use super::run::COMPLETE;
use crate::messages::message_times::TimeRange;
use database::{Result, Sql, Tx, query};
use domain::search::{RunTimes, postings_of};
use domain::{Bucket, Recipient};

/// The answer of the index.
#[derive(Debug, Default)]
pub(in crate::messages) struct Found {
    /// The time up to which messages are in the index, Unix milliseconds.
    pub(in crate::messages) until_ms: i64,
    /// Times at which messages to the recipient may have been accepted, newest first.
    pub(in crate::messages) times: Vec<TimeRange>,
}

struct FoundRow {
    from_ms: i64,
    until_ms: i64,
    unit_ms: i64,
    postings: Option<Vec<u8>>,
}

database::from_row!(FoundRow {
    from_ms,
    until_ms,
    unit_ms,
    postings
});

/// Returns the times of messages to a recipient in a bucket. One statement reads all runs, so that
/// no run is missed while others are replaced.
pub(in crate::messages) async fn find(
    tx: &mut Tx,
    bucket: Bucket,
    recipient: Recipient,
) -> Result<Found> {
    let (from, until) = postings_of(recipient);
    let rows: Vec<FoundRow> = tx
        .fetch_all(
            query(Sql {
                sqlite: "select r.from_ms, r.until_ms, r.unit_ms, p.postings from recipient_runs r
                 left join recipient_postings p on p.bucket = r.bucket and p.run_id = r.run_id
                     and p.first_posting < $3
                     and p.first_posting >= coalesce((
                         select max(q.first_posting) from recipient_postings q
                         where q.bucket = r.bucket and q.run_id = r.run_id
                             and q.first_posting <= $2), 0)
                 where r.bucket = $1 and r.state = $4",
                postgres: "select r.from_ms, r.until_ms, r.unit_ms, p.postings
                 from recipient_runs r left join lateral (
                     select f.postings from recipient_postings f
                     where f.bucket = r.bucket and f.run_id = r.run_id and f.first_posting < $3
                         and f.first_posting >= coalesce((
                             select max(q.first_posting) from recipient_postings q
                             where q.bucket = r.bucket and q.run_id = r.run_id
                                 and q.first_posting <= $2), 0) offset 0) p on true
                 where r.bucket = $1 and r.state = $4",
            })
            .bind(bucket.0)
            .bind(from)
            .bind(until)
            .bind(COMPLETE),
        )
        .await?;
    let mut found = Found::default();
    for row in rows {
        found.until_ms = found.until_ms.max(row.until_ms);
        let times = RunTimes {
            from_ms: row.from_ms,
            until_ms: row.until_ms,
            unit_ms: row.unit_ms,
        };
        let postings = row.postings.unwrap_or_default();
        found.times.extend(times.units(recipient, &postings));
    }
    found
        .times
        .sort_unstable_by_key(|times| std::cmp::Reverse(*times));
    Ok(found)
}
