//! The rows of a personalised send in one block of memory, since a request may have 100,000 of
//! them.

use crate::refusal::Refusal;
use std::collections::HashMap;

/// Maximum number of variables of a request.
pub const MAX_VARIABLES: usize = 1_000;
/// Maximum number of unknown fields that an answer names.
const MAX_IGNORED: usize = 20;
/// Maximum length of such a name in an answer, in characters.
const MAX_IGNORED_CHARACTERS: usize = 64;

/// A range of [`Rows::text`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Span {
    start: u32,
    end: u32,
}

/// The value of a variable in a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Cell {
    column: u32,
    span: Span,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Entry {
    number: u32,
    first_cell: u32,
    to: Option<Span>,
    body: Option<Span>,
    customer_reference: Option<Span>,
}

/// A field of a row that is no variable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RowField {
    /// The number of the recipient as written.
    To,
    /// The template of this row.
    Body,
    /// The reference for this recipient.
    CustomerReference,
}

/// All rows of a request.
///
/// [`begin`](Self::begin) adds a row. [`set`](Self::set) and [`set_variable`](Self::set_variable)
/// fill the last one.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Rows {
    text: String,
    entries: Vec<Entry>,
    cells: Vec<Cell>,
    names: Vec<String>,
    columns: HashMap<String, u32>,
    /// The last row with each variable.
    seen_in: Vec<u32>,
    ignored: Vec<String>,
    limit: usize,
}

impl Rows {
    /// Creates rows for a request with at most `limit`. Up to twice as many are parsed, so that the
    /// limit is checked at its position in the order of checks.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Adds a row with its number, from 1.
    pub fn begin(&mut self, number: u32) -> Result<(), Refusal> {
        let limit = self.limit;
        if self.entries.len() >= limit.saturating_mul(2) {
            return Err(Refusal::TooManyRecipients { limit });
        }
        self.entries.push(Entry {
            number,
            first_cell: index(self.cells.len())?,
            ..Entry::default()
        });
        Ok(())
    }

    /// Sets a field of the last row. A blank `body` or reference counts as none. A second value is
    /// refused.
    pub fn set(&mut self, field: RowField, value: &str) -> Result<(), Refusal> {
        let is_blank = value.trim().is_empty();
        if is_blank && field != RowField::To {
            return Ok(());
        }
        let span = self.keep(value)?;
        let Some(entry) = self.entries.last_mut() else {
            return Ok(());
        };
        let (slot, name) = match field {
            RowField::To => (&mut entry.to, "to"),
            RowField::Body => (&mut entry.body, "body"),
            RowField::CustomerReference => (&mut entry.customer_reference, "customer_reference"),
        };
        if slot.replace(span).is_some() {
            return Err(Refusal::Malformed(format!(
                "Row {} gives `{name}` more than once. Give it once.",
                entry.number
            )));
        }
        Ok(())
    }

    /// Sets a variable of the last row. A second value is refused.
    pub fn set_variable(&mut self, column: u32, value: &str) -> Result<(), Refusal> {
        let number = self.entries.last().map_or(0, |entry| entry.number);
        let last = usize::try_from(column)
            .ok()
            .and_then(|at| self.seen_in.get_mut(at));
        match last {
            Some(last) if *last == number => {
                return Err(Refusal::Malformed(format!(
                    "Row {number} gives a variable more than once. Give it once."
                )));
            }
            Some(last) => *last = number,
            None => return Ok(()),
        }
        let span = self.keep(value)?;
        self.cells.push(Cell { column, span });
        Ok(())
    }

    /// Returns the variable of this name, which may be new. The variable at the same position of
    /// the previous row is tried first.
    pub fn column_for(&mut self, name: &str) -> Result<u32, Refusal> {
        if let Some(column) = self.column_before(name) {
            return Ok(column);
        }
        if let Some(&column) = self.columns.get(name) {
            return Ok(column);
        }
        if self.names.len() == MAX_VARIABLES {
            return Err(Refusal::Malformed(format!(
                "The rows name more than {MAX_VARIABLES} different variables."
            )));
        }
        let column = index(self.names.len())?;
        self.names.push(name.to_owned());
        self.columns.insert(name.to_owned(), column);
        self.seen_in.push(0);
        Ok(column)
    }

    /// Adds an unknown field for the answer.
    pub fn ignore(&mut self, name: &str) {
        if self.ignored.len() == MAX_IGNORED {
            return;
        }
        let cut: String = name.trim().chars().take(MAX_IGNORED_CHARACTERS).collect();
        if !cut.is_empty() && !crate::token::is_well_formed(&cut) && !self.ignored.contains(&cut) {
            self.ignored.push(cut);
        }
    }

