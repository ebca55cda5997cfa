//! Incomplete receipts that a carrier cut into segments. No effects here.
//!
//! Segments are answered with the commit of their receipt, so after a crash the carrier repeats
//! them. Some carriers send the next segment only after the answer to the last. So a segment is
//! answered after `ANSWER_TIMEOUT`, and kept until `JOIN_TIMEOUT`. A crash in between loses it, and
//! its recipient expires.

use super::transport::{LinkId, Origin};
use smpp::{DeliverSm, Segment};
use std::collections::{BTreeMap, HashMap};

/// Time after which a segment is answered without the others.
const ANSWER_TIMEOUT_MS: i64 = 1_000;
/// Time for which a segment is kept.
const JOIN_TIMEOUT_MS: i64 = 60_000;
/// Maximum number of incomplete receipts of a carrier. The oldest one is completed early to free
/// capacity.
const MAX_WAITING: usize = 1_000;
/// Maximum size of all segments. The oldest receipt is completed early to free capacity.
const MAX_OCTETS: usize = 1_024 * 1_024;

/// Identifies the segments of one receipt.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Key {
    sender: String,
    recipient: String,
    reference: u16,
    total: u8,
}

/// An incomplete receipt.
struct Waiting {
    /// The segments by number.
    segments: BTreeMap<u8, DeliverSm>,
    /// The segments that are not answered yet.
    origins: Vec<Origin>,
    /// The steady time of the first segment.
    first_ms: i64,
    octets: usize,
    /// The order of arrival.
    order: u64,
}

/// A receipt that waits no longer. Segments may be missing.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Joined {
    pub(crate) deliver: DeliverSm,
    /// The segments that are answered with it.
    pub(crate) origins: Vec<Origin>,
}

impl Waiting {
    fn joined(self) -> Joined {
        let segments: Vec<DeliverSm> = self.segments.into_values().collect();
        Joined {
            deliver: smpp::receipt::join(&segments),
            origins: self.origins,
        }
    }
}

/// The incomplete receipts of one carrier.
#[derive(Default)]
pub(crate) struct Segments {
    waiting: HashMap<Key, Waiting>,
    octets: usize,
    count: u64,
}

impl Segments {
    /// Adds a segment. Returns the receipt if it is complete, and older receipts that had to give
    /// up capacity.
    pub(crate) fn add(
        &mut self,
        position: Segment,
        deliver: DeliverSm,
        origin: Origin,
        steady_ms: i64,
    ) -> Vec<Joined> {
        let key = Key {
            sender: deliver.destination.digits.clone(),
            recipient: deliver.source.digits.clone(),
            reference: position.reference,
            total: position.total,
        };
        self.count += 1;
        let octets = size(&deliver);
        let waiting = self.waiting.entry(key.clone()).or_insert_with(|| Waiting {
            segments: BTreeMap::new(),
            origins: Vec::new(),
            first_ms: steady_ms,
            octets: 0,
            order: self.count,
        });
        let replaced = waiting.segments.insert(position.number, deliver);
        let replaced = replaced.as_ref().map_or(0, size);
        waiting.origins.push(origin);
        waiting.octets = waiting.octets + octets - replaced;
        self.octets = self.octets + octets - replaced;
        let is_complete = waiting.segments.len() == usize::from(position.total);
        let mut done = Vec::new();
        if is_complete {
            done.extend(self.take(&key));
        }
        while self.waiting.len() > MAX_WAITING || self.octets > MAX_OCTETS {
            let all = self.waiting.iter();
            let oldest = all.min_by_key(|(_, waiting)| waiting.order);
            let Some(key) = oldest.map(|(key, _)| key.clone()) else {
                break;
            };
            done.extend(self.take(&key));
        }
        done
    }

    /// Returns the segments that must be answered now, and the receipts that waited too long.
    pub(crate) fn time_out(&mut self, steady_ms: i64) -> (Vec<Origin>, Vec<Joined>) {
        let mut answers = Vec::new();
        let mut late = Vec::new();
        for (key, waiting) in &mut self.waiting {
            if steady_ms - waiting.first_ms >= JOIN_TIMEOUT_MS {
                late.push((waiting.order, key.clone()));
            } else if steady_ms - waiting.first_ms >= ANSWER_TIMEOUT_MS {
                answers.append(&mut waiting.origins);
            }
        }
        late.sort_unstable_by_key(|(order, _)| *order);
        let late = late.iter().filter_map(|(_, key)| self.take(key));
        (answers, late.collect())
    }

    /// Removes a lost connection. The carrier repeats its unanswered segments.
    pub(crate) fn forget(&mut self, link: LinkId) {
        for waiting in self.waiting.values_mut() {
            waiting.origins.retain(|(other, _)| *other != link);
        }
    }

    fn take(&mut self, key: &Key) -> Option<Joined> {
        let waiting = self.waiting.remove(key)?;
        self.octets -= waiting.octets;
        Some(waiting.joined())
    }
}

