//! The outbox: events for customers that wait, are in flight, or are dead.
//!
//! A row has an event id, an account, a kind, a subject, a payload, a destination, a due time,
//! attempts and a state. The final status of a recipient is the first kind. Its subject is the
//! message, its payload the status, and its destination the origin of the callback URL. The message
//! has the URL and the reference of the customer. An inbound message is the second kind. Its subject
//! is the inbound message, its recipient the number, and its payload the URL. The receipt of a message
//! by SMPP is the third kind. Its payload is the end of its recipient, and its destination an SMPP user.

mod attempts;
mod claim;
mod dead;
mod event;
mod finish;
mod origins;
mod row;
mod secret_changes;
mod secret_requests;
mod secrets;
mod smpp_users;

pub use attempts::{Attempts, CallbackAttempt};
pub use dead::{DeadCallbacks, DeadOrigin, DeadOriginKey};
pub use event::{
    AttemptOutcome, Attempted, CALLBACK_STATES, Callback, CallbackEvent, EventKind, Finished,
    MessageReceipt,
};
pub(crate) use event::{are_claimed, insert};
pub use origins::{DueOrigins, OriginKey};
pub use secret_changes::CallbackSecret;
pub use secrets::CallbackSecrets;

use crate::buckets::Buckets;
use claim::{ClaimCallbacks, FreeCallbacks};
use database::{Db, Result, query};
use domain::smpp_receipt::{destination, user_of};
use domain::smpp_user::SmppUser;
use domain::{Bucket, NodeId};
use finish::FinishCallbacks;
use smpp_users::EndWaiting;

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

    /// Claims due events of an SMPP user, in order for each message: an event waits while an earlier
    /// one of its message is claimed. An event that was not answered before is claimed alone.
    pub async fn claim_in_order(
        self,
        of: OriginKey,
        now_ms: i64,
        limit: usize,
        node: NodeId,
        until_ms: i64,
    ) -> Result<Vec<Callback>> {
        if !smpp_users::is_due(self.db, &of, now_ms).await? {
            return Ok(Vec::new());
        }
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let claim = ClaimCallbacks {
            of,
            now_ms,
            limit,
            node,
            until_ms,
        };
        self.db.change(smpp_users::ClaimInOrder(claim)).await
    }

    /// Returns the number of events that wait for an SMPP user, claimed or not.
    pub async fn waiting(self, of: &OriginKey) -> Result<i64> {
        smpp_users::waiting(self.db, of).await
    }

    /// Returns the number of events of a bucket that wait for SMPP users, by destination.
    pub async fn waiting_by_user(self, bucket: Bucket) -> Result<Vec<(String, i64)>> {
        smpp_users::waiting_by_user(self.db, bucket).await
    }

    /// Returns the system ids of the SMPP users that events of a bucket wait for.
    pub async fn users_waiting(self, bucket: Bucket) -> Result<Vec<String>> {
        let waiting = smpp_users::waiting_by_user(self.db, bucket)
            .await?
            .into_iter();
        let users = waiting.filter_map(|(destination, _)| user_of(&destination).map(str::to_owned));
        Ok(users.collect())
    }

    /// Returns the key of the events that wait for an SMPP user.
    pub fn of_user(self, user: &SmppUser) -> OriginKey {
        let bucket = Buckets::of(self.db).account(user.account);
        let destination = destination(&user.system_id);
        (bucket, user.account, user.environment(), destination)
    }

    /// Makes some events dead that an SMPP user has not taken since `before_ms`. Returns their
    /// number, at most `limit`. An event that is claimed stays.
    pub async fn end_waiting(self, of: OriginKey, before_ms: i64, limit: u32) -> Result<u64> {
        // Most users have none, and a read does not wait for the one writer.
        if !smpp_users::is_due(self.db, &of, before_ms.saturating_sub(1)).await? {
            return Ok(0);
        }
        self.db
            .change(EndWaiting {
                of,
                before_ms,
                limit,
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
