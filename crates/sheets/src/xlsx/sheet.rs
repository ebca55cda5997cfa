//! The cells of a sheet.

use super::number::{date_of, text_of};
use super::part::{Parts, attribute, character};
use super::strings::Strings;
use super::styles::Styles;
use crate::error::SheetError;
use crate::row::{CellFault, Rows};
use quick_xml::events::{BytesStart, Event};
use std::io::{Read, Seek};

/// The name of the part in errors.
const PART: &str = "sheet";
/// The columns of a sheet in Excel.
const MAX_COLUMNS: usize = 16_384;

/// The parts that the values of cells need.
pub(super) struct Values<'a> {
    pub(super) strings: &'a Strings,
    pub(super) styles: &'a Styles,
    pub(super) from_1904: bool,
}

pub(super) fn read<R: Read + Seek>(
    parts: &mut Parts<R>,
    path: &str,
    values: &Values<'_>,
    rows: Rows<'_>,
) -> Result<(), SheetError> {
    let mut sheet = Sheet {
        values,
        rows,
        row: 0,
        cell: Cell::default(),
        takes: false,
        is_ended: false,
    };
    parts.events(path, &mut |event| sheet.event(event))?;
    if sheet.is_ended {
        return Ok(());
    }
    sheet.rows.finish()
}

/// The kind of a value, by the attribute `t`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Kind {
    #[default]
    Number,
    Shared,
    Text,
    Bool,
    Error,
}

/// The cell that is read.
#[derive(Debug, Default)]
struct Cell {
    kind: Kind,
    /// `true` for a cached text, which may be empty.
    is_cached: bool,
    format: usize,
    is_formula: bool,
    text: String,
}

struct Sheet<'v, 'r> {
    values: &'v Values<'v>,
    rows: Rows<'r>,
    row: u32,
    cell: Cell,
    /// `true` within the value of a cell.
    takes: bool,
    is_ended: bool,
}

impl Sheet<'_, '_> {
    fn event(&mut self, event: Event<'_>) -> Result<bool, SheetError> {
        match event {
            Event::Start(tag) => match tag.local_name().as_ref() {
                "row" => self.begin_row(&tag)?,
                "c" => self.begin_cell(&tag)?,
                "f" => self.cell.is_formula = true,
                "v" | "t" => self.takes = true,
                _ => {}
            },
            Event::End(tag) => match tag.local_name().as_ref() {
                "v" | "t" => self.takes = false,
                "c" => self.end_cell()?,
                "row" => {
                    self.is_ended = self.rows.end_row()?.is_break();
                    return Ok(!self.is_ended);
                }
                "sheetData" => return Ok(false),
                _ => {}
            },
            // The row cuts a text that is too long, so no more of it is kept.
            _ if !self.takes || self.cell.text.len() > self.rows.limits().cell_bytes => {}
            Event::Text(text) => self.cell.text.push_str(&text.xml10_content()),
            Event::CData(text) => self.cell.text.push_str(&text),
            Event::GeneralRef(reference) => self.cell.text.extend(character(&reference)),
            _ => {}
        }
        Ok(true)
    }

    fn begin_row(&mut self, tag: &BytesStart<'_>) -> Result<(), SheetError> {
        let number = match attribute(tag, "r") {
            Some(number) => number.parse().ok(),
            None => self.row.checked_add(1),
        };
        let number = number.filter(|number| *number > self.row);
        self.row = number.ok_or_else(|| SheetError::damaged(PART, "rows out of order"))?;
        self.rows.begin(self.row);
        Ok(())
    }

    fn begin_cell(&mut self, tag: &BytesStart<'_>) -> Result<(), SheetError> {
        let mut cell = Cell::default();
        let mut column = None;
        std::mem::swap(&mut cell.text, &mut self.cell.text);
        cell.text.clear();
        let mut attributes = tag.attributes();
        attributes.with_checks(false);
        for attribute in attributes.flatten() {
            let value = attribute.value.as_ref();
            match attribute.key.as_ref() {
                "r" => column = column_of(value),
                "s" => cell.format = value.parse().unwrap_or(0),
                "t" => {
                    cell.is_cached = value == "str";
                    cell.kind = match value {
                        "s" => Kind::Shared,
                        "b" => Kind::Bool,
                        "e" => Kind::Error,
                        "str" | "inlineStr" | "d" => Kind::Text,
                        _ => Kind::Number,
                    };
                }
                _ => {}
            }
        }
        self.cell = cell;
        let Some(column) = column else {
            return Ok(());
        };
        if column < self.rows.column() {
            // A blank column beyond the limit leaves no cell, so only an earlier one is wrong.
            return Err(SheetError::damaged(PART, "cells out of order"));
        }
        while self.rows.column() < column {
            let before = self.rows.column();
            self.rows.end_cell()?;
            if self.rows.column() == before {
                break;
            }
        }
        Ok(())
    }

    fn end_cell(&mut self) -> Result<(), SheetError> {
        let Cell {
            kind,
            is_cached,
            format,
            is_formula,
            ..
        } = self.cell;
        let text = self.cell.text.as_str();
        if text.is_empty() {
            if is_formula && !is_cached {
                self.rows.fault(CellFault::NoValue);
            }
            return self.rows.end_cell();
        }
        match kind {
            Kind::Text => self.rows.push(text),
            Kind::Error => self.rows.fault(CellFault::Error),
            Kind::Bool => self.rows.push(if text == "0" { "FALSE" } else { "TRUE" }),
            Kind::Shared => {
                let index = text.parse().ok();
                let shared = index.and_then(|index| self.values.strings.get(index));
                let missing = || SheetError::damaged(PART, "a shared string is missing");
                self.rows.push(shared.ok_or_else(missing)?);
            }
            Kind::Number => match text.parse::<f64>() {
                Ok(value) => self.push_number(value, format),
                Err(_) => self.rows.push(text),
            },
        }
        self.rows.end_cell()
    }

    fn push_number(&mut self, value: f64, format: usize) {
        if self.values.styles.is_date(format)
            && let Some(date) = date_of(value, self.values.from_1904)
        {
            self.rows.push(&date);
            return;
        }
        match text_of(value) {
            Ok(text) => self.rows.push(&text),
            Err(fault) => self.rows.fault(fault),
        }
    }
}

/// Returns the index of the column of a reference such as `AB12`, from 0.
fn column_of(reference: &str) -> Option<usize> {
    let mut column = 0_usize;
    for letter in reference.bytes().take_while(u8::is_ascii_alphabetic) {
        column = column * 26 + usize::from(letter.to_ascii_uppercase() - b'A') + 1;
        if column > MAX_COLUMNS {
            return None;
        }
    }
    column.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_names_its_column() {
        let table = [
            ("A1", Some(0)),
            ("Z9", Some(25)),
            ("AA1", Some(26)),
            ("XFD1048576", Some(16_383)),
            ("XFE1", None),
            ("12", None),
        ];
        for (reference, column) in table {
            assert_eq!(column_of(reference), column, "{reference}");
        }
    }
}
