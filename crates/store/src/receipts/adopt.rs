//! Receipts for recipients in doubt: the response was lost, so only number and sender tell whom they mean.

use super::settle::Portion;
use super::{News, ReceiptWord};
use crate::Store;
use crate::db::Tx;
use crate::deliveries::stored;
use crate::error::Result;
use crate::parts::{self, Part};
use crate::rows::{message_id, number, recipient};
use crate::settle::Case;
use crate::sql::{fetch_rows, on};
use domain::{Bucket, DeliveryEvent, DeliveryStatus, MessageId, Recipient};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Most messages in doubt to one number that a receipt chooses from.
const MOST_CHOICES: i64 = 16;

/// The message and page that an id was given to, for a recipient.
type Adopted<'a> = HashMap<(&'a str, Recipient), (MessageId, i64)>;

/// What is open, by message and recipient.
type Cases = BTreeMap<(MessageId, Recipient), Case>;

/// In which bucket somebody with the number of a receipt is in doubt. Looks into all of them: few are in doubt.
pub(super) async fn homes(
    tx: &mut Tx,
    carrier: &str,
    news: &News,
    places: &[usize],
) -> Result<HashMap<Recipient, Bucket>> {
    let numbers: Vec<Recipient> = places
        .iter()
        .filter_map(|&place| news.receipt(place).recipient)
        .collect();
    let rows: Vec<(i64, i64)> = fetch_rows!(
        tx,
        &numbers,
        1,
        "select bucket, recipient from deliveries
         where recipient in (values {rows}) and status = 'in_doubt' and (carrier = {1} or copy_carrier = {1})",
        |query, recipient| query.bind(number(*recipient)),
        after | query | query.bind(carrier)
    );
    Ok(rows
        .into_iter()
        .map(|(bucket, digits)| (recipient(digits), Bucket(bucket)))
        .collect())
}

impl Portion {
    /// Lets receipts with unknown ids adopt recipients in doubt: same carrier, same number, same sender, the
    /// one that waits longest first. Gives back the places of those that found none.
    pub(super) async fn adopt(
        &self,
        tx: &mut Tx,
        store: &Store,
        places: Vec<usize>,
        cases: &mut Cases,
    ) -> Result<Vec<usize>> {
        let mut left = Vec::new();
        // Several receipts with one id are about one page, whichever message it was given to.
        let mut adopted: Adopted<'_> = HashMap::new();
        let mut heard: HashSet<(&str, Recipient, ReceiptWord)> = HashSet::new();
        for place in places {
            let receipt = self.news.receipt(place);
            let Some(recipient) = receipt.recipient else {
                left.push(place);
                continue;
            };
            let id = receipt.carrier_id.as_str();
            if !id.is_empty() && !heard.insert((id, recipient, receipt.word)) {
                continue;
            }
            let known = adopted.get(&(id, recipient)).filter(|_| !id.is_empty());
            let found = if let Some(&found) = known {
                Some(found)
            } else {
                let sender = &receipt.sender;
                self.doubted(tx, recipient, sender, cases, &adopted).await?
            };
            let Some((message, page)) = found else {
                left.push(place);
                continue;
            };
            let Some(case) = cases.get_mut(&(message, recipient)) else {
                left.push(place);
                continue;
            };
            let leg = case.delivery.leg;
            case.hear(receipt, leg, page);
            // It names the page from now on: a second receipt finds it by its id.
            let part = Part {
                home: case.bucket,
                message,
                recipient,
                leg,
                page,
            };
            parts::keep(tx, store, &self.news.report.carrier, &[(id, part)]).await?;
            adopted.insert((id, recipient), (message, page));
        }
        Ok(left)
    }

    /// The message to `recipient` that has been in doubt longest and has a page left to hear of, with that
    /// page; its case is among `cases` afterwards.
    async fn doubted(
        &self,
        tx: &mut Tx,
        recipient: Recipient,
        sender: &str,
        cases: &mut Cases,
        adopted: &Adopted<'_>,
    ) -> Result<Option<(MessageId, i64)>> {
        for message in self.in_doubt(tx, recipient, sender).await? {
            let key = (message, recipient);
            if let Some(case) = cases.get(&key) {
                let page = case.next_page(adopted);
                if page <= case.delivery.pages {
                    return Ok(Some((message, page)));
                }
                continue;
            }
            // Locked now: another node may have ended the doubt meanwhile.
            let case = stored(tx, &[(self.bucket, message, recipient)])
                .await?
                .remove(&key);
            if let Some(case) = case.filter(|case| case.delivery.status == DeliveryStatus::InDoubt)
            {
                let page = case.next_page(adopted);
                cases.insert(key, case);
                return Ok(Some((message, page)));
            }
        }
        Ok(None)
    }

    async fn in_doubt(
        &self,
        tx: &mut Tx,
        recipient: Recipient,
        sender: &str,
    ) -> Result<Vec<MessageId>> {
        // The sign keeps SQLite from reading the whole bucket: the index of those in doubt is without it.
        let rows: Vec<(Vec<u8>,)> = on!(tx, |connection| sqlx::query_as(
            "select d.message_id from deliveries d
             join messages m on m.bucket = d.bucket and m.message_id = d.message_id
             where +d.bucket = $1 and d.recipient = $3 and d.status = 'in_doubt'
                 and (d.carrier = $2 or d.copy_carrier = $2) and lower(m.sender) = lower($4)
             order by d.submitted_at_ms, d.message_id limit $5",
        )
        .bind(self.bucket.0)
        .bind(&*self.news.report.carrier)
        .bind(number(recipient))
        .bind(sender)
        .bind(MOST_CHOICES)
        .fetch_all(connection)
        .await?);
        rows.iter().map(|(id,)| message_id(id)).collect()
    }
}

impl Case {
    /// The first page of which nothing was heard, as far as that can be told: whose receipt lost its response
    /// does not say which page it is about.
    fn next_page(&self, adopted: &Adopted<'_>) -> i64 {
        let [first, second] = self.delivery.delivered_pages;
        let delivered = if self.delivery.leg < domain::SECOND_LEG {
            first
        } else {
            second
        };
        let of_this =
            |(_, to): &(&str, Recipient), message| *to == self.recipient && message == self.message;
        let mut heard: HashSet<i64> = adopted
            .iter()
            .filter(|(key, (message, _))| of_this(key, *message))
            .map(|(_, (_, page))| *page)
            .collect();
        heard.extend(self.events.iter().filter_map(|event| match event {
            DeliveryEvent::PageDelivered { leg, page } if *leg == self.delivery.leg => Some(*page),
            _ => None,
        }));
        let is_new = |page: &i64| !heard.contains(page) && delivered & (1 << (page - 1)) == 0;
        (1..=self.delivery.pages)
            .find(is_new)
            .unwrap_or(self.delivery.pages + 1)
    }
}
