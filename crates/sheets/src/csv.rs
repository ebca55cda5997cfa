//! Reads CSV (RFC 4180) with a comma, a semicolon or a tab between the cells.
//!
//! A line ends with CRLF, LF or CR. A first line such as `sep=;`, which Excel writes, names the
//! delimiter. Without it, the delimiter is the one that gives most of the first rows the number of
//! columns of the first row.

use crate::encoding::Decoded;
use crate::error::SheetError;
use crate::limits::Limits;
use crate::origin::Origin;
use crate::row::{CellFault, Row, Rows};
use std::io::{Read, Seek};
use std::ops::ControlFlow;

/// The possible delimiters.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];
/// The rows by which the delimiter is found.
const SAMPLE_ROWS: usize = 20;
/// The beginning of a line that names the delimiter.
const SEPARATOR_LINE: &str = "sep=";

pub(crate) fn read<R: Read + Seek>(
    file: R,
    limits: &Limits,
    each: &mut dyn FnMut(&Row) -> ControlFlow<()>,
) -> Result<Origin, SheetError> {
    let mut file = Decoded::new(file)?;
    let encoding = file.encoding.name();
    let mut delimiter = b',';
    let mut lines: Option<Lines<'_>> = None;
    let mut rows = Some(Rows::new(limits, each));
    while let Some(text) = file.next()? {
        if let Some(rows) = rows.take() {
            let named = named_delimiter(text);
            delimiter = named.unwrap_or_else(|| delimiter_of(text, limits));
            lines = Some(Lines::new(rows, delimiter, named.is_some()));
        }
        if let Some(lines) = &mut lines
            && lines.feed(text)?.is_break()
        {
            return Ok(Origin::Csv {
                encoding,
                delimiter: delimiter.into(),
            });
        }
    }
    lines.ok_or(SheetError::Empty)?.finish()?;
    Ok(Origin::Csv {
        encoding,
        delimiter: delimiter.into(),
    })
}

/// Returns the delimiter of a line such as `sep=;` at the beginning.
fn named_delimiter(text: &str) -> Option<u8> {
    let rest = text.strip_prefix(SEPARATOR_LINE)?.as_bytes();
    let delimiter = *rest.first()?;
    let is_line = matches!(rest.get(1), Some(b'\r' | b'\n'));
    (is_line && DELIMITERS.contains(&delimiter)).then_some(delimiter)
}

/// Returns the delimiter by the first rows of a text.
fn delimiter_of(text: &str, limits: &Limits) -> u8 {
    let score = |delimiter: &u8| {
        let mut counts = Vec::with_capacity(SAMPLE_ROWS);
        let mut each = |row: &Row| {
            counts.push(row.len());
            if counts.len() == SAMPLE_ROWS {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let mut lines = Lines::new(Rows::new(limits, &mut each), *delimiter, false);
        // A fault of the sample is found again when the file is read.
        if lines.feed(text).is_ok_and(|flow| flow.is_continue()) {
            let _ = lines.finish();
        }
        let first = counts.first().copied().unwrap_or(0);
        let alike = counts.iter().filter(|count| **count == first).count();
        if first > 1 { (alike, first) } else { (0, 0) }
    };
    // `max_by_key` returns the last of equals, and the comma comes first.
    let found = DELIMITERS.iter().rev().max_by_key(|one| score(one));
    found.copied().unwrap_or(b',')
}

/// The position within a cell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// Before the first character of a cell.
    Start,
    /// Within a cell without quotes.
    Plain,
    /// Within quotes.
    Quoted,
    /// After a quote within quotes: it is doubled, or the last one.
    AfterQuote,
}

/// Splits text into rows.
struct Lines<'a> {
    rows: Rows<'a>,
    delimiter: u8,
    state: State,
    /// `true` after CR, so that LF is a part of the same line end.
    after_cr: bool,
    /// `true` if the first row only names the delimiter.
    skips_row: bool,
}

impl<'a> Lines<'a> {
    fn new(mut rows: Rows<'a>, delimiter: u8, skips_row: bool) -> Self {
        rows.begin(1);
        Self {
            rows,
            delimiter,
            state: State::Start,
            after_cr: false,
            skips_row,
        }
    }

    fn feed(&mut self, mut rest: &str) -> Result<ControlFlow<()>, SheetError> {
        while let Some(&first) = rest.as_bytes().first() {
            if self.after_cr {
                self.after_cr = false;
                if first == b'\n' {
                    rest = &rest[1..];
                    continue;
                }
            }
            match self.state {
                State::Start if first == b'"' => {
                    self.state = State::Quoted;
                    rest = &rest[1..];
                }
                State::AfterQuote if first == b'"' => {
                    self.rows.push("\"");
                    self.state = State::Quoted;
                    rest = &rest[1..];
                }
                State::Quoted => {
                    let end = rest.bytes().position(|byte| byte == b'"');
                    self.rows.push(&rest[..end.unwrap_or(rest.len())]);
                    if end.is_some() {
                        self.state = State::AfterQuote;
                    }
                    rest = end.map_or("", |end| &rest[end + 1..]);
                }
                State::Start | State::Plain | State::AfterQuote => {
                    let (after, flow) = self.plain(rest)?;
                    if flow.is_break() {
                        return Ok(flow);
                    }
                    rest = after;
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Takes text without quotes up to the end of its cell. Returns the rest.
    fn plain<'t>(&mut self, rest: &'t str) -> Result<(&'t str, ControlFlow<()>), SheetError> {
        let delimiter = self.delimiter;
        let is_end = |byte: u8| byte == delimiter || byte == b'\n' || byte == b'\r';
        let end = rest.bytes().position(is_end);
        let text = &rest[..end.unwrap_or(rest.len())];
        if self.state == State::AfterQuote && !text.trim().is_empty() {
            self.rows.fault(CellFault::Quote);
        }
        self.rows.push(text);
        let Some(end) = end else {
            self.state = State::Plain;
            return Ok(("", ControlFlow::Continue(())));
        };
        let ended = rest.as_bytes()[end];
        self.rows.end_cell()?;
        self.state = State::Start;
        let mut flow = ControlFlow::Continue(());
        if ended != delimiter {
            self.after_cr = ended == b'\r';
            flow = self.end_row()?;
        }
        Ok((&rest[end + 1..], flow))
    }

    fn end_row(&mut self) -> Result<ControlFlow<()>, SheetError> {
        let number = self.rows.number();
        let flow = if std::mem::take(&mut self.skips_row) {
            ControlFlow::Continue(())
        } else {
            self.rows.end_row()?
        };
        self.rows.begin(number.saturating_add(1));
        Ok(flow)
    }

    /// Ends the last row, which may have no line end.
    fn finish(mut self) -> Result<(), SheetError> {
        if self.state == State::Quoted {
            return Err(SheetError::Unclosed {
                row: self.rows.number(),
            });
        }
        if self.state != State::Start || self.rows.column() > 0 {
            self.rows.end_cell()?;
            if self.end_row()?.is_break() {
                return Ok(());
            }
        }
        self.rows.finish()
    }
}
