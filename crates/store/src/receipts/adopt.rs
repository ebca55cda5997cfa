//! Receipts for recipients in doubt: the response was lost, so only number and sender tell whom they mean.

use super::{DELIVERED, Receipt, ReceiptWord, Report};
use crate::db::Tx;
use crate::deliveries::stored;
use crate::error::Result;
use crate::rows::{id_bytes, message_id, number};
use crate::settle::Case;
use crate::sql::on;
use domain::{Bucket, DeliveryStatus, MessageId, Recipient};
use std::collections::{HashMap, HashSet};

/// Most messages in doubt to one number that a receipt chooses from.
const MOST_CHOICES: i64 = 16;

/// What is open, by message and recipient.
type Cases = HashMap<(MessageId, Recipient), Case>;

impl Report {
    /// Lets receipts with unknown ids adopt recipients in doubt: same carrier, same number, same sender, the
    /// one that waits longest first. Gives back those that found none.
    pub(super) async fn adopt<'r>(
        &self,
        tx: &mut Tx,
        receipts: Vec<&'r Receipt>,
        cases: &mut Cases,
    ) -> Result<Vec<&'r Receipt>> {
        let mut left = Vec::new();
        // Several receipts with one id are about one page, whichever message it was given to.
        let mut adopted: HashMap<(String, Recipient), MessageId> = HashMap::new();
        let mut heard: HashSet<(String, Recipient, ReceiptWord)> = HashSet::new();
        for receipt in receipts {
            let Some(recipient) = receipt.recipient else {
                left.push(receipt);
                continue;
            };
            let id = receipt.carrier_id.clone();
            if !id.is_empty() && !heard.insert((id.clone(), recipient, receipt.word)) {
                continue;
            }
            let message = match adopted.get(&(id.clone(), recipient)) {
                Some(&message) if !id.is_empty() => Some(message),
                _ => self.doubted(tx, recipient, &receipt.sender, cases).await?,
            };
            let Some((message, case)) =
                message.and_then(|message| Some((message, cases.get_mut(&(message, recipient))?)))
            else {
                left.push(receipt);
                continue;
            };
            let leg = case.delivery.leg;
            case.hear(receipt, leg);
            adopt_part(tx, &self.report.carrier, receipt, case).await?;
            adopted.insert((id, recipient), message);
        }
        Ok(left)
    }

    /// The message to `recipient` that has been in doubt longest and has a page left to hear of; its case is
    /// among `cases` afterwards.
    async fn doubted(
        &self,
        tx: &mut Tx,
        recipient: Recipient,
        sender: &str,
        cases: &mut Cases,
    ) -> Result<Option<MessageId>> {
        for (bucket, message) in self.in_doubt(tx, recipient, sender).await? {
            let key = (message, recipient);
            if let Some(case) = cases.get(&key) {
                if i64::try_from(case.events.len()).is_ok_and(|heard| heard < case.delivery.pages) {
                    return Ok(Some(message));
                }
                continue;
            }
            // Locked now: another node may have ended the doubt meanwhile.
            let case = stored(tx, &[(bucket, message, recipient)])
                .await?
                .remove(&key);
            if let Some(case) = case.filter(|case| case.delivery.status == DeliveryStatus::InDoubt)
            {
                cases.insert(key, case);
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    async fn in_doubt(
        &self,
        tx: &mut Tx,
        recipient: Recipient,
        sender: &str,
    ) -> Result<Vec<(Bucket, MessageId)>> {
        let rows: Vec<(i64, Vec<u8>)> = on!(tx, |connection| sqlx::query_as(
            "select d.bucket, d.message_id from deliveries d
             join messages m on m.bucket = d.bucket and m.message_id = d.message_id
             where d.carrier = $1 and d.recipient = $2 and d.status = 'in_doubt'
                 and lower(m.sender) = lower($3)
             order by d.submitted_at_ms, d.message_id limit $4",
        )
        .bind(&*self.report.carrier)
        .bind(number(recipient))
        .bind(sender)
        .bind(MOST_CHOICES)
        .fetch_all(connection)
        .await?);
        rows.into_iter()
            .map(|(bucket, id)| Ok((Bucket(bucket), message_id(&id)?)))
            .collect()
    }
}

/// A receipt that adopted a recipient names the page from now on: a second one finds it by its id.
async fn adopt_part(tx: &mut Tx, carrier: &str, receipt: &Receipt, case: &Case) -> Result<()> {
    on!(tx, |connection| {
        sqlx::query(
        "insert into parts (bucket, carrier, carrier_id, message_id, recipient, leg, page, delivered)
         values ($1, $2, $3, $4, $5, $6, 0, $7) on conflict do nothing",
    )
    .bind(case.bucket.0)
    .bind(carrier)
    .bind(&receipt.carrier_id)
    .bind(id_bytes(&case.message))
    .bind(number(case.recipient))
    .bind(case.delivery.leg)
    .bind(receipt.word == DELIVERED)
    .execute(connection)
    .await
    .map(drop)
    })?;
    Ok(())
}
