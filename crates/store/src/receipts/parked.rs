//! Receipts that overtook their response: they wait for it in the database.

use super::{Receipt, ReceiptWord, Report};
use crate::Progress;
use crate::db::Tx;
use crate::error::Result;
use crate::rows::{id_bytes, named, number, recipient};
use crate::sql::{execute_rows, fetch_rows, on};

impl Report {
    /// Takes out the parked receipts of pages whose response has come now, and of recipients whose response
    /// will not come any more.
    pub(super) async fn unpark(&self, tx: &mut Tx) -> Result<Vec<Receipt>> {
        let progress = &self.report.progress;
        let is_concerned = |one: &Progress| !one.submitted.is_empty() || !one.doubted.is_empty();
        if !progress.iter().any(is_concerned) || !self.any_parked(tx).await? {
            return Ok(Vec::new());
        }
        let mut rows = self.parked_under_ids(tx).await?;
        for one in progress.iter().filter(|one| !one.doubted.is_empty()) {
            rows.extend(self.parked_before_doubt(tx, one).await?);
        }
        rows.into_iter().map(ParkedRow::receipt).collect()
    }

    async fn parked_under_ids(&self, tx: &mut Tx) -> Result<Vec<ParkedRow>> {
        let submitted = self.report.progress.iter().flat_map(|one| &one.submitted);
        let ids: Vec<&String> = submitted.flat_map(|(_, ids)| ids).collect();
        Ok(fetch_rows!(
            tx,
            &ids,
            1,
            "delete from parked_receipts
             where carrier_id in (values {rows}) and bucket = 0 and carrier = {1}
             returning carrier_id, recipient, sender, state, error",
            |query, id| query.bind(id.as_str()),
            after | query | query.bind(&*self.report.carrier)
        ))
    }

    /// What came for recipients in doubt before the doubt did, but after their message: a lost response is
    /// given up after a minute, and most receipts are faster.
    async fn parked_before_doubt(&self, tx: &mut Tx, doubted: &Progress) -> Result<Vec<ParkedRow>> {
        let batch = &doubted.batch;
        Ok(fetch_rows!(
            tx,
            &doubted.doubted,
            1,
            "delete from parked_receipts
             where recipient in (values {rows}) and bucket = 0 and carrier = {1} and received_at_ms >= {2}
                 and lower(sender) = (
                     select lower(m.sender) from messages m where m.bucket = {3} and m.message_id = {4})
             returning carrier_id, recipient, sender, state, error",
            |query, recipient| query.bind(number(*recipient)),
            after | query
                | query
                    .bind(&*self.report.carrier)
                    .bind(batch.message.accepted_at_ms())
                    .bind(batch.bucket.0)
                    .bind(id_bytes(&batch.message))
        ))
    }

    async fn any_parked(&self, tx: &mut Tx) -> Result<bool> {
        let found: Option<i64> = on!(tx, |connection| {
            sqlx::query_scalar(
            "select received_at_ms from parked_receipts where bucket = 0 and carrier = $1 limit 1",
        )
        .bind(&*self.report.carrier)
        .fetch_optional(connection)
        .await?
        });
        Ok(found.is_some())
    }

    pub(super) async fn park(&self, tx: &mut Tx, receipts: &[&Receipt]) -> Result<()> {
        let receipts = receipts.iter().copied();
        let numbered: Vec<(i64, &Receipt)> = (self.report.first_number..).zip(receipts).collect();
        execute_rows!(
            tx,
            &numbered,
            9,
            "insert into parked_receipts (bucket, carrier, carrier_id, received_at_ms, number, recipient,
                 sender, state, error)
             values {rows}",
            |query, row| {
                let (count, receipt) = row;
                query
                    .bind(0_i64)
                    .bind(&*self.report.carrier)
                    .bind(&receipt.carrier_id)
                    .bind(self.report.now_ms)
                    .bind(*count)
                    .bind(receipt.recipient.map_or(0, number))
                    .bind(&receipt.sender)
                    .bind(receipt.word.as_str())
                    .bind(&receipt.error)
            }
        );
        Ok(())
    }
}

#[derive(sqlx::FromRow)]
struct ParkedRow {
    carrier_id: String,
    recipient: i64,
    sender: String,
    state: String,
    error: Option<String>,
}

impl ParkedRow {
    fn receipt(self) -> Result<Receipt> {
        Ok(Receipt {
            carrier_id: self.carrier_id,
            recipient: (self.recipient != 0).then(|| recipient(self.recipient)),
            sender: self.sender,
            word: named(ReceiptWord::from_name, &self.state)?,
            error: self.error,
        })
    }
}
