use super::*;
use proptest::prelude::*;
use rust_xlsxwriter::{Format, Formula, Workbook};
use std::io::{Cursor, Write};
use zip::write::{SimpleFileOptions, ZipWriter};

const LIMITS: Limits = Limits {
    rows: 100,
    columns: 5,
    cell_bytes: 40,
    inflated_bytes: 1 << 20,
    strings_bytes: 1 << 16,
};

/// The number and the cells of each row.
type Table = Vec<(u32, Vec<String>)>;

fn read_within(file: &[u8], limits: &Limits) -> Result<(Origin, Vec<Row>), String> {
    let mut rows = Vec::new();
    let mut each = |row: &Row| {
        rows.push(row.clone());
        ControlFlow::Continue(())
    };
    let origin = read(Cursor::new(file), limits, &mut each);
    Ok((origin.map_err(|error| error.to_string())?, rows))
}

fn rows(file: &[u8]) -> Vec<Row> {
    read_within(file, &LIMITS).unwrap().1
}

fn table(file: &[u8]) -> Table {
    let rows = rows(file);
    let cells = |row: &Row| row.cells().map(str::to_owned).collect();
    rows.iter().map(|row| (row.number(), cells(row))).collect()
}

fn lines(expected: &[(u32, &[&str])]) -> Table {
    let cells = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
    expected
        .iter()
        .map(|(row, one)| (*row, cells(one)))
        .collect()
}

fn refusal(file: &[u8], limits: &Limits) -> String {
    read_within(file, limits).unwrap_err()
}

fn utf16(text: &str, encode: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(encode).collect()
}

/// A workbook with this XML in `sheetData`, as small as readers accept.
fn workbook(sheet: &str, strings: &str) -> Vec<u8> {
    let relation = |id: &str, kind: &str, target: &str| {
        format!("<Relationship Id=\"{id}\" Type=\"http://x/{kind}\" Target=\"{target}\"/>")
    };
    let parts = [
        (
            "_rels/.rels",
            format!(
                "<Relationships>{}</Relationships>",
                relation("r", "officeDocument", "/xl/workbook.xml")
            ),
        ),
        (
            "xl/workbook.xml",
            "<workbook xmlns:r=\"r\"><sheets><sheet name=\"Hidden\" state=\"hidden\" r:id=\"r9\"/>\
             <sheet name=\"Guests &amp; co\" r:id=\"r1\"/></sheets></workbook>"
                .to_owned(),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                "<Relationships>{}{}</Relationships>",
                relation("r1", "worksheet", "worksheets/sheet1.xml"),
                relation("r2", "sharedStrings", "sharedStrings.xml")
            ),
        ),
        (
            "xl/sharedStrings.xml",
            format!("<sst uniqueCount=\"18446744073709551615\">{strings}</sst>"),
        ),
        (
            "xl/worksheets/sheet1.xml",
            format!("<worksheet><sheetData>{sheet}</sheetData></worksheet>"),
        ),
    ];
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn csv_is_decoded_from_four_encodings() {
    let text = "Name;Number\r\nÀdé;08031234567\r\n";
    let windows = b"Name;Number\r\n\xC0d\xE9;08031234567\r\n";
    let marked = |mark: &[u8], text: Vec<u8>| [mark, &text].concat();
    let files = [
        ("UTF-8", text.as_bytes().to_vec()),
        ("UTF-8", marked(b"\xEF\xBB\xBF", text.into())),
        (
            "UTF-16LE",
            marked(b"\xFF\xFE", utf16(text, u16::to_le_bytes)),
        ),
        (
            "UTF-16BE",
            marked(b"\xFE\xFF", utf16(text, u16::to_be_bytes)),
        ),
        ("UTF-16LE", utf16(text, u16::to_le_bytes)),
        ("UTF-16BE", utf16(text, u16::to_be_bytes)),
        ("windows-1252", windows.to_vec()),
    ];
    let expected = lines(&[(1, &["Name", "Number"]), (2, &["Àdé", "08031234567"])]);
    for (name, file) in files {
        let (origin, _) = read_within(&file, &LIMITS).unwrap();
        let delimiter = ';';
        assert_eq!(
            origin,
            Origin::Csv {
                encoding: name,
                delimiter
            }
        );
        assert_eq!(table(&file), expected, "{name}");
    }
}

