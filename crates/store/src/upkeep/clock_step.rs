//! Clock steps: after the clock was set, duplicate windows and the marks of sweeps follow it.

use crate::buckets::Buckets;
use crate::messages::duplicates::{self, OpenWindows};
use crate::upkeep::retention::texts::texts_mark;
use crate::upkeep::{marks, sweep};
use database::{Change, Db, Result, Tx};
use domain::Bucket;
use std::sync::Arc;

struct FollowClock {
    windows: Arc<OpenWindows>,
    bucket: Bucket,
    now_ms: i64,
    set_by_ms: i64,
}

impl Change for FollowClock {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let windows = &self.windows;
        duplicates::follow(tx, windows, self.bucket, self.now_ms, self.set_by_ms).await?;
        // A message accepted from now on must not lie before a mark when it expires.
        let mut names = sweep::expired_marks(self.bucket);
        names.push(texts_mark(self.bucket));
        marks::lower_marks(tx, &names, self.now_ms).await
    }
}

/// Adjusts the database after the clock was set by some milliseconds (negative for back) and
/// shows `now_ms`. Open duplicate windows move with the clock.
pub(crate) async fn follow_clock(
    db: &Db,
    windows: &Arc<OpenWindows>,
    now_ms: i64,
    set_by_ms: i64,
) -> Result<()> {
    for bucket in Buckets::of(db).all() {
        let change = FollowClock {
            windows: Arc::clone(windows),
            bucket,
            now_ms,
            set_by_ms,
        };
        let followed = db.change(change).await;
        if followed.is_err() {
            // Windows read meanwhile may be cached with the shifted times, now rolled back.
            windows.forget();
        }
        followed?;
    }
    Ok(())
}
