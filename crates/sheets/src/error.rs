//! The reasons why a file is refused.

/// The reason why a file is refused. Its words name the remedy.
#[derive(Debug, thiserror::Error)]
pub enum SheetError {
    /// The file has no row.
    #[error("The file has no rows. Choose another file.")]
    Empty,
    /// The file is neither text nor a workbook.
    #[error("The file is neither CSV nor XLSX. Save it as one of them.")]
    NotATable,
    /// The file is a workbook of Excel 97, or has a password.
    #[error(
        "The workbook is in the format of Excel 97 or has a password. Save it as XLSX without a password."
    )]
    OldWorkbook,
    /// The workbook has no visible sheet.
    #[error(
        "The workbook has no visible sheet with cells. Show the sheet and save the file again."
    )]
    NoSheet,
    /// The workbook is damaged.
    #[error("The workbook is damaged ({reason}). Open it in a spreadsheet and save it again.")]
    Damaged {
        /// The part and the fault.
        reason: String,
    },
    /// A quote is never closed.
    #[error("The quote that begins in row {row} is never closed. Remove or double it.")]
    Unclosed {
        /// The number of the row.
        row: u32,
    },
    /// The file has too many rows.
    #[error("The file has more than {max} rows. Split it into several files.")]
    TooManyRows {
        /// The limit.
        max: u32,
    },
    /// A row has too many columns.
    #[error("Row {row} has more than {max} columns. Remove the columns that no text uses.")]
    TooManyColumns {
        /// The number of the row.
        row: u32,
        /// The limit.
        max: usize,
    },
    /// A part of the workbook is too large after inflation.
    #[error(
        "The workbook is larger than {max_mib} MiB once it is inflated. Split it, or save it as CSV."
    )]
    TooLarge {
        /// The limit in MiB.
        max_mib: u64,
    },
    /// The file cannot be read.
    #[error("The file cannot be read ({0}).")]
    Io(#[from] std::io::Error),
}

impl SheetError {
    pub(crate) fn damaged(part: &str, reason: impl std::fmt::Display) -> Self {
        Self::Damaged {
            reason: format!("{part}: {reason}"),
        }
    }
}
