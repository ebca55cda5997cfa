//! Files as tools write them, and broken ones.

use super::*;
use proptest::prelude::*;

type Found = Vec<(u32, String, Vec<Option<String>>)>;

/// The rows with their numbers, recipients and the values of these variables.
fn read(file: &[u8], variables: &[&str]) -> Result<Found, String> {
    let rows = read_csv(file, 100).map_err(|refusal| refusal.to_string())?;
    let values_of = |row: super::super::rows::Row<'_>| {
        let value = |name: &&str| rows.column(name).and_then(|column| row.value(column));
        variables
            .iter()
            .map(|name| value(name).map(str::to_owned))
            .collect()
    };
    let found = rows.iter();
    Ok(found
        .map(|row| (row.number(), row.to().to_owned(), values_of(row)))
        .collect())
}

fn values(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| Some((*text).to_owned())).collect()
}

#[test]
fn every_delimiter_and_line_end_reads_alike() {
    let expected = vec![
        (1, "0803".to_owned(), values(&["Ada", "5"])),
        (2, "0804".to_owned(), values(&["", "6"])),
    ];
    for delimiter in [",", ";", "\t"] {
        for end in ["\n", "\r\n", "\r"] {
            for (start, last) in [("", ""), ("\u{FEFF}", end)] {
                let file = format!("{start}to,name,n{end}0803,Ada,5{end}0804,,6{last}");
                let file = file.replace(',', delimiter);
                let found = read(file.as_bytes(), &["name", "n"]);
                assert_eq!(found.as_ref(), Ok(&expected), "{file:?}");
            }
        }
    }
}

#[test]
fn the_delimiter_is_the_one_that_leaves_a_column_to() {
    let table = [
        ("to\n0803\n", values(&[])),
        ("to;a,b\n0803;1,5\n", values(&["1,5"])),
        ("a,b;to\n1,5;0803\n", values(&["1,5"])),
        ("TO\ta,b\n0803\t1;5\n", values(&["1;5"])),
        ("\"to\",\"a,b\"\n0803,1 5\n", values(&["1 5"])),
    ];
    for (file, cells) in table {
        let names: &[&str] = if cells.is_empty() { &[] } else { &["a,b"] };
        let expected = vec![(1, "0803".to_owned(), cells)];
        assert_eq!(read(file.as_bytes(), names), Ok(expected), "{file:?}");
    }
}

#[test]
fn quoted_cells_hold_delimiters_quotes_and_lines() {
    let file = "to,v\n0803,\"a,b\"\n0804,\"say \"\"hi\"\"\"\n0805,\"two\r\nlines\"\n0806,\"\"\n0807,5\" pipe\n\
        0808,\"\"\"\"\n0809,\"\"\"x\"\n";
    let found: Vec<_> = read(file.as_bytes(), &["v"])
        .unwrap()
        .into_iter()
        .filter_map(|(_, _, values)| values.into_iter().next().flatten())
        .collect();
    let expected = [
        "a,b",
        "say \"hi\"",
        "two\r\nlines",
        "",
        "5\" pipe",
        "\"",
        "\"x",
    ];
    assert_eq!(found, expected);
}

#[test]
fn body_and_reference_have_their_meaning_in_any_case() {
    let file = "To, Body ,CUSTOMER_REFERENCE,name\n0803,Hi {name},r1,Ada\n0804, ,,Obi\n";
    let rows = read_csv(file.as_bytes(), 9).unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| (row.body(), row.customer_reference()))
        .collect();
    assert_eq!(found, [(Some("Hi {name}"), Some("r1")), (None, None)]);
    assert_eq!((rows.column("body"), rows.column("name")), (None, Some(0)));
}

#[test]
fn blank_lines_are_skipped_and_keep_their_number() {
    let file = "to,name\n\n0803,Ada\n,\n \t, \n0804,Obi\n\n";
    let numbers: Vec<u32> = read(file.as_bytes(), &[])
        .unwrap()
        .iter()
        .map(|row| row.0)
        .collect();
    assert_eq!(numbers, [2, 5]);
}

#[test]
fn a_short_line_lacks_its_last_cells() {
    let file = "to,a,b,\n0803,1,,\n0804,1\n0805\n,2,3\n0806,1,2,,,\n";
    let found = read(file.as_bytes(), &["a", "b"]).unwrap();
    let cells: Vec<_> = found.into_iter().map(|row| row.2).collect();
    assert_eq!(
        cells,
        [
            values(&["1", ""]),
            vec![Some("1".to_owned()), None],
            vec![None, None],
            values(&["2", "3"]),
            values(&["1", "2"]),
        ]
    );
}

