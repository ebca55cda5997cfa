//! The index: rows of pages, by the prefixes of their carrier ids.

use super::page::{Id, NamedPage, PageRef};
use super::stored::{apart, each, encode, split};
use crate::buckets::Buckets;
use database::{Result, Sql, Tx, bulk, value};
use domain::Recipient;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Size at which a row takes no more pages (decision 0035). Single messages under successive ids in
/// base 62 need less. A carrier that repeats an id would rewrite the whole row with each page.
const FULL_OCTETS: usize = 2_048;

/// Returns the places of the pages that receipts adopted before their response arrived, each with
/// the page that was assumed.
pub(crate) async fn guesses(
    tx: &mut Tx,
    buckets: Buckets,
    pages: &[NamedPage<'_>],
) -> Result<Vec<(usize, i64)>> {
    let mut places: HashMap<Id<'_>, Vec<usize>> = HashMap::with_capacity(pages.len());
    for (place, page) in pages.iter().enumerate() {
        places
            .entry((page.carrier, page.id))
            .or_default()
            .push(place);
    }
    let mut guesses = BTreeSet::new();
    let mut note = |places: &[usize], guess: &PageRef| {
        let is_meant = |place: &usize| {
            let reported = pages.get(*place).map(|page| &page.part);
            reported.is_some_and(|reported| {
                reported.leg == guess.leg && reported.delivery() == guess.delivery()
            })
        };
        if guess.is_guess {
            let meant = places.iter().copied().filter(is_meant);
            guesses.extend(meant.map(|place| (place, guess.page)));
        }
    };
    let full = under(tx, buckets, places, |places, guess| note(places, &guess)).await?;
    let full = full.into_iter().flat_map(|(_, places)| places);
    let apart: Vec<(usize, &NamedPage<'_>)> = full
        .filter_map(|place| Some((place, pages.get(place)?)))
        .collect();
    let ids = apart.iter();
    let ids: Vec<(Id<'_>, Recipient)> = ids
        .map(|(_, page)| ((page.carrier, page.id), page.part.recipient))
        .collect();
    lying_apart(tx, buckets, &ids, |at, guess| {
        if let Some((place, _)) = apart.get(at) {
            note(&[*place], &guess);
        }
    })
    .await?;
    Ok(guesses.into_iter().collect())
}

/// Reads the pages under some ids, and passes each to a function with the value of its id. Returns
/// the ids whose pages may also lie apart, by their recipients.
pub(super) async fn under<'r, T>(
    tx: &mut Tx,
    buckets: Buckets,
    ids: HashMap<Id<'r>, T>,
    mut found: impl FnMut(&T, PageRef),
) -> Result<Vec<(Id<'r>, T)>> {
    let mut prefixes: BTreeMap<Id<'r>, Vec<(u8, Id<'r>, T)>> = BTreeMap::new();
    for ((carrier, id), wanted) in ids {
        let (prefix, last) = split(id);
        let of_prefix = prefixes.entry((carrier, prefix)).or_default();
        of_prefix.push((last, (carrier, id), wanted));
    }
    let (prefixes, wanted): (Vec<_>, Vec<_>) = prefixes.into_iter().unzip();
    let mut full = BTreeSet::new();
    for (place, hour_ms, pages) in rows(tx, buckets, &prefixes).await? {
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

/// Returns the rows of some prefixes: the place of each prefix, the hour of submission, and pages.
async fn rows<S: AsRef<str>>(
    tx: &mut Tx,
    buckets: Buckets,
    prefixes: &[(&str, S)],
) -> Result<Vec<(usize, i64, Vec<u8>)>> {
    let placed: Vec<(i64, &(&str, S))> = (0..).zip(prefixes).collect();
    let rows: Vec<(i64, i64, Vec<u8>)> = tx
        .fetch_each(
            bulk(
                "with v (place, bucket, carrier, prefix) as (values ($1, $2, $3, $4))
         select place, submitted_hour_ms, pages from v
         join carrier_ids on carrier_ids.bucket = v.bucket
             and carrier_ids.carrier = v.carrier and carrier_ids.prefix = v.prefix",
                "with v (place, bucket, carrier, prefix) as (select *
         from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]))
         select place, submitted_hour_ms, pages from v
         join carrier_ids on carrier_ids.bucket = v.bucket
             and carrier_ids.carrier = v.carrier and carrier_ids.prefix = v.prefix",
            )
            .rows(&placed, |row| {
                let (place, (carrier, prefix)) = row;
                [
                    value(*place),
                    value(buckets.carrier_id(carrier, prefix.as_ref()).0),
                    value(*carrier),
                    value(prefix.as_ref()),
                ]
            }),
        )
        .await?;
    let place = |place| usize::try_from(place).unwrap_or(usize::MAX);
    let rows = rows.into_iter();
    Ok(rows
        .map(|(at, hour_ms, pages)| (place(at), hour_ms, pages))
        .collect())
}

