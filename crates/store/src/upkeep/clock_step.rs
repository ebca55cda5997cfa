//! Clock steps: after the clock was set, duplicate windows and the marks of sweeps follow it.

use crate::{Store, messages::duplicates, upkeep::retention, upkeep::sweep};
use database::{Change, Result, Tx};
use domain::Bucket;

struct FollowClock {
    store: Store,
    bucket: Bucket,
    now_ms: i64,
    set_by_ms: i64,
}

impl Change for FollowClock {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let windows = &self.store.windows;
        duplicates::follow(tx, windows, self.bucket, self.now_ms, self.set_by_ms).await?;
        // A message accepted from now on must not lie before a mark when it expires.
        let mut marks = sweep::expired_marks(self.bucket);
        marks.push(retention::texts_mark(self.bucket));
        sweep::lower_marks(tx, &marks, self.now_ms).await
    }
}

impl Store {
    /// Adjusts the database after the clock was set by some milliseconds (negative for back) and
    /// shows `now_ms`. Open duplicate windows move with the clock.
    pub async fn follow_clock(&self, now_ms: i64, set_by_ms: i64) -> Result<()> {
        for bucket in self.buckets() {
            let change = FollowClock {
                store: self.clone(),
                bucket,
                now_ms,
                set_by_ms,
            };
            let followed = self.db.change(change).await;
            if followed.is_err() {
                // Windows read meanwhile may be cached with the shifted times, now rolled back.
                self.windows.forget();
            }
            followed?;
        }
        Ok(())
    }
}
