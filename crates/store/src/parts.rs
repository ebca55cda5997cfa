//! Pages by the ids that carriers gave them: how receipts find their recipients.
//!
//! A part lies in the bucket of its carrier's id, which is all that a receipt tells, and names the bucket in
//! which its delivery lives. It shares its row with those whose ids are next to it (`stored`).

pub(crate) mod stored;

use crate::Store;
use crate::batches::Progress;
use crate::db::{Change, Tx};
use crate::error::Result;
use crate::receipts::{CarrierReport, Receipt};
use crate::rows::bucket_of_id;
use crate::sql::{execute_rows, fetch_rows, find_rows};
use domain::{Bucket, MessageId, Recipient};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use stored::{apart, decode, encode, split, together};

/// Ids come again at some SMSCs: older pages than this are not meant.
const SAME_ID_FOR_MS: i64 = 7 * 86_400_000;

/// A row of so many octets takes no more pages: a carrier that counts needs less than half of it, and one that gives the
/// same id again and again would have it written whole with each.
const FULL_OCTETS: i64 = 1_024;

/// A page that a carrier has an id for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Part {
    /// Where its delivery lives.
    pub(crate) home: Bucket,
    pub(crate) message: MessageId,
    pub(crate) recipient: Recipient,
    pub(crate) leg: i64,
    pub(crate) page: i64,
    /// Whether a receipt adopted it, which does not say of which page it is: what the response says, should it come after
    /// all, is better.
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

type Id<'r> = (&'r str, &'r str);

/// Looks up the pages that some receipts may mean.
pub(crate) async fn look_up<'r>(
    tx: &mut Tx,
    store: &Store,
    now_ms: i64,
    receipts: impl Iterator<Item = (usize, &'r Receipt)>,
) -> Result<Matched> {
    let oldest = MessageId::lowest_at(now_ms - SAME_ID_FOR_MS);
    let mut matched = Matched::default();
    // An id is looked up once: many receipts may have one, and many pages.
    let mut places: HashMap<Id<'r>, usize> = HashMap::with_capacity(receipts.size_hint().0);
    for (place, receipt) in receipts {
        match places.entry((&receipt.carrier, &receipt.carrier_id)) {
            Entry::Occupied(first) => {
                matched.first.insert(place, *first.get());
            }
            Entry::Vacant(first) => {
                first.insert(place);
            }
        }
    }
    matched.parts.reserve(places.len());
    under(tx, store, places, |&place, part| {
        if part.message >= oldest {
            matched.parts.entry(place).or_default().push(part);
        }
    })
    .await?;
    Ok(matched)
}

/// Which of these pages receipts have adopted before their response named them: their places, and the pages that they
/// were taken for.
pub(crate) async fn guesses(
    tx: &mut Tx,
    store: &Store,
    pages: &[Named<'_>],
) -> Result<Vec<(usize, i64)>> {
    let mut places: HashMap<Id<'_>, Vec<usize>> = HashMap::with_capacity(pages.len());
    for (place, page) in pages.iter().enumerate() {
        places
            .entry((page.carrier, page.id))
            .or_default()
            .push(place);
    }
    let mut guesses = BTreeSet::new();
    under(tx, store, places, |places, guess| {
        let is_meant = |place: &usize| {
            let told = pages.get(*place).map(|page| &page.part);
            told.is_some_and(|told| told.leg == guess.leg && told.delivery() == guess.delivery())
        };
        if guess.is_guess {
            let meant = places.iter().copied().filter(is_meant);
            guesses.extend(meant.map(|place| (place, guess.page)));
        }
    })
    .await?;
    Ok(guesses.into_iter().collect())
}

/// Reads the pages under some ids, and hands on each with what its id stands for.
async fn under<T>(
    tx: &mut Tx,
    store: &Store,
    ids: HashMap<Id<'_>, T>,
    mut found: impl FnMut(&T, Part),
) -> Result<()> {
    let embedded = store.db.is_embedded();
    let mut stems: BTreeMap<Id<'_>, Vec<(u8, T)>> = BTreeMap::new();
    for ((carrier, id), wanted) in ids {
        let (stem, last) = split(id);
        stems
            .entry((carrier, stem))
            .or_default()
            .push((last, wanted));
    }
    let stems: Vec<(Id<'_>, Vec<(u8, T)>)> = stems.into_iter().collect();
    let placed: Vec<(i64, &Id<'_>)> = (0..).zip(stems.iter().map(|(stem, _)| stem)).collect();
    let rows: Vec<(i64, Vec<u8>)> = find_rows!(
        tx,
        &placed,
        4,
        "with v (place, bucket, carrier, stem) as (values {rows})
         select place, pages from v
         join parts on parts.bucket = v.bucket and parts.carrier = v.carrier and parts.stem = v.stem",
        |query, row| {
            let (place, (carrier, stem)) = row;
            query
                .bind(*place)
                .bind(bucket_of_id(carrier, stem, embedded).0)
                .bind(*carrier)
                .bind(*stem)
        }
    );
    for (place, pages) in rows {
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        let Some((_, wanted)) = stems.get(place) else {
            continue;
        };
        for (last, part) in decode(&pages)? {
            for (_, of) in wanted.iter().filter(|(sign, _)| *sign == last) {
                found(of, part.clone());
            }
        }
    }
    Ok(())
}

/// Keeps the carrier's ids of submitted pages, unless they are there.
pub(crate) async fn keep(tx: &mut Tx, store: &Store, parts: &[Named<'_>]) -> Result<()> {
    let embedded = store.db.is_embedded();
    let rows = packed(parts.iter(), embedded, together);
    if write(tx, &rows, FULL_OCTETS).await? == rows.len() as u64 {
        return Ok(());
    }
    // Some were there, or found their row full.
    let refused = refused(tx, &rows).await?;
    let left = parts
        .iter()
        .filter(|named| refused.contains(&Key::of(named, embedded, together)));
    write(tx, &packed(left, embedded, apart), i64::MAX).await?;
    Ok(())
}

/// Where a row of pages lies.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
struct Key<'a> {
    bucket: i64,
    carrier: &'a str,
    stem: &'a str,
    accepted_at_ms: i64,
}

impl<'a> Key<'a> {
    fn of(named: &Named<'a>, embedded: bool, moment: fn(&Part) -> i64) -> Self {
        let (stem, _) = split(named.id);
        Self {
            bucket: bucket_of_id(named.carrier, stem, embedded).0,
            carrier: named.carrier,
            stem,
            accepted_at_ms: moment(&named.part),
        }
    }
}

type Row<'a> = (Key<'a>, Vec<u8>);

/// The rows that pages make, in the order of their keys, so that two nodes lock them in the same one.
fn packed<'a>(
    parts: impl Iterator<Item = &'a Named<'a>>,
    embedded: bool,
    moment: fn(&Part) -> i64,
) -> Vec<Row<'a>> {
    let mut rows: BTreeMap<Key<'_>, Vec<(u8, Part)>> = BTreeMap::new();
    for named in parts {
        let row = rows.entry(Key::of(named, embedded, moment)).or_default();
        row.push((split(named.id).1, named.part.clone()));
    }
    rows.into_iter()
        .map(|(key, pages)| (key, encode(&pages)))
        .collect()
}