/// Reads the pages that lie apart for some recipients, and passes on each with the place of its
/// recipient. Returns the places of recipients whose pages exceed the limit.
pub(super) async fn lying_apart(
    tx: &mut Tx,
    buckets: Buckets,
    all: &[(Id<'_>, Recipient)],
    mut found: impl FnMut(usize, PageRef),
) -> Result<BTreeSet<usize>> {
    // Ids of one prefix share rows.
    let mut places: BTreeMap<(&str, String), Vec<usize>> = BTreeMap::new();
    for (place, &((carrier, id), recipient)) in all.iter().enumerate() {
        let prefix = (carrier, apart(split(id).0, recipient));
        places.entry(prefix).or_default().push(place);
    }
    let (prefixes, places): (Vec<(&str, String)>, Vec<Vec<usize>>) = places.into_iter().unzip();
    let mut full = BTreeSet::new();
    for (row, hour_ms, pages) in rows(tx, buckets, &prefixes).await? {
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

/// Stores the carrier ids of submitted pages, unless they are stored already. If a prefix has too
/// many pages, they lie apart by recipient. If a recipient has too many, no more are stored: their
/// receipts could not be told apart.
pub(crate) async fn keep(tx: &mut Tx, buckets: Buckets, parts: &[NamedPage<'_>]) -> Result<()> {
    let mut rows: BTreeMap<Key<'_>, Vec<&NamedPage<'_>>> = BTreeMap::new();
    for named in parts {
        let key = Key::of(named, buckets);
        rows.entry(key).or_default().push(named);
    }
    let mut surplus = Vec::new();
    let mut written: Vec<Row<'_>> = Vec::with_capacity(rows.len());
    for (key, mut pages) in rows {
        let mut octets = packed(&pages);
        if octets.len() > FULL_OCTETS {
            // The row takes as many pages as fill it.
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
        // Some pages existed already, or their row was full.
        let refused = refused(tx, &written).await?;
        let is_refused = |named: &&NamedPage<'_>| refused.contains(&Key::of(named, buckets));
        surplus.retain(|named| !is_refused(named));
        surplus.extend(parts.iter().filter(is_refused));
    }
    let mut rows: BTreeMap<Key<'_>, Vec<&NamedPage<'_>>> = BTreeMap::new();
    for named in surplus {
        let key = Key::apart(named, buckets);
        rows.entry(key).or_default().push(named);
    }
    let rows: Vec<Row<'_>> = rows
        .into_iter()
        .map(|(key, pages)| (key, packed(&pages)))
        .collect();
    write(tx, &rows).await?;
    Ok(())
}

/// The key of a row of pages.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
struct Key<'a> {
    bucket: i64,
    carrier: &'a str,
    prefix: Cow<'a, str>,
    submitted_hour_ms: i64,
}

impl<'a> Key<'a> {
    /// Returns the key of the row for the prefix of the id.
    fn of(named: &NamedPage<'a>, buckets: Buckets) -> Self {
        let (prefix, _) = split(named.id);
        Self::under(named, Cow::Borrowed(prefix), buckets)
    }

    /// Returns the key of the row for the recipient.
    fn apart(named: &NamedPage<'a>, buckets: Buckets) -> Self {
        let (prefix, _) = split(named.id);
        let prefix = apart(prefix, named.part.recipient);
        Self::under(named, Cow::Owned(prefix), buckets)
    }

    fn under(named: &NamedPage<'a>, prefix: Cow<'a, str>, buckets: Buckets) -> Self {
        Self {
            bucket: buckets.carrier_id(named.carrier, &prefix).0,
            carrier: named.carrier,
            prefix,
            submitted_hour_ms: named.part.hour_ms,
        }
    }
}

/// A row with its key. Rows are sorted by key, so that two nodes lock them in the same order.
type Row<'a> = (Key<'a>, Vec<u8>);

fn packed(pages: &[&NamedPage<'_>]) -> Vec<u8> {
    let pages = pages.iter();
    let pages = pages.map(|named| (split(named.id).1, named.part.clone()));
    encode(&pages.collect::<Vec<_>>())
}

/// Returns `true` if a row takes no more pages.
fn is_full(pages: &[u8]) -> bool {
    pages.len() >= FULL_OCTETS
}

/// Inserts rows, or appends to existing ones that are not full and lack the pages. Returns how many
/// rows were written.
async fn write(tx: &mut Tx, rows: &[Row<'_>]) -> Result<u64> {
    if rows.is_empty() {
        return Ok(0);
    }
    let one = Sql {
        // SQLite concatenates two blobs to a text.
        sqlite: "insert into carrier_ids (bucket, carrier, prefix, submitted_hour_ms, pages)
             values ($1, $2, $3, $4, $5)
             on conflict (bucket, carrier, prefix, submitted_hour_ms)
             do update set pages = cast(carrier_ids.pages || excluded.pages as blob)
             where length(carrier_ids.pages) < $6
                 and instr(carrier_ids.pages, excluded.pages) = 0",
        postgres: "insert into carrier_ids (bucket, carrier, prefix, submitted_hour_ms, pages)
             values ($1, $2, $3, $4, $5)
             on conflict (bucket, carrier, prefix, submitted_hour_ms)
             do update set pages = carrier_ids.pages || excluded.pages
             where length(carrier_ids.pages) < $6
                 and position(excluded.pages in carrier_ids.pages) = 0",
    };
    let many = "insert into carrier_ids (bucket, carrier, prefix, submitted_hour_ms, pages)
         select * from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bytea[])
         on conflict (bucket, carrier, prefix, submitted_hour_ms)
         do update set pages = carrier_ids.pages || excluded.pages
         where length(carrier_ids.pages) < $6
             and position(excluded.pages in carrier_ids.pages) = 0";
    let write = bulk(one, many).rows(rows, |(key, pages)| {
        [
            value(key.bucket),
            value(key.carrier),
            value(&*key.prefix),
            value(key.submitted_hour_ms),
            value(&pages[..]),
        ]
    });
    let full = i64::try_from(FULL_OCTETS).unwrap_or(i64::MAX);
    tx.execute_each(write.bind(full)).await
}

/// Returns the keys of the rows that do not contain their pages after the write.
async fn refused<'a>(tx: &mut Tx, rows: &'a [Row<'a>]) -> Result<HashSet<Key<'a>>> {
    let one = Sql {
        sqlite: "select $1 from carrier_ids
             where bucket = $2 and carrier = $3 and prefix = $4 and submitted_hour_ms = $5
                 and instr(carrier_ids.pages, $6) = 0",
        postgres: "select $1 from carrier_ids
             where bucket = $2 and carrier = $3 and prefix = $4 and submitted_hour_ms = $5
                 and position($6 in carrier_ids.pages) = 0",
    };
    let many = "with v (place, bucket, carrier, prefix, submitted_hour_ms, pages) as (
             select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[],
                 $5::bigint[], $6::bytea[]))
         select v.place from v
         join carrier_ids on carrier_ids.bucket = v.bucket
             and carrier_ids.carrier = v.carrier and carrier_ids.prefix = v.prefix
             and carrier_ids.submitted_hour_ms = v.submitted_hour_ms
         where position(v.pages in carrier_ids.pages) = 0";
    let placed = (0_i64..).zip(rows);
    let ask = bulk(one, many).rows(placed, |(place, (key, pages))| {
        [
            value(place),
            value(key.bucket),
            value(key.carrier),
            value(&*key.prefix),
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
