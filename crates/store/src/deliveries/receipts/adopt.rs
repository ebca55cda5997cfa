//! Adoption: receipts for recipients in doubt. Their response was lost, so only the number and the
//! sender identify them.

use super::receipt::{Receipt, ReceiptStatus};
use super::report::JoinedReport;
use crate::batches::batch::Progress;
use crate::buckets::Buckets;
use crate::deliveries::carrier_ids::{self, Matched, Meant, NamedPage, PageRef};
use crate::deliveries::delivery_rows::stored;
use crate::deliveries::doubts::Doubts;
use crate::deliveries::pending::PendingSettlement;
use crate::rows::{message_id, number, recipient};
use database::{Result, Sql, Tx, bulk, query, value};
use domain::{Bucket, Leg, MessageId, PageSet, Recipient};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Messages in doubt to one number among which a receipt chooses at most, with all carriers.
const MAX_CHOICES: i64 = 256;

/// A page of a leg of a message.
type Page = (MessageId, Leg, i64);

/// Open cases, by message and recipient.
type Cases = BTreeMap<(MessageId, Recipient), PendingSettlement>;

/// The buckets of recipients in doubt that receipts may mean, by number and lower-case sender.
#[derive(Default)]
pub(super) struct Homes(HashMap<(Recipient, String), Vec<(Doubts, Bucket)>>);

impl Homes {
    /// Returns the bucket of a recipient in doubt that the receipt may mean.
    pub(super) fn of(&self, receipt: &Receipt, recipient: Recipient) -> Option<Bucket> {
        let all = self.0.get(&(recipient, receipt.sender.to_lowercase()))?;
        let with = |doubts: &Doubts| doubts.are_with(&receipt.carrier);
        let found = all.iter().find(|(doubts, _)| with(doubts));
        found.map(|&(_, bucket)| bucket)
    }
}

/// Finds their buckets. It searches all buckets, since few recipients are in doubt.
pub(super) async fn homes(tx: &mut Tx, joined: &JoinedReport, places: &[usize]) -> Result<Homes> {
    let numbers: Vec<Recipient> = places
        .iter()
        .filter_map(|&place| joined.receipt(place).recipient)
        .collect();
    let rows: Vec<(i16, i64, Option<String>, String)> = tx
        .fetch_each(
            bulk(
                "select d.bucket, d.recipient, d.doubts, lower(m.sender) from deliveries d
         join messages m on m.bucket = d.bucket and m.message_id = d.message_id
         where d.recipient = $1 and d.doubts is not null",
                "select d.bucket, d.recipient, d.doubts, lower(m.sender) from deliveries d
         join messages m on m.bucket = d.bucket and m.message_id = d.message_id
         where d.recipient in (select * from unnest($1::bigint[])) and d.doubts is not null",
            )
            .rows(&numbers, |recipient| [value(number(*recipient))]),
        )
        .await?;
    let mut homes = Homes::default();
    for (bucket, digits, doubts, sender) in rows {
        // Unreadable doubts match no receipt.
        let Ok((_, doubts)) = Doubts::from_text(doubts.as_deref()) else {
            continue;
        };
        let all = homes.0.entry((recipient(digits), sender)).or_default();
        all.push((doubts, Bucket(bucket.into())));
    }
    Ok(homes)
}

/// The adoption of recipients in doubt by the receipts of a report.
pub(super) struct Adoption<'a> {
    pub(super) buckets: Buckets,
    pub(super) joined: &'a JoinedReport,
    /// A bucket of the recipients that the transaction settles.
    pub(super) home: Bucket,
}

