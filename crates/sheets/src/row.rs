//! A row of a table.

use crate::error::SheetError;
use crate::limits::Limits;
use std::ops::ControlFlow;

/// The reason why a cell cannot be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CellFault {
    /// A formula has no stored value, since no spreadsheet has calculated it.
    NoValue,
    /// The cell has an error such as `#N/A`.
    Error,
    /// The number has more digits than a spreadsheet keeps.
    DigitsLost,
    /// The text exceeds [`Limits::cell_bytes`].
    TooLong,
    /// Text follows a closing quote.
    Quote,
}

/// A row: its number and its cells.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Row {
    number: u32,
    text: String,
    /// The end of each cell in `text`.
    ends: Vec<usize>,
    /// The first fault of each column, in order.
    faults: Vec<(usize, CellFault)>,
}

impl Row {
    /// Returns the number of the row as a spreadsheet shows it, from 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the number of cells.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns `true` if the row has no cell.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the text of a cell. A cell after the last one is empty.
    pub fn cell(&self, column: usize) -> &str {
        let Some(&end) = self.ends.get(column) else {
            return "";
        };
        let start = column.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..end]
    }

    /// Returns the texts of all cells.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|column| self.cell(column))
    }

    /// Returns the reason why a cell cannot be read.
    pub fn fault(&self, column: usize) -> Option<CellFault> {
        let found = self.faults.iter().find(|(at, _)| *at == column);
        found.map(|(_, fault)| *fault)
    }

    pub(crate) fn clear(&mut self, number: u32) {
        self.number = number;
        self.text.clear();
        self.ends.clear();
        self.faults.clear();
    }

    fn is_blank(&self) -> bool {
        self.faults.is_empty() && self.text.trim().is_empty()
    }
}

/// Builds rows cell by cell within the limits, and passes each to a closure.
pub(crate) struct Rows<'a> {
    row: Row,
    limits: &'a Limits,
    given: u32,
    each: &'a mut dyn FnMut(&Row) -> ControlFlow<()>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(
        limits: &'a Limits,
        each: &'a mut dyn FnMut(&Row) -> ControlFlow<()>,
    ) -> Self {
        Self {
            row: Row::default(),
            limits,
            given: 0,
            each,
        }
    }

    /// Returns the limits of the file.
    pub(crate) fn limits(&self) -> &Limits {
        self.limits
    }

    /// Begins a row.
    pub(crate) fn begin(&mut self, number: u32) {
        self.row.clear(number);
    }

    /// Returns the number of the row that is built.
    pub(crate) fn number(&self) -> u32 {
        self.row.number
    }

    /// Returns the number of cells that are complete.
    pub(crate) fn column(&self) -> usize {
        self.row.ends.len()
    }

    /// Adds text to the cell that is built. Text beyond the limit is dropped, and is a fault.
    pub(crate) fn push(&mut self, text: &str) {
        let start = self.row.ends.last().copied().unwrap_or(0);
        let room = self.limits.cell_bytes - (self.row.text.len() - start);
        if text.len() <= room {
            self.row.text.push_str(text);
        } else {
            self.row
                .text
                .push_str(&text[..text.floor_char_boundary(room)]);
            self.fault(CellFault::TooLong);
        }
    }

    /// Notes a fault of the cell that is built.
    pub(crate) fn fault(&mut self, fault: CellFault) {
        let column = self.row.ends.len();
        if self.row.faults.last().is_none_or(|(at, _)| *at != column) {
            self.row.faults.push((column, fault));
        }
    }

    /// Ends the cell that is built. Blank cells beyond the last column are dropped.
    pub(crate) fn end_cell(&mut self) -> Result<(), SheetError> {
        let start = self.row.ends.last().copied().unwrap_or(0);
        if self.row.ends.len() < self.limits.columns {
            self.row.ends.push(self.row.text.len());
        } else if self.row.text[start..].trim().is_empty() {
            self.row.text.truncate(start);
        } else {
            return Err(SheetError::TooManyColumns {
                row: self.row.number,
                max: self.limits.columns,
            });
        }
        Ok(())
    }

    /// Passes the row on, unless it is blank.
    pub(crate) fn end_row(&mut self) -> Result<ControlFlow<()>, SheetError> {
        if self.row.is_blank() {
            return Ok(ControlFlow::Continue(()));
        }
        if self.given == self.limits.rows {
            return Err(SheetError::TooManyRows {
                max: self.limits.rows,
            });
        }
        self.given += 1;
        Ok((self.each)(&self.row))
    }

    /// Returns an error if no row was passed on.
    pub(crate) fn finish(self) -> Result<(), SheetError> {
        if self.given == 0 {
            return Err(SheetError::Empty);
        }
        Ok(())
    }
}
