//! The recipients of many small messages, as an export reads them.

use super::recipient_rows::{DeliveryInfo, DeliveryRow, RecipientInfo};
use crate::buckets::Buckets;
use crate::rows::{id_bytes, message_id, recipient};
use database::{Bulk, Result, Tx, bulk, value};
use domain::{AccountId, MessageId, Money, Recipient, recipient_list};
use std::collections::HashMap;

/// A recipient of a message.
type Key = (MessageId, Recipient);

/// Reads all recipients of messages. Each statement reads the rows of a message in one place.
pub(super) async fn read(
    tx: &mut Tx,
    buckets: Buckets,
    messages: &[(AccountId, MessageId)],
) -> Result<HashMap<MessageId, Vec<RecipientInfo>>> {
    let lists = lists(tx, buckets, messages).await?;
    let mut deliveries = deliveries(tx, buckets, messages).await?;
    let refunds = refunds(tx, buckets, messages).await?;
    let described = lists.into_iter().map(|(message, list)| {
        let recipients = recipient_list::unpack(&list).into_iter().enumerate();
        let recipients = recipients.map(|(place, recipient)| RecipientInfo {
            place,
            recipient,
            delivery: deliveries.remove(&(message, recipient)),
            refunded: refunds
                .get(&(message, recipient))
                .copied()
                .unwrap_or_default(),
        });
        (message, recipients.collect())
    });
    Ok(described.collect())
}

async fn lists(
    tx: &mut Tx,
    buckets: Buckets,
    messages: &[(AccountId, MessageId)],
) -> Result<Vec<(MessageId, Vec<u8>)>> {
    let find = bulk(
        "select message_id, recipients from messages
         where bucket = $1 and message_id = $2 and account_id = $3",
        "with v (bucket, message_id, account_id) as (select *
         from unnest($1::bigint[], $2::bytea[], $3::bigint[]))
         select found.* from v cross join lateral (
             select message_id, recipients from messages where bucket = v.bucket
                 and message_id = v.message_id and account_id = v.account_id offset 0) found",
    );
    let rows: Vec<(Vec<u8>, Vec<u8>)> = tx.fetch_each(of(find, buckets, messages)).await?;
    let rows = rows.into_iter();
    rows.map(|(id, list)| Ok((message_id(&id)?, list)))
        .collect()
}

/// Reads the deliveries of whole messages. The fence keeps a planner from another order of keys.
async fn deliveries(
    tx: &mut Tx,
    buckets: Buckets,
    messages: &[(AccountId, MessageId)],
) -> Result<HashMap<Key, DeliveryInfo>> {
    let find = bulk(
        "select message_id, recipient, status, cast(leg as bigint) as leg,
             cast(pages as bigint) as pages, charge, carrier, error,
             cast(submitted_at_s as bigint) as submitted_at_s,
             cast(settled_at_s as bigint) as settled_at_s
         from deliveries where bucket = $1 and message_id = $2",
        "with v (bucket, message_id) as (select * from unnest($1::bigint[], $2::bytea[]))
         select found.* from v cross join lateral (
             select message_id, recipient, status, cast(leg as bigint) as leg,
                 cast(pages as bigint) as pages, charge, carrier, error,
                 cast(submitted_at_s as bigint) as submitted_at_s,
                 cast(settled_at_s as bigint) as settled_at_s
             from deliveries where bucket = v.bucket and message_id = v.message_id
             offset 0) found",
    );
    let find = find.rows(messages, |(account, id)| {
        [value(buckets.account(*account).0), value(id_bytes(id))]
    });
    let rows: Vec<DeliveryRow> = tx.fetch_each(find).await?;
    let rows = rows.into_iter().map(|row| {
        let (message, recipient, delivery) = row.read()?;
        Ok(((message, recipient), delivery))
    });
    rows.collect()
}

async fn refunds(
    tx: &mut Tx,
    buckets: Buckets,
    messages: &[(AccountId, MessageId)],
) -> Result<HashMap<Key, Money>> {
    let find = bulk(
        "select subject, recipient, amount from ledger
         where bucket = $1 and subject = $2 and account_id = $3
             and kind in ('refund', 'unused_leg')",
        "with v (bucket, subject, account_id) as (select *
         from unnest($1::bigint[], $2::bytea[], $3::bigint[]))
         select found.* from v cross join lateral (
             select subject, recipient, amount from ledger
             where bucket = v.bucket and subject = v.subject and account_id = v.account_id
                 and kind in ('refund', 'unused_leg') offset 0) found",
    );
    let rows: Vec<(Vec<u8>, i64, i64)> = tx.fetch_each(of(find, buckets, messages)).await?;
    let mut refunds: HashMap<Key, Money> = HashMap::with_capacity(rows.len());
    for (subject, digits, amount) in rows {
        let sum = refunds.entry((message_id(&subject)?, recipient(digits)));
        *sum.or_default() += Money::from_units(amount);
    }
    Ok(refunds)
}

/// Binds the keys of messages.
fn of<'q>(
    statement: Bulk<'q>,
    buckets: Buckets,
    messages: &'q [(AccountId, MessageId)],
) -> Bulk<'q> {
    statement.rows(messages, |(account, id)| {
        [
            value(buckets.account(*account).0),
            value(id_bytes(id)),
            value(account.0),
        ]
    })
}
