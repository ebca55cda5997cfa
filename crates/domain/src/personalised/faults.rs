//! The faults of rows of a personalised send.

use crate::named_enum;

/// Maximum number of faults that a refusal names.
pub const MAX_NAMED_FAULTS: usize = 100;
/// Maximum length of a field's name in a refusal, in characters.
const MAX_NAME_CHARACTERS: usize = 64;

named_enum! {
    /// The reason why a row cannot be sent, as `reason` in `error.details`.
    pub enum Reason {
        /// The row lacks a variable that other rows have.
        Missing = "missing",
        /// No row has a variable of this name.
        Unknown = "unknown",
        /// The text or the reference is too long.
        TooLong = "too_long",
        /// The text is blank.
        Empty = "empty",
        /// The gateway does not allow the text.
        NotPermitted = "not_permitted",
        /// The text contains a prohibited phrase.
        Prohibited = "prohibited",
    }
}

/// A fault of a row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RowFault {
    /// The number of the row, from 1 without the header of a CSV.
    pub row: u32,
    /// The variable, or `body`, or `customer_reference`.
    pub field: String,
    /// The reason.
    pub reason: Reason,
}

/// The first faults of all rows, and the number of rows with a fault.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RowFaults {
    named: Vec<RowFault>,
    rows: usize,
    last_row: Option<u32>,
}

impl RowFaults {
    /// Adds a fault. The faults of a row must be added together.
    pub fn note(&mut self, row: u32, field: &str, reason: Reason) {
        if self.last_row != Some(row) {
            self.last_row = Some(row);
            self.rows += 1;
        }
        if self.named.len() < MAX_NAMED_FAULTS {
            self.named.push(RowFault {
                row,
                field: field.chars().take(MAX_NAME_CHARACTERS).collect(),
                reason,
            });
        }
    }

    /// Returns `true` if no row has a fault.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns the first [`MAX_NAMED_FAULTS`] faults in the order of the rows.
    pub fn named(&self) -> &[RowFault] {
        &self.named
    }

    /// Returns the number of rows with a fault.
    pub fn rows(&self) -> usize {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_100_faults_are_named_and_all_rows_counted() {
        let mut faults = RowFaults::default();
        assert!(faults.is_empty());
        for row in 1..=80 {
            faults.note(row, "name", Reason::Missing);
            faults.note(row, "body", Reason::TooLong);
        }
        assert_eq!((faults.named().len(), faults.rows()), (100, 80));
        assert!(!faults.is_empty());
        let last = &faults.named()[99];
        assert_eq!((last.row, last.reason.as_str()), (50, "too_long"));
    }

    #[test]
    fn a_long_name_is_cut_in_the_answer() {
        let mut faults = RowFaults::default();
        faults.note(1, &"ẹ".repeat(1_000), Reason::Unknown);
        assert_eq!(faults.named()[0].field, "ẹ".repeat(64));
    }
}
