//! The texts of a document in Markdown.

use super::comments::paragraphs;
use super::{Fault, Kind, Text};

/// Maximum number of columns of a line of a document.
const MAX_COLUMNS: usize = 100;

/// Returns the lines outside of code, with their numbers; a line within code is empty.
fn prose_lines(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    source.lines().enumerate().map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        let code = fence || fenced;
        (index + 1, if code { "" } else { line })
    })
}

fn is_row(line: &str) -> bool {
    line.trim_start().starts_with('|')
}

/// Returns the paragraphs, the items of lists, and the cells of tables.
pub(super) fn texts(source: &str) -> Vec<Text> {
    let outside = prose_lines(source).map(|(number, line)| {
        let line = if is_row(line) { "" } else { line };
        (number, line.trim_start_matches(['>', ' ']))
    });
    let mut texts = paragraphs(outside, Kind::Document);
    for (line, row) in prose_lines(source).filter(|(_, line)| is_row(line)) {
        texts.extend(row.split('|').map(|cell| Text {
            kind: Kind::Cell,
            line,
            words: cell.trim().to_owned(),
        }));
    }
    texts
}

/// Returns the lines that are too wide. A row of a table and a single long word cannot be broken.
pub(super) fn wide_lines(source: &str) -> Vec<Fault> {
    let wide = prose_lines(source).filter(|(_, line)| {
        let breakable = line.trim().contains(' ') && !is_row(line);
        breakable && line.chars().count() > MAX_COLUMNS
    });
    wide.map(|(line, text)| Fault {
        line,
        reason: format!("{} columns", text.chars().count()),
    })
    .collect()
}

#[test]
fn a_document_is_read_without_its_code_and_headings() {
    let source = "# Of what\n\nOne\ntwo.\n\n```\nWhat\n```\n| three | four |\n> five\n";
    let found = texts(source);
    let found: Vec<&str> = found.iter().map(|text| &*text.words).collect();
    assert_eq!(found, ["One two.", "five", "", "three", "four", ""]);
}

#[test]
fn a_line_of_a_document_has_at_most_100_columns() {
    let (fits, wide) = ("a ".repeat(50), "a ".repeat(51));
    let cases = [
        (fits.clone(), 0),
        (wide.clone(), 1),
        (format!("| {wide} |"), 0),
        (format!("```\n{wide}\n```"), 0),
        ("a".repeat(101), 0),
    ];
    for (source, expected) in cases {
        assert_eq!(wide_lines(&source).len(), expected, "{source}");
    }
}
