//! Claims of due callbacks, and the release of lost ones.

use super::event::{CLAIMED, Callback, DUE, are_claimed, insert_as, take};
use super::origins::OriginKey;
use super::row::CallbackRow;
use database::{Change, Result, Tx, locking, query};
use domain::{Bucket, Environment, EventId, NodeId};

pub(super) struct ClaimCallbacks {
    pub(super) of: OriginKey,
    pub(super) now_ms: i64,
    pub(super) limit: i64,
    pub(super) node: NodeId,
    pub(super) until_ms: i64,
}

impl ClaimCallbacks {
    /// Removes the callback of an inbound message that retention has removed.
    async fn remove(&self, tx: &mut Tx, (due_at_ms, event): (i64, EventId)) -> Result<()> {
        let (bucket, account, world, origin) = &self.of;
        let remove = query(
            "delete from outbox where bucket = $1 and state = $2 and account_id = $3
                 and sandbox = $4 and destination = $5 and due_at_ms = $6 and event_id = $7",
        );
        let remove = remove.bind(bucket.0).bind(DUE).bind(account.0);
        let remove = remove.bind(*world == Environment::Sandbox).bind(origin);
        tx.execute(remove.bind(due_at_ms).bind(event.as_bytes()))
            .await?;
        Ok(())
    }

    /// Returns the first due events, and locks them.
    pub(super) async fn find(&self, tx: &mut Tx) -> Result<Vec<Callback>> {
        let (bucket, account, world, origin) = &self.of;
        let sql = locking!(
            "select o.bucket, o.account_id, o.sandbox, o.destination, o.due_at_ms, o.kind,
                 o.subject, o.recipient, o.payload, o.attempts, m.callback_url,
                 coalesce(r.customer_reference, m.customer_reference) as customer_reference,
                 case when o.kind = 'receipt' then m.sender end as sender,
                 case when o.kind = 'receipt' then substr(m.body, 1, 20) end as quoted
             from outbox o
             left join messages m on m.bucket = o.bucket and m.message_id = o.subject
             left join recipient_references r on r.bucket = o.bucket and r.message_id = o.subject
                 and r.recipient = o.recipient
             where o.bucket = $1 and o.state = $2 and o.account_id = $3 and o.sandbox = $4
                 and o.destination = $5 and o.due_at_ms <= $6
                 and (o.kind in ('inbound', 'low_balance') or m.message_id is not null)
             order by o.due_at_ms, o.event_id limit $7";
            "for update of o skip locked"
        );
        let rows: Vec<CallbackRow> = tx
            .fetch_all(
                query(sql)
                    .bind(bucket.0)
                    .bind(DUE)
                    .bind(account.0)
                    .bind(*world == Environment::Sandbox)
                    .bind(origin)
                    .bind(self.now_ms)
                    .bind(self.limit),
            )
            .await?;
        let mut callbacks = Vec::with_capacity(rows.len());
        for row in rows {
            let key = row.key()?;
            match row.callback(tx).await? {
                Some(callback) => callbacks.push(callback),
                None => self.remove(tx, key).await?,
            }
        }
        Ok(callbacks)
    }

    /// Claims events that were found due.
    pub(super) async fn hold(&self, tx: &mut Tx, found: &[Callback]) -> Result<()> {
        let all: Vec<&Callback> = found.iter().collect();
        take(tx, &all, DUE, None).await?;
        insert_as(tx, &all, CLAIMED, Some((self.node, self.until_ms))).await
    }
}

impl Change for ClaimCallbacks {
    type Output = Vec<Callback>;

    async fn apply(&self, tx: &mut Tx) -> Result<Vec<Callback>> {
        let found = self.find(tx).await?;
        self.hold(tx, &found).await?;
        Ok(found)
    }

    async fn is_committed(&self, tx: &mut Tx, callbacks: &Vec<Callback>) -> Result<bool> {
        are_claimed(tx, callbacks, self.node).await
    }
}

pub(super) struct FreeCallbacks {
    pub(super) bucket: Bucket,
    pub(super) now_ms: i64,
}

impl Change for FreeCallbacks {
    type Output = u64;

    async fn apply(&self, tx: &mut Tx) -> Result<u64> {
        tx.execute(
            query(
                "update outbox set state = $1, claimed_by = 0, claimed_until_ms = 0
             where bucket = $2 and state = $3
                 and (claimed_by not in (select n.node from nodes n) or claimed_until_ms < $4)",
            )
            .bind(DUE)
            .bind(self.bucket.0)
            .bind(CLAIMED)
            .bind(self.now_ms),
        )
        .await
    }
}
