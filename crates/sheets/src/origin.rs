//! The form of a file.

/// The form in which a file was read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Origin {
    /// Text with a delimiter.
    Csv {
        /// The name of the encoding, such as `UTF-8`.
        encoding: &'static str,
        /// The delimiter.
        delimiter: char,
    },
    /// The first visible sheet of a workbook.
    Xlsx {
        /// The name of the sheet.
        sheet: String,
    },
}
