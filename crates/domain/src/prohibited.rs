//! Content that an operator does not carry.

/// Phrases that no text may hold. Empty until an operator names some.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Prohibited(Vec<String>);

impl Prohibited {
    /// Phrases as an operator writes them; case and white space do not matter, empty ones are left out.
    pub fn new(phrases: &[String]) -> Self {
        Self(
            phrases
                .iter()
                .map(|phrase| words(phrase))
                .filter(|phrase| !phrase.trim().is_empty())
                .collect(),
        )
    }

    /// These phrases, and more.
    #[must_use]
    pub fn with(&self, more: &[String]) -> Self {
        let Self(more) = Self::new(more);
        Self(self.0.iter().cloned().chain(more).collect())
    }

    /// The phrases, in the form that [`phrase`] gives.
    pub fn phrases(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|phrase| phrase.trim())
    }

    /// The first phrase that a text holds as whole words.
    pub fn find(&self, text: &str) -> Option<&str> {
        if self.0.is_empty() {
            return None;
        }
        let text = words(text);
        let found = self
            .0
            .iter()
            .find(|phrase| text.contains(phrase.as_str()))?;
        Some(found.trim())
    }
}

/// A phrase as it is compared and kept: lower-case words with a space between them; `None` where it has no word.
pub fn phrase(text: &str) -> Option<String> {
    let words = words(text);
    let phrase = words.trim();
    (!phrase.is_empty()).then(|| phrase.to_owned())
}

/// Lower-case words with a space around each, so that a phrase is found at the borders of words only.
fn words(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 2);
    words.push(' ');
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        if word.is_ascii() {
            words.push_str(word);
            let start = words.len() - word.len();
            words[start..].make_ascii_lowercase();
        } else {
            words.push_str(&word.to_lowercase());
        }
        words.push(' ');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_found_as_whole_words_whatever_the_case() {
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
    fn phrases_are_joined_and_told_in_one_form() {
        let configured = Prohibited::new(&["Casino".to_owned()]);
        let all = configured.with(&["double your  MONEY!".to_owned(), " - ".to_owned()]);
        let phrases: Vec<_> = all.phrases().collect();
        assert_eq!(phrases, ["casino", "double your money"]);
        assert_eq!(all.find("DOUBLE your money"), Some("double your money"));
        assert_eq!(phrase(" Ọjà -- ỌFẸ").as_deref(), Some("ọjà ọfẹ"));
        assert_eq!(phrase(" - "), None);
    }

    #[test]
    fn without_phrases_nothing_is_prohibited() {
        assert_eq!(
            Prohibited::new(&[" - ".to_owned()]).find("anything - at all"),
            None
        );
    }
}
