//! The marks of an import. The target records its start and its completion, the source that it was
//! moved.

use super::error::ImportError;
use database::{Change, Result, Tx, query};
use store::import_support::{
    AUDIT_COUNT, IMPORTING, RECEIPT_COUNTS, raise_revision, read_mark, server_buckets, write_mark,
};

/// In the target: the installation that was imported.
const IMPORTED: &str = "imported";

/// Marks of sweeps, one for each bucket. The source has one bucket.
const OF_BUCKETS: [&str; 2] = ["expired-", "texts-removed-"];

/// Returns the number that identifies an installation: its first account.
pub(super) async fn first_account(tx: &mut Tx) -> Result<Option<i64>> {
    tx.fetch_one(query("select min(account_id) from accounts"))
        .await
}

/// Returns `true` if all of the source was already imported, or the reason why it cannot be.
pub(super) async fn is_done(
    target: &mut Tx,
    source: i64,
) -> Result<std::result::Result<bool, ImportError>> {
    let (importing, imported) = (
        read_mark(target, IMPORTING).await?,
        read_mark(target, IMPORTED).await?,
    );
    let first = first_account(target).await?;
    Ok(match (importing, imported) {
        (_, done) if done == source => Ok(true),
        (begun, 0) if begun == source => Ok(false),
        (0, 0) if first.is_none() => Ok(false),
        (0, 0) => Err(ImportError::OtherData),
        _ => Err(ImportError::OtherImport),
    })
}

/// Returns the counts that go on in the target.
pub(super) async fn counts(source: &mut Tx) -> Result<Vec<(&'static str, i64)>> {
    let mut counts = Vec::new();
    for name in [AUDIT_COUNT].into_iter().chain(RECEIPT_COUNTS) {
        counts.push((name, read_mark(source, name).await?));
    }
    Ok(counts)
}

/// The change that marks the target as under import. Until the import is complete, no node works
/// with the database.
pub(super) struct Begin {
    pub(super) source: i64,
    /// The counts of audit entries and receipts in the source.
    pub(super) counts: Vec<(&'static str, i64)>,
}

impl Change for Begin {
    type Output = std::result::Result<bool, ImportError>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        let done = is_done(tx, self.source).await?;
        if matches!(done, Ok(false)) {
            write_mark(tx, IMPORTING, self.source).await?;
            for (name, count) in &self.counts {
                write_mark(tx, name, *count).await?;
            }
        }
        Ok(done)
    }
}

/// The change that marks the import as complete.
pub(super) struct Finish {
    pub(super) source: i64,
    /// The marks of the source.
    pub(super) marks: Vec<(String, i64)>,
}

impl Change for Finish {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        // The progress of sweeps before the import does not cover the imported messages.
        for prefix in OF_BUCKETS {
            tx.execute(query("delete from marks where name like $1").bind(format!("{prefix}%")))
                .await?;
        }
        for (name, value) in &self.marks {
            let is_of_bucket = OF_BUCKETS.iter().any(|prefix| name.starts_with(prefix));
            let Some(prefix) = name.strip_suffix("-0").filter(|_| is_of_bucket) else {
                continue;
            };
            for bucket in server_buckets() {
                write_mark(tx, &format!("{prefix}-{}", bucket.0), *value).await?;
            }
        }
        tx.execute(query("delete from marks where name = $1").bind(IMPORTING))
            .await?;
        write_mark(tx, IMPORTED, self.source).await?;
        raise_revision(tx).await
    }
}

/// Returns all marks of the source.
pub(super) async fn all(tx: &mut Tx) -> Result<Vec<(String, i64)>> {
    tx.fetch_all(query("select name, value from marks")).await
}
