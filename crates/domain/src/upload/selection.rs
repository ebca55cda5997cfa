//! Selects the rows of a file that are sent, and returns the reason for each other one.

use super::columns::Columns;
use super::left_out::{LeftOut, is_exponent};
use super::packed::FileRow;
use crate::account::Environment;
use crate::csv_cells::{number_cell, without_guard};
use crate::gateway::Gateway;
use crate::number::{self, Recipient, parse_international};
use crate::personalised::{Reason, RowField, Rows, Template};
use crate::refusal::Refusal;
use std::collections::HashMap;

/// Maximum number of columns that a refusal names.
const MAX_NAMED: usize = 20;

/// The result for one row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Selected {
    /// The row is sent to this recipient.
    Sent(Recipient),
    /// The row is left out.
    LeftOut(LeftOut),
}

/// The text for one recipient.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Preview {
    /// The number of the row.
    pub row: u32,
    /// The recipient.
    pub recipient: Recipient,
    /// The text with its values, before it is made plain.
    pub text: String,
}

/// The rules by which rows are selected, and the numbers that came before.
#[derive(Clone, Debug)]
pub struct Selection {
    number: usize,
    template: Option<Template>,
    /// The column of each placeholder of the template.
    used: Vec<usize>,
    parse: fn(&str) -> Option<Recipient>,
    /// The row of each number.
    seen: HashMap<Recipient, u32>,
}

impl Selection {
    /// Creates a selection for a text, or for the numbers alone.
    ///
    /// # Errors
    /// The text is no template, or has a placeholder that no column has.
    pub fn new(
        columns: Columns,
        names: &[String],
        text: Option<&str>,
        (gateway, environment): (Gateway, Environment),
    ) -> Result<Self, Refusal> {
        let template = text.map(Template::parse).transpose();
        let template =
            template.map_err(|fault| Refusal::Malformed(format!("The text: {fault}.")))?;
        let mut used = Vec::new();
        for name in template.iter().flat_map(Template::names) {
            let found = names.iter().position(|known| known == name);
            used.push(found.ok_or_else(|| unknown(name, names))?);
        }
        Ok(Self {
            number: columns.number,
            template,
            used,
            parse: number::reader(gateway, environment),
            seen: HashMap::new(),
        })
    }

    /// Returns `true` if the rows are selected for a text, and not for the numbers alone.
    pub fn has_text(&self) -> bool {
        self.template.is_some()
    }

    /// Returns the number of a row as it was written.
    pub fn number<'r>(&self, row: &FileRow<'r>) -> &'r str {
        row.cell(self.number).text
    }

    /// Decides about a row.
    pub fn select(&mut self, row: &FileRow<'_>) -> Selected {
        match self.check(row) {
            Ok(recipient) => {
                self.seen.insert(recipient, row.number);
                Selected::Sent(recipient)
            }
            Err(reason) => Selected::LeftOut(reason),
        }
    }

    fn check(&self, row: &FileRow<'_>) -> Result<Recipient, LeftOut> {
        let cell = row.cell(self.number);
        if let Some(fault) = cell.fault {
            return Err(LeftOut::Cell(fault));
        }
        let number = number_cell(cell.text);
        let Some(recipient) = (self.parse)(number) else {
            return Err(if number.is_empty() {
                LeftOut::NoNumber
            } else if is_exponent(number) {
                LeftOut::DigitsLost
            } else if parse_international(number).is_some() {
                LeftOut::Foreign
            } else {
                LeftOut::NotANumber
            });
        };
        if let Some(template) = &self.template {
            self.check_text(template, row)?;
        }
        match self.seen.get(&recipient) {
            Some(&row) => Err(LeftOut::Repeated { row }),
            None => Ok(recipient),
        }
    }

    fn check_text(&self, template: &Template, row: &FileRow<'_>) -> Result<(), LeftOut> {
        for (name, &column) in template.names().iter().zip(&self.used) {
            let cell = row.cell(column);
            if let Some(fault) = cell.fault {
                return Err(LeftOut::Cell(fault));
            }
            if cell.text.trim().is_empty() {
                let name = name.clone();
                return Err(LeftOut::Missing { name });
            }
        }
        match template.fault_of(|index| self.value(index, row)) {
            None => Ok(()),
            Some(Reason::Empty) => Err(LeftOut::Blank),
            Some(_) => Err(LeftOut::TooLong),
        }
    }

    /// Returns the value of a placeholder in a row.
    fn value<'r>(&self, index: usize, row: &FileRow<'r>) -> &'r str {
        let column = self.used.get(index).copied().unwrap_or(usize::MAX);
        without_guard(row.cell(column).text.trim())
    }

    /// Adds a selected row to the rows of a personalised send.
    ///
    /// # Errors
    /// The rows are full.
    pub fn push(
        &self,
        row: &FileRow<'_>,
        recipient: Recipient,
        rows: &mut Rows,
    ) -> Result<(), Refusal> {
        rows.begin(row.number)?;
        rows.set(RowField::To, &recipient.to_string())?;
        let names = self.template.iter().flat_map(Template::names);
        for (index, name) in names.enumerate() {
            let variable = rows.column_for(name)?;
            rows.set_variable(variable, self.value(index, row))?;
        }
        Ok(())
    }

    /// Returns the text of a selected row.
    pub fn preview(&self, row: &FileRow<'_>, recipient: Recipient) -> Preview {
        let template = self.template.as_ref();
        Preview {
            row: row.number,
            recipient,
            text: template.map_or_else(String::new, |template| {
                template.filled(|index| self.value(index, row))
            }),
        }
    }
}

