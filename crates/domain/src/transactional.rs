//! Detection of transactional text, such as one-time passwords, which ordinary gateways do not
//! carry.
//!
//! A text is transactional if a *code word* ("verification code", "do not share") is near a *code*
//! (`482913`, `G-482913`, `A7K9Q2`). A false alarm refuses a paying customer, so an ambiguous
//! number is no code: see [`code`]. `data/transactional.tsv` measures the precision.

mod code;
mod phrase;

use code::Code;
use phrase::{Phrase, Words, is_one_of};

/// Maximum distance between a code and its code word, in characters.
const NEAR_CHARACTERS: usize = 60;

/// The default code words.
const STANDARD: [&str; 35] = [
    "OTP",
    "O.T.P",
    "passcode",
    "pass code",
    "2FA",
    "PIN is",
    "PIN:",
    "verify your",
    "one-time password",
    "one-time passcode",
    "one-time pass",
    "one-time PIN",
    "one-time code",
    "onetime password",
    "onetime passcode",
    "onetime pass",
    "onetime PIN",
    "onetime code",
    "verification code",
    "security code",
    "login code",
    "log-in code",
    "sign-in code",
    "signin code",
    "access code",
    "confirmation code",
    "authentication code",
    "do not share",
    "do not disclose",
    "don't share",
    "don't disclose",
    "dont share",
    "dont disclose",
    "never share",
    "never disclose",
];

/// The code words in the form for searches.
#[derive(Clone, Debug)]
pub struct CodeWords {
    phrases: Vec<Phrase>,
    /// The indexes of the phrases by their initial, so that most words of a text are skipped
    /// quickly.
    by_initial: Vec<Vec<usize>>,
}

impl CodeWords {
    /// Creates code words from phrases.
    ///
    /// Case and separators between words (space, hyphen, apostrophe) do not matter. A phrase that
    /// ends with a colon requires one in the text. Phrases without a letter or digit are skipped.
    pub fn new(phrases: &[String]) -> Self {
        let phrases: Vec<Phrase> = phrases
            .iter()
            .filter_map(|phrase| Phrase::new(phrase))
            .collect();
        let mut by_initial = vec![Vec::new(); 1 << 7];
        for (index, phrase) in phrases.iter().enumerate() {
            if let Some(starting) = by_initial.get_mut(usize::from(phrase.initial())) {
                starting.push(index);
            }
        }
        Self {
            phrases,
            by_initial,
        }
    }

    /// Returns the default code words (docs/spec/sending.md, section 6).
    pub fn standard() -> Self {
        Self::new(&Self::standard_phrases())
    }

    /// Returns the phrases of [`standard`](Self::standard), for the configuration.
    pub fn standard_phrases() -> Vec<String> {
        STANDARD.map(str::to_owned).to_vec()
    }

    /// Returns the code word that makes the text transactional, if there is one.
    pub fn transactional(&self, text: &str) -> Option<String> {
        if !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let hits = self.hits(text);
        if hits.is_empty() || is_invitation(text) {
            return None;
        }
        let codes = code::candidates(text);
        let matched = find(&hits, &codes, |hit, code| hit.leads_to(code, text)).or_else(|| {
            let likely = code::likely(codes, text);
            find(&hits, &likely, |hit, code| hit.is_near(code, text))
        });
        matched.map(|hit| self.phrases[hit.phrase].as_str().to_owned())
    }

    /// Returns every occurrence of a code word.
    fn hits(&self, text: &str) -> Vec<Hit> {
        let mut hits = Vec::new();
        for word in Words::of(text) {
            let initial = text.as_bytes()[word.start].to_ascii_lowercase();
            for &phrase in &self.by_initial[usize::from(initial)] {
                if let Some(end) = self.phrases[phrase].end_of_match(text, &word) {
                    hits.push(Hit {
                        phrase,
                        start: word.start,
                        end,
                    });
                }
            }
        }
        hits
    }
}

/// A code word in a text.
struct Hit {
    phrase: usize,
    start: usize,
    end: usize,
}

impl Hit {
    /// Returns `true` if at most [`NEAR_CHARACTERS`] separate the code word and the code.
    fn is_near(&self, code: &Code, text: &str) -> bool {
        let between = if self.end <= code.start {
            self.end..code.start
        } else {
            code.end..self.start
        };
        // A character has at most four octets. This check spares long texts from being counted
        // repeatedly.
        between.len() <= 4 * NEAR_CHARACTERS
            && text
                .get(between)
                .is_some_and(|gap| gap.chars().nth(NEAR_CHARACTERS).is_none())
    }

    /// Returns `true` if the text assigns this code to the code word: "OTP is 2026", "login code:
    /// 5000".
    fn leads_to(&self, code: &Code, text: &str) -> bool {
        if self.end > code.start || !self.is_near(code, text) {
            return false;
        }
        let gap = &text[self.end..code.start];
        let mut words = Words::of(gap).map(|word| &gap[word]).peekable();
        let is_assigned =
            words.peek().is_some() || gap.contains([':', '=', '-']) || self.ends_in_is(text);
        let is_of_the_code = words.all(|word| is_one_of(word, "is code number"));
        is_assigned && is_of_the_code && !gap.contains(['.', '!', '?', ';', ','])
    }

