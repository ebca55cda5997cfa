//! Parses rows from CSV (RFC 4180) in the forms of spreadsheets and programs.
//!
//! - The file is UTF-8, with or without a byte order mark. Lines end with CRLF, LF or CR.
//! - The delimiter is a comma, a semicolon or a tab. It is the one with which the header has a
//!   column `to`.
//! - The column `to` is required. `body` and `customer_reference` are recognised in any case. All
//!   other columns are variables.
//! - An empty cell is an empty variable, and a missing cell at the end of a line is no variable. A
//!   line of empty cells is skipped, and keeps its row number.
//! - A broken file is refused with row and column. The crate `csv` cannot report them: it reads an
//!   unclosed quote to the end of the file, and accepts text after a closing quote.
//! - An apostrophe before a formula, as exports write it, is removed. A whole float is a number.

use super::rows::{MAX_VARIABLES, RowField, Rows};
use crate::csv_cells::{number_cell, without_guard};
use crate::refusal::Refusal;
use std::borrow::Cow;

/// The possible delimiters.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];
/// Maximum number of columns.
const MAX_COLUMNS: usize = MAX_VARIABLES + 3;
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

/// The meaning of a column.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Column {
    Field(RowField),
    Variable(u32),
    Unnamed,
}

/// The header with the names of the columns.
struct Header {
    names: Vec<String>,
    columns: Vec<Column>,
}

impl Header {
    /// Assigns a meaning to each name. Each name must be unique.
    fn of(names: Vec<String>, rows: &mut Rows) -> Result<Self, Refusal> {
        let mut columns = Vec::with_capacity(names.len());
        for name in &names {
            let column = match field_of(name) {
                Some(field) => Column::Field(field),
                None if name.is_empty() => Column::Unnamed,
                None => Column::Variable(rows.column_for(name)?),
            };
            columns.push(column);
        }
        for (at, column) in columns.iter().enumerate() {
            if *column != Column::Unnamed && columns[..at].contains(column) {
                return Err(Refusal::Malformed(format!(
                    "The CSV header names the column `{}` more than once. Name each column once.",
                    shortened(&names[at])
                )));
            }
        }
        Ok(Self { names, columns })
    }

    /// Describes a position in the file, for a refusal.
    fn position(&self, row: u32, column: usize) -> String {
        match self.names.get(column) {
            Some(name) if !name.is_empty() => {
                format!("Row {row}, column {} (`{}`)", column + 1, shortened(name))
            }
            _ => format!("Row {row}, column {}", column + 1),
        }
    }
}

fn shortened(name: &str) -> &str {
    let cut = name.char_indices().nth(MAX_NAME_CHARACTERS);
    cut.map_or(name, |(end, _)| &name[..end])
}

fn field_of(name: &str) -> Option<RowField> {
    if name.eq_ignore_ascii_case("to") {
        Some(RowField::To)
    } else if name.eq_ignore_ascii_case("body") {
        Some(RowField::Body)
    } else if name.eq_ignore_ascii_case("customer_reference") {
        Some(RowField::CustomerReference)
    } else {
        None
    }
}

/// Parses a CSV file of rows. A broken file is refused with row and column.
pub fn read_csv(file: &[u8], max_rows: usize) -> Result<Rows, Refusal> {
    if file.starts_with(b"\xFF\xFE") || file.starts_with(b"\xFE\xFF") {
        return Err(Refusal::Malformed(format!(
            "The CSV is in UTF-16. {SAVE_AS}"
        )));
    }
    let (text, is_whole) = utf8_of(file);
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let Some((names, cells)) = header_of(text) else {
        return Err(Refusal::Malformed(format!(
            "The CSV header has no column `to`. The first line names the columns, between commas, semicolons or tabs. \
             {SAVE_AS}"
        )));
    };
    if names.len() > MAX_COLUMNS {
        return Err(Refusal::Malformed(format!(
            "The CSV header names more than {MAX_COLUMNS} columns."
        )));
    }
    let mut rows = Rows::new(max_rows);
    let header = Header::of(names, &mut rows)?;
    if !is_whole {
        let position = if cells.rest.is_empty() && !ends_a_line(text) {
            "Header".to_owned()
        } else {
            let (row, column) = end_of(cells, text);
            header.position(row, column)
        };
        return Err(Refusal::Malformed(format!(
            "{position}: the text is not UTF-8. {SAVE_AS}"
        )));
    }
    read_rows(cells, &header, &mut rows)?;
    Ok(rows)
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

/// Parses the header with the delimiter that gives a column `to`. If several do, the one with most
/// columns is used. Returns the names and the rest of the file.
fn header_of(text: &str) -> Option<(Vec<String>, Cells<'_>)> {
    let candidates = DELIMITERS.into_iter().filter_map(|delimiter| {
        let mut cells = Cells::new(text, delimiter);
        let mut names = Vec::new();
        loop {
            let (cell, end) = cells.take_cell()?.ok()?;
            names.push(cell.trim().to_owned());
            if end == End::Row || names.len() > MAX_COLUMNS {
                break;
            }
        }
        let is_to = |name: &String| field_of(name) == Some(RowField::To);
        let is_header = names.len() > MAX_COLUMNS || names.iter().any(is_to);
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

/// Parses all lines after the header.
fn read_rows(mut cells: Cells<'_>, header: &Header, rows: &mut Rows) -> Result<(), Refusal> {
    let mut line: Vec<Cow<'_, str>> = Vec::with_capacity(header.columns.len());
    let (mut row, mut blank) = (1, 0);
    while let Some(cell) = cells.take_cell() {
        let (cell, end) = cell.map_err(|broken| {
            let position = header.position(row, line.len());
            Refusal::Malformed(format!("{position}: {}.", broken.words()))
        })?;
        if line.len() < header.columns.len() {
            line.push(cell);
        } else if !cell.trim().is_empty() {
            return Err(Refusal::Malformed(format!(
                "Row {row}, column {}: the header names only {} columns. Quote a cell that holds the delimiter.",
                line.len() + 1,
                header.columns.len()
            )));
        }
        if end == End::Row {
            if line.iter().any(|cell| !cell.trim().is_empty()) {
                keep(&line, row, header, rows)?;
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

/// Stores a line.
fn keep(line: &[Cow<'_, str>], row: u32, header: &Header, rows: &mut Rows) -> Result<(), Refusal> {
    rows.begin(row)?;
    for (column, cell) in header.columns.iter().zip(line) {
        match *column {
            Column::Field(RowField::To) => rows.set(RowField::To, number_cell(cell))?,
            Column::Field(field) => rows.set(field, without_guard(cell))?,
            Column::Variable(variable) => rows.set_variable(variable, without_guard(cell))?,
            Column::Unnamed => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
