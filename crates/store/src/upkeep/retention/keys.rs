//! Retention by primary key, for rows without an index by message or time. Dead callbacks are
//! removed by the age of their message, pages by the hour of their submission, and receipts by the
//! time of their commit.

use super::removal::Removed;
use crate::deliveries::carrier_ids::stored::last_before;
use crate::rows::id_bytes;
use database::{Change, Db, Result, Tx, query};
use domain::{Bucket, MessageId};

/// Keys read in one step, and most rows removed in it.
const KEYS: i64 = 2_000;

/// The progress of a sweep over pages.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CarrierIdKey {
    carrier: String,
    prefix: String,
    submitted_hour_ms: i64,
}

database::from_row!(CarrierIdKey {
    carrier,
    prefix,
    submitted_hour_ms
});

/// The progress of a sweep over dead callbacks.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DeadKey {
    account_id: i64,
    sandbox: bool,
    destination: String,
    due_at_ms: i64,
    event_id: Vec<u8>,
}

database::from_row!(DeadKey {
    account_id,
    sandbox,
    destination,
    due_at_ms,
    event_id
});

/// The progress of a sweep over receipts.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ReceiptKey {
    message_id: Vec<u8>,
    received_at_ms: i64,
    number: i64,
}

database::from_row!(ReceiptKey {
    message_id,
    received_at_ms,
    number
});

/// Removes old pages among the next rows by key, of one carrier or of all. A page is old if its
/// hour of submission ended before a time. Returns how many were removed.
pub(super) async fn remove_parts(
    db: &Db,
    bucket: Bucket,
    before_ms: i64,
    after: Option<CarrierIdKey>,
    carrier: Option<&str>,
) -> Result<Removed<CarrierIdKey>> {
    let after = after.unwrap_or_else(|| CarrierIdKey {
        carrier: carrier.unwrap_or_default().to_owned(),
        ..CarrierIdKey::default()
    });
    let keys: Vec<CarrierIdKey> = db
        .fetch_all(
            query(
                "select carrier, prefix, submitted_hour_ms from carrier_ids
             where bucket = $1 and (carrier, prefix, submitted_hour_ms) > ($2, $3, $4)
             order by carrier, prefix, submitted_hour_ms limit $5",
            )
            .bind(bucket.0)
            .bind(&after.carrier)
            .bind(&after.prefix)
            .bind(after.submitted_hour_ms)
            .bind(KEYS),
        )
        .await?;
    let is_meant = |key: &CarrierIdKey| carrier.is_none_or(|carrier| key.carrier == carrier);
    let keys: Vec<CarrierIdKey> = keys.into_iter().take_while(is_meant).collect();
    let last = last_before(before_ms);
    let any_old = keys.iter().any(|key| key.submitted_hour_ms <= last);
    let Some(until) = keys.into_iter().next_back() else {
        return Ok(Removed {
            count: 0,
            next: None,
        });
    };
    // Most rows are young, so the writer is only used if one is old.
    if !any_old {
        return Ok(Removed {
            count: 0,
            next: Some(until),
        });
    }
    let removal = RemoveParts {
        bucket,
        last,
        after,
        until: until.clone(),
    };
    Ok(Removed {
        count: db.change(removal).await?,
        next: Some(until),
    })
}

/// Removes the dead callbacks, among the next ones by key, of messages that were due before a
/// time. Returns how many were removed.
pub(super) async fn remove_dead_callbacks(
    db: &Db,
    bucket: Bucket,
    before_ms: i64,
    after: Option<DeadKey>,
) -> Result<Removed<DeadKey>> {
    let after = after.unwrap_or(DeadKey {
        account_id: i64::MIN,
        ..DeadKey::default()
    });
    let until: Option<DeadKey> = db
        .fetch_optional(
            query(
                "select account_id, sandbox, destination, due_at_ms, event_id from (
                 select account_id, sandbox, destination, due_at_ms, event_id from outbox
                 where bucket = $1 and state = 'dead'
                     and (account_id, sandbox, destination, due_at_ms, event_id)
                         > ($2, $3, $4, $5, $6)
                 order by account_id, sandbox, destination, due_at_ms, event_id limit $7) v
             order by account_id desc, sandbox desc, destination desc, due_at_ms desc,
                 event_id desc
             limit 1",
            )
            .bind(bucket.0)
            .bind(after.account_id)
            .bind(after.sandbox)
            .bind(&after.destination)
            .bind(after.due_at_ms)
            .bind(&after.event_id)
            .bind(KEYS),
        )
        .await?;
    let Some(until) = until else {
        return Ok(Removed {
            count: 0,
            next: None,
        });
    };
    let removal = RemoveDead {
        bucket,
        before_ms,
        after,
        until: until.clone(),
    };
    Ok(Removed {
        count: db.change(removal).await?,
        next: Some(until),
    })
}