/// Writes rows, or adds to those that are there, are shorter and do not say it already; gives how many it wrote.
async fn write(tx: &mut Tx, rows: &[Row<'_>], shorter_than: i64) -> Result<u64> {
    let both = match tx {
        // It makes a text of two blobs.
        Tx::Sqlite(_) => "cast(parts.pages || excluded.pages as blob)",
        Tx::Postgres(_) => "parts.pages || excluded.pages",
    };
    let place = place_of(tx, "excluded.pages");
    let sql = format!(
        "insert into parts (bucket, carrier, stem, accepted_at_ms, pages) values {{rows}}
         on conflict (bucket, carrier, stem, accepted_at_ms) do update set pages = {both}
         where length(parts.pages) < {{1}} and {place} = 0"
    );
    Ok(execute_rows!(
        tx,
        rows,
        5,
        &sql,
        |query, row| {
            let (key, pages) = row;
            query
                .bind(key.bucket)
                .bind(key.carrier)
                .bind(key.stem)
                .bind(key.accepted_at_ms)
                .bind(&pages[..])
        },
        after | query | query.bind(shorter_than)
    ))
}

/// Where some pages stand in a row, from one on, or zero.
fn place_of(tx: &Tx, pages: &str) -> String {
    match tx {
        Tx::Sqlite(_) => format!("instr(parts.pages, {pages})"),
        Tx::Postgres(_) => format!("position({pages} in parts.pages)"),
    }
}

/// Those of the rows that were written which do not say it.
async fn refused<'a>(tx: &mut Tx, rows: &'a [Row<'a>]) -> Result<HashSet<Key<'a>>> {
    let place = place_of(tx, "v.pages");
    let sql = format!(
        "with v (place, bucket, carrier, stem, accepted_at_ms, pages) as (values {{rows}})
         select v.place from v
         join parts on parts.bucket = v.bucket and parts.carrier = v.carrier and parts.stem = v.stem
             and parts.accepted_at_ms = v.accepted_at_ms where {place} = 0"
    );
    let placed: Vec<(i64, &Row<'_>)> = (0..).zip(rows).collect();
    let refused: Vec<(i64,)> = fetch_rows!(tx, &placed, 6, &sql, |query, row| {
        let (place, (key, pages)) = row;
        query
            .bind(*place)
            .bind(key.bucket)
            .bind(key.carrier)
            .bind(key.stem)
            .bind(key.accepted_at_ms)
            .bind(&pages[..])
    });
    let refused = refused.into_iter();
    Ok(refused
        .filter_map(|(place,)| rows.get(usize::try_from(place).ok()?))
        .map(|(key, _)| *key)
        .collect())
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
    pub(crate) store: Store,
    pub(crate) report: Arc<CarrierReport>,
}

impl Change for KeepParts {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let parts: Vec<Named<'_>> = self.report.progress.iter().flat_map(submitted).collect();
        keep(tx, &self.store, &parts).await
    }
}
