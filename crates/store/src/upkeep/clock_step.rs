//! What follows a clock that is set: duplicate windows, and the marks of how far sweeps have come.

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
        // What is accepted from now on must not lie before a mark when its time has come.
        let mut marks = sweep::expired_marks(self.bucket);
        marks.push(retention::texts_mark(self.bucket));
        sweep::lower_marks(tx, &marks, self.now_ms).await
    }
}

impl Store {
    /// The clock was set by so many milliseconds, negative where it was set back, and tells `now_ms` since: the
    /// duplicate windows that are open go with it.
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
                // What was read of the windows meanwhile may be where they would have moved to.
                self.windows.forget();
            }
            followed?;
        }
        Ok(())
    }
}
