//! Uploads: files of recipients whose columns become the recipients and variables of a send.
//!
//! ```text
//! file ──read──▶ packed rows ──guess──▶ columns ──select──▶ rows of a personalised send
//!                                                     └───▶ rows left out, each with its reason
//! ```

mod columns;
mod left_out;
mod packed;
mod selection;

pub use columns::{Columns, guess, placeholders};
pub use left_out::LeftOut;
pub use packed::{CellFault, FileCell, FileRow, PackedRows};
pub use selection::{Preview, Selected, Selection};

/// Maximum length of the name of a file, in characters.
const MAX_NAME_CHARACTERS: usize = 100;
/// Maximum number of uploads that an account keeps at a time.
pub const MAX_UPLOADS: i64 = 5;
/// Maximum number of rows of an upload, with its header.
pub const MAX_ROWS: u32 = 1_000_001;
/// Maximum number of columns.
pub const MAX_COLUMNS: usize = 100;
/// Maximum length of a cell in bytes. A longer cell fits into no text.
pub const MAX_CELL_BYTES: usize = 4 * crate::text::MAX_BODY_CHARACTERS;
/// The time for which an upload is kept.
pub const KEPT_MS: i64 = 24 * 3_600_000;
/// The time for which an upload is kept that never arrived whole.
pub const INCOMPLETE_KEPT_MS: i64 = 3_600_000;

/// Returns the name of a file without its folders and without control characters.
pub fn file_name(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let shown = last.chars().filter(|character| !character.is_control());
    let name: String = shown.take(MAX_NAME_CHARACTERS).collect();
    match name.trim() {
        "" => "file".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_without_its_folders() {
        let table = [
            ("guests.xlsx", "guests.xlsx"),
            ("C:\\fakepath\\a b.csv", "a b.csv"),
            ("../../etc/passwd", "passwd"),
            ("x\u{7}\r\n.csv", "x.csv"),
            (" ", "file"),
            ("a/", "file"),
        ];
        for (given, name) in table {
            assert_eq!(file_name(given), name, "{given:?}");
        }
        assert_eq!(file_name(&"ẹ".repeat(500)).chars().count(), 100);
    }
}
