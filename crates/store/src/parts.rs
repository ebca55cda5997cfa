//! Pages by the ids that carriers gave them: how receipts find their recipients.
//!
//! A part lies in the bucket of its carrier id, which is all that a receipt tells, and names the bucket in
//! which its delivery lives.

use crate::Store;
use crate::batches::Progress;
use crate::db::{Change, Tx};
use crate::error::Result;
use crate::receipts::{CarrierReport, Receipt};
use crate::rows::{bucket_of_id, id_bytes, message_id, number, recipient};
use crate::sql::{execute_rows, fetch_rows};
use domain::{Bucket, MessageId, Recipient};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ids come again at some SMSCs: older pages than this are not meant.
const SAME_ID_FOR_MS: i64 = 7 * 86_400_000;

/// A page that a carrier has an id for.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Where its delivery lives.
    pub(crate) home: Bucket,
    pub(crate) message: MessageId,
    pub(crate) recipient: Recipient,
    pub(crate) leg: i64,
    pub(crate) page: i64,
    /// Whether a receipt adopted it, which does not say of which page it is: stored with the sign of its number.
    /// What the response says, should it come after all, is better.
    pub(crate) is_guess: bool,
}

impl Part {
    /// The key of its delivery.
    pub(crate) fn delivery(&self) -> (Bucket, MessageId, Recipient) {
        (self.home, self.message, self.recipient)
    }
}

/// A page under the id that its carrier gave it.
pub(crate) struct Named<'a> {
    pub(crate) carrier: &'a str,
    pub(crate) id: &'a str,
    pub(crate) part: Part,
}

/// The pages that some receipts may mean.
#[derive(Debug, Default)]
pub(crate) struct Matched {
    /// By the place of the first receipt with an id.
    parts: HashMap<usize, Vec<Part>>,
    /// That place, by those of all others with the id.
    first: HashMap<usize, usize>,
}

impl Matched {
    /// The page that a receipt means: its id, and its number where it tells one; of several
    /// what a response said of it, and the youngest. A guess was made where no response had named the id yet.
    pub(crate) fn find(&self, place: usize, receipt: &Receipt) -> Option<&Part> {
        let first = self.first.get(&place).unwrap_or(&place);
        self.parts
            .get(first)?
            .iter()
            .filter(|part| {
                receipt
                    .recipient
                    .is_none_or(|number| number == part.recipient)
            })
            .max_by_key(|part| (!part.is_guess, part.message))
    }
}

type PartRow = (i64, i16, Vec<u8>, i64, i16, i16);

/// Looks up the pages that some receipts may mean.
pub(crate) async fn look_up<'r>(
    tx: &mut Tx,
    store: &Store,
    now_ms: i64,
    receipts: impl Iterator<Item = (usize, &'r Receipt)>,
) -> Result<Matched> {
    let oldest = MessageId::lowest_at(now_ms - SAME_ID_FOR_MS);
    let embedded = store.db.is_embedded();
    let mut matched = Matched::default();
    // An id is looked up once: many receipts may have one, and many pages.
    let mut places: HashMap<(&str, &str), usize> = HashMap::with_capacity(receipts.size_hint().0);
    let mut named: Vec<(i64, &Receipt)> = Vec::with_capacity(receipts.size_hint().0);
    for (place, receipt) in receipts {
        match places.entry((&receipt.carrier, &receipt.carrier_id)) {
            Entry::Occupied(first) => {
                matched.first.insert(place, *first.get());
            }
            Entry::Vacant(first) => {
                first.insert(place);
                named.push((i64::try_from(place).unwrap_or(i64::MAX), receipt));
            }
        }
    }
    let rows: Vec<PartRow> = fetch_rows!(
        tx,
        &named,
        5,
        "with v (place, bucket, carrier, carrier_id, oldest) as (values {rows})
         select place, home, message_id, recipient, leg, page from v
         join parts on parts.bucket = v.bucket and parts.carrier = v.carrier
             and parts.carrier_id = v.carrier_id and message_id >= oldest",
        |query, row| {
            let (place, receipt) = row;
            let (carrier, id) = (&*receipt.carrier, receipt.carrier_id.as_str());
            query
                .bind(*place)
                .bind(bucket_of_id(carrier, id, embedded).0)
                .bind(carrier)
                .bind(id)
                .bind(id_bytes(&oldest))
        }
    );
    matched.parts.reserve(named.len());
    for (place, home, message, digits, leg, page) in rows {
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        matched.parts.entry(place).or_default().push(Part {
            home: Bucket(home.into()),
            message: message_id(&message)?,
            recipient: recipient(digits),
            leg: leg.into(),
            page: i64::from(page).abs(),
            is_guess: page < 0,
        });
    }
    Ok(matched)
}

