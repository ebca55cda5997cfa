//! The limits of a file.

/// The limits of a file. A file that exceeds one is refused, and a longer cell is a fault of its
/// row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Maximum number of rows that are not blank.
    pub rows: u32,
    /// Maximum number of columns.
    pub columns: usize,
    /// Maximum length of a cell in bytes of UTF-8.
    pub cell_bytes: usize,
    /// Maximum size of each part of a workbook after inflation.
    pub inflated_bytes: u64,
    /// Maximum size of all shared strings of a workbook.
    pub strings_bytes: usize,
}
