//! DND (do not disturb): the Nigerian numbers that no promotional message goes to.
//!
//! A list of DND has millions of numbers, and most of them are close together. So they are kept in
//! blocks of 8,192 numbers. A block with few numbers is a list of 16 bit each, and a fuller one is a
//! map with a bit for each number.

use crate::csv_cells::number_cell;
use crate::number::parse_national;
use crate::number::recipient::Recipient;
use std::collections::BTreeMap;

/// Numbers of a block.
const BLOCK_NUMBERS: u64 = 8_192;
/// Octets of a map.
const MAP_OCTETS: usize = 1_024;
/// Numbers of the longest list. Its octets are fewer than those of a map, which tells them apart.
const MAX_LISTED: usize = 511;

/// The numbers of a block that are on DND.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DndBlock {
    /// The places of few numbers, in order.
    List(Vec<u16>),
    /// A bit for each number.
    Map(Box<[u8]>),
}

impl Default for DndBlock {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

/// Returns the block of a number, and its place there.
pub fn place(recipient: Recipient) -> (i64, u16) {
    let (block, place) = (
        recipient.digits() / BLOCK_NUMBERS,
        recipient.digits() % BLOCK_NUMBERS,
    );
    (
        i64::try_from(block).unwrap_or(i64::MAX),
        u16::try_from(place).unwrap_or(u16::MAX),
    )
}

impl DndBlock {
    /// Reads the stored form. Returns `None` for other octets.
    pub fn read(octets: &[u8]) -> Option<Self> {
        if octets.len() == MAP_OCTETS {
            return Some(Self::Map(octets.into()));
        }
        let (pairs, rest) = octets.as_chunks::<2>();
        if !rest.is_empty() || pairs.len() > MAX_LISTED {
            return None;
        }
        let places = pairs.iter().map(|pair| u16::from_be_bytes(*pair));
        Some(Self::List(places.collect()))
    }

    /// Returns the stored form.
    pub fn octets(&self) -> Vec<u8> {
        match self {
            Self::List(places) => places
                .iter()
                .flat_map(|place| place.to_be_bytes())
                .collect(),
            Self::Map(bits) => bits.to_vec(),
        }
    }

    /// Returns the number of its numbers.
    pub fn len(&self) -> usize {
        match self {
            Self::List(places) => places.len(),
            Self::Map(bits) => bits.iter().map(|octet| octet.count_ones() as usize).sum(),
        }
    }

    /// Returns `true` if it has no number.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `true` if it has the number at a place.
    pub fn contains(&self, place: u16) -> bool {
        match self {
            Self::List(places) => places.binary_search(&place).is_ok(),
            Self::Map(bits) => {
                let octet = bits.get(usize::from(place / 8));
                octet.is_some_and(|octet| octet & (1 << (place % 8)) != 0)
            }
        }
    }

    /// Adds the number at a place. Returns `false` if it was there.
    pub fn insert(&mut self, place: u16) -> bool {
        match self {
            Self::List(places) => {
                let Err(at) = places.binary_search(&place) else {
                    return false;
                };
                places.insert(at, place);
                if places.len() > MAX_LISTED {
                    *self = Self::Map(map_of(places));
                }
                true
            }
            Self::Map(bits) => set(bits, place),
        }
    }

    /// Removes the number at a place. Returns `false` if it was not there.
    pub fn remove(&mut self, place: u16) -> bool {
        if !self.contains(place) {
            return false;
        }
        let mut places = self.places();
        places.retain(|one| *one != place);
        *self = if places.len() > MAX_LISTED {
            Self::Map(map_of(&places))
        } else {
            Self::List(places)
        };
        true
    }

    /// Adds the numbers of another block. Returns the number of new ones.
    pub fn add(&mut self, other: &Self) -> usize {
        let places = other.places();
        places
            .into_iter()
            .filter(|place| self.insert(*place))
            .count()
    }

