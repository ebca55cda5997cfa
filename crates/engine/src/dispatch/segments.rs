//! Receipts that a carrier cut into segments, as they wait for the others. No effects here.
//!
//! Segments are answered with the commit of their receipt: a segment that was not answered comes again, so a crash loses
//! none. Some carriers send the next one only after the answer. So what has waited for `ANSWER_TIMEOUT` is answered, and kept
//! until `JOIN_TIMEOUT`; of such a receipt a crash loses what was answered, and its recipient expires.

use super::transport::{LinkId, Origin};
use smpp::{DeliverSm, Segment};
use std::collections::{BTreeMap, HashMap};

/// How long a segment waits for the others before it is answered.
const ANSWER_TIMEOUT_MS: i64 = 1_000;
/// How long it is kept for them.
const JOIN_TIMEOUT_MS: i64 = 60_000;
/// Receipts of a carrier that wait for segments at a time. The oldest is given up for one more.
const MAX_WAITING: usize = 1_000;
/// Octets of all their segments. The oldest is given up for more.
const MAX_OCTETS: usize = 1_024 * 1_024;

/// The segments that belong together.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Key {
    sender: String,
    recipient: String,
    reference: u16,
    total: u8,
}

/// A receipt of which segments are missing.
struct Waiting {
    /// By their numbers.
    segments: BTreeMap<u8, DeliverSm>,
    /// The segments that are not answered yet.
    origins: Vec<Origin>,
    /// When the first came, by the steady time.
    since_ms: i64,
    octets: usize,
    /// The order tells which came first.
    order: u64,
}

/// A receipt that waits no longer.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Joined {
    pub(crate) deliver: DeliverSm,
    /// The part that is to be answered with it.
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

/// The receipts of one carrier that wait for segments.
#[derive(Default)]
pub(crate) struct Segments {
    waiting: HashMap<Key, Waiting>,
    octets: usize,
    count: u64,
}

impl Segments {
    /// Takes a segment in. Gives the receipt that is whole now, and those that are given up for it, with what came of them.
    pub(crate) fn add(
        &mut self,
        place: Segment,
        deliver: DeliverSm,
        origin: Origin,
        steady_ms: i64,
    ) -> Vec<Joined> {
        let key = Key {
            sender: deliver.destination.digits.clone(),
            recipient: deliver.source.digits.clone(),
            reference: place.reference,
            total: place.total,
        };
        self.count += 1;
        let octets = size(&deliver);
        let waiting = self.waiting.entry(key.clone()).or_insert_with(|| Waiting {
            segments: BTreeMap::new(),
            origins: Vec::new(),
            since_ms: steady_ms,
            octets: 0,
            order: self.count,
        });
        let replaced = waiting.segments.insert(place.number, deliver);
        let replaced = replaced.as_ref().map_or(0, size);
        waiting.origins.push(origin);
        waiting.octets = waiting.octets + octets - replaced;
        self.octets = self.octets + octets - replaced;
        let is_whole = waiting.segments.len() == usize::from(place.total);
        let mut done = Vec::new();
        if is_whole {
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

    /// Gives what has waited long enough to be answered, and the receipts that are given up.
    pub(crate) fn time_out(&mut self, steady_ms: i64) -> (Vec<Origin>, Vec<Joined>) {
        let mut answers = Vec::new();
        let mut late = Vec::new();
        for (key, waiting) in &mut self.waiting {
            if steady_ms - waiting.since_ms >= JOIN_TIMEOUT_MS {
                late.push((waiting.order, key.clone()));
            } else if steady_ms - waiting.since_ms >= ANSWER_TIMEOUT_MS {
                answers.append(&mut waiting.origins);
            }
        }
        late.sort_unstable_by_key(|(order, _)| *order);
        let late = late.iter().filter_map(|(_, key)| self.take(key));
        (answers, late.collect())
    }

    /// A connection is gone: what was not answered on it comes again.
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

/// About the octets that a segment takes.
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

    /// The segments of a receipt for this number.
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
    fn a_receipt_is_whole_with_its_segments_in_any_order() {
        let mut segments = Segments::default();
        for (round, reversed) in [false, true].into_iter().enumerate() {
            let mut all = cut(2_348_031_234_567, 7, 3);
            if reversed {
                all.reverse();
            }
            let mut done = Vec::new();
            for (sequence, (place, deliver)) in (1..).zip(all) {
                assert_eq!(done, [], "round {round}");
                // One comes twice, as after a lost connection.
                if sequence == 1 {
                    segments.add(place, deliver.clone(), (1, 9), 0);
                    segments.forget(1);
                }
                done = segments.add(place, deliver, (2, sequence), 0);
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
            let (place, deliver) = other.remove(1);
            assert_eq!(segments.add(place, deliver, (1, 2), 0), []);
        }
        assert_eq!(segments.waiting.len(), 4);
    }

    #[test]
    fn a_segment_is_answered_in_time_and_kept_for_the_others() {
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
        // One that stays alone is given up.
        segments.add(second.0, second.1.clone(), (1, 3), 0);
        let (answers, late) = segments.time_out(JOIN_TIMEOUT_MS);
        assert_eq!((answers, late.len()), (vec![], 1));
        assert_eq!(late[0].origins, [(1, 3)]);
        assert_eq!((segments.waiting.len(), segments.octets), (0, 0));
    }

    #[test]
    fn what_waits_for_segments_has_a_bound() {
        let mut segments = Segments::default();
        let mut given_up = 0;
        let mut add = |segments: &mut Segments, number: u64, filling: usize| {
            let (place, deliver) = cut(number, 7, 2).remove(0);
            let text = [&deliver.short_message[..], &vec![b'x'; filling]].concat();
            let deliver = DeliverSm {
                short_message: text.into(),
                ..deliver
            };
            let done = segments.add(place, deliver, (1, 1), 0);
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
