//! Faults of the rows of a personalised send: which row, which field, and why.

use crate::named_enum;

/// Most faults that a refusal names; the others are counted.
pub const MAX_NAMED_FAULTS: usize = 100;
/// Most characters of a field's name that a refusal repeats.
const MAX_NAME_CHARACTERS: usize = 64;

named_enum! {
    /// Why a row cannot be sent, as `reason` in `error.details`.
    pub enum Reason {
        /// Other rows have the variable, and this one has not.
        Missing = "missing",
        /// No row has a variable of this name.
        Unknown = "unknown",
        /// The text, or the reference, has more characters than it may have.
        TooLong = "too_long",
        /// Nothing but blanks is left of the text.
        Empty = "empty",
        /// The gateway does not carry this text.
        NotPermitted = "not_permitted",
        /// The text holds a phrase that is not carried at all.
        Prohibited = "prohibited",
    }
}

/// One fault of one row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RowFault {
    /// The number of the row, from 1. The header of a CSV is not counted.
    pub row: u32,
    /// The variable, or `body` for the text, or `customer_reference`.
    pub field: String,
    /// The reason.
    pub reason: Reason,
}

/// The faults of all rows: the first of them, and how many rows have one.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RowFaults {
    named: Vec<RowFault>,
    rows: usize,
    last_row: Option<u32>,
}

impl RowFaults {
    /// Notes a fault. The faults of a row come one after the other.
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

    /// The first [`MAX_NAMED_FAULTS`] faults, in the order of the rows.
    pub fn named(&self) -> &[RowFault] {
        &self.named
    }

    /// The number of rows with a fault.
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
