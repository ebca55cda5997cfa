//! Rows as CSV (RFC 4180), as spreadsheets and programs really write it.
//!
//! - UTF-8, with or without a byte order mark. Lines end with CRLF, LF or CR.
//! - The delimiter is a comma, a semicolon or a tab. The header decides: it is the one that leaves a column `to`.
//! - A column `to` is required; `body` and `customer_reference` have their meaning in any case of letters. All other
//!   columns are variables.
//! - An empty cell is an empty variable. A cell that the line is too short for is none. A line of empty cells alone is
//!   passed over, and keeps its row number.
//! - A broken file is refused with row and column. The crate `csv` cannot name them: it reads a quote that is never
//!   closed to the end of the file, and text after a closing quote, without a fault.
//! - An apostrophe before a formula sign, as exports have it, is not part of the cell. A whole float is a number.

use super::rows::{MAX_VARIABLES, RowField, Rows};
use crate::csv::without_guard;
use crate::refusal::Refusal;
use std::borrow::Cow;

/// The delimiters that a file may have.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];
/// Most columns of a file.
const MAX_COLUMNS: usize = MAX_VARIABLES + 3;
/// Most blank lines of a file: they are passed over, but take time.
const MAX_BLANK_LINES: usize = 10_000;
/// Most characters of a column's name that a refusal repeats.
const MAX_NAME_CHARACTERS: usize = 64;
/// The form in which the file is expected, at the end of a refusal.
const SAVE_AS: &str = "Save the file as CSV in UTF-8.";

/// The end of a cell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    Cell,
    Row,
}

/// The reason why a cell cannot be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Broken {
    /// A quote was opened and is never closed.
    Open,
    /// Something follows a closing quote.
    AfterQuote,
}

impl Broken {
    const fn words(self) -> &'static str {
        match self {
            Self::Open => "the quote at the start of the cell is never closed",
            Self::AfterQuote => {
                "a closing quote is followed by text; a quote within a quoted cell is doubled"
            }
        }
    }
}

/// A reader of the cells of a text, one after the other.
#[derive(Clone, Debug)]
struct Cells<'a> {
    rest: &'a str,
    delimiter: u8,
    /// `true` where a delimiter came last, so that one more cell follows.
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

    /// Reads the next cell; `None` after the last line.
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

    /// Takes all before the next delimiter or line end.
    fn take_until_end(&mut self) -> &'a str {
        let delimiter = self.delimiter;
        let is_end = |byte: &u8| *byte == delimiter || *byte == b'\n' || *byte == b'\r';
        let length = self.rest.bytes().position(|byte| is_end(&byte));
        let (cell, rest) = self.rest.split_at(length.unwrap_or(self.rest.len()));
        self.rest = rest;
        cell
    }

    /// Takes a quoted cell, whose opening quote is gone, without its quotes.
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
            Err(Broken::AfterQuote)
        }
    }

    /// Takes the delimiter or line end that follows a cell.
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

/// The header: the columns by their names.
struct Header {
    names: Vec<String>,
    columns: Vec<Column>,
}

impl Header {
    /// Gives each name its meaning. A name stands once.
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

    /// A place in the file, for a refusal.
    fn place(&self, row: u32, column: usize) -> String {
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

/// Reads a CSV file of rows. A file that is broken is refused as malformed, with row and column.
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
        let place = if cells.rest.is_empty() && !ends_a_line(text) {
            "Header".to_owned()
        } else {
            let (row, column) = end_of(cells, text);
            header.place(row, column)
        };
        return Err(Refusal::Malformed(format!(
            "{place}: the text is not UTF-8. {SAVE_AS}"
        )));
    }
    read_rows(cells, &header, &mut rows)?;
    Ok(rows)
}

/// The text before the first octet that is not UTF-8, and `true` if it is all of the file.
fn utf8_of(file: &[u8]) -> (&str, bool) {
    match str::from_utf8(file) {
        Ok(text) => (text, true),
        Err(fault) => {
            let valid = file.get(..fault.valid_up_to()).unwrap_or_default();
            (str::from_utf8(valid).unwrap_or_default(), false)
        }
    }
}

/// Reads the header with the delimiter that leaves a column `to`; where several do, with the one that leaves most
/// columns. The rest of the file follows.
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

/// The row and the column, counted from 0, in which a text ends.
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

/// Reads all lines after the header.
fn read_rows(mut cells: Cells<'_>, header: &Header, rows: &mut Rows) -> Result<(), Refusal> {
    let mut line: Vec<Cow<'_, str>> = Vec::with_capacity(header.columns.len());
    let (mut row, mut blank) = (1, 0);
    while let Some(cell) = cells.take_cell() {
        let (cell, end) = cell.map_err(|broken| {
            let place = header.place(row, line.len());
            Refusal::Malformed(format!("{place}: {}.", broken.words()))
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

/// Keeps a line.
fn keep(line: &[Cow<'_, str>], row: u32, header: &Header, rows: &mut Rows) -> Result<(), Refusal> {
    rows.begin(row)?;
    for (column, cell) in header.columns.iter().zip(line) {
        match *column {
            Column::Field(RowField::To) => rows.set(RowField::To, number_of(cell))?,
            Column::Field(field) => rows.set(field, without_guard(cell))?,
            Column::Variable(variable) => rows.set_variable(variable, without_guard(cell))?,
            Column::Unnamed => {}
        }
    }
    Ok(())
}

/// A number as a cell has it: without the apostrophe that marks a text, and without the fraction of a whole float.
fn number_of(cell: &str) -> &str {
    let cell = cell.trim();
    let cell = cell.strip_prefix('\'').unwrap_or(cell);
    let whole = cell.strip_suffix(".0");
    whole
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
        .unwrap_or(cell)
}

#[cfg(test)]
mod tests;
