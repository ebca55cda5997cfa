//! Pages by the ids that carriers gave them: how receipts find their recipients.
//!
//! A part lies in the bucket of its carrier's id, which is all that a receipt tells, and names the bucket in
//! which its delivery lives. It shares its row with those whose ids are next to it (`stored`).

mod matched;
pub(crate) mod stored;

use crate::Store;
use crate::batches::Progress;
use crate::deliveries::receipts::CarrierReport;
use crate::rows::bucket_of_id;
use database::{Change, Result, Sql, Tx, bulk, value};
use domain::{Bucket, Leg, MessageId, Recipient};
pub(crate) use matched::{Matched, Meant, look_up};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
pub(crate) use stored::hour_of;
use stored::{apart, each, encode, split};

/// A row of so many octets takes no more pages (decision 0035): single messages under ids in base 62, one after the other,
/// need less, and a carrier that gives the same id again and again would have it written whole with each.
const FULL_OCTETS: usize = 2_048;

/// A page that a carrier has an id for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Part {
    /// Where its delivery lives.
    pub(crate) home: Bucket,
    pub(crate) message: MessageId,
    pub(crate) recipient: Recipient,
    pub(crate) leg: Leg,
    pub(crate) page: i64,
    /// The start of the hour in which it was submitted, Unix milliseconds.
    pub(crate) hour_ms: i64,
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

type Id<'r> = (&'r str, &'r str);

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
    let mut note = |places: &[usize], guess: &Part| {
        let is_meant = |place: &usize| {
            let told = pages.get(*place).map(|page| &page.part);
            told.is_some_and(|told| told.leg == guess.leg && told.delivery() == guess.delivery())
        };
        if guess.is_guess {
            let meant = places.iter().copied().filter(is_meant);
            guesses.extend(meant.map(|place| (place, guess.page)));
        }
    };
    let full = under(tx, store, places, |places, guess| note(places, &guess)).await?;
    let full = full.into_iter().flat_map(|(_, places)| places);
    let apart: Vec<(usize, &Named<'_>)> = full
        .filter_map(|place| Some((place, pages.get(place)?)))
        .collect();
    let ids = apart.iter();
    let ids: Vec<(Id<'_>, Recipient)> = ids
        .map(|(_, page)| ((page.carrier, page.id), page.part.recipient))
        .collect();
    lying_apart(tx, store, &ids, |at, guess| {
        if let Some((place, _)) = apart.get(at) {
            note(&[*place], &guess);
        }
    })
    .await?;
    Ok(guesses.into_iter().collect())
}

/// Reads the pages under some ids, and hands on each with what its id stands for. Gives the ids of whose pages some may lie
/// apart, by their recipients.
async fn under<'r, T>(
    tx: &mut Tx,
    store: &Store,
    ids: HashMap<Id<'r>, T>,
    mut found: impl FnMut(&T, Part),
) -> Result<Vec<(Id<'r>, T)>> {
    let mut stems: BTreeMap<Id<'r>, Vec<(u8, Id<'r>, T)>> = BTreeMap::new();
    for ((carrier, id), wanted) in ids {
        let (stem, last) = split(id);
        let of_stem = stems.entry((carrier, stem)).or_default();
        of_stem.push((last, (carrier, id), wanted));
    }
    let (stems, wanted): (Vec<_>, Vec<_>) = stems.into_iter().unzip();
    let mut full = BTreeSet::new();
    for (place, hour_ms, pages) in rows(tx, store, &stems).await? {
        let Some(wanted) = wanted.get(place) else {
            continue;
        };
        if is_full(&pages) {
            full.insert(place);
        }
        each(&pages, hour_ms, |last, part| {
            for (_, _, of) in wanted.iter().filter(|(sign, ..)| *sign == last) {
                found(of, part.clone());
            }
        })?;
    }
    let all = wanted.into_iter().enumerate();
    let all = all.filter(|(place, _)| full.contains(place));
    let all = all.flat_map(|(_, wanted)| wanted);
    Ok(all.map(|(_, id, wanted)| (id, wanted)).collect())
}

/// Returns the rows of some stems: the place of each stem, the hour of submission, and pages.
async fn rows<S: AsRef<str>>(
    tx: &mut Tx,
    store: &Store,
    stems: &[(&str, S)],
) -> Result<Vec<(usize, i64, Vec<u8>)>> {
    let embedded = store.db.is_embedded();
    let placed: Vec<(i64, &(&str, S))> = (0..).zip(stems).collect();
    let rows: Vec<(i64, i64, Vec<u8>)> = tx.fetch_each(bulk("with v (place, bucket, carrier, stem) as (values ($1, $2, $3, $4))
         select place, submitted_hour_ms, pages from v
         join parts on parts.bucket = v.bucket and parts.carrier = v.carrier and parts.stem = v.stem", "with v (place, bucket, carrier, stem) as (select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]))
         select place, submitted_hour_ms, pages from v
         join parts on parts.bucket = v.bucket and parts.carrier = v.carrier and parts.stem = v.stem").rows(&placed, |row| {
            let (place, (carrier, stem)) = row;
            [value(*place), value(bucket_of_id(carrier, stem.as_ref(), embedded).0), value(*carrier), value(stem.as_ref())]
        })).await?;
    let place = |place| usize::try_from(place).unwrap_or(usize::MAX);
    let rows = rows.into_iter();
    Ok(rows
        .map(|(at, hour_ms, pages)| (place(at), hour_ms, pages))
        .collect())
}

