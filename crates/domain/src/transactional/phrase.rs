//! Words of a text, and phrases made of words.

use std::ops::Range;

/// Maximum number of octets between two words of a phrase. A curly apostrophe has three.
const MAX_BETWEEN: usize = 3;

/// Iterates over the runs of ASCII letters and digits in a text, as ranges of octets.
pub(super) struct Words<'a> {
    octets: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self {
            octets: text.as_bytes(),
            at: 0,
        }
    }
}

impl Iterator for Words<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = &self.octets[self.at..];
        let start = self.at + rest.iter().position(u8::is_ascii_alphanumeric)?;
        let end = end_of_word(self.octets, start);
        self.at = end;
        Some(start..end)
    }
}

fn end_of_word(octets: &[u8], start: usize) -> usize {
    let length = octets[start..]
        .iter()
        .position(|octet| !octet.is_ascii_alphanumeric());
    length.map_or(octets.len(), |length| start + length)
}

/// One code word of the list.
#[derive(Clone, Debug)]
pub(super) struct Phrase {
    spelled: String,
    words: Vec<String>,
    wants_colon: bool,
}

impl Phrase {
    /// Parses a phrase. Returns `None` if it has no word.
    pub(super) fn new(spelled: &str) -> Option<Self> {
        let words: Vec<String> = Words::of(spelled)
            .map(|word| spelled[word].to_owned())
            .collect();
        (!words.is_empty()).then(|| Self {
            spelled: spelled.to_owned(),
            words,
            wants_colon: spelled.trim_end().ends_with(':'),
        })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.spelled
    }

    /// Returns the first letter or digit in lower case.
    pub(super) fn initial(&self) -> u8 {
        self.words[0].as_bytes()[0].to_ascii_lowercase()
    }

    /// Returns the end of the phrase in the text, if it begins at this word.
    pub(super) fn end_of_match(&self, text: &str, first: &Range<usize>) -> Option<usize> {
        if !text[first.clone()].eq_ignore_ascii_case(&self.words[0]) {
            return None;
        }
        let octets = text.as_bytes();
        let mut at = first.end;
        for word in &self.words[1..] {
            at += octets[at..]
                .iter()
                .take(MAX_BETWEEN + 1)
                .position(u8::is_ascii_alphanumeric)?;
            let end = end_of_word(octets, at);
            if !octets[at..end].eq_ignore_ascii_case(word.as_bytes()) {
                return None;
            }
            at = end;
        }
        let colon = text[at..].trim_start().starts_with(':');
        (colon || !self.wants_colon).then_some(at)
    }
}

/// Returns `true` if a list of words separated by spaces contains a word in any case.
pub(super) fn is_one_of(word: &str, list: &str) -> bool {
    list.split(' ').any(|one| one.eq_ignore_ascii_case(word))
}