    /// Returns the first twenty unknown fields.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// Returns the variable of this name, if any row has it.
    pub fn column(&self, name: &str) -> Option<u32> {
        self.columns.get(name).copied()
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns `true` if there is no row.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns all rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.entries.len()).map(|at| self.row(at))
    }

    /// Returns the row at an index below [`len`](Self::len).
    pub(crate) fn row(&self, at: usize) -> Row<'_> {
        let end = self
            .entries
            .get(at + 1)
            .map_or(self.cells.len(), |next| next.first_cell as usize);
        let entry = &self.entries[at];
        Row {
            text: &self.text,
            entry,
            cells: &self.cells[entry.first_cell as usize..end],
        }
    }

    fn column_before(&self, name: &str) -> Option<u32> {
        let [.., before, last] = self.entries.as_slice() else {
            return None;
        };
        let place = self.cells.len() - last.first_cell as usize;
        let cells = before.first_cell as usize..last.first_cell as usize;
        let column = self.cells[cells].get(place)?.column;
        (self.names.get(column as usize)? == name).then_some(column)
    }

    fn keep(&mut self, value: &str) -> Result<Span, Refusal> {
        let start = index(self.text.len())?;
        self.text.push_str(value);
        let end = index(self.text.len())?;
        Ok(Span { start, end })
    }
}

/// Converts a position. A request above 4 GiB is refused.
fn index(place: usize) -> Result<u32, Refusal> {
    u32::try_from(place)
        .map_err(|_| Refusal::Malformed("The rows are longer than 4 GiB.".to_owned()))
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    text: &'a str,
    entry: &'a Entry,
    cells: &'a [Cell],
}

impl<'a> Row<'a> {
    /// Returns the number of the row, from 1.
    pub fn number(self) -> u32 {
        self.entry.number
    }

    /// Returns the number of the recipient as written, empty if there is none.
    pub fn to(self) -> &'a str {
        self.entry.to.map_or("", |span| self.piece(span))
    }

    /// Returns the template of this row.
    pub fn body(self) -> Option<&'a str> {
        self.entry.body.map(|span| self.piece(span))
    }

    /// Returns the reference for this recipient.
    pub fn customer_reference(self) -> Option<&'a str> {
        self.entry.customer_reference.map(|span| self.piece(span))
    }

    /// Returns the value of a variable, or `None` if this row does not have it.
    pub fn value(self, column: u32) -> Option<&'a str> {
        let is_it = |cell: &&Cell| cell.column == column;
        // Most rows have all variables in the order of their first use.
        let expected = self.cells.get(column as usize).filter(is_it);
        let cell = expected.or_else(|| self.cells.iter().find(is_it))?;
        Some(self.piece(cell.span))
    }

    fn piece(self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }
}

/// Creates rows of numbers and variables for tests.
#[cfg(test)]
pub(crate) fn rows_of(list: &[(&str, &[(&str, &str)])]) -> Rows {
    let mut rows = Rows::new(list.len());
    for (number, (to, variables)) in (1..).zip(list) {
        rows.begin(number).unwrap();
        rows.set(RowField::To, to).unwrap();
        for (name, value) in *variables {
            let column = rows.column_for(name).unwrap();
            rows.set_variable(column, value).unwrap();
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_own_fields_and_variables() {
        let mut rows = rows_of(&[
            ("0803", &[("a", "1"), ("b", "2")]),
            ("0804", &[("b", "3"), ("c", "4"), ("a", "5")]),
            ("0805", &[]),
        ]);
        rows.set(RowField::Body, "Hi").unwrap();
        rows.set(RowField::CustomerReference, " ").unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|name| rows.column(name).unwrap());
        let found: Vec<_> = rows
            .iter()
            .map(|row| {
                (
                    row.number(),
                    row.to(),
                    [a, b, c].map(|column| row.value(column)),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                (1, "0803", [Some("1"), Some("2"), None]),
                (2, "0804", [Some("5"), Some("3"), Some("4")]),
                (3, "0805", [None, None, None]),
            ]
        );
        let last = rows.row(2);
        assert_eq!((last.body(), last.customer_reference()), (Some("Hi"), None));
        assert_eq!((rows.len(), rows.column("d")), (3, None));
    }

    #[test]
    fn a_row_has_each_field_and_variable_once() {
        let mut rows = rows_of(&[("0803", &[("a", "1")])]);
        let refusal = rows.set(RowField::To, "0803").unwrap_err();
        assert!(
            refusal
                .to_string()
                .starts_with("Row 1 gives `to` more than once")
        );
        let column = rows.column_for("a").unwrap();
        let refusal = rows.set_variable(column, "2").unwrap_err();
        assert!(
            refusal
                .to_string()
                .starts_with("Row 1 gives a variable more than once")
        );
    }

    #[test]
    fn rows_and_variables_have_a_bound() {
        let mut rows = Rows::new(2);
        for number in 1..=4 {
            rows.begin(number).unwrap();
        }
        assert_eq!(rows.begin(5), Err(Refusal::TooManyRecipients { limit: 2 }));
        for number in 0..MAX_VARIABLES {
            rows.column_for(&number.to_string()).unwrap();
        }
        assert!(rows.column_for("7").is_ok());
        assert!(matches!(rows.column_for("x"), Err(Refusal::Malformed(_))));
    }

    #[test]
    fn unknown_names_are_kept_within_bounds() {
        let mut rows = Rows::new(1);
        for number in 0..30 {
            rows.ignore(&format!("field{number}"));
            rows.ignore("field0");
        }
        rows.ignore("");
        assert_eq!(rows.ignored().len(), MAX_IGNORED);
        assert_eq!(rows.ignored()[1], "field1");
    }
}