/// Reads the pages that lie apart with some recipients, and hands on each with the place of its recipient; gives the places
/// of those who have more than are kept.
async fn lying_apart(
    tx: &mut Tx,
    store: &Store,
    all: &[(Id<'_>, Recipient)],
    mut found: impl FnMut(usize, Part),
) -> Result<BTreeSet<usize>> {
    // Ids of one stem share the rows.
    let mut places: BTreeMap<(&str, String), Vec<usize>> = BTreeMap::new();
    for (place, &((carrier, id), recipient)) in all.iter().enumerate() {
        let stem = (carrier, apart(split(id).0, recipient));
        places.entry(stem).or_default().push(place);
    }
    let (stems, places): (Vec<(&str, String)>, Vec<Vec<usize>>) = places.into_iter().unzip();
    let mut full = BTreeSet::new();
    for (row, hour_ms, pages) in rows(tx, store, &stems).await? {
        let places = places.get(row).map_or(&[][..], Vec::as_slice);
        if is_full(&pages) {
            full.extend(places);
        }
        each(&pages, hour_ms, |last, part| {
            for &place in places {
                let is_it = |((_, id), _): &(Id<'_>, Recipient)| split(id).1 == last;
                if all.get(place).is_some_and(is_it) {
                    found(place, part.clone());
                }
            }
        })?;
    }
    Ok(full)
}

/// Keeps the carrier's ids of submitted pages, unless they are there. Where a stem has many, pages lie apart by recipients;
/// where a recipient has as many, no more are kept: their receipts could not be told from each other.
pub(crate) async fn keep(tx: &mut Tx, store: &Store, parts: &[Named<'_>]) -> Result<()> {
    let embedded = store.db.is_embedded();
    let mut rows: BTreeMap<Key<'_>, Vec<&Named<'_>>> = BTreeMap::new();
    for named in parts {
        let key = Key::of(named, embedded);
        rows.entry(key).or_default().push(named);
    }
    let mut surplus = Vec::new();
    let mut written: Vec<Row<'_>> = Vec::with_capacity(rows.len());
    for (key, mut pages) in rows {
        let mut octets = packed(&pages);
        if octets.len() > FULL_OCTETS {
            // As many as fill the row.
            let enough = (1..).map(|tens| 10 * tens);
            let enough = enough.take_while(|&count| count < pages.len());
            let filled = |count: &usize| packed(&pages[..*count]).len() >= FULL_OCTETS;
            if let Some(count) = enough.into_iter().find(filled) {
                surplus.extend(pages.split_off(count));
                octets = packed(&pages);
            }
        }
        written.push((key, octets));
    }
    if write(tx, &written).await? < written.len() as u64 {
        // Some were there, or found their row full.
        let refused = refused(tx, &written).await?;
        let is_refused = |named: &&Named<'_>| refused.contains(&Key::of(named, embedded));
        surplus.retain(|named| !is_refused(named));
        surplus.extend(parts.iter().filter(is_refused));
    }
    let mut rows: BTreeMap<Key<'_>, Vec<&Named<'_>>> = BTreeMap::new();
    for named in surplus {
        let key = Key::apart(named, embedded);
        rows.entry(key).or_default().push(named);
    }
    let rows: Vec<Row<'_>> = rows
        .into_iter()
        .map(|(key, pages)| (key, packed(&pages)))
        .collect();
    write(tx, &rows).await?;
    Ok(())
}

/// Where a row of pages lies.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
struct Key<'a> {
    bucket: i64,
    carrier: &'a str,
    stem: Cow<'a, str>,
    submitted_hour_ms: i64,
}

impl<'a> Key<'a> {
    /// With the pages of its stem.
    fn of(named: &Named<'a>, embedded: bool) -> Self {
        let (stem, _) = split(named.id);
        Self::under(named, Cow::Borrowed(stem), embedded)
    }

    /// With those of its recipient.
    fn apart(named: &Named<'a>, embedded: bool) -> Self {
        let (stem, _) = split(named.id);
        let stem = apart(stem, named.part.recipient);
        Self::under(named, Cow::Owned(stem), embedded)
    }

    fn under(named: &Named<'a>, stem: Cow<'a, str>, embedded: bool) -> Self {
        Self {
            bucket: bucket_of_id(named.carrier, &stem, embedded).0,
            carrier: named.carrier,
            stem,
            submitted_hour_ms: named.part.hour_ms,
        }
    }
}

/// A row in the order of its key, so that two nodes lock them in the same one.
type Row<'a> = (Key<'a>, Vec<u8>);

fn packed(pages: &[&Named<'_>]) -> Vec<u8> {
    let pages = pages.iter();
    let pages = pages.map(|named| (split(named.id).1, named.part.clone()));
    encode(&pages.collect::<Vec<_>>())
}

/// Whether a row takes no more pages.
fn is_full(pages: &[u8]) -> bool {
    pages.len() >= FULL_OCTETS
}

/// Writes rows, or adds to those that are there, are not full and do not say it already; gives how many it wrote.
async fn write(tx: &mut Tx, rows: &[Row<'_>]) -> Result<u64> {
    if rows.is_empty() {
        return Ok(0);
    }
    let one = Sql {
        // SQLite makes a text of two blobs.
        sqlite: "insert into parts (bucket, carrier, stem, submitted_hour_ms, pages)
             values ($1, $2, $3, $4, $5)
             on conflict (bucket, carrier, stem, submitted_hour_ms)
             do update set pages = cast(parts.pages || excluded.pages as blob)
             where length(parts.pages) < $6 and instr(parts.pages, excluded.pages) = 0",
        postgres: "insert into parts (bucket, carrier, stem, submitted_hour_ms, pages)
             values ($1, $2, $3, $4, $5)
             on conflict (bucket, carrier, stem, submitted_hour_ms)
             do update set pages = parts.pages || excluded.pages
             where length(parts.pages) < $6 and position(excluded.pages in parts.pages) = 0",
    };
    let many = "insert into parts (bucket, carrier, stem, submitted_hour_ms, pages)
         select * from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bytea[])
         on conflict (bucket, carrier, stem, submitted_hour_ms)
         do update set pages = parts.pages || excluded.pages
         where length(parts.pages) < $6 and position(excluded.pages in parts.pages) = 0";
    let write = bulk(one, many).rows(rows, |(key, pages)| {
        [
            value(key.bucket),
            value(key.carrier),
            value(&*key.stem),
            value(key.submitted_hour_ms),
            value(&pages[..]),
        ]
    });
    let full = i64::try_from(FULL_OCTETS).unwrap_or(i64::MAX);
    tx.execute_each(write.bind(full)).await
}

/// Those of the rows that were written which do not say it.
async fn refused<'a>(tx: &mut Tx, rows: &'a [Row<'a>]) -> Result<HashSet<Key<'a>>> {
    let one = Sql {
        sqlite: "select $1 from parts
             where bucket = $2 and carrier = $3 and stem = $4 and submitted_hour_ms = $5
                 and instr(parts.pages, $6) = 0",
        postgres: "select $1 from parts
             where bucket = $2 and carrier = $3 and stem = $4 and submitted_hour_ms = $5
                 and position($6 in parts.pages) = 0",
    };
    let many = "with v (place, bucket, carrier, stem, submitted_hour_ms, pages) as (
             select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bytea[]))
         select v.place from v
         join parts on parts.bucket = v.bucket and parts.carrier = v.carrier and parts.stem = v.stem
             and parts.submitted_hour_ms = v.submitted_hour_ms
         where position(v.pages in parts.pages) = 0";
    let placed = (0_i64..).zip(rows);
    let ask = bulk(one, many).rows(placed, |(place, (key, pages))| {
        [
            value(place),
            value(key.bucket),
            value(key.carrier),
            value(&*key.stem),
            value(key.submitted_hour_ms),
            value(&pages[..]),
        ]
    });
    let refused: Vec<(i64,)> = tx.fetch_each(ask).await?;
    let refused = refused.into_iter();
    Ok(refused
        .filter_map(|(place,)| rows.get(usize::try_from(place).ok()?))
        .map(|(key, _)| key.clone())
        .collect())
}

/// Returns the pages that a report of that moment calls submitted, by the carrier's ids.
pub(crate) fn submitted(progress: &Progress, now_ms: i64) -> impl Iterator<Item = Named<'_>> {
    let batch = &*progress.batch;
    progress.submitted.iter().flat_map(move |(recipient, ids)| {
        (1_i64..).zip(ids).map(move |(page, id)| {
            let part = Part {
                home: batch.bucket,
                message: batch.message,
                recipient: *recipient,
                leg: batch.leg,
                page,
                hour_ms: hour_of(now_ms),
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
        let (progress, now_ms) = (self.report.progress.iter(), self.report.now_ms);
        let parts: Vec<Named<'_>> = progress.flat_map(|one| submitted(one, now_ms)).collect();
        keep(tx, &self.store, &parts).await
    }
}