fn unknown(name: &str, names: &[String]) -> Refusal {
    let known: Vec<String> = names
        .iter()
        .take(MAX_NAMED)
        .map(|name| format!("{{{name}}}"))
        .collect();
    Refusal::Malformed(format!(
        "No column is named {{{name}}}. The columns are {}.",
        known.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upload::columns::placeholders;
    use crate::upload::packed::{CellFault, FileCell};

    const HEADER: [&str; 3] = ["Name", "Number", "Due date"];
    const COLUMNS: Columns = Columns {
        number: 1,
        has_header: true,
    };

    fn row<'a>(number: u32, cells: &[&'a str]) -> FileRow<'a> {
        let cells = cells.iter().map(|text| FileCell { text, fault: None });
        FileRow {
            number,
            cells: cells.collect(),
        }
    }

    fn selection(text: &str, gateway: Gateway) -> Result<Selection, Refusal> {
        let names = placeholders(Some(&row(1, &HEADER)), 3);
        Selection::new(COLUMNS, &names, Some(text), (gateway, Environment::Live))
    }

    fn reasons(text: &str, cells: &[&[&str]]) -> Vec<Option<LeftOut>> {
        let mut selection = selection(text, Gateway::DirectRefund).unwrap();
        let rows = (2..).zip(cells).map(|(number, cells)| row(number, cells));
        let selected = rows.map(|row| match selection.select(&row) {
            Selected::Sent(_) => None,
            Selected::LeftOut(reason) => Some(reason),
        });
        selected.collect()
    }

    #[test]
    fn a_row_is_left_out_with_its_reason() {
        let name = "Due_date".to_owned();
        let found = reasons(
            "Hi {Name}, due {Due_date}",
            &[
                &["Ada", "08031234567", "1 May"],
                &["Ada", "'8031234567.0", "1 May"],
                &["Ada", "", "1 May"],
                &["Ada", "0803", "1 May"],
                &["Ada", "2.34803E+12", "1 May"],
                &["Ada", "+447911123456", "1 May"],
                &["Ada", "08031234568", " "],
                &["Ada", "08031234568"],
                &[&"x".repeat(1_530), "08031234568", "1 May"],
                &["Ada", "+234\u{A0}803\u{2011}123 4568\u{200E}", "1 May"],
            ],
        );
        let missing = LeftOut::Missing { name };
        let expected = [
            None,
            Some(LeftOut::Repeated { row: 2 }),
            Some(LeftOut::NoNumber),
            Some(LeftOut::NotANumber),
            Some(LeftOut::DigitsLost),
            Some(LeftOut::Foreign),
            Some(missing.clone()),
            Some(missing),
            Some(LeftOut::TooLong),
            None,
        ];
        assert_eq!(found, expected);
        assert_eq!(reasons("{Name}", &[&["'=", "08031234567"]]), [None]);
        let blank = [&["\u{200B}", "08031234567"][..]];
        assert_eq!(reasons("{Name}", &blank), [Some(LeftOut::Blank)]);
    }

    #[test]
    fn only_a_cell_that_is_needed_must_be_readable() {
        let mut row = row(2, &["Ada", "08031234567", ""]);
        row.cells[2].fault = Some(CellFault::NoValue);
        let select = |text: &str| selection(text, Gateway::DirectRefund).unwrap().select(&row);
        assert!(matches!(select("Hi {Name}"), Selected::Sent(_)));
        let fault = LeftOut::Cell(CellFault::NoValue);
        assert_eq!(select("{Due_date}"), Selected::LeftOut(fault));
    }

    #[test]
    fn a_foreign_number_is_sent_over_its_gateway() {
        let mut selection = selection("Hi", Gateway::International).unwrap();
        let foreign = row(2, &["", "+44 7911 123456"]);
        assert!(matches!(selection.select(&foreign), Selected::Sent(_)));
    }

    #[test]
    fn a_placeholder_without_a_column_is_refused() {
        let refusal = selection("Hi {town}", Gateway::DirectRefund).unwrap_err();
        let text = refusal.to_string();
        assert!(
            text.contains("{town}") && text.contains("{Due_date}"),
            "{text}"
        );
        assert!(selection("Hi {", Gateway::DirectRefund).is_err());
    }

    #[test]
    fn selected_rows_are_those_of_a_personalised_send() {
        let mut selection = selection("Hi {Name}", Gateway::DirectRefund).unwrap();
        let first = row(2, &["'+Ada ", "8031234567", "x"]);
        let Selected::Sent(recipient) = selection.select(&first) else {
            panic!("it is sent");
        };
        let mut rows = Rows::new(5);
        selection.push(&first, recipient, &mut rows).unwrap();
        let sent = rows.iter().next().unwrap();
        assert_eq!((sent.number(), sent.to()), (2, "2348031234567"));
        let name = rows.column("Name").unwrap();
        assert_eq!(sent.value(name), Some("+Ada"));
        assert_eq!(rows.column("Due_date"), None);
        assert_eq!(selection.preview(&first, recipient).text, "Hi +Ada");
    }
}
