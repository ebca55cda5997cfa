//! The match of receipts to pages.

use super::index::{lying_apart, under};
use super::page::{Id, PageRef};
use super::stored::hour_of;
use crate::buckets::Buckets;
use crate::deliveries::receipts::receipt::Receipt;
use database::{Result, Tx};
use domain::{Leg, MessageId, Recipient};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

/// Time for which a carrier id is unique. Some SMSCs reuse ids, so a receipt does not mean a page
/// submitted longer ago.
const SAME_ID_FOR_MS: i64 = 7 * 86_400_000;

/// The pages that a receipt means.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Meant<'a> {
    /// No page has its id.
    Nobody,
    /// Pages of one leg of one message to one recipient. There are several if the carrier gave them
    /// all one id.
    Pages(&'a [PageRef]),
    /// More pages have its id than the receipt can distinguish.
    Unclear,
}

impl<'a> Meant<'a> {
    pub(crate) fn pages(self) -> Option<&'a [PageRef]> {
        match self {
            Self::Pages(pages) => Some(pages),
            Self::Nobody | Self::Unclear => None,
        }
    }
}

/// The pages that some receipts may mean. A receipt may name two ids. An id is identified by a
/// slot, which follows from the place of the receipt.
#[derive(Debug, Default)]
pub(crate) struct Matched {
    /// Candidate pages by the slot of the first receipt with the id, in the order of [`order`].
    parts: HashMap<usize, Vec<PageRef>>,
    /// The slot of the first receipt with an id, by the slots of all others with the same id.
    first: HashMap<usize, usize>,
    /// Slots of ids with too many pages, and the recipients with too many of them. `None` stands
    /// for a receipt without a recipient.
    unclear: BTreeSet<(usize, Option<Recipient>)>,
}

fn slots(place: usize) -> [usize; 2] {
    [2 * place, 2 * place + 1]
}

/// Sort key of the pages under an id. The pages of a recipient are adjacent, and the last of them
/// are meant. A guess was made before a response had named the id.
fn order(part: &PageRef) -> (Recipient, bool, i64, MessageId, Leg, i64) {
    let PageRef {
        recipient,
        is_guess,
        message,
        leg,
        page,
        hour_ms,
        ..
    } = *part;
    (recipient, !is_guess, hour_ms, message, leg, page)
}

/// Sets all pages of a message to their latest hour. They become adjacent, and a repeated page
/// becomes one.
fn use_latest_hours(parts: &mut [PageRef]) {
    let mut latest: HashMap<MessageId, i64> = HashMap::new();
    for part in &*parts {
        let hour_ms = latest.entry(part.message).or_insert(part.hour_ms);
        *hour_ms = part.hour_ms.max(*hour_ms);
    }
    for part in parts {
        part.hour_ms = *latest.get(&part.message).unwrap_or(&part.hour_ms);
    }
}

fn are_together(one: &PageRef, other: &PageRef) -> bool {
    let names = |part: &PageRef| (part.recipient, part.is_guess, part.message, part.leg);
    names(one) == names(other)
}