#[test]
fn a_character_across_two_pieces_is_whole() {
    let text = format!("{}ẹ,08031234567\n", "x,y\n".repeat(16_383));
    let limits = Limits {
        rows: 20_000,
        ..LIMITS
    };
    for begin in ["", "a", "aa", "aaa"] {
        let file = format!("{begin}{text}");
        let (origin, rows) = read_within(file.as_bytes(), &limits).unwrap();
        assert!(matches!(
            origin,
            Origin::Csv {
                encoding: "UTF-8",
                ..
            }
        ));
        assert_eq!(rows.last().unwrap().cell(0), "ẹ");
    }
}

#[test]
fn the_delimiter_is_comma_semicolon_or_tab_alone() {
    let cases: [(&str, char, &[&str]); 7] = [
        ("to,name\n1,a\n", ',', &["to", "name"]),
        ("to;name\n1;a, b\n", ';', &["to", "name"]),
        ("to\tname\n1\ta,b\n", '\t', &["to", "name"]),
        ("to\n0803 123 4567\n0803 123 4568\n", ',', &["to"]),
        ("to|name\n1|a\n", ',', &["to|name"]),
        ("\"to;a\",name\n\"1;2\",b\n", ',', &["to;a", "name"]),
        ("sep=;\r\nto;a,b,c\r\n1;x,y,z\r\n", ';', &["to", "a,b,c"]),
    ];
    for (file, delimiter, first) in cases {
        let (origin, rows) = read_within(file.as_bytes(), &LIMITS).unwrap();
        assert_eq!(
            origin,
            Origin::Csv {
                encoding: "UTF-8",
                delimiter
            },
            "{file}"
        );
        assert!(rows[0].cells().eq(first.iter().copied()), "{file}");
    }
}

#[test]
fn quotes_line_ends_and_blank_rows_keep_the_numbers() {
    let file = "to,t\r\"a \"\"b\"\"\",\"two\nlines\"\r\n\r\n , \n\"x\" ,y";
    let expected = lines(&[
        (1, &["to", "t"]),
        (2, &["a \"b\"", "two\nlines"]),
        (5, &["x ", "y"]),
    ]);
    assert_eq!(table(file.as_bytes()), expected);
    assert_eq!(table(b"a\n"), lines(&[(1, &["a"])]));
    assert_eq!(table(b"a,"), lines(&[(1, &["a", ""])]));
    assert_eq!(table(b"sep=;\na;b"), lines(&[(2, &["a", "b"])]));
}

#[test]
fn a_bad_cell_is_a_fault_of_its_row() {
    let long = "ẹ".repeat(20);
    let file = format!("a,b\n\"x\"y,1\n2,{long}\n3,4\n");
    let rows = rows(file.as_bytes());
    let faults: Vec<_> = rows
        .iter()
        .map(|row| (row.fault(0), row.fault(1)))
        .collect();
    let expected = [
        (None, None),
        (Some(CellFault::Quote), None),
        (None, Some(CellFault::TooLong)),
        (None, None),
    ];
    assert_eq!(faults, expected);
    assert_eq!(rows[2].cell(1), "ẹ".repeat(13));
    let unclosed = refusal(b"a,b\n1,2\n3,\"4\n5,6\n", &LIMITS);
    assert!(unclosed.contains("row 3"), "{unclosed}");
}

