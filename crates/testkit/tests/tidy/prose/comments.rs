//! Comments as lines with one mark before them, cut into paragraphs and items of lists.

use super::{Kind, Text};

/// Returns the length of the mark of a list's item at the start of a line.
pub(super) fn item_mark(line: &str) -> Option<usize> {
    if line.starts_with("- ") || line.starts_with("* ") {
        return Some(2);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = digits > 0 && line[digits..].starts_with(". ");
    numbered.then_some(digits + 2)
}

/// Cuts numbered lines into texts: a blank line or an item begins a new one; code is left out.
pub(super) fn paragraphs<'a>(
    lines: impl IntoIterator<Item = (usize, &'a str)>,
    kind: Kind,
) -> Vec<Text> {
    let mut texts: Vec<Text> = Vec::new();
    let (mut fenced, mut open) = (false, false);
    for (line, words) in lines {
        let words = words.trim();
        if words.starts_with("```") {
            fenced = !fenced;
            open = false;
            continue;
        }
        let heading = words.starts_with('#');
        if fenced || heading || words.is_empty() {
            open = false;
            continue;
        }
        let mark = item_mark(words);
        let words = &words[mark.unwrap_or(0)..];
        match texts.last_mut() {
            Some(text) if open && mark.is_none() => {
                text.words.push(' ');
                text.words.push_str(words);
            }
            _ => texts.push(Text {
                kind,
                line,
                words: words.to_owned(),
            }),
        }
        open = true;
    }
    texts
}

/// Returns the comments that stand on lines of their own after `mark`.
pub(super) fn texts(source: &str, mark: &str) -> Vec<Text> {
    let lines = source.lines().enumerate().map(|(index, line)| {
        let line = line.trim_start();
        let script = index == 0 && line.starts_with("#!");
        let words = line.strip_prefix(mark).filter(|_| !script);
        (index + 1, words.unwrap_or(""))
    });
    paragraphs(lines, Kind::Comment)
}

#[test]
fn comments_are_cut_into_paragraphs_and_items() {
    let source =
        "#!/bin/sh\n# One\n# two.\n#\n# Three:\n# - four\n#   five\n# 6. six\nseven\n# eight\n";
    let found = texts(source, "#");
    let found: Vec<(usize, &str)> = found.iter().map(|text| (text.line, &*text.words)).collect();
    let expected = [
        (2, "One two."),
        (5, "Three:"),
        (6, "four five"),
        (8, "six"),
        (10, "eight"),
    ];
    assert_eq!(found, expected);
}