#[test]
fn a_number_is_read_as_spreadsheets_write_it() {
    let table = [
        ("'08031234567", "08031234567"),
        ("2348031234567.0", "2348031234567"),
        (" 0803 123 4567 ", "0803 123 4567"),
        ("2.34803E+12", "2.34803E+12"),
        ("\u{200E}0803\u{A0}123", "\u{200E}0803\u{A0}123"),
    ];
    for (cell, to) in table {
        let found = read(format!("to\n{cell}\n").as_bytes(), &[]).unwrap();
        assert_eq!(found[0].1, to, "{cell}");
    }
    assert_eq!(crate::parse_national("2.34803E+12"), None);
}

#[test]
fn the_apostrophe_of_an_export_is_not_part_of_a_cell() {
    let found = read(b"to,v\n0803,'=1+1\n0804,'tis\n0805,'\n", &["v"]).unwrap();
    let cells: Vec<_> = found.into_iter().map(|row| row.2).collect();
    assert_eq!(
        cells,
        [values(&["=1+1"]), values(&["'tis"]), values(&["'"])]
    );
}

#[test]
fn a_broken_file_is_refused_with_row_and_column() {
    let table: [(&[u8], &str); 13] = [
        (b"", "no column `to`"),
        (b"name,number\nAda,0803\n", "no column `to`"),
        (b"\xEF\xBB\xBF08031234567\n", "no column `to`"),
        (
            b"to,name,name\n0803,a,b\n",
            "the column `name` more than once",
        ),
        (b"to,To\n0803,0804\n", "the column `To` more than once"),
        (
            b"to,name\n0803,Ada\n0804,\"Obi\n0805,Eve\n",
            "Row 2, column 2 (`name`): the quote at the start",
        ),
        (
            b"to,name\n\"0803\"4,Ada\n",
            "Row 1, column 1 (`to`): a closing quote is followed",
        ),
        (
            b"to,name\n0803,Ada, Lagos\n",
            "Row 1, column 3: the header names only 2 columns",
        ),
        (
            b"to,name\n0803,Ada\n0804,Ren\xE9\n",
            "Row 2, column 2 (`name`): the text is not UTF-8",
        ),
        (
            b"to,name\n\xE9",
            "Row 1, column 1 (`to`): the text is not UTF-8",
        ),
        (b"to,pr\xE9nom\n0803,Ada\n", "Header: the text is not UTF-8"),
        (b"\xFF\xFEt\0o\0", "in UTF-16"),
        (b"to,\"name\n0803,Ada\n", "no column `to`"),
    ];
    for (file, words) in table {
        let refusal = read(file, &[]).unwrap_err();
        assert!(refusal.contains(words), "{words}: {refusal}");
    }
}

#[test]
fn more_rows_than_twice_the_limit_are_not_read() {
    let file = format!("to\n{}", "0803\n".repeat(21));
    let refusal = read_csv(file.as_bytes(), 10).unwrap_err();
    assert_eq!(refusal, Refusal::TooManyRecipients { limit: 10 });
    assert_eq!(read_csv(&file.as_bytes()[..103], 10).unwrap().len(), 20);
}

#[test]
fn columns_and_blank_lines_have_a_bound() {
    let commas = ",".repeat(1 << 20);
    let refusal = read(commas.as_bytes(), &[]).unwrap_err();
    assert_eq!(refusal, "The CSV header names more than 1003 columns.");
    let names: Vec<String> = (0..1_000).map(|at| format!("v{at}")).collect();
    let widest = format!("to,body,customer_reference,{}\n0803\n", names.join(","));
    assert_eq!(read(widest.as_bytes(), &[]).map(|rows| rows.len()), Ok(1));
    let blank = |lines: usize| format!("to\n{}0803\n", "\n".repeat(lines));
    assert_eq!(read(blank(10_000).as_bytes(), &[]).unwrap()[0].0, 10_001);
    let refusal = read(blank(10_001).as_bytes(), &[]).unwrap_err();
    assert!(
        refusal.starts_with("The CSV has more than 10000 blank lines"),
        "{refusal}"
    );
}

proptest! {
    #[test]
    fn a_quoted_cell_parses_to_its_text(
        cells in proptest::collection::vec("[^\0]{0,12}", 1..5), delimiter in "[,;\t]",
    ) {
        let names: Vec<String> = (0..cells.len()).map(|at| format!("v{at}")).collect();
        let quoted: Vec<String> = cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
        let file = format!("to{delimiter}{}\n0803{delimiter}{}\n", names.join(&delimiter), quoted.join(&delimiter));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let found = read(file.as_bytes(), &names).unwrap();
        let expected: Vec<_> = cells.iter().map(|cell| Some(without_guard(cell).to_owned())).collect();
        prop_assert_eq!(&found[0].2, &expected);
    }

    #[test]
    fn reading_never_panics(file in proptest::collection::vec(any::<u8>(), 0..200), text in "[to,;\t\"\r\na ]{0,60}") {
        let _ = read_csv(&file, 10);
        let _ = read_csv(format!("to,a\n{text}").as_bytes(), 10);
    }
}
