//! Parses the list of recipients of a request.

use super::recipient::Recipient;
use super::separators::is_invisible;
use std::collections::HashSet;

/// The characters that separate numbers in a list.
pub const LIST_SEPARATORS: [char; 6] = [',', ';', '\n', '\r', '\u{2028}', '\u{2029}'];
/// Maximum number of invalid numbers that an answer names.
pub const MAX_NAMED_INVALID: usize = 100;
/// Maximum number of empty items beyond the limit of recipients, since skipping them takes time.
const MAX_EMPTY: usize = 10_000;
/// Maximum length of an invalid number in an answer, in characters.
const MAX_NAMED_CHARACTERS: usize = 32;

/// A parsed list of numbers.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RecipientList {
    /// Each recipient once, in order.
    pub valid: Vec<Recipient>,
    /// Invalid items as they were written: at most [`MAX_NAMED_INVALID`], each cut to 32
    /// characters.
    pub invalid: Vec<String>,
    /// The number of invalid items.
    pub invalid_count: usize,
}

/// The list exceeds the limit of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("more than {max} recipients in one request")]
pub struct TooMany {
    /// The maximum number of recipients.
    pub max: usize,
}

/// Parses a list of numbers separated by commas, semicolons or line ends.
///
/// Items without a visible character are skipped, and duplicates are removed. The limit counts all
/// other items, so it does not depend on their validity.
pub fn read_recipients(
    to: &str,
    parse: fn(&str) -> Option<Recipient>,
    max: usize,
) -> Result<RecipientList, TooMany> {
    let blank = |character: char| character.is_whitespace() || is_invisible(character);
    let items = to.split(LIST_SEPARATORS);
    let mut list = RecipientList::default();
    let (mut given, mut empty) = (0, 0);
    for item in items.map(|item| item.trim_matches(blank)) {
        if item.is_empty() {
            empty += 1;
            if empty > max.saturating_add(MAX_EMPTY) {
                return Err(TooMany { max });
            }
            continue;
        }
        if given == max {
            return Err(TooMany { max });
        }
        given += 1;
        match parse(item) {
            Some(recipient) => list.valid.push(recipient),
            None => list.add_invalid(item),
        }
    }
    list.collapse();
    Ok(list)
}

impl RecipientList {
    pub(crate) fn add_invalid(&mut self, item: &str) {
        self.invalid_count += 1;
        if self.invalid.len() < MAX_NAMED_INVALID {
            self.invalid
                .push(item.chars().take(MAX_NAMED_CHARACTERS).collect());
        }
    }

    fn collapse(&mut self) {
        if self.valid.len() < 2 {
            return;
        }
        // Most lists contain no duplicates, and sorting a copy proves that faster than filling a
        // set.
        let mut sorted = self.valid.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|two| two[0] == two[1]) {
            let mut seen = HashSet::with_capacity(self.valid.len());
            self.valid.retain(|&recipient| seen.insert(recipient));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::parse_national;

    fn read(to: &str) -> RecipientList {
        read_recipients(to, parse_national, 10_000).unwrap()
    }

    #[test]
    fn duplicates_are_removed_and_the_order_is_kept() {
        let list = read("08031234567, 2347012345678,+2348031234567,,\n9011234567;8031234567\r\n");
        let digits: Vec<u64> = list
            .valid
            .iter()
            .map(|recipient| recipient.digits())
            .collect();
        assert_eq!(
            digits,
            [2_348_031_234_567, 2_347_012_345_678, 2_349_011_234_567]
        );
        assert_eq!((list.invalid.len(), list.invalid_count), (0, 0));
    }

    #[test]
    fn invalid_numbers_are_named_as_they_were_spelled() {
        let list = read("0803, 08031234567,  +44 7911 123456 ,ẹẹ");
        assert_eq!(list.valid.len(), 1);
        assert_eq!(list.invalid, ["0803", "+44 7911 123456", "ẹẹ"]);
    }

    #[test]
    fn digits_among_letters_are_no_number() {
        // Parsers of contact files would accept the first two.
        let items = [
            "tel:+2348031234567",
            "uri:tel:+2348031234567",
            "Ada 08031234567",
            "08031234567 ext 5",
        ];
        let list = read(&items.join(","));
        assert_eq!(list.valid, []);
        assert_eq!(list.invalid, items);
    }

    #[test]
    fn the_size_of_an_answer_has_a_bound() {
        let long = "ẹ".repeat(5000);
        let list = read(&vec![long; 500].join(","));
        assert_eq!(
            (list.invalid.len(), list.invalid_count),
            (MAX_NAMED_INVALID, 500)
        );
        assert!(
            list.invalid
                .iter()
                .all(|item| item.chars().count() == MAX_NAMED_CHARACTERS)
        );
    }

    #[test]
    fn an_item_of_invisible_characters_is_skipped() {
        let list =
            read("\u{FEFF}08031234567,\u{200B}, \u{2060}\u{A0} ;\u{2028}08031234568\u{200E}");
        assert_eq!((list.valid.len(), list.invalid_count), (2, 0));
        assert_eq!(read("\u{200E}0803\u{200F}").invalid, ["0803"]);
    }

    #[test]
    fn a_list_of_empty_items_ends_at_a_bound() {
        let read = |commas: usize| read_recipients(&",".repeat(commas), parse_national, 10);
        assert_eq!(read(10_000), Ok(RecipientList::default()));
        assert_eq!(read(9 << 20), Err(TooMany { max: 10 }));
    }

    #[test]
    fn the_limit_counts_items_given() {
        let to = "08031234567,08031234567,x";
        assert_eq!(
            read_recipients(to, parse_national, 3).unwrap().valid.len(),
            1
        );
        assert_eq!(
            read_recipients(to, parse_national, 2),
            Err(TooMany { max: 2 })
        );
        assert!(
            read_recipients(",,;\n,", parse_national, 0)
                .unwrap()
                .valid
                .is_empty()
        );
    }
}