    /// Returns `true` if the code word itself ends with "is": "PIN is".
    fn ends_in_is(&self, text: &str) -> bool {
        text[self.start..self.end]
            .to_ascii_lowercase()
            .ends_with(" is")
    }
}

/// Returns the code word with the given relation to one of the codes.
fn find<'a>(
    hits: &'a [Hit],
    codes: &[Code],
    relates: impl Fn(&Hit, &Code) -> bool,
) -> Option<&'a Hit> {
    hits.iter()
        .find(|hit| codes.iter().any(|code| relates(hit, code)))
}

/// Returns `true` if the text invites to a video meeting, whose passcode is no secret.
fn is_invitation(text: &str) -> bool {
    let has = |words: &str| Words::of(text).any(|word| is_one_of(&text[word], words));
    has("zoom meeting webinar") && has("id join link")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Lines with a label, a tab and a text.
    const CORPUS: &str = include_str!("../data/transactional.tsv");

    #[test]
    fn the_corpus_has_99_percent_precision_and_95_recall() {
        let words = CodeWords::standard();
        let (mut right, mut missed, mut false_alarms) = (0.0, 0.0, 0.0);
        for line in CORPUS.lines() {
            let (label, text) = line.split_once('\t').unwrap();
            match (label, words.transactional(text)) {
                ("transactional", Some(_)) => right += 1.0,
                ("transactional", None) => {
                    missed += 1.0;
                    println!("missed: {text}");
                }
                ("ordinary", None) => {}
                ("ordinary", Some(phrase)) => {
                    false_alarms += 1.0;
                    println!("false alarm ({phrase}): {text}");
                }
                _ => panic!("unknown label {label}"),
            }
        }
        let (precision, recall) = (right / (right + false_alarms), right / (right + missed));
        println!(
            "{} texts, precision {precision:.3}, recall {recall:.3}",
            CORPUS.lines().count()
        );
        assert!(CORPUS.lines().count() >= 300);
        assert!(precision >= 0.99, "precision {precision}");
        assert!(recall >= 0.95, "recall {recall}");
    }

    #[test]
    fn the_code_word_that_matched_is_named() {
        let words = CodeWords::standard();
        let table = [
            (
                "Your one time password is 482913",
                Some("one-time password"),
            ),
            ("482913 is your LOGIN-CODE", Some("login code")),
            ("Don’t share 482913", Some("don't share")),
            ("Your pin: 4829", Some("PIN:")),
            ("Your PIN 4829", None),
            ("Our OTP is 2026", Some("OTP")),
            ("OTP 2026 summit in Abuja", None),
            ("Your verification code follows", None),
        ];
        for (text, expected) in table {
            assert_eq!(words.transactional(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn ambiguous_numbers_are_no_codes() {
        let words = CodeWords::standard();
        for not_a_code in [
            "08031234567",
            "0803 123 4567",
            "+234-803-123-4567",
            "N5,000",
            "N5000",
            "NGN5000",
            "N 5000",
            "₦5000",
            "#5000",
            "$5000",
            "5,000.00",
            "2,500.00",
            "5000 naira",
            "12/05/2026",
            "12-05-2026",
            "2026-05-12",
            "2025/2026",
            "10:30",
            "10:30am",
            "1030hrs",
            "0123456789",
            "*894*4829#",
            "*4829#",
            "***4829",
            "4829***",
            "10GB",
            "100L",
            "3.5",
            "4829%",
            "www.shop4829.com",
            "bit.ly/3xAb9",
            "ada4829@mail.ng",
            "20",
            "12345678901",
        ] {
            for text in [
                format!("Your OTP: {not_a_code}"),
                format!("{not_a_code} verification code"),
            ] {
                assert_eq!(words.transactional(&text), None, "{text}");
            }
        }
    }

    #[test]
    fn a_code_is_near_up_to_60_characters_away() {
        let words = CodeWords::standard();
        let after = |gap: usize| format!("OTP{} 482913", ".".repeat(gap - 1));
        let before = |gap: usize| format!("482913. {} OTP", "ẹ".repeat(gap - 3));
        for text in [after(60), before(60)] {
            assert!(words.transactional(&text).is_some(), "{text}");
        }
        for text in [after(61), before(61)] {
            assert_eq!(words.transactional(&text), None, "{text}");
        }
    }

    #[test]
    fn an_operator_replaces_the_whole_list() {
        let words = CodeWords::new(&["Pickup code".to_owned(), " - ".to_owned(), "ọrọ".to_owned()]);
        assert_eq!(
            words.transactional("Pickup code: 4829").as_deref(),
            Some("Pickup code")
        );
        assert_eq!(words.transactional("Your OTP is 4829"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(
            before in "[ẹ₦’ a-zA-Z0-9.,:*#/-]{0,80}",
            word in "(OTP|PIN is|2FA|do not share)?",
            after in "[ẹ₦’ a-z0-9.,:*#/-]{0,40}",
        ) {
            let text = [before, word, after].concat();
            CodeWords::standard().transactional(&text);
        }
    }
}
