//! Reads tables from CSV and XLSX files in the forms of spreadsheets.
//!
//! [`read`] passes each row to a closure. Only one row and the shared strings of a workbook are in
//! memory, and [`Limits`] bounds both. A cell that cannot be read is a [`CellFault`] of its row, so
//! that the other rows are read.
//!
//! - CSV is UTF-8, UTF-16 or Windows-1252. The delimiter is a comma, a semicolon or a tab.
//! - XLSX is read from the first visible sheet. Numbers are digits, and dates are ISO 8601.
//! - The number of a row is that of the spreadsheet, from 1. Blank rows are skipped and counted.

mod csv;
mod encoding;
mod error;
mod limits;
mod origin;
mod row;
mod xlsx;

pub use error::SheetError;
pub use limits::Limits;
pub use origin::Origin;
pub use row::{CellFault, Row};

use std::io::{Read, Seek, SeekFrom};
use std::ops::ControlFlow;

/// The first octets of a ZIP file.
const ZIP: &[u8] = b"PK\x03\x04";
/// The first octets of a workbook of Excel 97, and of one with a password.
const COMPOUND: &[u8] = b"\xD0\xCF\x11\xE0";

/// Passes each row of a file to `each`, which may end the reading.
///
/// # Errors
/// The file is no table, is damaged, or exceeds a limit.
pub fn read<R: Read + Seek>(
    mut file: R,
    limits: &Limits,
    each: &mut dyn FnMut(&Row) -> ControlFlow<()>,
) -> Result<Origin, SheetError> {
    let mut head = Vec::with_capacity(4);
    file.by_ref().take(4).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    match head.as_slice() {
        [] => Err(SheetError::Empty),
        ZIP => xlsx::read(file, limits, each),
        COMPOUND => Err(SheetError::OldWorkbook),
        _ => csv::read(file, limits, each),
    }
}

#[cfg(test)]
mod tests;
