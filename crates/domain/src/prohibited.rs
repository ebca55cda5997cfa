//! Prohibited phrases of an operator.

use crate::text::{is_unseen, plain};

/// Phrases that no text may contain.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Prohibited(Vec<Phrase>);

/// A phrase in the forms in which it is searched, as returned by [`words`].
#[derive(Clone, Debug, Eq, PartialEq)]
struct Phrase {
    written: String,
    /// The form in plain text. `None` if letters would be lost, since the rest would be another
    /// phrase.
    plain: Option<String>,
}

impl Phrase {
    fn new(phrase: &str) -> Option<Self> {
        let written = words(phrase);
        let is_lost = |letter: char| plain(letter.encode_utf8(&mut [0; 4])).is_empty();
        let plain = (!written.contains(is_lost)).then(|| words(&plain(&written)));
        (!written.trim().is_empty()).then_some(Self { written, plain })
    }
}

impl Prohibited {
    /// Creates the phrases of an operator. Case and white space do not matter, and empty ones are
    /// left out.
    pub fn new(phrases: &[String]) -> Self {
        Self(
            phrases
                .iter()
                .filter_map(|text| Phrase::new(text))
                .collect(),
        )
    }

    /// Returns these phrases with further ones.
    #[must_use]
    pub fn with(&self, more: &[String]) -> Self {
        let Self(more) = Self::new(more);
        Self(self.0.iter().cloned().chain(more).collect())
    }

    /// Returns the phrases in the form of [`phrase`].
    pub fn phrases(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|phrase| phrase.written.trim())
    }

    /// Returns the first phrase that a text contains as whole words. Both are compared as they are
    /// written and in plain text, so accents and the choice of Unicode do not matter.
    pub fn find(&self, text: &str) -> Option<&str> {
        if self.0.is_empty() {
            return None;
        }
        // Both forms of an ASCII text are equal.
        let (made_plain, written) = if text.is_ascii() {
            (words(text), None)
        } else {
            (words(&plain(text)), Some(words(text)))
        };
        let is_held = |phrase: &&Phrase| {
            let is_in = |text: &String| text.contains(&phrase.written);
            let plain = phrase.plain.as_ref();
            plain.is_some_and(|plain| made_plain.contains(plain))
                || written.as_ref().is_some_and(is_in)
        };
        let found = self.0.iter().find(is_held)?;
        Some(found.written.trim())
    }
}

/// Returns the stored form of a phrase: lower-case words separated by single spaces. Returns `None`
/// if it has no word.
pub fn phrase(text: &str) -> Option<String> {
    let words = words(text);
    let phrase = words.trim();
    (!phrase.is_empty()).then(|| phrase.to_owned())
}

/// Returns lower-case words with a space around each, so that phrases match whole words. A
/// combining mark after its letter (ọ́ has two characters) is left out and ends no word.
fn words(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 2);
    words.push(' ');
    for word in text
        .split(|c: char| !c.is_alphanumeric() && (c.is_control() || !is_unseen(c)))
        .filter(|word| word.contains(char::is_alphanumeric))
    {
        if word.is_ascii() {
            words.push_str(word);
            let start = words.len() - word.len();
            words[start..].make_ascii_lowercase();
        } else {
            let letters = word.to_lowercase();
            words.extend(letters.chars().filter(|&letter| !is_unseen(letter)));
        }
        words.push(' ');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Text;

    #[test]
    fn a_phrase_matches_whole_words_in_any_case() {
        let prohibited = Prohibited::new(&["Casino".to_owned(), "double your  money".to_owned()]);
        let table = [
            ("Visit our CASINO today", Some("casino")),
            ("Double your money!", Some("double your money")),
            ("Casinos", None),
            ("Your money, doubled", None),
        ];
        for (text, phrase) in table {
            assert_eq!(prohibited.find(text), phrase, "{text}");
        }
    }

    #[test]
    fn phrases_are_joined_and_listed_in_one_form() {
        let configured = Prohibited::new(&["Casino".to_owned()]);
        let all = configured.with(&["double your  MONEY!".to_owned(), " - ".to_owned()]);
        let phrases: Vec<_> = all.phrases().collect();
        assert_eq!(phrases, ["casino", "double your money"]);
        assert_eq!(all.find("DOUBLE your money"), Some("double your money"));
        assert_eq!(phrase(" Ọjà -- ỌFẸ").as_deref(), Some("ọjà ọfẹ"));
        assert_eq!(phrase(" - "), None);
    }

    #[test]
    fn accents_and_plain_text_change_no_verdict() {
        let table = [
            ("ọjà ọfẹ", "Ọjà ọfẹ!", true),
            ("ọjà ọfẹ", "Oja ofe", true),
            ("oja ofe", "Ọjà ọfẹ", true),
            ("ọjà ọfẹ", "ọjàọfẹ", false),
            // The tone mark is a character of its own, also within a word.
            ("fẹ\u{301}ràn", "FẸ\u{301}RÀN", true),
            ("fẹ\u{301}ràn", "feran", true),
            ("fe\u{323}\u{301}ra\u{300}n", "fẹ́ràn", true),
            ("feran", "fẹ\u{301}ràn", true),
            ("casino", "Visit the 𝐂𝐚𝐬𝐢𝐧𝐨", true),
            // Phrases in other scripts are searched as they are written.
            ("казино", "Наше КАЗИНО", true),
            ("казино casino", "Casino", false),
            ("казино casino", "Казино Casino", true),
            ("सट्टा", "आज सट्टा", true),
            ("سلام", "❤\u{FE0F}سلام", true),
        ];
        for (phrase, body, is_found) in table {
            let prohibited = Prohibited::new(&[phrase.to_owned()]);
            for unicode in [false, true] {
                let Some(text) = Text::prepare(body, unicode) else {
                    continue;
                };
                // Plain text drops other scripts, so their phrases cannot be found in it.
                let is_left = unicode || !body.contains(is_of_other_script);
                let found = prohibited.find(text.as_str());
                assert_eq!(
                    found.is_some(),
                    is_found && is_left,
                    "{phrase}: {body}, {unicode}"
                );
            }
        }
    }

    fn is_of_other_script(letter: char) -> bool {
        matches!(letter, '\u{400}'..='\u{FFF}')
    }

    #[test]
    fn without_phrases_nothing_is_prohibited() {
        assert_eq!(
            Prohibited::new(&[" - ".to_owned()]).find("anything - at all"),
            None
        );
    }
}
