//! A run to build, and the states of runs.

use database::{Result, Tx, bulk, value};
use domain::Bucket;

/// The state of a run that is being written.
pub(super) const BUILDING: i64 = 0;
/// The state of a complete run.
pub(super) const COMPLETE: i64 = 1;
/// The state of a run under removal.
pub(super) const REMOVING: i64 = 2;

/// A run to build.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// The id, which no run had before.
    pub id: i64,
    /// The beginning of its time, Unix milliseconds.
    pub from_ms: i64,
    /// The end of its time. A run of [`NewRun::max_recipients`] ends before.
    pub until_ms: i64,
    /// The number of recipients at which the run ends. The last millisecond is always whole.
    pub max_recipients: usize,
    /// The ids of the complete runs that it replaces.
    pub replaces: Vec<i64>,
}

/// Marks runs for removal.
pub(super) async fn mark(tx: &mut Tx, bucket: Bucket, ids: &[i64]) -> Result<()> {
    let marked = bulk(
        "update recipient_runs set state = $3 where run_id = $1 and bucket = $2",
        "update recipient_runs set state = $3
         where run_id in (select * from unnest($1::bigint[])) and bucket = $2",
    );
    let marked = marked.rows(ids, |id| [value(*id)]);
    tx.execute_each(marked.bind(bucket.0).bind(REMOVING))
        .await?;
    Ok(())
}
