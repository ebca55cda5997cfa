//! The screens of a send to a file.

use super::lists::counter;
use super::{HOSTILE, NOW_MS, shell};
use crate::parts::{Cell, Choice, Column, Confirm, Field, Figure, Kind, Table, Tone};
use crate::screens::{FileProgress, FileReview, FileSend, FileUpload, LeftOutRows};
use crate::{Section, html};

const HREF: &str = "/console/send/file/7";

pub(super) fn all() -> Vec<(&'static str, String)> {
    let refused = FileUpload {
        error: Some("The file is neither CSV nor XLSX. Save it as one of them.".to_owned()),
        ..upload(Vec::new())
    };
    let full = left_out(&[
        ("Not a valid number", "1,022"),
        ("Repeated number", "12"),
        ("Digits are lost", "1"),
    ]);
    vec![
        ("file-upload", html(&upload(Vec::new()))),
        (
            "file-upload-kept",
            html(&upload(kept("guests november.xlsx"))),
        ),
        ("file-upload-refused", html(&refused)),
        ("file-columns", html(&columns("Name", full.clone()))),
        ("file-columns-clean", html(&columns("Name", left_out(&[])))),
        (
            "file-columns-hostile",
            html(&columns(HOSTILE, full.clone())),
        ),
        ("file-review", html(&review(full))),
        ("file-progress", html(&progress())),
    ]
}

fn table(label: &str, columns: Vec<Column>, rows: Vec<Vec<Cell>>) -> Table {
    Table {
        label: label.to_owned(),
        columns,
        rows,
        now_ms: NOW_MS,
    }
}

fn hidden() -> Vec<(String, String)> {
    vec![("number".to_owned(), "1".to_owned())]
}

fn kept(name: &str) -> Vec<Vec<Cell>> {
    let delete = Confirm {
        id: "delete-7".to_owned(),
        action: "Delete".to_owned(),
        title: format!("Delete “{name}”?"),
        text: "Its rows are deleted. Messages that were sent to it stay.".to_owned(),
        href: format!("{HREF}/delete"),
        csrf_token: "4nT0kEn".to_owned(),
        hidden: Vec::new(),
        is_dangerous: true,
    };
    vec![vec![
        Cell::link(name, HREF),
        Cell::text("12,480"),
        Cell::text("XLSX, sheet Guests"),
        Cell::text("30 Nov 2026, 17:26"),
        Cell::Changes(vec![delete]),
    ]]
}

fn upload(rows: Vec<Vec<Cell>>) -> FileUpload {
    let columns = vec![
        Column::text("File"),
        Column::number("Rows"),
        Column::text("Form").wide(),
        Column::text("Kept until").wide(),
        Column::text(""),
    ];
    FileUpload {
        shell: shell("Send to a file of recipients", Section::Send),
        error: None,
        field: Field::new(Kind::File(".csv,.xlsx"), "file", "File")
            .hint("CSV or XLSX with at most 1,000,000 rows and 64 MiB."),
        table: table("Files of the last day", columns, rows),
        max_bytes: 64 << 20,
    }
}

fn left_out(reasons: &[(&str, &str)]) -> LeftOutRows {
    let row = |number: &str, recipient: &str, reason: &str| {
        [number, recipient, reason].map(Cell::text).to_vec()
    };
    let columns = vec![
        Column::number("Row"),
        Column::text("Number"),
        Column::text("Reason"),
    ];
    let rows = vec![
        row("14", "0803", "The number is not a mobile number."),
        row("15", "2.34803E+12", "A spreadsheet has rounded the number."),
        row("16", HOSTILE, "The number is not a mobile number."),
    ];
    let reasons = reasons.iter();
    LeftOutRows {
        csrf_token: "4nT0kEn".to_owned(),
        href: format!("{HREF}/left-out"),
        hidden: hidden(),
        reasons: reasons
            .map(|(reason, rows)| ((*reason).to_owned(), (*rows).to_owned()))
            .collect(),
        rows: table("Rows that are left out", columns, rows),
        is_cut: true,
    }
}

