//! The send to a file: upload, meaning of the columns, review and progress.

use super::send::Counter;
use crate::Shell;
use crate::parts::{Field, Figure, Table, Tone};
use askama::Template;

/// The upload of a file, and the files that are kept.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "file_upload.html")]
pub struct FileUpload {
    /// The frame.
    pub shell: Shell,
    /// The reason why a file was refused.
    pub error: Option<String>,
    /// The field of the file.
    pub field: Field,
    /// The files that are kept.
    pub table: Table,
    /// Maximum size of a file in octets.
    pub max_bytes: u64,
}

/// The meaning of the columns, and the text.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "file_send.html")]
pub struct FileSend {
    /// The frame.
    pub shell: Shell,
    /// The reason why the send was refused.
    pub error: Option<String>,
    /// The address of the file.
    pub href: String,
    /// The file in words: its form and its rows.
    pub lead: String,
    /// The fields of the columns, which a form sends by GET.
    pub columns: Vec<Field>,
    /// The first rows.
    pub first: Table,
    /// Rows that are sent and rows that are left out.
    pub figures: Vec<Figure>,
    /// The rows that are left out.
    pub left_out: LeftOutRows,
    /// Hidden fields of the meaning of the columns.
    pub hidden: Vec<(String, String)>,
    /// The fields of the send: sender, text, gateway, time, reference.
    pub fields: Vec<Field>,
    /// The counter of the text.
    pub counter: Counter,
}

impl FileSend {
    /// Returns the counter before anything was typed.
    pub fn empty_counter() -> Counter {
        let note = "Type a text to see the pages and the cost of the file.";
        Counter::with_note(Tone::Plain, note.to_owned())
    }
}

/// The rows of a file that are left out.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "file_left_out.html")]
pub struct LeftOutRows {
    /// The token of the form.
    pub csrf_token: String,
    /// The address of the CSV file with all of them.
    pub href: String,
    /// Hidden fields of the form that downloads it.
    pub hidden: Vec<(String, String)>,
    /// The reasons, with the number of rows of each.
    pub reasons: Vec<(String, String)>,
    /// The first of the rows: number, recipient, reason.
    pub rows: Table,
    /// `true` if there are more than the table shows.
    pub is_cut: bool,
}

/// The review: what will be sent and charged, with one button.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "file_review.html")]
pub struct FileReview {
    /// The frame. Its title is the question.
    pub shell: Shell,
    /// The address of the file.
    pub href: String,
    /// Sentences on what will happen, by weight.
    pub notes: Vec<(Tone, String)>,
    /// Key figures: recipients, pages, cost, balance after.
    pub figures: Vec<Figure>,
    /// Further facts, such as the sender ID.
    pub facts: Vec<(String, String)>,
    /// The texts of the first recipients.
    pub previews: Table,
    /// The rows that are left out.
    pub left_out: LeftOutRows,
    /// Hidden fields of the send.
    pub hidden: Vec<(String, String)>,
}

/// The progress of a send that needs several messages.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "file_progress.html")]
pub struct FileProgress {
    /// The frame.
    pub shell: Shell,
    /// The address of the file.
    pub href: String,
    /// The messages that were accepted, and all of them.
    pub done: (usize, usize),
    /// The reason why the send stopped.
    pub error: Option<String>,
    /// Hidden fields of the next step.
    pub hidden: Vec<(String, String)>,
}