impl Matched {
    /// Returns the pages that a receipt means: pages with one of its ids, and with its number if it
    /// names one. Among several messages, a page named by a response and then the last submitted
    /// one is preferred.
    pub(crate) fn find(&self, place: usize, receipt: &Receipt) -> Meant<'_> {
        let mut found = Meant::Nobody;
        for slot in slots(place) {
            match self.under(slot, receipt.recipient) {
                Meant::Nobody => {}
                Meant::Unclear => found = Meant::Unclear,
                pages @ Meant::Pages(_) => return pages,
            }
        }
        found
    }

    fn under(&self, slot: usize, recipient: Option<Recipient>) -> Meant<'_> {
        let slot = *self.first.get(&slot).unwrap_or(&slot);
        if self.unclear.contains(&(slot, recipient)) {
            return Meant::Unclear;
        }
        let mut parts = self.parts.get(&slot).map_or(&[][..], Vec::as_slice);
        if let Some(recipient) = recipient {
            let start = parts.partition_point(|part| part.recipient < recipient);
            let end = parts.partition_point(|part| part.recipient <= recipient);
            parts = parts.get(start..end).unwrap_or_default();
        }
        let mut groups = parts.chunk_by(are_together);
        let last = |group: &&[PageRef]| {
            let rank = |part: &PageRef| (!part.is_guess, part.hour_ms, part.message);
            group.last().map(rank)
        };
        let Some(youngest) = groups.clone().max_by_key(last) else {
            return Meant::Nobody;
        };
        let is_other = |group: &[PageRef]| {
            let recipient = |group: &[PageRef]| group.last().map(|part| part.recipient);
            last(&group) == last(&youngest) && recipient(group) != recipient(youngest)
        };
        if groups.any(is_other) {
            return Meant::Unclear;
        }
        Meant::Pages(youngest)
    }

    /// Adds the pages that lie apart by recipient. A receipt without a recipient could mean any of
    /// them.
    async fn look_apart(
        &mut self,
        tx: &mut Tx,
        buckets: Buckets,
        oldest_ms: i64,
        full: &[(Id<'_>, Wanted)],
    ) -> Result<()> {
        let (mut all, mut slots) = (Vec::new(), Vec::new());
        for (id, wanted) in full {
            if wanted.anybody {
                self.unclear.insert((wanted.slot, None));
            }
            for recipient in wanted.recipients.all() {
                all.push((*id, recipient));
                slots.push(wanted.slot);
            }
        }
        let parts = &mut self.parts;
        let too_many = lying_apart(tx, buckets, &all, |place, part| {
            if let Some(slot) = slots.get(place)
                && part.hour_ms >= oldest_ms
            {
                parts.entry(*slot).or_default().push(part);
            }
        })
        .await?;
        for place in too_many {
            if let (Some(slot), Some((_, recipient))) = (slots.get(place), all.get(place)) {
                self.unclear.insert((*slot, Some(*recipient)));
            }
        }
        Ok(())
    }
}

/// The recipients to look up under an id.
struct Wanted {
    slot: usize,
    /// `true` if a receipt names no recipient.
    anybody: bool,
    recipients: Recipients,
}

/// The recipients of an id, usually of a single receipt.
enum Recipients {
    One(Option<Recipient>),
    Many(BTreeSet<Recipient>),
}

impl Recipients {
    fn insert(&mut self, recipient: Recipient) {
        match self {
            Self::One(one) if one.is_none_or(|one| one == recipient) => *one = Some(recipient),
            Self::One(one) => *self = Self::Many(one.iter().copied().chain([recipient]).collect()),
            Self::Many(all) => drop(all.insert(recipient)),
        }
    }

    fn contains(&self, recipient: Recipient) -> bool {
        match self {
            Self::One(one) => *one == Some(recipient),
            Self::Many(all) => all.contains(&recipient),
        }
    }

    fn all(&self) -> Vec<Recipient> {
        match self {
            Self::One(one) => one.iter().copied().collect(),
            Self::Many(all) => all.iter().copied().collect(),
        }
    }
}

/// Looks up the pages that some receipts may mean.
pub(crate) async fn look_up<'r>(
    tx: &mut Tx,
    buckets: Buckets,
    now_ms: i64,
    receipts: impl Iterator<Item = (usize, &'r Receipt)>,
) -> Result<Matched> {
    let oldest_ms = hour_of(now_ms - SAME_ID_FOR_MS);
    let mut matched = Matched::default();
    // An id is looked up once, because many receipts may share it, and so may many pages.
    let mut ids: HashMap<Id<'r>, Wanted> = HashMap::with_capacity(receipts.size_hint().0);
    for (place, receipt) in receipts {
        let names = [Some(&receipt.carrier_id), receipt.other_id.as_ref()];
        for (slot, id) in slots(place).into_iter().zip(names) {
            let Some(id) = id else { continue };
            let wanted = match ids.entry((&receipt.carrier, id)) {
                Entry::Occupied(first) => {
                    let first = first.into_mut();
                    matched.first.insert(slot, first.slot);
                    first
                }
                Entry::Vacant(first) => first.insert(Wanted {
                    slot,
                    anybody: false,
                    recipients: Recipients::One(None),
                }),
            };
            match receipt.recipient {
                Some(recipient) => wanted.recipients.insert(recipient),
                None => wanted.anybody = true,
            }
        }
    }
    matched.parts.reserve(ids.len());
    let full = under(tx, buckets, ids, |wanted, part| {
        let is_wanted = wanted.anybody || wanted.recipients.contains(part.recipient);
        if is_wanted && part.hour_ms >= oldest_ms {
            matched.parts.entry(wanted.slot).or_default().push(part);
        }
    })
    .await?;
    if !full.is_empty() {
        matched.look_apart(tx, buckets, oldest_ms, &full).await?;
    }
    for parts in matched.parts.values_mut().filter(|all| all.len() > 1) {
        use_latest_hours(parts);
        parts.sort_unstable_by_key(order);
        parts.dedup();
    }
    Ok(matched)
}
