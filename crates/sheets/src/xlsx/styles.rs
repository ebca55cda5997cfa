//! The formats of a workbook, as far as they make a number a date.

use super::part::{Parts, attribute};
use crate::error::SheetError;
use quick_xml::events::Event;
use std::collections::HashSet;
use std::io::{Read, Seek};

/// Maximum number of formats of cells that Excel writes.
const MAX_FORMATS: usize = 65_536;

/// The formats of cells.
#[derive(Debug, Default)]
pub(super) struct Styles {
    are_dates: Vec<bool>,
}

impl Styles {
    /// Returns `true` if a number of this format is a date or a time.
    pub(super) fn is_date(&self, format: usize) -> bool {
        self.are_dates.get(format).copied().unwrap_or(false)
    }
}

pub(super) fn read<R: Read + Seek>(parts: &mut Parts<R>, path: &str) -> Result<Styles, SheetError> {
    let mut styles = Styles::default();
    let mut custom: HashSet<u32> = HashSet::new();
    let mut within = false;
    parts.events(path, &mut |event| {
        match event {
            Event::Start(tag) => {
                let id = || attribute(&tag, "numFmtId").and_then(|id| id.parse().ok());
                match tag.local_name().as_ref() {
                    "numFmt" if custom.len() < MAX_FORMATS => {
                        let code = attribute(&tag, "formatCode").unwrap_or_default();
                        custom.extend(id().filter(|_| is_date_code(&code)));
                    }
                    "cellXfs" => within = true,
                    "xf" if within && styles.are_dates.len() < MAX_FORMATS => {
                        let id: u32 = id().unwrap_or(0);
                        let is_date = matches!(id, 14..=22 | 45..=47) || custom.contains(&id);
                        styles.are_dates.push(is_date);
                    }
                    _ => {}
                }
            }
            Event::End(tag) if tag.local_name().as_ref() == "cellXfs" => within = false,
            _ => {}
        }
        Ok(true)
    })?;
    Ok(styles)
}

/// Returns `true` if a format has a letter of dates outside of quotes, brackets and escapes.
fn is_date_code(code: &str) -> bool {
    if code.eq_ignore_ascii_case("general") {
        return false;
    }
    let mut characters = code.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => while characters.next().is_some_and(|next| next != '"') {},
            '[' => while characters.next().is_some_and(|next| next != ']') {},
            '\\' | '_' | '*' => {
                characters.next();
            }
            'y' | 'Y' | 'm' | 'M' | 'd' | 'D' | 'h' | 'H' | 's' | 'S' => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_with_letters_of_dates_is_a_date() {
        for code in ["yyyy-mm-dd", "d/m/yy h:mm", "[$-409]mmm", "H:MM"] {
            assert!(is_date_code(code), "{code}");
        }
        for code in [
            "General",
            "0",
            "#,##0.00 \"days\"",
            "[Red]0",
            "0.00E+00",
            "\\d0",
            "@",
        ] {
            assert!(!is_date_code(code), "{code}");
        }
    }
}
