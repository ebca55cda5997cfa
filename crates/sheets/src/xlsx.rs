//! Workbooks (ECMA-376, transitional and strict). The first visible sheet is read.
//!
//! The parts are streamed from the ZIP file, and each has the limit of inflation. The crate
//! `calamine` is not used: it reserves the memory that a file asks for, which ends the process.

mod number;
mod part;
mod sheet;
mod strings;
mod styles;
mod workbook;

use crate::error::SheetError;
use crate::limits::Limits;
use crate::origin::Origin;
use crate::row::{Row, Rows};
use part::Parts;
use std::io::{Read, Seek};
use std::ops::ControlFlow;

pub(crate) fn read<R: Read + Seek>(
    file: R,
    limits: &Limits,
    each: &mut dyn FnMut(&Row) -> ControlFlow<()>,
) -> Result<Origin, SheetError> {
    let mut parts = Parts::open(file, limits)?;
    let workbook = workbook::find(&mut parts)?;
    let strings = match &workbook.strings {
        Some(path) => strings::read(&mut parts, path, limits.strings_bytes)?,
        None => strings::Strings::default(),
    };
    let styles = match &workbook.styles {
        Some(path) => styles::read(&mut parts, path)?,
        None => styles::Styles::default(),
    };
    let values = sheet::Values {
        strings: &strings,
        styles: &styles,
        from_1904: workbook.from_1904,
    };
    sheet::read(
        &mut parts,
        &workbook.sheet_path,
        &values,
        Rows::new(limits, each),
    )?;
    Ok(Origin::Xlsx {
        sheet: workbook.sheet_name,
    })
}