    /// Returns the places of its numbers, in order.
    fn places(&self) -> Vec<u16> {
        match self {
            Self::List(places) => places.clone(),
            Self::Map(_) => {
                let all = 0..u16::try_from(BLOCK_NUMBERS).unwrap_or(u16::MAX);
                all.filter(|place| self.contains(*place)).collect()
            }
        }
    }
}

fn map_of(places: &[u16]) -> Box<[u8]> {
    let mut bits = vec![0; MAP_OCTETS].into_boxed_slice();
    for place in places {
        set(&mut bits, *place);
    }
    bits
}

/// Sets the bit at a place. Returns `false` if it was set.
fn set(bits: &mut [u8], place: u16) -> bool {
    let bit = 1 << (place % 8);
    let Some(octet) = bits.get_mut(usize::from(place / 8)) else {
        return false;
    };
    let is_new = *octet & bit == 0;
    *octet |= bit;
    is_new
}

/// The numbers of a file, by their block.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DndNumbers {
    blocks: BTreeMap<i64, DndBlock>,
}

impl DndNumbers {
    /// Adds a number. Returns `false` if it was there.
    pub fn insert(&mut self, recipient: Recipient) -> bool {
        let (block, place) = place(recipient);
        self.blocks.entry(block).or_default().insert(place)
    }

    /// Returns the blocks in order.
    pub fn into_blocks(self) -> Vec<(i64, DndBlock)> {
        self.blocks.into_iter().collect()
    }
}

/// Returns the number of a line: the first cell that is a Nigerian mobile number. Cells stand
/// between commas, semicolons or tabs, with or without quotes.
pub fn number_of_line(line: &str) -> Option<Recipient> {
    let mut cells = line.split([',', ';', '\t']);
    cells.find_map(|cell| {
        let bare = cell.trim().trim_matches(['"', '\'', '\u{FEFF}']);
        parse_national(number_cell(bare))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_block_has_the_numbers_that_were_added(
            added in proptest::collection::vec(0..8_192_u16, 0..1_500),
            removed in proptest::collection::vec(0..8_192_u16, 0..800),
            near in 0..8_192_u16,
        ) {
            let mut model = BTreeSet::new();
            let mut block = DndBlock::default();
            for place in added {
                prop_assert_eq!(block.insert(place), model.insert(place));
            }
            for place in removed {
                prop_assert_eq!(block.remove(place), model.remove(&place));
            }
            prop_assert_eq!(block.len(), model.len());
            prop_assert_eq!(block.contains(near), model.contains(&near));
            let octets = block.octets();
            prop_assert!(octets.len() <= MAP_OCTETS);
            prop_assert_eq!(octets.len() == MAP_OCTETS, model.len() > MAX_LISTED);
            prop_assert_eq!(DndBlock::read(&octets), Some(block));
        }
    }

    #[test]
    fn blocks_are_joined() {
        let block = |places: std::ops::Range<u16>| {
            let mut block = DndBlock::default();
            places.for_each(|place| assert!(block.insert(place)));
            block
        };
        let mut joined = block(0..400);
        assert_eq!(joined.add(&block(300..700)), 300);
        assert_eq!(joined, block(0..700));
        assert_eq!(joined.add(&block(0..700)), 0);
        assert_eq!(DndBlock::read(&[0; 3]), None);
        assert_eq!(DndBlock::read(&[0; 1_026]), None);
    }

    #[test]
    fn a_number_has_one_place() {
        let mut numbers = DndNumbers::default();
        for digits in [2_348_031_234_567, 2_348_031_234_568, 2_349_099_999_999] {
            assert!(numbers.insert(Recipient::from_digits(digits)));
            assert!(!numbers.insert(Recipient::from_digits(digits)));
        }
        let blocks = numbers.into_blocks();
        assert_eq!(blocks.len(), 2);
        let (block, at) = place(Recipient::from_digits(2_348_031_234_567));
        assert_eq!(blocks[0].0, block);
        assert!(blocks[0].1.contains(at) && !blocks[0].1.contains(at + 2));
    }

    #[test]
    fn a_line_has_the_first_number_of_its_cells() {
        for (line, number) in [
            ("08031234567", Some(2_348_031_234_567)),
            ("\u{FEFF}+2348031234567\r", Some(2_348_031_234_567)),
            ("1;\"0803 123 4567\";2024-01-01", Some(2_348_031_234_567)),
            ("Ada,'8031234567'", Some(2_348_031_234_567)),
            ("\"2348031234567.0\",mtn", Some(2_348_031_234_567)),
            ("msisdn", None),
            ("447700900123", None),
            ("", None),
        ] {
            let found = number_of_line(line).map(Recipient::digits);
            assert_eq!(found, number, "{line}");
        }
    }
}
