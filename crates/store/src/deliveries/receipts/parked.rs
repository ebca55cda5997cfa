//! Parked receipts: they overtook their response and wait for it in the database.

use super::receipt::{Parked, Receipt, ReceiptStatus};
use super::report::CarrierReport;
use crate::batches::batch::Progress;
use crate::buckets::Buckets;
use crate::deliveries::carrier_ids::{NamedPage, submitted};
use crate::rows::{id_bytes, named, number, recipient};
use database::{Db, Result, Sql, Tx, bulk, by_whole_keys, query, value};
use domain::Bucket;
use std::collections::HashSet;

/// Receipts that are matched again in one call at most.
const MAX_AGAIN: i64 = 2_000;

struct ParkedRow {
    bucket: i16,
    carrier: String,
    carrier_id: String,
    received_at_ms: i64,
    number: i64,
    recipient: i64,
    sender: String,
    state: String,
    error: Option<String>,
    other_id: Option<String>,
    raw: Option<Vec<u8>>,
}

database::from_row!(ParkedRow {
    bucket,
    carrier,
    carrier_id,
    received_at_ms,
    number,
    recipient,
    sender,
    state,
    error,
    other_id,
    raw
});

impl ParkedRow {
    fn parked(self) -> Result<Parked> {
        Ok(Parked {
            received_at_ms: self.received_at_ms,
            number: self.number,
            receipt: Receipt {
                carrier: self.carrier.into(),
                carrier_id: self.carrier_id,
                other_id: self.other_id,
                recipient: (self.recipient != 0).then(|| recipient(self.recipient)),
                sender: self.sender,
                status: named(ReceiptStatus::from_name, &self.state)?,
                error: self.error,
                raw: self.raw,
            },
        })
    }
}

/// Returns each receipt once, in order of arrival; of two that disagree the first counts. A receipt
/// with two ids is parked under both and counts once.
fn parked_in_order(mut rows: Vec<ParkedRow>) -> Result<Vec<Parked>> {
    let moment = |row: &ParkedRow| (row.received_at_ms, row.number, row.bucket);
    rows.sort_unstable_by_key(moment);
    rows.dedup_by(|one, first| {
        let is_twin = one.other_id.as_ref() == Some(&first.carrier_id)
            && first.other_id.as_ref() == Some(&one.carrier_id);
        (one.received_at_ms, one.number) == (first.received_at_ms, first.number)
            && (one.bucket == first.bucket || is_twin)
    });
    rows.into_iter().map(ParkedRow::parked).collect()
}

/// Returns the parked receipts of pages whose response is here now, and of recipients whose
/// response will not come.
pub(super) async fn parked_for(
    buckets: Buckets,
    tx: &mut Tx,
    report: &CarrierReport,
) -> Result<Vec<Parked>> {
    let mut concerned = report.followed();
    if concerned.is_empty() {
        return Ok(Vec::new());
    }
    let parked = with_parked(tx, &concerned).await?;
    concerned.retain(|one| parked.contains(&*one.batch.carrier));
    let mut rows = parked_under_ids(buckets, tx, &concerned, report.now_ms).await?;
    for one in concerned.into_iter().filter(|one| !one.doubted.is_empty()) {
        rows.extend(parked_before_doubt(tx, one).await?);
    }
    parked_in_order(rows)
}

/// Returns the receipts parked in a bucket since a time, the oldest first. If there may be
/// more, it also returns the time up to which they came in.
pub(super) async fn parked_since(
    db: &Db,
    bucket: Bucket,
    since_ms: i64,
) -> Result<(Vec<Parked>, Option<i64>)> {
    let rows: Vec<ParkedRow> = db
        .fetch_all(
            query(
                "select bucket, carrier, carrier_id, received_at_ms, number, recipient,
             sender, state, error, other_id, raw
             from parked_receipts where bucket = $1 and received_at_ms >= $2
             order by received_at_ms, number limit $3",
            )
            .bind(bucket.0)
            .bind(since_ms)
            .bind(MAX_AGAIN),
        )
        .await?;
    let is_full = i64::try_from(rows.len()).unwrap_or(i64::MAX) >= MAX_AGAIN;
    let last = rows.last().map(|row| row.received_at_ms);
    Ok((parked_in_order(rows)?, last.filter(|_| is_full)))
}

