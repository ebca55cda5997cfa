//! Receipts for recipients in doubt: the response was lost, so only number and sender tell whom they mean.

use super::{Receipt, ReceiptWord, Report};
use crate::db::Tx;
use crate::deliveries::stored;
use crate::error::Result;
use crate::rows::{id_bytes, message_id, number};
use crate::settle::Case;
use crate::sql::on;
use domain::{Bucket, DeliveryEvent, DeliveryStatus, MessageId, Recipient};
use std::collections::HashMap;

impl Report {
    /// Lets receipts with unknown ids adopt recipients in doubt: same carrier, same number, same sender.
    /// Gives back those that found none.
    pub(super) async fn adopt(
        &self,
        tx: &mut Tx,
        receipts: Vec<Receipt>,
        cases: &mut HashMap<(MessageId, Recipient), Case>,
    ) -> Result<Vec<Receipt>> {
        let mut left = Vec::new();
        for receipt in receipts {
            let Some(recipient) = receipt.recipient else {
                left.push(receipt);
                continue;
            };
            let Some((bucket, message, leg)) = self.doubted(tx, recipient, &receipt.sender).await?
            else {
                left.push(receipt);
                continue;
            };
            let Some(case) = stored(tx, &[(bucket, message, recipient)])
                .await?
                .remove(&(message, recipient))
            else {
                left.push(receipt);
                continue;
            };
            let case = cases.entry((message, recipient)).or_insert(case);
            case.events.push(match receipt.word {
                ReceiptWord::Pending => DeliveryEvent::Acknowledged,
                ReceiptWord::Final(DeliveryStatus::Delivered) => {
                    DeliveryEvent::PageDelivered { leg }
                }
                ReceiptWord::Final(status) => DeliveryEvent::Failed { leg, status },
            });
            adopt_part(
                tx,
                bucket,
                &self.report.carrier,
                &receipt,
                message,
                recipient,
                leg,
            )
            .await?;
        }
        Ok(left)
    }

    async fn doubted(
        &self,
        tx: &mut Tx,
        recipient: Recipient,
        sender: &str,
    ) -> Result<Option<(Bucket, MessageId, i64)>> {
        for bucket in crate::rows::buckets(self.store.db.is_embedded()) {
            let row: Option<(Vec<u8>, i64)> = on!(tx, |connection| {
                sqlx::query_as(
                "select d.message_id, d.leg from deliveries d
                 join messages m on m.bucket = d.bucket and m.message_id = d.message_id
                 where d.bucket = $1 and d.carrier = $2 and d.recipient = $3 and d.status = 'in_doubt'
                     and lower(m.sender) = lower($4)
                 order by d.message_id limit 1",
            )
            .bind(bucket.0)
            .bind(&*self.report.carrier)
            .bind(number(recipient))
            .bind(sender)
            .fetch_optional(connection)
            .await?
            });
            if let Some((id, leg)) = row {
                return Ok(Some((bucket, message_id(&id)?, leg)));
            }
        }
        Ok(None)
    }
}

/// A receipt that adopted a recipient names the page from now on: a second one finds it by its id.
async fn adopt_part(
    tx: &mut Tx,
    bucket: Bucket,
    carrier: &str,
    receipt: &Receipt,
    message: MessageId,
    recipient: Recipient,
    leg: i64,
) -> Result<()> {
    on!(tx, |connection| {
        sqlx::query(
        "insert into parts (bucket, carrier, carrier_id, message_id, recipient, leg, page, delivered)
         values ($1, $2, $3, $4, $5, $6, 0, $7) on conflict do nothing",
    )
    .bind(bucket.0)
    .bind(carrier)
    .bind(&receipt.carrier_id)
    .bind(id_bytes(&message))
    .bind(number(recipient))
    .bind(leg)
    .bind(receipt.word == ReceiptWord::Final(DeliveryStatus::Delivered))
    .execute(connection)
    .await
    .map(drop)
    })?;
    Ok(())
}
