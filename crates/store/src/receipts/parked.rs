//! Receipts that overtook their response: they wait for it in the database.

use super::{Receipt, ReceiptWord, Report};
use crate::db::Tx;
use crate::error::Result;
use crate::rows::{named, number, recipient};
use crate::sql::{execute_rows, fetch_rows, on};

impl Report {
    /// Takes out the parked receipts of pages whose response has come now.
    pub(super) async fn unpark(&self, tx: &mut Tx) -> Result<Vec<Receipt>> {
        let ids: Vec<&String> = self
            .report
            .progress
            .iter()
            .flat_map(|progress| &progress.submitted)
            .flat_map(|(_, ids)| ids)
            .collect();
        if ids.is_empty() || !self.any_parked(tx).await? {
            return Ok(Vec::new());
        }
        let rows: Vec<ParkedRow> = fetch_rows!(
            tx,
            &ids,
            1,
            "delete from parked_receipts
             where carrier_id in (values {rows}) and bucket = 0 and carrier = {1}
             returning carrier_id, recipient, sender, state, error",
            |query, id| query.bind(id.as_str()),
            after | query | query.bind(&*self.report.carrier)
        );
        rows.into_iter().map(ParkedRow::receipt).collect()
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

    pub(super) async fn park(&self, tx: &mut Tx, receipts: &[Receipt]) -> Result<()> {
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
