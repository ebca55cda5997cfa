//! The rows of a file that are left out, as screens show them.

use console::Shell;
use console::figures::count;
use console::parts::{Cell, Column, Table};
use console::screens::LeftOutRows;
use engine::UploadReview;

/// Longest number that is shown as it was written, in characters.
const MAX_NUMBER_CHARACTERS: usize = 32;

/// Returns the rows that a review leaves out. `hidden` has the fields of the download.
pub(super) fn rows(
    shell: &Shell,
    href: &str,
    review: &UploadReview,
    hidden: Vec<(String, String)>,
) -> LeftOutRows {
    let reasons = review.left_out.iter();
    let rows = review.first_left_out.iter().map(|one| {
        let number: String = one.number.chars().take(MAX_NUMBER_CHARACTERS).collect();
        vec![
            Cell::text(one.row.to_string()),
            Cell::text(number),
            Cell::text(one.reason.to_string()),
        ]
    });
    LeftOutRows {
        csrf_token: shell.csrf_token.clone(),
        href: format!("{href}/left-out"),
        hidden,
        reasons: reasons
            .map(|(reason, rows)| ((*reason).to_owned(), count(*rows)))
            .collect(),
        is_cut: review.left_out_count() > review.first_left_out.len() as u64,
        rows: Table {
            label: "Rows that are left out".to_owned(),
            columns: vec![
                Column::number("Row"),
                Column::text("Number"),
                Column::text("Reason"),
            ],
            rows: rows.collect(),
            now_ms: shell.now_ms,
        },
    }
}
