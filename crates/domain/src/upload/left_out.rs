//! The reasons why rows are left out.

use super::packed::CellFault;
use std::fmt;

/// The reason why a row is left out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum LeftOut {
    /// The cell of the number is empty.
    NoNumber,
    /// The number is not valid.
    NotANumber,
    /// The number has the exponent form, and its last digits are lost.
    DigitsLost,
    /// The number is foreign, and the gateway is not that of foreign numbers.
    Foreign,
    /// The number is in an earlier row.
    Repeated {
        /// The number of that row.
        row: u32,
    },
    /// A cell that is needed cannot be read.
    Cell(CellFault),
    /// A placeholder of the text has no value.
    Missing {
        /// The placeholder.
        name: String,
    },
    /// The text is too long once its placeholders are filled.
    TooLong,
    /// The text is blank once its placeholders are filled.
    Blank,
}

impl LeftOut {
    /// Returns a key by which rows with the same reason are counted.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::NoNumber => "No number",
            Self::NotANumber => "Not a valid number",
            Self::DigitsLost | Self::Cell(CellFault::DigitsLost) => "Digits are lost",
            Self::Foreign => "Foreign number",
            Self::Repeated { .. } => "Repeated number",
            Self::Cell(CellFault::NoValue) => "Formula without a value",
            Self::Cell(CellFault::Error) => "Cell with an error",
            Self::Cell(CellFault::TooLong) | Self::TooLong => "Text too long",
            Self::Cell(CellFault::Quote) => "Quote within a cell",
            Self::Missing { .. } => "Placeholder without a value",
            Self::Blank => "Text is blank",
        }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNumber => f.write_str("The row has no number."),
            Self::NotANumber => f.write_str("The number is not a mobile number."),
            Self::DigitsLost | Self::Cell(CellFault::DigitsLost) => f.write_str(
                "A spreadsheet has rounded the number. Format the column as text and enter it again.",
            ),
            Self::Foreign => {
                f.write_str("The number is foreign. Send it over the gateway international.")
            }
            Self::Repeated { row } => write!(f, "The number is in row {row} already."),
            Self::Cell(CellFault::NoValue) => f.write_str(
                "A formula has no stored value. Open the file in a spreadsheet and save it again.",
            ),
            Self::Cell(CellFault::Error) => f.write_str("A formula of the row has an error."),
            Self::Cell(CellFault::TooLong) => f.write_str("A cell of the row is too long."),
            Self::Cell(CellFault::Quote) => {
                f.write_str("Text follows a closing quote. Double a quote within a cell.")
            }
            Self::Missing { name } => write!(f, "The placeholder {{{name}}} has no value."),
            Self::TooLong => f.write_str("The text is too long with the values of the row."),
            Self::Blank => f.write_str("The text is blank with the values of the row."),
        }
    }
}

/// Returns `true` for a number in exponent form, such as `2.34803E+12`.
pub(super) fn is_exponent(number: &str) -> bool {
    let Some((mantissa, exponent)) = number.split_once(['e', 'E']) else {
        return false;
    };
    let are_digits =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa = mantissa.replacen(['.', ','], "", 1);
    are_digits(&mantissa) && are_digits(exponent.strip_prefix('+').unwrap_or(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_form_of_spreadsheets_is_recognised() {
        for number in ["2.34803E+12", "2,34803E+12", "2E12", "2.3e9"] {
            assert!(is_exponent(number), "{number}");
        }
        for number in [
            "08031234567",
            "E",
            "1E",
            "E5",
            "1.2.3E5",
            "1E-5",
            "ABE+12",
            "",
        ] {
            assert!(!is_exponent(number), "{number}");
        }
    }
}
