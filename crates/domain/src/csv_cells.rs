//! CSV cells (RFC 4180) that spreadsheets do not evaluate.
//!
//! A spreadsheet reads a text as a formula if it begins with `=`, `+`, `-`, `@`, tab or CR. An
//! apostrophe is written before such a text (OWASP, "CSV injection"). Numbers such as `-6.00` are
//! not changed.

use std::fmt::{Display, Write};

/// The end of a row.
pub const ROW_END: &str = "\r\n";

fn begins_a_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r'])
}

/// Returns `true` if a text is a number with an optional sign, such as `-6.00`. Spreadsheets do not
/// evaluate it.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let are_digits =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    are_digits(whole) && are_digits(fraction)
}

/// Appends a text as a cell. An apostrophe precedes a formula. The cell is quoted if it contains a
/// comma, a quote or a line end.
pub fn push_text(csv: &mut String, text: &str) {
    let guard = if begins_a_formula(text) && !is_number(text) {
        "'"
    } else {
        ""
    };
    let is_special = |byte: u8| matches!(byte, b',' | b'"' | b'\r' | b'\n');
    if !text.bytes().any(is_special) {
        csv.push_str(guard);
        csv.push_str(text);
        return;
    }
    csv.push('"');
    csv.push_str(guard);
    let mut pieces = text.split('"');
    csv.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        csv.push_str("\"\"");
        csv.push_str(piece);
    }
    csv.push('"');
}

/// Appends a number, or a value of only digits, letters, points and hyphens.
pub fn push_plain(csv: &mut String, value: impl Display) {
    // Writing to a string cannot fail.
    let _ = write!(csv, "{value}");
}

/// Removes the apostrophe that [`push_text`] wrote.
pub fn without_guard(cell: &str) -> &str {
    cell.strip_prefix('\'')
        .filter(|text| begins_a_formula(text))
        .unwrap_or(cell)
}

/// Returns the number in a cell without a leading apostrophe, and without the fraction of a whole
/// float.
pub(crate) fn number_cell(cell: &str) -> &str {
    let cell = cell.trim();
    let cell = cell.strip_prefix('\'').unwrap_or(cell);
    let whole = cell.strip_suffix(".0");
    whole
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
        .unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Money;
    use proptest::prelude::*;

    fn written(text: &str) -> String {
        let mut csv = String::new();
        push_text(&mut csv, text);
        csv
    }

    #[test]
    fn a_text_that_looks_like_a_formula_is_guarded() {
        let table = [
            ("Ada", "Ada"),
            ("", ""),
            ("=1+1", "'=1+1"),
            ("+SUM(A1)", "'+SUM(A1)"),
            ("-2+3", "'-2+3"),
            ("@now", "'@now"),
            ("\tx", "'\tx"),
            ("\rx", "\"'\rx\""),
            (
                "=HYPERLINK(\"a\",\"b\")",
                "\"'=HYPERLINK(\"\"a\"\",\"\"b\"\")\"",
            ),
            ("-6.00", "-6.00"),
            ("+5", "+5"),
            ("-", "'-"),
            ("-.5", "'-.5"),
            ("a=b", "a=b"),
            ("'quoted'", "'quoted'"),
        ];
        for (text, cell) in table {
            assert_eq!(written(text), cell, "{text:?}");
        }
    }

    #[test]
    fn a_cell_is_quoted_by_rfc_4180() {
        let table = [
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("a;b c", "a;b c"),
        ];
        for (text, cell) in table {
            assert_eq!(written(text), cell, "{text:?}");
        }
    }

    #[test]
    fn a_number_is_written_as_it_is() {
        let mut csv = String::new();
        push_plain(&mut csv, Money::from_units(-60_000));
        assert_eq!(csv, "-6.00");
    }

    proptest! {
        #[test]
        fn a_written_cell_parses_to_its_text(text in "[^']\\PC{0,20}|[=+@,\"\r\n\t -]{0,8}") {
            let file = format!("to,v\r\n0803,{}\r\n", written(&text));
            let rows = crate::personalised::read_csv(file.as_bytes(), 1).unwrap();
            let row = rows.iter().next().unwrap();
            prop_assert_eq!(row.value(rows.column("v").unwrap()), Some(text.as_str()));
        }

        #[test]
        fn no_written_text_begins_a_formula(text in any::<String>()) {
            let cell = written(&text);
            let shown = cell.strip_prefix('"').unwrap_or(&cell);
            prop_assert!(is_number(&text) || !begins_a_formula(shown), "{cell:?}");
        }
    }
}