/// Removes the rows of receipts that were committed before a time, among the next ones by key.
/// Returns how many were removed.
pub(super) async fn remove_receipts(
    db: &Db,
    bucket: Bucket,
    before_ms: i64,
    after: Option<ReceiptKey>,
) -> Result<Removed<ReceiptKey>> {
    let after = after.unwrap_or_default();
    // A receipt is younger than its message, so only old messages have old ones.
    let keys: Vec<ReceiptKey> = db
        .fetch_all(
            query(
                "select message_id, received_at_ms, number from raw_receipts
             where bucket = $1 and (message_id, received_at_ms, number) > ($2, $3, $4)
                 and message_id < $5
             order by message_id, received_at_ms, number limit $6",
            )
            .bind(bucket.0)
            .bind(&after.message_id)
            .bind(after.received_at_ms)
            .bind(after.number)
            .bind(id_bytes(&MessageId::lowest_at(before_ms)))
            .bind(KEYS),
        )
        .await?;
    let any_old = keys.iter().any(|key| key.received_at_ms < before_ms);
    let next = keys.into_iter().next_back();
    let count = match &next {
        Some(until) if any_old => {
            let removal = RemoveReceipts {
                bucket,
                before_ms,
                after,
                until: until.clone(),
            };
            db.change(removal).await?
        }
        // The receipts of messages that were sent long after their acceptance may all be young.
        _ => 0,
    };
    Ok(Removed { count, next })
}

struct RemoveParts {
    bucket: Bucket,
    last: i64,
    after: CarrierIdKey,
    until: CarrierIdKey,
}

impl Change for RemoveParts {
    type Output = u64;

    async fn apply(&self, tx: &mut Tx) -> Result<u64> {
        tx.execute(
            query(
                "delete from carrier_ids where bucket = $1 and submitted_hour_ms <= $2
                 and (carrier, prefix, submitted_hour_ms) > ($3, $4, $5)
                 and (carrier, prefix, submitted_hour_ms) <= ($6, $7, $8)",
            )
            .bind(self.bucket.0)
            .bind(self.last)
            .bind(&self.after.carrier)
            .bind(&self.after.prefix)
            .bind(self.after.submitted_hour_ms)
            .bind(&self.until.carrier)
            .bind(&self.until.prefix)
            .bind(self.until.submitted_hour_ms),
        )
        .await
    }
}

struct RemoveDead {
    bucket: Bucket,
    before_ms: i64,
    after: DeadKey,
    until: DeadKey,
}

impl Change for RemoveDead {
    type Output = u64;

    async fn apply(&self, tx: &mut Tx) -> Result<u64> {
        tx.execute(
            query(
                "delete from outbox where bucket = $1 and state = 'dead' and subject < $2
                 and not exists (select 1 from messages m
                     where m.bucket = outbox.bucket and m.message_id = outbox.subject
                         and m.due_at_ms >= $13)
                 and (account_id, sandbox, destination, due_at_ms, event_id) > ($3, $4, $5,
                     $6, $7)
                 and (account_id, sandbox, destination, due_at_ms, event_id) <= ($8, $9,
                     $10, $11, $12)",
            )
            .bind(self.bucket.0)
            .bind(id_bytes(&MessageId::lowest_at(self.before_ms)))
            .bind(self.after.account_id)
            .bind(self.after.sandbox)
            .bind(&self.after.destination)
            .bind(self.after.due_at_ms)
            .bind(&self.after.event_id)
            .bind(self.until.account_id)
            .bind(self.until.sandbox)
            .bind(&self.until.destination)
            .bind(self.until.due_at_ms)
            .bind(&self.until.event_id)
            .bind(self.before_ms),
        )
        .await
    }
}

struct RemoveReceipts {
    bucket: Bucket,
    before_ms: i64,
    after: ReceiptKey,
    until: ReceiptKey,
}

impl Change for RemoveReceipts {
    type Output = u64;

    async fn apply(&self, tx: &mut Tx) -> Result<u64> {
        tx.execute(
            query(
                "delete from raw_receipts where bucket = $1 and received_at_ms < $2
                 and (message_id, received_at_ms, number) > ($3, $4, $5)
                 and (message_id, received_at_ms, number) <= ($6, $7, $8)",
            )
            .bind(self.bucket.0)
            .bind(self.before_ms)
            .bind(&self.after.message_id)
            .bind(self.after.received_at_ms)
            .bind(self.after.number)
            .bind(&self.until.message_id)
            .bind(self.until.received_at_ms)
            .bind(self.until.number),
        )
        .await
    }
}
