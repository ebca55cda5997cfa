//! The rules themselves, over texts that were taken from a file.

use std::fmt;

/// Maximum number of words of a sentence in a document.
const MAX_WORDS: usize = 25;

/// Words that no sentence begins with.
const FORBIDDEN: [&str; 11] = [
    "what", "whoever", "whatever", "those", "has", "of", "whose", "whether", "how", "who", "why",
];

/// Verbs that no sentence begins with, even in the description of a function.
const COPULAS: [&str; 9] = [
    "is", "are", "was", "were", "had", "does", "did", "must", "cannot",
];

/// Verbs that begin a sentence only in the description of a function.
const VERBS: [&str; 32] = [
    "becomes", "begins", "belongs", "brings", "carries", "comes", "contains", "decides", "fails",
    "gets", "gives", "goes", "happens", "holds", "keeps", "knows", "lets", "loses", "makes",
    "means", "puts", "refuses", "returns", "says", "serves", "stays", "takes", "tells", "waits",
    "wants", "removes", "adds",
];

/// Words that are a verb before a determiner, and may be a noun elsewhere.
const VERBS_OR_NOUNS: [&str; 22] = [
    "finds", "sends", "answers", "asks", "calls", "checks", "closes", "counts", "ends", "leaves",
    "needs", "opens", "reads", "reports", "runs", "sets", "shows", "stands", "starts", "stops",
    "tries", "writes",
];

const DETERMINERS: [&str; 14] = [
    "a",
    "all",
    "an",
    "each",
    "every",
    "everything",
    "it",
    "its",
    "no",
    "nothing",
    "one",
    "that",
    "the",
    "what",
];

/// The place of a text, by which the rules differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Comment,
    /// The description of a function, which may begin with its verb.
    Function,
    Log,
    Document,
    /// A cell of a table in a document: a fragment is enough.
    Cell,
}

/// A paragraph, an item of a list, or one cell.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub kind: Kind,
    pub line: usize,
    pub words: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub line: usize,
    pub reason: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.line, self.reason)
    }
}

/// Returns the text with each piece of inline code and each link as one plain word.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for (index, piece) in text.split('`').enumerate() {
        if index % 2 == 0 {
            plain.push_str(piece);
        } else {
            plain.push_str("`code`");
        }
    }
    // The target of a link is no part of the sentence.
    while let Some(start) = plain.find("](") {
        let end = plain[start..]
            .find(')')
            .map_or(plain.len(), |end| start + end + 1);
        plain.replace_range(start..end, "");
    }
    plain.replace(['*', '['], "")
}

/// Splits a text where a full stop, a question mark or an exclamation mark ends a sentence.
fn sentences(text: &str) -> Vec<String> {
    let (mut sentences, mut current) = (Vec::new(), Vec::new());
    let text = plain(text);
    for word in text.split_whitespace() {
        current.push(word);
        let bare = word.trim_end_matches([')', '"']);
        let abbreviated = ["e.g.", "i.e.", "etc.", "vs."].contains(&bare);
        if bare.ends_with(['.', '?', '!']) && !abbreviated {
            sentences.push(current.join(" "));
            current.clear();
        }
    }
    sentences.push(current.join(" "));
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

fn words(sentence: &str) -> Vec<String> {
    let bare = |word: &str| {
        word.trim_matches(|character: char| !character.is_alphanumeric() && character != '`')
            .to_lowercase()
    };
    let words = sentence.split_whitespace().map(bare);
    words.filter(|word| !word.is_empty()).collect()
}

/// Returns why the beginning of a sentence is a fault.
fn bad_beginning(sentence: &str, kind: Kind) -> Option<String> {
    let words = words(sentence);
    let first = words.first()?.as_str();
    let second = words.get(1).map_or("", String::as_str);
    if kind == Kind::Document && sentence.ends_with('?') {
        return None;
    }
    let verb =
        VERBS.contains(&first) || VERBS_OR_NOUNS.contains(&first) && DETERMINERS.contains(&second);
    let forbidden = FORBIDDEN.contains(&first) || first == "that" && second == "which";
    let bad = forbidden || COPULAS.contains(&first) || verb && kind != Kind::Function;
    let start: String = sentence.chars().take(50).collect();
    bad.then(|| format!("begins without a subject: {start}"))
}

/// Returns the faults of the texts of one file.
pub(super) fn check(texts: &[Text]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for text in texts {
        for sentence in sentences(&text.words) {
            let beginning = bad_beginning(&sentence, text.kind);
            let beginning = beginning.filter(|_| text.kind != Kind::Cell);
            let count = words(&sentence).len();
            let in_document = matches!(text.kind, Kind::Document | Kind::Cell);
            let long = (in_document && count > MAX_WORDS)
                .then(|| format!("{count} words in one sentence: {sentence}"));
            let reasons = beginning.into_iter().chain(long);
            faults.extend(reasons.map(|reason| Fault {
                line: text.line,
                reason,
            }));
        }
    }
    faults
}

#[test]
fn a_sentence_ends_at_its_full_stop() {
    let cases: [(&str, &[&str]); 5] = [
        ("One. Two.", &["One.", "Two."]),
        ("At 1.5 s, e.g. here.", &["At 1.5 s, e.g. here."]),
        (
            "Is `a. b` one? (Yes.) No",
            &["Is `code` one?", "(Yes.)", "No"],
        ),
        ("**One** [two](three four).", &["One two."]),
        ("", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(sentences(text), expected, "{text}");
    }
}

#[test]
fn a_sentence_begins_with_its_subject() {
    use Kind::{Cell, Comment, Document, Function, Log};
    let cases = [
        (Comment, "What waits is sent.", 1),
        (Comment, "The queue waits. Whoever waits is sent.", 1),
        (Comment, "That which waits is sent.", 1),
        (Comment, "That is sent.", 0),
        (Comment, "Holds the lock.", 1),
        (Comment, "`hold` takes the lock.", 0),
        (Comment, "Checks the lock.", 1),
        (Comment, "Checks of the lock are cheap.", 0),
        (Comment, "Office hours are kept.", 0),
        (Comment, "Whether it waits is open.", 1),
        (Comment, "How long it waits.", 1),
        (Comment, "Who holds the lock.", 1),
        (Function, "Returns the lock.", 0),
        (Function, "Has the lock.", 1),
        (Function, "Is the lock held?", 1),
        (Log, "what waited was sent", 1),
        (Log, "carrier: bind refused", 0),
        (Document, "What is a lock?", 0),
        (Document, "What a lock is.", 1),
        (Cell, "Of the lock", 0),
    ];
    for (kind, text, expected) in cases {
        let text = Text {
            kind,
            line: 1,
            words: text.to_owned(),
        };
        assert_eq!(check(&[text]).len(), expected, "{kind:?}");
    }
}

#[test]
fn a_sentence_of_a_document_has_at_most_25_words() {
    use Kind::{Cell, Comment, Document};
    let cases = [
        (Document, 25, 0),
        (Document, 26, 1),
        (Cell, 26, 1),
        (Comment, 26, 0),
    ];
    for (kind, count, expected) in cases {
        let text = Text {
            kind,
            line: 1,
            words: "word ".repeat(count),
        };
        assert_eq!(check(&[text]).len(), expected, "{kind:?} {count}");
    }
}
