//! The marks by which an import is known: in the target that it has begun and that it is complete, in the source
//! that it is served from elsewhere now.

use super::ImportError;
use crate::accounts::revision::touch;
use crate::operators::audit;
use crate::rows::buckets;
use crate::upkeep::sweep::{read_mark, write_mark};
use database::{Change, Result, Tx, query};

/// In the target: the installation that is being imported, by its first account.
pub(super) const IMPORTING: &str = "importing";
/// In the target: the installation that was imported.
const IMPORTED: &str = "imported";
/// In the source: when it was moved.
pub(super) const MOVED: &str = "moved";

/// Marks of sweeps, which have one for each bucket. The source has one bucket.
const OF_BUCKETS: [&str; 2] = ["expired-", "texts-removed-"];

/// The number by which an installation is known: that of its first account.
pub(super) async fn first_account(tx: &mut Tx) -> Result<Option<i64>> {
    tx.fetch_one(query("select min(account_id) from accounts"))
        .await
}

/// Whether all of the source was imported already, or why it cannot be.
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

/// Says in the target that an import has begun: until it is complete, nobody works with the database.
pub(super) struct Begin {
    pub(super) source: i64,
    /// Entries of the audit of the source.
    pub(super) audited: i64,
}

impl Change for Begin {
    type Output = std::result::Result<bool, ImportError>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        let done = is_done(tx, self.source).await?;
        if matches!(done, Ok(false)) {
            write_mark(tx, IMPORTING, self.source).await?;
            write_mark(tx, audit::COUNT, self.audited).await?;
        }
        Ok(done)
    }
}

/// Says in the target that the import is complete.
pub(super) struct Finish {
    pub(super) source: i64,
    /// The marks of the source.
    pub(super) marks: Vec<(String, i64)>,
}

impl Change for Finish {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        // How far sweeps came without the messages that are there now says nothing.
        for prefix in OF_BUCKETS {
            tx.execute(query("delete from marks where name like $1").bind(format!("{prefix}%")))
                .await?;
        }
        for (name, value) in &self.marks {
            let is_of_bucket = OF_BUCKETS.iter().any(|prefix| name.starts_with(prefix));
            let Some(stem) = name.strip_suffix("-0").filter(|_| is_of_bucket) else {
                continue;
            };
            for bucket in buckets(false) {
                write_mark(tx, &format!("{stem}-{}", bucket.0), *value).await?;
            }
        }
        tx.execute(query("delete from marks where name = $1").bind(IMPORTING))
            .await?;
        write_mark(tx, IMPORTED, self.source).await?;
        touch(tx).await
    }
}

/// All marks of the source.
pub(super) async fn all(tx: &mut Tx) -> Result<Vec<(String, i64)>> {
    tx.fetch_all(query("select name, value from marks")).await
}