/// Returns the status of a receipt that is parked under an id, a final one if there is any.
pub(super) async fn status_under(
    db: &Db,
    buckets: Buckets,
    carrier: &str,
    id: &str,
) -> Result<Option<ReceiptStatus>> {
    let read = query(
        "select state from parked_receipts
         where bucket = $1 and carrier = $2 and carrier_id = $3
         order by received_at_ms, number limit $4",
    );
    let read = read.bind(buckets.carrier_id(carrier, id).0);
    let read = read.bind(carrier).bind(id).bind(MAX_AGAIN);
    let rows: Vec<(String,)> = db.fetch_all(read).await?;
    let mut found = None;
    for (state,) in &rows {
        let status = named(ReceiptStatus::from_name, state)?;
        if status != ReceiptStatus::Pending {
            return Ok(Some(status));
        }
        found = Some(status);
    }
    Ok(found)
}

/// Returns the carriers that have parked receipts at all.
async fn with_parked(tx: &mut Tx, all: &[&Progress]) -> Result<HashSet<String>> {
    let carriers: HashSet<&str> = all.iter().map(|one| &*one.batch.carrier).collect();
    let mut carriers: Vec<&str> = carriers.into_iter().collect();
    carriers.sort_unstable();
    let one = Sql {
        sqlite: "select carrier from parked_receipts
             where bucket = 0 and carrier = $1 limit 1",
        postgres: "select carrier from parked_receipts
             where bucket in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
                 and carrier = $1 limit 1",
    };
    let many = "select v.carrier from unnest($1::text[]) as v (carrier) where exists (
             select 1 from parked_receipts as parked
             where bucket in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
                 and parked.carrier = v.carrier)";
    let ask = bulk(one, many).rows(&carriers, |carrier| [value(*carrier)]);
    let found: Vec<(String,)> = tx.fetch_each(ask).await?;
    Ok(found.into_iter().map(|(carrier,)| carrier).collect())
}

async fn parked_under_ids(
    buckets: Buckets,
    tx: &mut Tx,
    all: &[&Progress],
    now_ms: i64,
) -> Result<Vec<ParkedRow>> {
    let named: Vec<NamedPage<'_>> = all.iter().flat_map(|one| submitted(one, now_ms)).collect();
    let mut rows: Vec<ParkedRow> = tx
        .fetch_each(
            by_whole_keys(
                "select bucket, carrier, carrier_id, received_at_ms, number, recipient,
         sender, state, error, other_id, raw
         from parked_receipts where bucket = $1 and carrier = $2 and carrier_id = $3",
                "select bucket, carrier, carrier_id, received_at_ms, number, recipient,
         sender, state, error, other_id, raw
         from parked_receipts where ",
                &["bucket", "carrier", "carrier_id"],
                "",
            )
            .rows(&named, |named| {
                [
                    value(buckets.carrier_id(named.carrier, named.id).0),
                    value(named.carrier),
                    value(named.id),
                ]
            }),
        )
        .await?;
    // Receipts with other numbers mean none of these pages, even under the same id.
    let recipients: HashSet<i64> = named
        .iter()
        .map(|named| number(named.part.recipient))
        .collect();
    rows.retain(|row| row.recipient == 0 || recipients.contains(&row.recipient));
    Ok(rows)
}

/// Returns the receipts that came after the message was due and before its recipient was in
/// doubt. A lost response is given up after a minute, and most receipts are faster.
async fn parked_before_doubt(tx: &mut Tx, doubted: &Progress) -> Result<Vec<ParkedRow>> {
    let batch = &doubted.batch;
    let sender: Option<String> = tx
        .fetch_optional(
            query("select sender from messages where bucket = $1 and message_id = $2")
                .bind(batch.bucket.0)
                .bind(id_bytes(&batch.message)),
        )
        .await?;
    let one = Sql {
        sqlite: "select bucket, carrier, carrier_id, received_at_ms, number, recipient,
                 sender, state, error, other_id, raw
             from parked_receipts
             where recipient = $1 and bucket = 0 and carrier = $2
                 and received_at_ms >= $3 and lower(sender) = lower($4)",
        postgres: "select bucket, carrier, carrier_id, received_at_ms, number, recipient,
                 sender, state, error, other_id, raw
             from parked_receipts
             where recipient = $1
                 and bucket in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
                 and carrier = $2 and received_at_ms >= $3 and lower(sender) = lower($4)",
    };
    let many = "select bucket, carrier, carrier_id, received_at_ms, number, p.recipient,
             sender, state, error, other_id, raw
         from unnest($1::bigint[]) as v (recipient) cross join parked_receipts p
         where p.recipient = v.recipient
             and bucket in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
             and carrier = $2 and received_at_ms >= $3 and lower(sender) = lower($4)";
    let ask = bulk(one, many).rows(&doubted.doubted, |recipient| [value(number(*recipient))]);
    let ask = ask
        .bind(&*batch.carrier)
        .bind(batch.message_due_at_ms)
        .bind(sender.as_deref());
    tx.fetch_each(ask).await
}