impl Adoption<'_> {
    /// Lets receipts with unknown ids adopt recipients in doubt: with the same carrier, number and
    /// sender, and longest in doubt. Returns the places of receipts that found none.
    pub(super) async fn adopt(
        &self,
        tx: &mut Tx,
        places: Vec<usize>,
        cases: &mut Cases,
    ) -> Result<Vec<usize>> {
        let mut left = Vec::new();
        // Several receipts with one id mean one page, whichever message it was given to.
        let mut adopted: HashMap<(&str, &str, Recipient), Page> = HashMap::new();
        let mut seen: HashSet<(&str, &str, Recipient, ReceiptStatus)> = HashSet::new();
        let mut guesses: Vec<NamedPage<'_>> = Vec::new();
        for place in places {
            let receipt = self.joined.receipt(place);
            let Some(recipient) = receipt.recipient else {
                left.push(place);
                continue;
            };
            let (carrier, id) = (&*receipt.carrier, receipt.carrier_id.as_str());
            if !id.is_empty() && !seen.insert((carrier, id, recipient, receipt.status)) {
                continue;
            }
            let known = adopted.get(&(carrier, id, recipient));
            let known = known.filter(|_| !id.is_empty());
            let found = if let Some(&found) = known {
                Some(found)
            } else {
                self.doubted(tx, recipient, receipt, cases).await?
            };
            let Some((message, leg, page)) = found else {
                left.push(place);
                continue;
            };
            let Some(case) = cases.get_mut(&(message, recipient)) else {
                left.push(place);
                continue;
            };
            // The id names the page from now on, so a second receipt finds it.
            let guess = PageRef {
                home: case.bucket,
                message,
                recipient,
                leg,
                page,
                hour_ms: carrier_ids::hour_of(self.joined.report.now_ms),
                is_guess: true,
            };
            // Another node may have recorded the receipt meanwhile, or this node in a commit
            // without an acknowledgement. The row is locked now, and the id names its page. Further
            // pages of the id are found when the receipt is matched again.
            let named = self.named(tx, receipt).await?;
            let meant = match named.find(0, receipt) {
                Meant::Pages(pages) => pages,
                Meant::Nobody => std::slice::from_ref(&guess),
                Meant::Unclear => &[],
            };
            if meant.first().is_none_or(|part| part.message != message) {
                left.push(place);
                continue;
            }
            receipt.add_events(case, meant);
            let ids = [Some(id), receipt.other_id.as_deref()];
            for part in meant {
                guesses.extend(ids.into_iter().flatten().map(|id| NamedPage {
                    carrier,
                    id,
                    part: PageRef {
                        is_guess: true,
                        ..part.clone()
                    },
                }));
            }
            adopted.insert((carrier, id, recipient), (message, leg, page));
        }
        // All pages are stored at once. Rows are shared, and each node locks them in the order of
        // their keys.
        carrier_ids::keep(tx, self.buckets, &guesses).await?;
        Ok(left)
    }

    /// Corrects the pages in cases whose receipts reported a delivery before their page had a
    /// carrier id.
    pub(super) async fn correct_guesses<'p>(
        &self,
        tx: &mut Tx,
        progress: impl Iterator<Item = &'p Progress>,
        cases: &mut [PendingSettlement],
    ) -> Result<()> {
        let may_be_wrong = |case: &&mut PendingSettlement| {
            let delivery = &case.delivery;
            case.stored && delivery.pages > 1 && delivery.delivered_pages != [PageSet::EMPTY; 2]
        };
        let open = cases.iter_mut().filter(may_be_wrong);
        let mut open: HashMap<_, _> = open.map(|case| (case.key(), case)).collect();
        if open.is_empty() {
            return Ok(());
        }
        let now_ms = self.joined.report.now_ms;
        let pages = progress.flat_map(|one| carrier_ids::submitted(one, now_ms));
        let pages: Vec<NamedPage<'_>> = pages
            .filter(|page| open.contains_key(&page.part.delivery()))
            .collect();
        let mut guesses: BTreeMap<_, Vec<(i64, i64)>> = BTreeMap::new();
        for (place, guessed) in carrier_ids::guesses(tx, self.buckets, &pages).await? {
            if let Some(NamedPage { part, .. }) = pages.get(place) {
                let of_leg = guesses.entry((part.delivery(), part.leg)).or_default();
                of_leg.push((guessed, part.page));
            }
        }
        for ((delivery, leg), pages) in guesses {
            if let Some(case) = open.get_mut(&delivery) {
                case.events.extend(case.delivery.named(leg, &pages));
            }
        }
        Ok(())
    }

    /// Returns the pages that the ids of a receipt name by now.
    async fn named(&self, tx: &mut Tx, receipt: &Receipt) -> Result<Matched> {
        if receipt.carrier_id.is_empty() {
            return Ok(Matched::default());
        }
        let receipts = [(0, receipt)].into_iter();
        carrier_ids::look_up(tx, self.buckets, self.joined.report.now_ms, receipts).await
    }

    /// Returns the page of the message to `recipient` that has been in doubt longest with the
    /// receipt's carrier. Its case is in `cases` afterwards.
    async fn doubted(
        &self,
        tx: &mut Tx,
        recipient: Recipient,
        receipt: &Receipt,
        cases: &mut Cases,
    ) -> Result<Option<Page>> {
        for (bucket, message) in self.in_doubt(tx, recipient, receipt).await? {
            let key = (message, recipient);
            if let Entry::Vacant(entry) = cases.entry(key) {
                // The row is locked now, because another node may have ended the doubt meanwhile.
                let known = stored(tx, &[(bucket, message, recipient)]).await?;
                entry.insert_entry(match known.cases.into_values().next() {
                    Some(case) => case,
                    None => continue,
                });
            }
            let page = cases
                .get(&key)
                .and_then(|case| case.doubted_page(&receipt.carrier));
            if let Some((leg, page)) = page {
                return Ok(Some((message, leg, page)));
            }
        }
        Ok(None)
    }

    async fn in_doubt(
        &self,
        tx: &mut Tx,
        recipient: Recipient,
        receipt: &Receipt,
    ) -> Result<Vec<(Bucket, MessageId)>> {
        let sql = Sql {
            // The sign keeps SQLite from a scan of the whole bucket, since the index of the doubts
            // is without it.
            sqlite: "select d.bucket, d.message_id, d.doubts from deliveries d
                 join messages m on m.bucket = d.bucket and m.message_id = d.message_id
                 where +d.bucket = 0 and d.recipient = $1 and d.doubts is not null
                     and lower(m.sender) = lower($2)
                 order by d.submitted_at_s, d.message_id limit $3",
            postgres: "select d.bucket, d.message_id, d.doubts from deliveries d
                 join messages m on m.bucket = d.bucket and m.message_id = d.message_id
                 where +d.bucket in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
                     and d.recipient = $1 and d.doubts is not null
                         and lower(m.sender) = lower($2)
                 order by d.submitted_at_s, d.message_id limit $3",
        };
        let rows: Vec<(i16, Vec<u8>, Option<String>)> = tx
            .fetch_all(
                query(sql)
                    .bind(number(recipient))
                    .bind(&receipt.sender)
                    .bind(MAX_CHOICES),
            )
            .await?;
        let mut messages = Vec::with_capacity(rows.len());
        for (bucket, id, doubts) in rows {
            let bucket = Bucket(bucket.into());
            if !self.buckets.may_share_transaction(self.home, bucket) {
                continue;
            }
            let doubts = Doubts::from_text(doubts.as_deref());
            if doubts.is_ok_and(|(_, doubts)| doubts.are_with(&receipt.carrier)) {
                messages.push((bucket, message_id(&id)?));
            }
        }
        Ok(messages)
    }
}
