//! Contacts: numbers that a customer keeps in groups, each with a name.

use crate::csv_cells::number_cell;
use crate::number::{Recipient, parse_international};
use std::collections::BTreeMap;

/// Maximum number of groups of an account.
pub const MAX_GROUPS: i64 = 100;
/// Maximum number of contacts of a group. The form of a send has room for them.
pub const MAX_CONTACTS: usize = 5_000;
/// Maximum length of the name of a group or contact, in characters.
pub const MAX_NAME_CHARACTERS: usize = 60;
/// Maximum number of lines that are named as faulty.
const MAX_NAMED: usize = 10;

/// A contact.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Contact {
    /// The number.
    pub recipient: Recipient,
    /// The name, or nothing.
    pub name: String,
}

/// The contacts of a text or a file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Reading {
    contacts: BTreeMap<Recipient, String>,
    faulty: Vec<u32>,
    faults: usize,
    rows: u32,
}

impl Reading {
    /// Reads the lines of a text: a number, and a name beside it after a comma, semicolon or tab.
    pub fn of_text(text: &str) -> Self {
        let mut reading = Self::default();
        for line in text.lines() {
            let is_full = reading.add(line.split([',', ';', '\t']));
            if is_full {
                break;
            }
        }
        reading
    }

    /// Adds a row. Its first cell with a number is the number, and the first other cell with text is
    /// the name. Blank rows and a header are skipped. Returns `true` if there are more contacts than
    /// a group may have, so that further rows need not be read.
    pub fn add<'c>(&mut self, cells: impl Iterator<Item = &'c str>) -> bool {
        self.rows = self.rows.saturating_add(1);
        let cells: Vec<&str> = cells.map(str::trim).collect();
        let number = |cell: &&str| parse_international(number_cell(cell));
        let place = cells.iter().position(|cell| number(cell).is_some());
        let found = place.and_then(|place| Some((place, number(cells.get(place)?)?)));
        if let Some((place, recipient)) = found {
            let others = cells.iter().enumerate().filter(|(at, _)| *at != place);
            let name = others.map(|(_, cell)| *cell).find(|cell| !cell.is_empty());
            let name = name_of(name.unwrap_or_default());
            self.contacts.entry(recipient).or_insert(name);
        } else {
            let has_digit = cells
                .iter()
                .any(|cell| cell.contains(|c: char| c.is_ascii_digit()));
            let is_blank = cells.iter().all(|cell| cell.is_empty());
            let is_header = self.rows == 1 && !has_digit;
            if !is_blank && !is_header {
                self.faults += 1;
                if self.faulty.len() < MAX_NAMED {
                    self.faulty.push(self.rows);
                }
            }
        }
        self.contacts.len() > MAX_CONTACTS
    }

    /// Returns the contacts, each number once.
    pub fn contacts(&self) -> Vec<Contact> {
        let contacts = self.contacts.iter().map(|(&recipient, name)| Contact {
            recipient,
            name: name.clone(),
        });
        contacts.collect()
    }

    /// Returns a sentence on the rows without a number, or nothing.
    pub fn faults(&self) -> Option<String> {
        let rows: Vec<String> = self.faulty.iter().map(u32::to_string).collect();
        let rows = rows.join(", ");
        match self.faults {
            0 => None,
            1 => Some(format!("Row {rows} has no number that can be sent to.")),
            count if count > self.faulty.len() => Some(format!(
                "{count} rows have no number that can be sent to, the first of them {rows}."
            )),
            _ => Some(format!("Rows {rows} have no number that can be sent to.")),
        }
    }
}

/// Returns a name as it is kept: without control characters and outer blanks, and not too long.
pub fn name_of(given: &str) -> String {
    let shown = given.chars().filter(|character| !character.is_control());
    let name: String = shown.collect();
    name.trim().chars().take(MAX_NAME_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<(u64, String)>, Option<String>) {
        let reading = Reading::of_text(text);
        let contacts = reading.contacts().into_iter();
        let contacts = contacts.map(|one| (one.recipient.digits(), one.name));
        (contacts.collect(), reading.faults())
    }

    #[test]
    fn lines_are_read_as_people_have_them() {
        const ADA: u64 = 2_348_031_234_567;
        let table: [(&str, &str); 7] = [
            ("08031234567", ""),
            ("+234 803 123 4567, Ada Obi", "Ada Obi"),
            ("Ada Obi;0803-123-4567;Lagos", "Ada Obi"),
            ("\t8031234567\tAda", "Ada"),
            ("Name,Phone\nAda,'08031234567", "Ada"),
            ("08031234567,Ada\n2348031234567,Bola", "Ada"),
            ("\n , \n08031234567.0;Ada\u{7}", "Ada"),
        ];
        for (text, name) in table {
            assert_eq!(read(text), (vec![(ADA, name.to_owned())], None), "{text:?}");
        }
    }

    #[test]
    fn rows_without_a_number_are_named() {
        assert_eq!(read("").1, None);
        assert_eq!(read("Name").1, None, "a header");
        let fault = read("08031234567\nAda").1;
        assert_eq!(
            fault.as_deref(),
            Some("Row 2 has no number that can be sent to.")
        );
        let fault = read("0803\nAda\n").1;
        assert_eq!(
            fault.as_deref(),
            Some("Rows 1, 2 have no number that can be sent to.")
        );
        let many = read(&"x1\n".repeat(12)).1.unwrap_or_default();
        assert!(many.starts_with("12 rows have no number"), "{many}");
        assert!(many.ends_with("1, 2, 3, 4, 5, 6, 7, 8, 9, 10."), "{many}");
    }

    #[test]
    fn reading_ends_behind_the_largest_group() {
        let first = 2_348_031_000_000_u64;
        let lines: Vec<String> = (first..first + 6_000).map(|one| one.to_string()).collect();
        let reading = Reading::of_text(&lines.join("\n"));
        assert_eq!(reading.contacts().len(), MAX_CONTACTS + 1);
    }

    #[test]
    fn a_name_is_short_and_has_no_control_characters() {
        assert_eq!(name_of("  Ada\r\n\u{0}Obi "), "AdaObi");
        assert_eq!(
            name_of(&"ọ".repeat(100)).chars().count(),
            MAX_NAME_CHARACTERS
        );
    }
}