#[test]
fn a_file_beyond_a_limit_is_refused_with_its_remedy() {
    let two = Limits {
        rows: 2,
        columns: 2,
        ..LIMITS
    };
    assert_eq!(read_within(b"1\n\n2\n\n", &two).unwrap().1.len(), 2);
    assert!(refusal(b"1\n2\n3\n", &two).contains("more than 2 rows. Split"));
    assert!(refusal(b"1,2\n1,2,3\n", &two).contains("Row 2 has more than 2 columns"));
    assert_eq!(read_within(b"1,2,,, \n", &two).unwrap().1[0].len(), 2);
    for empty in [&b""[..], b"\n\n", b" , \n", b"\xEF\xBB\xBF"] {
        assert!(refusal(empty, &LIMITS).contains("no rows"), "{empty:?}");
    }
    for other in [&b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR"[..], b"%PDF\0\0"] {
        assert!(refusal(other, &LIMITS).contains("neither CSV nor XLSX"));
    }
    assert!(refusal(b"\xD0\xCF\x11\xE0\xA1\xB1", &LIMITS).contains("Excel 97"));
    assert!(refusal(b"PK\x03\x04 no archive", &LIMITS).contains("damaged"));
}

#[test]
fn a_reader_ends_when_it_is_told() {
    let xlsx = workbook("<row><c><v>1</v></c></row><row><c><v>2</v></c></row>", "");
    for file in [&b"1\n2\n3\n"[..], &xlsx] {
        let mut given = 0;
        let mut each = |_: &Row| {
            given += 1;
            ControlFlow::Break(())
        };
        read(Cursor::new(file), &LIMITS, &mut each).unwrap();
        assert_eq!(given, 1);
    }
}

#[test]
fn a_written_workbook_is_read_as_people_see_it() {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet().set_name("Guests").unwrap();
    let date = Format::new().set_num_format("d mmm yyyy");
    sheet.write(4, 1, "Number").unwrap();
    sheet.write(4, 2, "Name").unwrap();
    sheet.write(5, 1, 2_348_031_234_567.0).unwrap();
    sheet.write(5, 2, "Ada & co").unwrap();
    sheet.write(6, 1, 8_031_234_567.0).unwrap();
    sheet.write(6, 2, 1234.5).unwrap();
    sheet.write(6, 3, true).unwrap();
    sheet.write(8, 1, "2.34803E+12").unwrap();
    sheet.write_with_format(8, 2, 46_355.0, &date).unwrap();
    sheet
        .write_formula(9, 1, Formula::new("=B6").set_result("2348031234567"))
        .unwrap();
    sheet
        .write_formula(10, 1, Formula::new("=A1").set_result("#N/A"))
        .unwrap();
    let file = book.save_to_buffer().unwrap();
    let (origin, rows) = read_within(&file, &LIMITS).unwrap();
    let sheet = "Guests".to_owned();
    assert_eq!(origin, Origin::Xlsx { sheet });
    let expected = lines(&[
        (5, &["", "Number", "Name"]),
        (6, &["", "2348031234567", "Ada & co"]),
        (7, &["", "8031234567", "1234.5", "TRUE"]),
        (9, &["", "2.34803E+12", "2026-11-29"]),
        (10, &["", "2348031234567"]),
        (11, &["", ""]),
    ]);
    assert_eq!(table(&file), expected);
    assert_eq!(rows[5].fault(1), Some(CellFault::Error));
}

