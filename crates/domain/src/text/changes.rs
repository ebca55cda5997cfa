//! The changes that make a body plain, with their numbers.

use super::plain;
use std::collections::HashMap;

/// Maximum number of named changes. The rarest ones are left out.
pub const MAX_NAMED_CHANGES: usize = 100;

/// A change of a character.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TextChange {
    /// The character of the body.
    pub from: char,
    /// The replacement, empty if the character is removed.
    pub to: String,
    /// The number of occurrences.
    pub count: usize,
}

/// The changes of one or several texts.
#[derive(Clone, Debug, Default)]
pub struct TextChanges {
    replaced: HashMap<char, TextChange>,
    removed: HashMap<char, usize>,
}

impl TextChanges {
    /// Adds the changes that make a body plain. Joined spaces around a removed character do not
    /// count.
    pub fn add(&mut self, body: &str) {
        plain::made_plain(body, |from, to| {
            if to.is_empty() {
                *self.removed.entry(from).or_default() += 1;
                return;
            }
            let new = || TextChange {
                from,
                to: to.to_owned(),
                count: 0,
            };
            self.replaced.entry(from).or_insert_with(new).count += 1;
        });
    }

    /// Returns the changes, most frequent first.
    pub fn into_list(self) -> Vec<TextChange> {
        let removed = self.removed.into_iter().map(|(from, count)| TextChange {
            from,
            to: String::new(),
            count,
        });
        let mut list: Vec<TextChange> = self.replaced.into_values().chain(removed).collect();
        list.sort_unstable_by(|one, other| {
            let by_count = other.count.cmp(&one.count);
            by_count.then_with(|| (one.from, &one.to).cmp(&(other.from, &other.to)))
        });
        list.truncate(MAX_NAMED_CHANGES);
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Prepared;
    use proptest::prelude::*;

    type Expected = &'static [(char, &'static str, usize)];

    fn changes(body: &str) -> Vec<(char, String, usize)> {
        let mut changes = TextChanges::default();
        changes.add(body);
        let list = changes.into_list().into_iter();
        list.map(|change| (change.from, change.to, change.count))
            .collect()
    }

    #[test]
    fn every_changed_character_is_named_with_its_count() {
        let table: [(&str, Expected); 7] = [
            ("Hello [€5]", &[]),
            (
                "₦5 “x” ₦6",
                &[('₦', "N", 2), ('“', "\"", 1), ('”', "\"", 1)],
            ),
            (
                "café Æ 1½",
                &[('½', "1/2", 1), ('Æ', "AE", 1), ('é', "e", 1)],
            ),
            (
                "Hi 😀😀 سلا",
                &[('😀', "", 2), ('ا', "", 1), ('س', "", 1), ('ل', "", 1)],
            ),
            (
                "a\u{200B}e\u{301}",
                &[('\u{301}', "", 1), ('\u{200B}', "", 1)],
            ),
            (
                "1\u{FE0F}\u{20E3} 1",
                &[('1', "", 1), ('\u{20E3}', "", 1), ('\u{FE0F}', "", 1)],
            ),
            ("ＦF", &[('Ｆ', "F", 1)]),
        ];
        for (body, expected) in table {
            let expected: Vec<_> = expected
                .iter()
                .map(|&(from, to, count)| (from, to.to_owned(), count))
                .collect();
            assert_eq!(changes(body), expected, "{body}");
        }
    }

    #[test]
    fn no_more_than_100_changes_are_named() {
        let body: String = ('À'..='ɏ').chain("ẹẹ".chars()).collect();
        let list = changes(&body);
        assert_eq!(list.len(), MAX_NAMED_CHANGES);
        assert_eq!(list[0], ('ẹ', "e".to_owned(), 2));
    }

    proptest! {
        #[test]
        fn a_text_without_changes_is_sent_as_it_is(body in "[a-z {}€éẹ😀½\u{301}1\u{FE0F}\u{20E3}]{0,30}") {
            let is_changed = Prepared::of(&body, false).map(|prepared| prepared.changed);
            if let Some(is_changed) = is_changed {
                prop_assert_eq!(!changes(&body).is_empty(), is_changed);
            }
        }
    }
}