/// Returns the approximate memory of a segment in octets.
fn size(deliver: &DeliverSm) -> usize {
    let tlvs = deliver.tlvs.iter().map(|tlv| tlv.value.len() + 8);
    let addresses = deliver.source.digits.len() + deliver.destination.digits.len();
    size_of::<DeliverSm>() + 2 * addresses + deliver.short_message.len() + tlvs.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use smpp::{Address, esm_class, udh};

    const TEXT: &str = "id:77 sub:001 dlvrd:001 stat:DELIVRD err:000 text:Hello";

    /// Returns the segments of a receipt for this number.
    fn cut(number: u64, reference: u8, total: u8) -> Vec<(Segment, DeliverSm)> {
        let length = TEXT.len().div_ceil(usize::from(total));
        let chunks = (1..).zip(TEXT.as_bytes().chunks(length));
        let all = chunks.map(|(part, text)| {
            let deliver = DeliverSm {
                source: Address::international(number.to_string()),
                destination: Address::alphanumeric("AdaFoods"),
                esm_class: esm_class::RECEIPT | esm_class::UDHI,
                short_message: [&udh(reference, total, part)[..], text].concat().into(),
                ..DeliverSm::default()
            };
            (Segment::of(&deliver).unwrap(), deliver)
        });
        all.collect()
    }

    fn text(joined: &Joined) -> &str {
        str::from_utf8(&joined.deliver.short_message).unwrap()
    }

    #[test]
    fn segments_are_joined_in_any_order() {
        let mut segments = Segments::default();
        for (round, reversed) in [false, true].into_iter().enumerate() {
            let mut all = cut(2_348_031_234_567, 7, 3);
            if reversed {
                all.reverse();
            }
            let mut done = Vec::new();
            for (sequence, (position, deliver)) in (1..).zip(all) {
                assert_eq!(done, [], "round {round}");
                // The first segment arrives twice, as after a lost connection.
                if sequence == 1 {
                    segments.add(position, deliver.clone(), (1, 9), 0);
                    segments.forget(1);
                }
                done = segments.add(position, deliver, (2, sequence), 0);
            }
            let [joined] = &done[..] else { panic!() };
            assert_eq!(text(joined), TEXT);
            assert_eq!(joined.origins, [(2, 1), (2, 2), (2, 3)]);
            assert_eq!((segments.waiting.len(), segments.octets), (0, 0));
        }
    }

    #[test]
    fn segments_of_another_receipt_are_not_joined() {
        let mut segments = Segments::default();
        let mine = cut(2_348_031_234_567, 7, 2).remove(0);
        let others = [
            cut(2_348_031_234_568, 7, 2),
            cut(2_348_031_234_567, 8, 2),
            cut(2_348_031_234_567, 7, 3),
        ];
        assert_eq!(segments.add(mine.0, mine.1, (1, 1), 0), []);
        for mut other in others {
            let (position, deliver) = other.remove(1);
            assert_eq!(segments.add(position, deliver, (1, 2), 0), []);
        }
        assert_eq!(segments.waiting.len(), 4);
    }

    #[test]
    fn an_early_answered_segment_is_still_joined() {
        let mut segments = Segments::default();
        let [first, second] = &cut(2_348_031_234_567, 7, 2)[..] else {
            panic!()
        };
        segments.add(first.0, first.1.clone(), (1, 1), 0);
        assert_eq!(segments.time_out(ANSWER_TIMEOUT_MS - 1), (vec![], vec![]));
        assert_eq!(segments.time_out(ANSWER_TIMEOUT_MS), (vec![(1, 1)], vec![]));
        assert_eq!(segments.time_out(JOIN_TIMEOUT_MS - 1), (vec![], vec![]));
        let done = segments.add(second.0, second.1.clone(), (1, 2), JOIN_TIMEOUT_MS - 1);
        assert_eq!(text(&done[0]), TEXT);
        assert_eq!(done[0].origins, [(1, 2)]);
        // A receipt that stays incomplete is given up.
        segments.add(second.0, second.1.clone(), (1, 3), 0);
        let (answers, late) = segments.time_out(JOIN_TIMEOUT_MS);
        assert_eq!((answers, late.len()), (vec![], 1));
        assert_eq!(late[0].origins, [(1, 3)]);
        assert_eq!((segments.waiting.len(), segments.octets), (0, 0));
    }

    #[test]
    fn incomplete_receipts_have_a_bound() {
        let mut segments = Segments::default();
        let mut given_up = 0;
        let mut add = |segments: &mut Segments, number: u64, filling: usize| {
            let (position, deliver) = cut(number, 7, 2).remove(0);
            let text = [&deliver.short_message[..], &vec![b'x'; filling]].concat();
            let deliver = DeliverSm {
                short_message: text.into(),
                ..deliver
            };
            let done = segments.add(position, deliver, (1, 1), 0);
            given_up += done.len();
            assert!(segments.octets <= MAX_OCTETS && segments.waiting.len() <= MAX_WAITING);
            given_up
        };
        for number in 0..5_000 {
            add(&mut segments, 10_000_000 + number, 0);
        }
        assert_eq!(segments.waiting.len(), MAX_WAITING);
        for number in 0..500 {
            add(&mut segments, 20_000_000 + number, 60_000);
        }
        let given_up = add(&mut segments, 30_000_000, 0);
        assert_eq!(given_up + segments.waiting.len(), 5_501);
    }
}
