//! The outbox: events for customers that wait, are in flight, or are dead.
//!
//! A row has an event id, an account, a kind, a subject, a payload, a destination, a due time,
//! attempts and a state. The final status of a recipient is the first kind. Its subject is the
//! message, its payload the status, and its destination the origin of the callback URL. The message
//! has the URL and the reference of the customer. An inbound message is the second kind. Its subject
//! is the inbound message, its recipient the number, and its payload the URL.

mod attempts;
mod claim;
mod dead;
mod event;
mod finish;
mod origins;
mod secrets;

pub use attempts::{Attempts, CallbackAttempt};
pub use dead::{DeadCallbacks, DeadOrigin, DeadOriginKey};
pub use event::{
    AttemptOutcome, Attempted, CALLBACK_STATES, Callback, CallbackEvent, EventKind, Finished,
};
pub(crate) use event::{are_claimed, insert};
pub use origins::{DueOrigins, OriginKey};
pub use secrets::{CallbackSecret, CallbackSecrets};

use claim::{ClaimCallbacks, FreeCallbacks};
use database::{Db, Result, query};
use domain::{Bucket, NodeId};
use finish::FinishCallbacks;

/// The events that wait for their customers.
#[derive(Clone, Copy)]
pub struct Outbox<'s> {
    pub(crate) db: &'s Db,
}

impl Outbox<'_> {
    /// Claims due callbacks of one origin.
    pub async fn claim(
        self,
        of: OriginKey,
        now_ms: i64,
        limit: usize,
        node: NodeId,
        until_ms: i64,
    ) -> Result<Vec<Callback>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.db
            .change(ClaimCallbacks {
                of,
                now_ms,
                limit,
                node,
                until_ms,
            })
            .await
    }

    /// Releases callbacks of a bucket whose claim has ended. Returns their number.
    pub async fn free(self, bucket: Bucket, now_ms: i64) -> Result<u64> {
        self.db.change(FreeCallbacks { bucket, now_ms }).await
    }

    /// Returns the number of callbacks of a bucket by state.
    pub async fn counts(self, bucket: Bucket) -> Result<Vec<(String, i64)>> {
        let rows: Vec<(String, i64)> = self
            .db
            .fetch_all(
                query("select state, count(*) from outbox where bucket = $1 group by state")
                    .bind(bucket.0),
            )
            .await?;
        Ok(rows)
    }

    /// Records the results of callbacks that this node had claimed.
    pub async fn finish(self, node: NodeId, outcomes: Vec<AttemptOutcome>) -> Result<()> {
        self.db.change(FinishCallbacks { node, outcomes }).await
    }

    /// Returns the origins with due callbacks, starting after `behind` or at the first. It reads at
    /// most `steps` origins with waiting callbacks, due or not, because there may be as many
    /// origins as callbacks.
    pub async fn due_origins(
        self,
        now_ms: i64,
        behind: Option<&OriginKey>,
        steps: usize,
    ) -> Result<DueOrigins> {
        origins::due(self.db, now_ms, behind, steps).await
    }
}