fn columns(name: &str, left_out: LeftOutRows) -> FileSend {
    let choices = vec![
        Choice::new("0", format!("A: {name}")),
        Choice::new("1", "B: Phone"),
    ];
    let senders = vec![Choice::new("KANOFRESH", "KANOFRESH")];
    let first = table(
        "First rows",
        vec![
            Column::number("Row"),
            Column::text(&format!("{{{name}}}")),
            Column::text("Number"),
            Column::text("{Due_date}"),
        ],
        vec![
            ["2", name, "08031234567", "2026-12-01"]
                .map(Cell::text)
                .to_vec(),
            ["3", "Chukwuemeka Oluwaseun", "+234 805 123 4567", ""]
                .map(Cell::text)
                .to_vec(),
        ],
    );
    FileSend {
        shell: shell("guests november.xlsx", Section::Send),
        error: None,
        href: HREF.to_owned(),
        lead: "XLSX, sheet Guests, 12,480 rows. It is kept until 30 Nov 2026, 17:26.".to_owned(),
        columns: vec![
            Field::new(Kind::Select(choices), "number", "Column of the numbers").value("1"),
            Field::new(
                Kind::Checkbox,
                "header",
                "The first row has the names of the columns",
            )
            .value("yes")
            .optional(),
        ],
        first,
        figures: vec![
            Figure::new("Recipients", "11,445"),
            Figure::new("Rows left out", "1,035"),
        ],
        left_out,
        hidden: hidden(),
        fields: vec![
            Field::new(Kind::Select(senders), "from", "Sender ID"),
            Field::new(Kind::Lines(6), "body", "Text")
                .hint(format!("Placeholders: {{{name}}}, {{Due_date}}.")),
            Field::text("customer_reference", "Reference").optional(),
        ],
        counter: counter(),
    }
}

fn review(left_out: LeftOutRows) -> FileReview {
    let columns = vec![
        Column::number("Row"),
        Column::text("Recipient"),
        Column::text("Text"),
    ];
    let row = |number: &str, recipient: &str, text: &str| {
        [number, recipient, text].map(Cell::text).to_vec()
    };
    let rows = vec![
        row(
            "2",
            "2348031234567",
            "Dear Ada, your order is due on 1 December.",
        ),
        row(
            "3",
            "2348051234567",
            "Dear Uche, your order is due on 2 December.",
        ),
    ];
    let note = |text: &str| (Tone::Plain, text.to_owned());
    FileReview {
        shell: shell("Send to 11,445 recipients?", Section::Send),
        href: HREF.to_owned(),
        notes: vec![
            note("It goes out at once, and what was submitted cannot be taken back."),
            (
                Tone::Warning,
                "2 recipients who opted out will be left out, without a charge.".to_owned(),
            ),
            note("The file is sent as 2 messages, one after the other."),
        ],
        figures: vec![
            Figure::new("Recipients", "11,445"),
            Figure::new("Pages", "12,001").note(Tone::Plain, "GSM, at most 2 for a recipient"),
            Figure::new("Cost", "₦78,006.50"),
            Figure::new("Balance after", "₦41,310.50"),
        ],
        facts: vec![
            ("Sender ID".to_owned(), "KANOFRESH".to_owned()),
            ("Rows left out".to_owned(), "1,035".to_owned()),
        ],
        previews: table("First texts", columns, rows),
        left_out,
        hidden: hidden(),
    }
}

fn progress() -> FileProgress {
    FileProgress {
        shell: shell("The send goes on", Section::Send),
        href: HREF.to_owned(),
        done: (12, 100),
        error: Some(
            "The balance does not cover the next message. Add credit, and continue.".to_owned(),
        ),
        hidden: hidden(),
    }
}
