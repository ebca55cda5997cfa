//! Receipts as their carriers sent them, for the events of a recipient.
//!
//! A receipt that changes nothing is not kept, so a carrier that repeats itself fills no disk.

use crate::deliveries::pending::PendingSettlement;
use crate::rows::{id_bytes, number};
use database::{Error, Result, Tx, bulk, query, value};
use domain::{Bucket, MessageId, RawReceipt, Recipient, raw_receipt_list};
use std::collections::BTreeMap;

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

/// Maximum number of receipts in a row.
const MAX_RECEIPTS: usize = 200;

/// A row: some receipts of a message from one carrier, in the order of their recipients.
struct Row<'c> {
    bucket: Bucket,
    message: MessageId,
    carrier: &'c str,
    first: Recipient,
    last: Recipient,
    packed: Vec<u8>,
}

/// Stores the receipts of settled cases.
pub(crate) async fn insert(
    tx: &mut Tx,
    now_ms: i64,
    cases: impl Iterator<Item = &PendingSettlement>,
) -> Result<()> {
    let rows = rows(cases);
    if rows.is_empty() {
        return Ok(());
    }
    tx.execute_each(
        bulk(
            "insert into raw_receipts (bucket, message_id, received_at_ms, number, carrier,
             first_recipient, last_recipient, receipts)
         values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing",
            "insert into raw_receipts (bucket, message_id, received_at_ms, number, carrier,
             first_recipient, last_recipient, receipts)
         select * from unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[],
             $5::text[], $6::bigint[], $7::bigint[], $8::bytea[]) on conflict do nothing",
        )
        .rows(&rows, |row| {
            [
                value(row.bucket.0),
                value(id_bytes(&row.message)),
                value(now_ms),
                value(apart(&row.packed)),
                value(row.carrier),
                value(number(row.first)),
                value(number(row.last)),
                value(&row.packed[..]),
            ]
        }),
    )
    .await?;
    Ok(())
}

/// Returns the rows of the receipts of cases.
fn rows<'c>(cases: impl Iterator<Item = &'c PendingSettlement>) -> Vec<Row<'c>> {
    let mut by_message = BTreeMap::<_, Vec<(Recipient, &[u8])>>::new();
    for case in cases {
        for (carrier, raw) in &case.receipts {
            let of = (case.bucket, case.message, &**carrier);
            let receipts = by_message.entry(of).or_default();
            receipts.push((case.recipient, raw));
        }
    }
    let mut rows = Vec::new();
    for ((bucket, message, carrier), mut receipts) in by_message {
        receipts.sort_by_key(|(recipient, _)| *recipient);
        for chunk in receipts.chunks(MAX_RECEIPTS) {
            if let [(first, _), ..] = chunk
                && let [.., (last, _)] = chunk
            {
                rows.push(Row {
                    bucket,
                    message,
                    carrier,
                    first: *first,
                    last: *last,
                    packed: raw_receipt_list::pack(chunk.iter().copied()),
                });
            }
        }
    }
    rows
}

/// Returns the number that distinguishes a row from others of its millisecond.
fn apart(packed: &[u8]) -> i64 {
    let mixed = packed.iter().fold(0x811C_9DC5_u32, |hash, &octet| {
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
                "select received_at_ms, carrier, receipts from raw_receipts
                 where bucket = $1 and message_id = $2
                     and first_recipient <= $3 and last_recipient >= $3
                 order by received_at_ms, number",
            )
            .bind(bucket.0)
            .bind(id_bytes(&message))
            .bind(number(recipient)),
        )
        .await?;
    let unreadable = || Error::Unreadable("a receipt".to_owned());
    let mut found = Vec::new();
    for (at_ms, carrier, packed) in rows {
        let its = raw_receipt_list::of(&packed, recipient).ok_or_else(unreadable)?;
        for raw in its {
            found.push(ReceiptInfo {
                at_ms,
                carrier: carrier.clone(),
                raw: RawReceipt::unpack(raw).ok_or_else(unreadable)?,
            });
        }
    }
    Ok(found)
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
            "delete from raw_receipts where (message_id, received_at_ms, number) in (
                 select message_id, received_at_ms, number from raw_receipts
                 where message_id = $1 and bucket = $2 limit $3) and bucket = $2",
            "delete from raw_receipts where (message_id, received_at_ms, number) in (
                 select message_id, received_at_ms, number from raw_receipts
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