/// Which of these pages receipts have adopted before their response named them: their places, and the pages that they
/// were taken for.
pub(crate) async fn guesses(
    tx: &mut Tx,
    store: &Store,
    pages: &[Named<'_>],
) -> Result<Vec<(usize, i64)>> {
    let embedded = store.db.is_embedded();
    let placed: Vec<(i64, &Named<'_>)> = (0..).zip(pages).collect();
    let rows: Vec<(i64, i16)> = fetch_rows!(
        tx,
        &placed,
        7,
        "with v (place, bucket, carrier, carrier_id, message_id, recipient, leg) as (values {rows})
         select v.place, page from v
         join parts on parts.bucket = v.bucket and parts.carrier_id = v.carrier_id
             and parts.carrier = v.carrier and parts.message_id = v.message_id
             and parts.recipient = v.recipient and parts.leg = v.leg and page < 0",
        |query, row| {
            let (place, Named { carrier, id, part }) = row;
            query
                .bind(*place)
                .bind(bucket_of_id(carrier, id, embedded).0)
                .bind(*carrier)
                .bind(*id)
                .bind(id_bytes(&part.message))
                .bind(number(part.recipient))
                .bind(part.leg)
        }
    );
    let place = |place| usize::try_from(place).unwrap_or(usize::MAX);
    let guessed = rows.into_iter();
    Ok(guessed
        .map(|(at, page)| (place(at), i64::from(page).abs()))
        .collect())
}

/// Keeps the carrier's ids of submitted pages, unless they are there.
pub(crate) async fn keep(tx: &mut Tx, store: &Store, parts: &[Named<'_>]) -> Result<()> {
    insert(tx, store, parts, " on conflict do nothing").await
}

async fn insert(tx: &mut Tx, store: &Store, parts: &[Named<'_>], unless: &str) -> Result<()> {
    let insert =
        "insert into parts (bucket, carrier, carrier_id, home, message_id, recipient, leg, page)
         values {rows}";
    let sql = [insert, unless].concat();
    let embedded = store.db.is_embedded();
    execute_rows!(tx, parts, 8, &sql, |query, row| {
        let &Named { carrier, id, part } = &row;
        query
            .bind(bucket_of_id(carrier, id, embedded).0)
            .bind(*carrier)
            .bind(*id)
            .bind(part.home.0)
            .bind(id_bytes(&part.message))
            .bind(number(part.recipient))
            .bind(part.leg)
            .bind(if part.is_guess { -part.page } else { part.page })
    });
    Ok(())
}

/// The pages that were submitted, by the carrier's ids.
pub(crate) fn submitted(progress: &Progress) -> impl Iterator<Item = Named<'_>> {
    let batch = &*progress.batch;
    progress.submitted.iter().flat_map(move |(recipient, ids)| {
        (1_i64..).zip(ids).map(move |(page, id)| {
            let part = Part {
                home: batch.bucket,
                message: batch.message,
                recipient: *recipient,
                leg: batch.leg,
                page,
                is_guess: false,
            };
            Named {
                carrier: &batch.carrier,
                id,
                part,
            }
        })
    })
}

/// Keeps the parts of a report before all else. They lie in other buckets than their deliveries; a receipt
/// that finds a part without its delivery waits, but one that finds no part would wait for ever.
pub(crate) struct KeepParts {
    store: Store,
    report: Arc<CarrierReport>,
    /// Whether it was tried before: then some may be there.
    again: AtomicBool,
}

impl KeepParts {
    pub(crate) fn new(store: Store, report: Arc<CarrierReport>) -> Self {
        Self {
            store,
            report,
            again: AtomicBool::new(false),
        }
    }
}

impl Change for KeepParts {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let parts: Vec<Named<'_>> = self.report.progress.iter().flat_map(submitted).collect();
        // Nearly always none is there. To look first costs a third more, so it is done when that has failed.
        let unless = if self.again.swap(true, Ordering::Relaxed) {
            " on conflict do nothing"
        } else {
            ""
        };
        insert(tx, &self.store, &parts, unless).await
    }
}
