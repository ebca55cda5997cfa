//! Parses the rows of a personalised send from CSV.
//!
//! - The column `to` is required. `body` and `customer_reference` are recognised in any case. All
//!   other columns are variables.
//! - An empty cell is an empty variable, and a missing cell at the end of a line is no variable.
//! - An apostrophe before a formula, as exports write it, is removed. A whole float is a number.

use super::rows::{MAX_VARIABLES, RowField, Rows};
use crate::csv_cells::{number_cell, without_guard};
use crate::csv_table::{CsvTable, shortened};
use crate::refusal::Refusal;
use std::borrow::Cow;

/// Maximum number of columns.
const MAX_COLUMNS: usize = MAX_VARIABLES + 3;

/// The meaning of a column.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Column {
    Field(RowField),
    Variable(u32),
    Unnamed,
}

/// Assigns a meaning to each name of the header. Each name must be unique.
fn columns_of(names: &[String], rows: &mut Rows) -> Result<Vec<Column>, Refusal> {
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
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
    Ok(columns)
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
    let table = CsvTable::open(file, "to", MAX_COLUMNS)?;
    let mut rows = Rows::new(max_rows);
    let columns = columns_of(table.names(), &mut rows)?;
    table.each_row(|row, line| keep(line, row, &columns, &mut rows))?;
    Ok(rows)
}

/// Stores a line.
fn keep(
    line: &[Cow<'_, str>],
    row: u32,
    columns: &[Column],
    rows: &mut Rows,
) -> Result<(), Refusal> {
    rows.begin(row)?;
    for (column, cell) in columns.iter().zip(line) {
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