#[test]
fn a_formula_without_value_is_a_fault_of_its_row() {
    // Python's openpyxl writes the first form, and others leave the value out.
    let sheet = "<row r=\"2\"><c r=\"A2\"><f>B2</f><v/></c><c r=\"B2\" t=\"inlineStr\"><is><r><t>A</t></r>\
                 <r><t>da&#233;</t></r></is></c></row><row r=\"3\"><c r=\"B3\"><f>B2</f></c><c r=\"C3\" t=\"str\"><f>B9</f><v></v></c></row>\
                 <row r=\"4\"><c r=\"A4\" t=\"s\"><v>1</v></c><c r=\"C4\"><v>2.348031234567E12</v></c>\
                 <c r=\"D4\"><v>2348031234567890</v></c></row>";
    let strings = "<si/><si><t>A&amp;B</t><rPh sb=\"0\"><t>x</t></rPh></si>";
    let file = workbook(sheet, strings);
    let (origin, rows) = read_within(&file, &LIMITS).unwrap();
    let name = "Guests & co".to_owned();
    assert_eq!(origin, Origin::Xlsx { sheet: name });
    let expected = lines(&[
        (2, &["", "Adaé"]),
        (3, &["", "", ""]),
        (4, &["A&B", "", "2348031234567", ""]),
    ]);
    assert_eq!(table(&file), expected);
    assert_eq!(rows[0].fault(0), Some(CellFault::NoValue));
    assert_eq!(rows[1].fault(1), Some(CellFault::NoValue));
    assert_eq!(rows[1].fault(2), None, "a stored text may be empty");
    assert_eq!(rows[2].fault(3), Some(CellFault::DigitsLost));
}

#[test]
fn a_small_workbook_that_inflates_is_refused() {
    let row = "<row><c><v>1</v></c></row>";
    let file = workbook(&row.repeat(50_000), "");
    assert!(file.len() < 20_000, "{}", file.len());
    let limits = Limits {
        rows: u32::MAX,
        ..LIMITS
    };
    assert!(refusal(&file, &limits).contains("larger than 1 MiB"));
    let strings = workbook(row, &"<si><t>0123456789</t></si>".repeat(10_000));
    assert!(refusal(&strings, &limits).contains("Split it"));
    let large = Limits {
        inflated_bytes: 8 << 20,
        ..limits
    };
    let text = workbook(
        &format!("<row><c><v>{}</v></c></row>", "1".repeat(2 << 20)),
        "",
    );
    assert!(refusal(&text, &large).contains("longer than 1 MiB"));
    let runs = "<t>0123456789</t>".repeat(10_000);
    let inline = workbook(
        &format!("<row><c t=\"inlineStr\"><is>{runs}</is></c></row>"),
        "",
    );
    assert_eq!(
        read_within(&inline, &limits).unwrap().1[0].fault(0),
        Some(CellFault::TooLong)
    );
}

#[test]
fn a_damaged_workbook_is_refused() {
    let sheets = [
        "<row r=\"2\"><c/></row><row r=\"1\"><c/></row>",
        "<row><c r=\"B1\"><v>1</v></c><c r=\"A1\"><v>1</v></c></row>",
        "<row><c t=\"s\"><v>7</v></c></row>",
        "<row><c></row>",
    ];
    for sheet in sheets {
        assert!(
            refusal(&workbook(sheet, ""), &LIMITS).contains("damaged"),
            "{sheet}"
        );
    }
    let file = workbook("<row><c><v>1</v></c></row>", "");
    assert!(refusal(&file[..file.len() / 2], &LIMITS).contains("damaged"));
}

proptest! {
    #[test]
    fn any_octets_are_read_or_refused(
        file in prop::collection::vec(any::<u8>(), 0..200),
        text in "[a\",;\t\r\nẹ=]{0,60}",
    ) {
        let _ = read_within(&file, &LIMITS);
        let _ = read_within(text.as_bytes(), &LIMITS);
    }

    #[test]
    fn a_changed_workbook_is_read_or_refused(at in 0_usize..2_000, octet in any::<u8>()) {
        let mut file = workbook("<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c></row>", "<si><t>x</t></si>");
        let length = file.len();
        file[at % length] = octet;
        let _ = read_within(&file, &LIMITS);
    }

    #[test]
    fn any_markup_is_read_or_refused(
        sheet in "(</?(row|c|v|f|is|t|sheetData)( r=\"[A-Z]{0,4}[0-9]{0,11}\")?( t=\"(s|b|e|n|str)\")?/?>|[0-9E+.-]{1,20}|&[#a-z0-9]{0,9};){0,20}",
    ) {
        let _ = read_within(&workbook(&sheet, "<si><t>x</t></si>"), &LIMITS);
    }
}
