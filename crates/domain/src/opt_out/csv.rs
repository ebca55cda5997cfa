//! Opt-outs from a CSV file, as the export writes them.

use super::request::{MAX_ROWS, OptOutFields, OptOutRequest};
use crate::csv_cells::{number_cell, without_guard};
use crate::csv_table::{CsvTable, position};
use crate::refusal::Refusal;
use std::borrow::Cow;

/// Maximum number of columns. Columns with other names are ignored.
const MAX_COLUMNS: usize = 100;
/// The columns that are read.
const COLUMNS: [&str; 3] = ["recipient", "sender", "reason"];

/// Parses a CSV file with a column `recipient` and optional columns `sender` and `reason`. A broken
/// row is refused by row and column.
pub fn read_csv(file: &[u8]) -> Result<Vec<OptOutRequest>, Refusal> {
    let [recipient, sender, reason] = COLUMNS;
    let table = CsvTable::open(file, recipient, MAX_COLUMNS)?;
    let names = table.names().to_vec();
    let place = |name: &str| names.iter().position(|one| one.eq_ignore_ascii_case(name));
    let places = [place(recipient), place(sender), place(reason)];
    let mut requests = Vec::new();
    table.each_row(|row, line| {
        if requests.len() == MAX_ROWS {
            return Err(Refusal::Malformed(format!(
                "The CSV has more than {MAX_ROWS} rows. Send it in parts."
            )));
        }
        requests.push(read_row(&names, &places, row, line)?);
        Ok(())
    })?;
    if requests.is_empty() {
        let fault = "The CSV has a header but no rows. Give one row for each number.";
        return Err(Refusal::Malformed(fault.to_owned()));
    }
    Ok(requests)
}

fn read_row(
    names: &[String],
    places: &[Option<usize>; 3],
    row: u32,
    line: &[Cow<'_, str>],
) -> Result<OptOutRequest, Refusal> {
    let cell = |place: Option<usize>| place.and_then(|place| line.get(place)).map(AsRef::as_ref);
    let fields = OptOutFields {
        recipient: cell(places[0]).map(|text| number_cell(text).to_owned()),
        sender: cell(places[1]).map(|text| without_guard(text).to_owned()),
        reason: cell(places[2]).map(|text| without_guard(text).to_owned()),
    };
    OptOutRequest::read_fields(&fields).map_err(|fault| {
        let column = COLUMNS.iter().position(|name| *name == fault.field);
        let place = column.and_then(|column| places[column]).unwrap_or(0);
        let position = position(names, row, place);
        Refusal::Malformed(format!("{position}: {fault}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv_cells::{ROW_END, push_plain, push_text};

    fn read(file: &str) -> Result<Vec<(u64, String, String)>, String> {
        let requests = read_csv(file.as_bytes()).map_err(|refusal| refusal.to_string())?;
        let shown = requests.into_iter().map(|one| {
            (
                one.recipient.digits(),
                one.sender.unwrap_or_default(),
                one.reason.unwrap_or_default(),
            )
        });
        Ok(shown.collect())
    }

    #[test]
    fn columns_stand_in_any_order_and_case() {
        let file = "Reason;RECIPIENT;note\r\ncomplaint;0803 123 4567;x\r\n\r\n;2348051234567.0\r\n";
        let expected = [
            (2_348_031_234_567, String::new(), "complaint".to_owned()),
            (2_348_051_234_567, String::new(), String::new()),
        ];
        assert_eq!(read(file), Ok(expected.to_vec()));
    }

    #[test]
    fn a_written_row_is_read_again() {
        let (mut csv, reason) = ("recipient,sender,reason\r\n".to_owned(), "=\"no\", he said");
        push_plain(&mut csv, 2_348_031_234_567_u64);
        for text in ["Ada Foods", reason] {
            csv.push(',');
            push_text(&mut csv, text);
        }
        csv.push_str(ROW_END);
        let found = read(&csv).unwrap();
        assert_eq!(found[0].1, "Ada Foods");
        assert_eq!(found[0].2, reason);
    }

    #[test]
    fn a_broken_row_is_named_by_row_and_column() {
        let long = format!("recipient,reason\n0803 123 4567,{}\n", "x".repeat(101));
        for (file, named) in [
            ("sender\nOgene\n", "no column `recipient`"),
            ("recipient\n", "no rows"),
            (
                "recipient\n08031234567\n12\n",
                "Row 2, column 1 (`recipient`): `recipient` must",
            ),
            (
                "sender,recipient\ntwelve chars,08031234567\n",
                "Row 1, column 1 (`sender`): `sender` must",
            ),
            (&*long, "Row 1, column 2 (`reason`): `reason` must"),
            (
                "sender,recipient\nOgene\n",
                "Row 1, column 2 (`recipient`): `recipient` must",
            ),
            (
                "recipient\n\"0803\n",
                "Row 1, column 1 (`recipient`): the quote",
            ),
        ] {
            let refusal = read(file).unwrap_err();
            assert!(refusal.contains(named), "{refusal}");
        }
    }

    #[test]
    fn a_file_of_too_many_rows_is_refused() {
        let rows = |count: usize| format!("recipient\n{}", "08031234567\n".repeat(count));
        assert_eq!(read(&rows(MAX_ROWS)).unwrap().len(), MAX_ROWS);
        assert!(read(&rows(MAX_ROWS + 1)).unwrap_err().contains("10000"));
    }
}
