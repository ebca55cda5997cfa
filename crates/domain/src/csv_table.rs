//! Tables from CSV (RFC 4180) in the forms of spreadsheets and programs.
//!
//! - The file is UTF-8, with or without a byte order mark. Lines end with CRLF, LF or CR.
//! - The delimiter is a comma, a semicolon or a tab. It is the one with which the header has the
//!   required column.
//! - A line of empty cells is skipped, and keeps its row number.
//! - A broken file is refused with row and column. The crate `csv` cannot report them: it reads an
//!   unclosed quote to the end of the file, and accepts text after a closing quote.

use crate::refusal::Refusal;
use std::borrow::Cow;

/// The possible delimiters.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];
/// Maximum number of blank lines, since skipping them takes time.
const MAX_BLANK_LINES: usize = 10_000;
/// Maximum length of a column's name in a refusal, in characters.
const MAX_NAME_CHARACTERS: usize = 64;
/// The advice at the end of a refusal.
const SAVE_AS: &str = "Save the file as CSV in UTF-8.";

/// The character that ends a cell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    Cell,
    Row,
}

/// The reason why a cell is malformed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Broken {
    /// A quote is never closed.
    Open,
    /// Text follows a closing quote.
    TextAfterQuote,
}

impl Broken {
    const fn words(self) -> &'static str {
        match self {
            Self::Open => "the quote at the start of the cell is never closed",
            Self::TextAfterQuote => {
                "a closing quote is followed by text; a quote within a quoted cell is doubled"
            }
        }
    }
}

/// Iterates over the cells of a text.
#[derive(Clone, Debug)]
struct Cells<'a> {
    rest: &'a str,
    delimiter: u8,
    /// `true` after a delimiter, so that another cell follows.
    is_open: bool,
}

impl<'a> Cells<'a> {
    fn new(text: &'a str, delimiter: u8) -> Self {
        Self {
            rest: text,
            delimiter,
            is_open: false,
        }
    }

    /// Parses the next cell. Returns `None` after the last line.
    fn take_cell(&mut self) -> Option<Result<(Cow<'a, str>, End), Broken>> {
        if self.rest.is_empty() && !self.is_open {
            return None;
        }
        let cell = match self.rest.strip_prefix('"') {
            Some(quoted) => match self.unquote(quoted) {
                Ok(cell) => cell,
                Err(broken) => return Some(Err(broken)),
            },
            None => Cow::Borrowed(self.take_until_end()),
        };
        Some(Ok((cell, self.end())))
    }

    /// Takes the text up to the next delimiter or line end.
    fn take_until_end(&mut self) -> &'a str {
        let delimiter = self.delimiter;
        let is_end = |byte: &u8| *byte == delimiter || *byte == b'\n' || *byte == b'\r';
        let length = self.rest.bytes().position(|byte| is_end(&byte));
        let (cell, rest) = self.rest.split_at(length.unwrap_or(self.rest.len()));
        self.rest = rest;
        cell
    }

    /// Takes a quoted cell after its opening quote. Returns it without quotes.
    fn unquote(&mut self, quoted: &'a str) -> Result<Cow<'a, str>, Broken> {
        let mut cell = Cow::Borrowed("");
        let mut rest = quoted;
        loop {
            let (piece, after) = rest.split_once('"').ok_or(Broken::Open)?;
            if cell.is_empty() {
                cell = Cow::Borrowed(piece);
            } else {
                cell.to_mut().push_str(piece);
            }
            let Some(doubled) = after.strip_prefix('"') else {
                self.rest = after;
                break;
            };
            cell.to_mut().push('"');
            rest = doubled;
        }
        if self.take_until_end().is_empty() {
            Ok(cell)
        } else {
            Err(Broken::TextAfterQuote)
        }
    }

    /// Takes the delimiter or line end after a cell.
    fn end(&mut self) -> End {
        self.is_open = self.rest.as_bytes().first() == Some(&self.delimiter);
        if self.is_open {
            self.rest = &self.rest[1..];
            return End::Cell;
        }
        let after = self.rest.strip_prefix("\r\n");
        self.rest = after
            .or_else(|| self.rest.strip_prefix(['\n', '\r']))
            .unwrap_or(self.rest);
        End::Row
    }
}

/// A table with the names of its columns.
pub(crate) struct CsvTable<'a> {
    names: Vec<String>,
    cells: Cells<'a>,
    /// The text up to the first octet that is not UTF-8.
    text: &'a str,
    /// `true` if all of the file is UTF-8.
    is_whole: bool,
}

