//! Receipts as their carriers sent them, for the events of a recipient.
//!
//! A receipt that changes nothing is not kept, so a carrier that repeats itself fills no disk.

use crate::deliveries::pending::{PackedReceipt, PendingSettlement};
use crate::rows::{id_bytes, number};
use database::{Error, Result, Tx, bulk, query, value};
use domain::{Bucket, MessageId, RawReceipt, Recipient};

/// A receipt of a recipient.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReceiptInfo {
    /// The time of its commit, Unix milliseconds.
    pub at_ms: i64,
    /// The carrier.
    pub carrier: String,
    /// The receipt.
    pub raw: RawReceipt,
}

/// Stores the receipts of settled cases.
pub(crate) async fn insert(
    tx: &mut Tx,
    now_ms: i64,
    cases: impl Iterator<Item = &PendingSettlement>,
) -> Result<()> {
    let rows = cases.flat_map(|case| case.receipts.iter().map(move |one| (case, one)));
    let rows: Vec<(&PendingSettlement, &PackedReceipt)> = rows.collect();
    if rows.is_empty() {
        return Ok(());
    }
    tx.execute_each(
        bulk(
            "insert into raw_receipts (bucket, message_id, recipient, received_at_ms, number,
             carrier, raw)
         values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing",
            "insert into raw_receipts (bucket, message_id, recipient, received_at_ms, number,
             carrier, raw)
         select * from unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[],
             $5::bigint[], $6::text[], $7::bytea[]) on conflict do nothing",
        )
        .rows(&rows, |(case, (carrier, raw))| {
            [
                value(case.bucket.0),
                value(id_bytes(&case.message)),
                value(number(case.recipient)),
                value(now_ms),
                value(apart(raw)),
                value(&**carrier),
                value(&raw[..]),
            ]
        }),
    )
    .await?;
    Ok(())
}

/// Returns the number that tells a receipt from others of its millisecond.
fn apart(raw: &[u8]) -> i64 {
    let mixed = raw.iter().fold(0x811C_9DC5_u32, |hash, &octet| {
        (hash ^ u32::from(octet)).wrapping_mul(0x0100_0193)
    });
    i64::from((mixed >> 16) ^ (mixed & 0xFFFF))
}

/// Returns the receipts of a recipient, oldest first.
pub(crate) async fn read(
    tx: &mut Tx,
    (bucket, message): (Bucket, MessageId),
    recipient: Recipient,
) -> Result<Vec<ReceiptInfo>> {
    let rows: Vec<(i64, String, Vec<u8>)> = tx
        .fetch_all(
            query(
                "select received_at_ms, carrier, raw from raw_receipts
                 where bucket = $1 and message_id = $2 and recipient = $3
                 order by received_at_ms, number",
            )
            .bind(bucket.0)
            .bind(id_bytes(&message))
            .bind(number(recipient)),
        )
        .await?;
    let found = rows.into_iter().map(|(at_ms, carrier, raw)| {
        let raw = RawReceipt::unpack(&raw);
        let raw = raw.ok_or_else(|| Error::Unreadable("a receipt".to_owned()))?;
        Ok(ReceiptInfo {
            at_ms,
            carrier,
            raw,
        })
    });
    found.collect()
}

/// Removes some receipts of messages.
pub(crate) async fn remove_of(
    tx: &mut Tx,
    bucket: Bucket,
    messages: &[MessageId],
    most: i64,
) -> Result<()> {
    tx.execute_each(
        bulk(
            "delete from raw_receipts where (message_id, recipient, received_at_ms, number) in (
                 select message_id, recipient, received_at_ms, number from raw_receipts
                 where message_id = $1 and bucket = $2 limit $3) and bucket = $2",
            "delete from raw_receipts where (message_id, recipient, received_at_ms, number) in (
                 select message_id, recipient, received_at_ms, number from raw_receipts
                 where message_id in (select * from unnest($1::bytea[])) and bucket = $2
                     limit $3) and bucket = $2",
        )
        .rows(messages, |message| [value(id_bytes(message))])
        .bind(bucket.0)
        .bind(most),
    )
    .await?;
    Ok(())
}
