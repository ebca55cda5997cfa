//! The events that wait for SMPP users. A user takes them over its own connections, in order for
//! each message.

use super::claim::ClaimCallbacks;
use super::event::{CLAIMED, Callback, DEAD, DUE, are_claimed};
use super::origins::OriginKey;
use database::{Change, Db, Result, Tx, locking, query};
use domain::smpp_receipt::user_of;
use domain::{Bucket, Environment, EventId};
use std::collections::HashSet;

/// Returns `true` if an event of a user is due. Most questions need no more than this read.
pub(super) async fn is_due(db: &Db, of: &OriginKey, now_ms: i64) -> Result<bool> {
    let (bucket, account, world, destination) = of;
    let found: Option<i64> = db
        .fetch_optional(
            query(
                "select due_at_ms from outbox
             where bucket = $1 and state = $2 and account_id = $3 and sandbox = $4
                 and destination = $5 and due_at_ms <= $6
             order by due_at_ms limit 1",
            )
            .bind(bucket.0)
            .bind(DUE)
            .bind(account.0)
            .bind(*world == Environment::Sandbox)
            .bind(destination)
            .bind(now_ms),
        )
        .await?;
    Ok(found.is_some())
}

/// Returns the number of events that wait for a user.
pub(super) async fn waiting(db: &Db, of: &OriginKey) -> Result<i64> {
    let (bucket, account, world, destination) = of;
    let mut all = 0;
    for state in [DUE, CLAIMED] {
        let count: i64 = db
            .fetch_one(
                query(
                    "select count(*) from outbox
                 where bucket = $1 and state = $2 and account_id = $3 and sandbox = $4
                     and destination = $5",
                )
                .bind(bucket.0)
                .bind(state)
                .bind(account.0)
                .bind(*world == Environment::Sandbox)
                .bind(destination),
            )
            .await?;
        all += count;
    }
    Ok(all)
}

/// Returns the number of events of a bucket that wait for users, by destination. The text is compared
/// by its begin, since a range of texts depends on the collation of the database.
pub(super) async fn waiting_by_user(db: &Db, bucket: Bucket) -> Result<Vec<(String, i64)>> {
    db.fetch_all(
        query(
            "select destination, count(*) from outbox
             where bucket = $1 and state in ('due', 'claimed') and substr(destination, 1, 5) = 'smpp:'
             group by destination",
        )
        .bind(bucket.0),
    )
    .await
}

/// A claim that keeps the order of the events of each message, on all nodes.
pub(super) struct ClaimInOrder(pub(super) ClaimCallbacks);

/// Locks a user, so that its claims on other nodes wait.
async fn lock(tx: &mut Tx, (.., destination): &OriginKey) -> Result<()> {
    let lock = locking!(
        "select system_id from smpp_users where system_id = $1";
        "for update"
    );
    let system_id = user_of(destination).unwrap_or_default();
    let _: Option<String> = tx.fetch_optional(query(lock).bind(system_id)).await?;
    Ok(())
}

impl ClaimInOrder {
    /// Returns the claimed events of the user. The windows of its connections bound their number.
    async fn claimed(&self, tx: &mut Tx) -> Result<HashSet<Vec<u8>>> {
        let (bucket, account, world, destination) = &self.0.of;
        let rows: Vec<(Vec<u8>,)> = tx
            .fetch_all(
                query(
                    "select event_id from outbox
                 where bucket = $1 and state = $2 and account_id = $3 and sandbox = $4
                     and destination = $5",
                )
                .bind(bucket.0)
                .bind(CLAIMED)
                .bind(account.0)
                .bind(*world == Environment::Sandbox)
                .bind(destination),
            )
            .await?;
        Ok(rows.into_iter().map(|(event,)| event).collect())
    }
}

impl Change for ClaimInOrder {
    type Output = Vec<Callback>;

    async fn apply(&self, tx: &mut Tx) -> Result<Vec<Callback>> {
        lock(tx, &self.0.of).await?;
        let mut taken = self.claimed(tx).await?;
        let mut found = self.0.find(tx).await?;
        found.retain(|event| taken.insert(id_of(event)));
        let alone = found.iter().position(|event| event.attempts > 0);
        found.truncate(alone.map_or(found.len(), |first| first.max(1)));
        self.0.hold(tx, &found).await?;
        Ok(found)
    }

    async fn is_committed(&self, tx: &mut Tx, events: &Vec<Callback>) -> Result<bool> {
        are_claimed(tx, events, self.0.node).await
    }
}

fn id_of(event: &Callback) -> Vec<u8> {
    EventId::of_delivery(event.message, event.recipient)
        .as_bytes()
        .to_vec()
}

/// The change that makes events dead which a user has not taken in time.
pub(super) struct EndWaiting {
    pub(super) of: OriginKey,
    pub(super) before_ms: i64,
    pub(super) limit: u32,
}

impl Change for EndWaiting {
    type Output = u64;

    async fn apply(&self, tx: &mut Tx) -> Result<u64> {
        lock(tx, &self.of).await?;
        let (bucket, account, world, destination) = &self.of;
        tx.execute(
            query(
                "update outbox set state = $1
             where bucket = $2 and state = $3 and account_id = $4 and sandbox = $5
                 and destination = $6
                 and (due_at_ms, event_id) in (
                     select due_at_ms, event_id from outbox
                     where bucket = $2 and state = $3 and account_id = $4 and sandbox = $5
                         and destination = $6 and due_at_ms < $7
                     order by due_at_ms limit $8)",
            )
            .bind(DEAD)
            .bind(bucket.0)
            .bind(DUE)
            .bind(account.0)
            .bind(*world == Environment::Sandbox)
            .bind(destination)
            .bind(self.before_ms)
            .bind(i64::from(self.limit)),
        )
        .await
    }
}