impl<'a> CsvTable<'a> {
    /// Reads the header, which must name a column.
    pub(crate) fn open(
        file: &'a [u8],
        required: &str,
        max_columns: usize,
    ) -> Result<Self, Refusal> {
        if file.starts_with(b"\xFF\xFE") || file.starts_with(b"\xFE\xFF") {
            return Err(Refusal::Malformed(format!(
                "The CSV is in UTF-16. {SAVE_AS}"
            )));
        }
        let (text, is_whole) = utf8_of(file);
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let Some((names, cells)) = header_of(text, required, max_columns) else {
            return Err(Refusal::Malformed(format!(
                "The CSV header has no column `{required}`. The first line names the columns, between commas, semicolons \
                 or tabs. {SAVE_AS}"
            )));
        };
        if names.len() > max_columns {
            return Err(Refusal::Malformed(format!(
                "The CSV header names more than {max_columns} columns."
            )));
        }
        Ok(Self {
            names,
            cells,
            text,
            is_whole,
        })
    }

    /// Returns the names of the columns.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Passes all lines after the header on. A line may have fewer cells than the header.
    pub(crate) fn each_row(
        self,
        mut keep: impl FnMut(u32, &[Cow<'a, str>]) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        self.check_text()?;
        let (names, mut cells) = (self.names, self.cells);
        let mut line: Vec<Cow<'a, str>> = Vec::with_capacity(names.len());
        let (mut row, mut blank) = (1, 0);
        while let Some(cell) = cells.take_cell() {
            let (cell, end) = cell.map_err(|broken| {
                let position = position(&names, row, line.len());
                Refusal::Malformed(format!("{position}: {}.", broken.words()))
            })?;
            if line.len() < names.len() {
                line.push(cell);
            } else if !cell.trim().is_empty() {
                return Err(Refusal::Malformed(format!(
                    "Row {row}, column {}: the header names only {} columns. Quote a cell that holds the delimiter.",
                    line.len() + 1,
                    names.len()
                )));
            }
            if end == End::Row {
                if line.iter().any(|cell| !cell.trim().is_empty()) {
                    keep(row, &line)?;
                } else if blank == MAX_BLANK_LINES {
                    return Err(Refusal::Malformed(format!(
                        "The CSV has more than {MAX_BLANK_LINES} blank lines. Leave them out."
                    )));
                } else {
                    blank += 1;
                }
                line.clear();
                row += 1;
            }
        }
        Ok(())
    }

    /// Refuses a file that is not UTF-8.
    fn check_text(&self) -> Result<(), Refusal> {
        if self.is_whole {
            return Ok(());
        }
        let position = if self.cells.rest.is_empty() && !ends_a_line(self.text) {
            "Header".to_owned()
        } else {
            let (row, column) = end_of(self.cells.clone(), self.text);
            position(&self.names, row, column)
        };
        Err(Refusal::Malformed(format!(
            "{position}: the text is not UTF-8. {SAVE_AS}"
        )))
    }
}

/// Describes a position in a table, for a refusal.
pub(crate) fn position(names: &[String], row: u32, column: usize) -> String {
    match names.get(column) {
        Some(name) if !name.is_empty() => {
            format!("Row {row}, column {} (`{}`)", column + 1, shortened(name))
        }
        _ => format!("Row {row}, column {}", column + 1),
    }
}

/// Returns the start of a name, for a refusal.
pub(crate) fn shortened(name: &str) -> &str {
    let cut = name.char_indices().nth(MAX_NAME_CHARACTERS);
    cut.map_or(name, |(end, _)| &name[..end])
}

/// Returns the text before the first octet that is not UTF-8, and `true` if it is the whole file.
fn utf8_of(file: &[u8]) -> (&str, bool) {
    match str::from_utf8(file) {
        Ok(text) => (text, true),
        Err(fault) => {
            let valid = file.get(..fault.valid_up_to()).unwrap_or_default();
            (str::from_utf8(valid).unwrap_or_default(), false)
        }
    }
}

/// Parses the header with the delimiter that gives the required column. If several do, the one with
/// most columns is used. Returns the names and the rest of the file.
fn header_of<'a>(
    text: &'a str,
    required: &str,
    max_columns: usize,
) -> Option<(Vec<String>, Cells<'a>)> {
    let candidates = DELIMITERS.into_iter().filter_map(|delimiter| {
        let mut cells = Cells::new(text, delimiter);
        let mut names = Vec::new();
        loop {
            let (cell, end) = cells.take_cell()?.ok()?;
            names.push(cell.trim().to_owned());
            if end == End::Row || names.len() > max_columns {
                break;
            }
        }
        let is_it = |name: &String| name.eq_ignore_ascii_case(required);
        let is_header = names.len() > max_columns || names.iter().any(is_it);
        is_header.then_some((names, cells))
    });
    candidates.reduce(|best, next| {
        if next.0.len() > best.0.len() {
            next
        } else {
            best
        }
    })
}

fn ends_a_line(text: &str) -> bool {
    text.ends_with(['\n', '\r'])
}

/// Returns the row and column, counted from 0, at the end of a text.
fn end_of(mut cells: Cells<'_>, text: &str) -> (u32, usize) {
    let (mut row, mut column) = (1, 0);
    while let Some(Ok((_, end))) = cells.take_cell() {
        match end {
            End::Cell => column += 1,
            End::Row if cells.rest.is_empty() && !ends_a_line(text) => break,
            End::Row => (row, column) = (row + 1, 0),
        }
    }
    (row, column)
}
