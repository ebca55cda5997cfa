//! The words with which a subscriber opts out, opts in again, or asks for help.

/// Maximum length of a word of the operator in characters.
pub const MAX_WORD_CHARACTERS: usize = 40;

/// Words that opt out.
const STOP: [&str; 6] = ["stop", "stopall", "unsubscribe", "cancel", "end", "quit"];
/// Words that opt in again.
const START: [&str; 2] = ["start", "unstop"];
/// The word that asks for help.
const HELP: &str = "help";

/// The wish of a subscriber.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Command {
    /// The account sends nothing to the subscriber from now on.
    Stop,
    /// The account sends to the subscriber again.
    Start,
    /// The subscriber asks for help.
    Help,
}

impl Command {
    /// Returns the command of a text, and its word in lower case. The word is the whole text or its
    /// first word. Case and punctuation do not count. The words of the operator opt out as well, and
    /// may be several words.
    pub fn of(body: &str, stop_words: &[String]) -> Option<(Self, String)> {
        let first = body
            .split_whitespace()
            .map(bare)
            .find(|word| !word.is_empty());
        // "STOP, please" and "STOP/END" have a word before their punctuation, unlike "S.T.O.P.".
        let pieces =
            body.split(|letter: char| letter.is_whitespace() || ",.;:!?/".contains(letter));
        let piece = pieces.map(bare).find(|word| !word.is_empty());
        let whole = Some(bare(body));
        let own = stop_words.iter().find(|words| begins_with(body, words));
        if let Some(word) = own {
            return Some((Self::Stop, word.to_lowercase()));
        }
        [first, piece, whole]
            .into_iter()
            .flatten()
            .find_map(|word| {
                let command = Self::of_word(&word)?;
                Some((command, word))
            })
    }

    fn of_word(word: &str) -> Option<Self> {
        if STOP.contains(&word) {
            Some(Self::Stop)
        } else if START.contains(&word) {
            Some(Self::Start)
        } else if word == HELP {
            Some(Self::Help)
        } else {
            None
        }
    }
}

/// Returns `true` if a text may be a word of the operator's list.
pub fn is_stop_word(text: &str) -> bool {
    !bare(text).is_empty() && text.chars().count() <= MAX_WORD_CHARACTERS
}

/// Returns the letters and digits of a text in lower case.
fn bare(text: &str) -> String {
    let kept = text.chars().filter(|letter| letter.is_alphanumeric());
    kept.flat_map(char::to_lowercase).collect()
}

/// Returns `true` if a text begins with some words.
fn begins_with(text: &str, words: &str) -> bool {
    let bare_words = |text: &str| -> Vec<String> {
        let words = text.split_whitespace().map(bare);
        words.filter(|word| !word.is_empty()).collect()
    };
    let words = bare_words(words);
    !words.is_empty() && bare_words(text).starts_with(&words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Command::{Help, Start, Stop};

    fn of(body: &str) -> Option<Command> {
        let own = ["Opt Out".to_owned(), "DAINA".to_owned()];
        Command::of(body, &own).map(|(command, _)| command)
    }

    #[test]
    fn a_command_is_the_whole_text_or_its_first_word() {
        for (body, command) in [
            ("STOP", Some(Stop)),
            ("stop", Some(Stop)),
            (" Stop. ", Some(Stop)),
            ("\"STOP\"", Some(Stop)),
            ("S.T.O.P.", Some(Stop)),
            ("S T O P", Some(Stop)),
            ("*** stop it", Some(Stop)),
            ("Stop,please", Some(Stop)),
            ("STOP/END", Some(Stop)),
            ("Stop\nthis", Some(Stop)),
            ("STOP ALL", Some(Stop)),
            ("StopAll", Some(Stop)),
            ("Unsubscribe me", Some(Stop)),
            ("cancel!", Some(Stop)),
            ("End", Some(Stop)),
            ("QUIT", Some(Stop)),
            ("Start", Some(Start)),
            ("UN-STOP", Some(Start)),
            ("unstop please", Some(Start)),
            ("help?", Some(Help)),
            ("Help me", Some(Help)),
            ("please stop", None),
            ("non-stop music", None),
            ("stopping", None),
            ("can't stop", None),
            ("End-user question", None),
            ("", None),
            ("?!", None),
        ] {
            assert_eq!(of(body), command, "{body:?}");
        }
    }

    #[test]
    fn the_words_of_the_operator_opt_out_too() {
        for (body, command) in [
            ("daina", Some(Stop)),
            ("Daina!", Some(Stop)),
            ("OPT OUT now", Some(Stop)),
            ("opt in", None),
            ("opt", None),
            ("START", Some(Start)),
        ] {
            assert_eq!(of(body), command, "{body:?}");
        }
        assert_eq!(Command::of("daina", &[]), None);
        let own = ["Opt Out".to_owned()];
        assert_eq!(
            Command::of("opt out!", &own),
            Some((Stop, "opt out".to_owned()))
        );
        assert_eq!(Command::of("S.T.O.P", &[]), Some((Stop, "stop".to_owned())));
        for (text, is_one) in [
            ("DAINA", true),
            ("opt out", true),
            ("", false),
            ("?", false),
        ] {
            assert_eq!(is_stop_word(text), is_one, "{text}");
        }
        assert!(!is_stop_word(&"x".repeat(MAX_WORD_CHARACTERS + 1)));
    }
}
