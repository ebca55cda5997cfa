//! The meaning of columns: which one has the numbers, and the placeholders of the others.

use super::packed::FileRow;
use crate::csv_cells::number_cell;
use crate::number::parse_international;

/// Maximum length of a placeholder in characters.
const MAX_NAME_CHARACTERS: usize = 32;
/// Parts of names that people give the column of the numbers.
const NUMBER_NAMES: [&str; 9] = [
    "phone",
    "mobile",
    "number",
    "msisdn",
    "recipient",
    "gsm",
    "tel",
    "whatsapp",
    "to",
];

/// The meaning of the columns of a file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Columns {
    /// The column of the numbers, from 0.
    pub number: usize,
    /// `true` if the first row has the names of the columns.
    pub has_header: bool,
}

/// Returns the meaning of columns by the first rows: the column with most valid numbers, or else
/// the one whose name is that of numbers. The first row is a header if it has no number there.
pub fn guess(rows: &[FileRow<'_>]) -> Columns {
    let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let is_number = |row: &FileRow<'_>, column: usize| {
        parse_international(number_cell(row.cell(column).text)).is_some()
    };
    let is_named = |column: usize| {
        let name = rows.first().map_or("", |row| row.cell(column).text);
        let name = name.trim().to_lowercase();
        let is_part = |part: &&str| name.contains(*part) && (part.len() > 2 || name == **part);
        NUMBER_NAMES.iter().any(is_part)
    };
    let score = |column: &usize| {
        let numbers = rows.iter().filter(|row| is_number(row, *column)).count();
        (numbers, is_named(*column))
    };
    // `max_by_key` returns the last of equals, and the first column is the better guess.
    let number = (0..columns).rev().max_by_key(score).unwrap_or(0);
    let has_header = rows.first().is_some_and(|row| !is_number(row, number));
    Columns { number, has_header }
}

/// Returns a placeholder for each column: the letters, digits and underscores of its name. A column
/// without a name is `column_2`, and a second name that is equal gets its number.
pub fn placeholders(header: Option<&FileRow<'_>>, columns: usize) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(columns);
    for column in 0..columns {
        let title = header.map_or("", |row| row.cell(column).text);
        let name = name_of(title);
        let number = column + 1;
        names.push(if name.is_empty() {
            format!("column_{number}")
        } else if names.contains(&name) {
            format!("{name}_{number}")
        } else {
            name
        });
    }
    names
}

fn name_of(title: &str) -> String {
    let mut name = String::new();
    for character in title.trim().chars() {
        if character.is_alphanumeric() {
            name.push(character);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    let cut = name.char_indices().nth(MAX_NAME_CHARACTERS);
    name.truncate(cut.map_or(name.len(), |(end, _)| end));
    name.truncate(name.trim_end_matches('_').len());
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upload::packed::FileCell;

    fn row<'a>(number: u32, cells: &[&'a str]) -> FileRow<'a> {
        let cells = cells.iter().map(|text| FileCell { text, fault: None });
        FileRow {
            number,
            cells: cells.collect(),
        }
    }

    #[test]
    fn the_column_with_most_numbers_is_that_of_the_numbers() {
        let number = "+234 803 123 4567";
        let table: [(&[&[&str]], usize, bool); 6] = [
            (&[&["Name", "Phone"], &["Ada", number]], 1, true),
            (&[&["Ada", number], &["Uche", number]], 1, false),
            (&[&[number], &["x"]], 0, false),
            (&[&["Id", "Mobile no."], &["1", "x"]], 1, true),
            (&[&["Customer", "Id"], &["1", "x"]], 0, true),
            (
                &[&["x", "'8031234567", "y"], &["", "8031234567.0"]],
                1,
                false,
            ),
        ];
        for (cells, column, has_header) in table {
            let rows: Vec<_> = cells.iter().map(|cells| row(1, cells)).collect();
            let number = column;
            assert_eq!(guess(&rows), Columns { number, has_header }, "{cells:?}");
        }
        assert_eq!(guess(&[]), Columns::default());
    }

    #[test]
    fn a_placeholder_is_made_of_the_name_of_its_column() {
        let long = "ẹ".repeat(40);
        let titles = [
            "First name",
            " Total (₦) ",
            "",
            "Ọjọ",
            "First-name",
            "{x}",
            &long,
        ];
        let header = row(1, &titles);
        let expected = [
            "First_name",
            "Total",
            "column_3",
            "Ọjọ",
            "First_name_5",
            "x",
            &"ẹ".repeat(32),
            "column_8",
        ];
        assert_eq!(placeholders(Some(&header), 8), expected);
        assert_eq!(placeholders(None, 2), ["column_1", "column_2"]);
    }
}
