//! The send to a file: its upload, the meaning of its columns, and its deletion.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::spool::{MAX_UPLOAD_BYTES, spool};
use super::super::visitor::Visitor;
use super::left_out;
use super::lists::{confirm, dangerous};
use super::send_parts::{admit, form_fields, send_fields, status_of};
use axum::extract::Request;
use console::Section;
use console::figures::{count, counted, time};
use console::parts::{Cell, Choice, Column, Field, Figure, Kind, Table};
use console::screens::{FileSend, FileUpload};
use domain::SendFields;
use domain::upload::Columns;
use engine::{Purpose, UploadError, UploadLook, UploadSend, UploadSends};

/// The address of the upload.
pub(super) const PATH: &str = "/console/send/file";

/// `GET /console/send/file`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    upload_form(&visitor, None).await
}

/// `POST /console/send/file`: reads and keeps a file.
pub(super) async fn upload(visitor: Visitor, request: Request) -> Answered {
    let idle = visitor.console.settings.load().body.time;
    let uploads = upload_sends(&visitor)?.uploads().clone();
    let kept = async {
        let (name, file) = spool(request, idle).await?;
        uploads.keep(&name, file).await.map_err(failure)
    };
    match kept.await {
        Ok(upload) => {
            let rows = counted(upload.rows.unsigned_abs(), "row");
            let text = format!("{} was read: {rows}.", upload.name);
            Ok(visitor.done(&format!("{PATH}/{}", upload.id), &text))
        }
        Err(failure) => {
            let (_, text) = failure.shown()?;
            upload_form(&visitor, Some(text)).await
        }
    }
}

/// `POST /console/send/file/{upload}/delete`.
pub(super) async fn delete(visitor: Visitor, _fields: Form) -> Answered {
    let removed = upload_sends(&visitor)?
        .uploads()
        .remove(id(&visitor)?)
        .await?;
    if !removed {
        return Err(Failure::NotFound);
    }
    Ok(visitor.done(PATH, "The file was deleted."))
}

/// `GET /console/send/file/{upload}`: the meaning of the columns, and the text.
pub(super) async fn columns(visitor: Visitor) -> Answered {
    let fields = visitor.query().clone();
    file_form(&visitor, &fields, None).await
}

pub(super) fn upload_sends(visitor: &Visitor) -> Result<UploadSends, Failure> {
    let account = visitor.account()?;
    Ok(visitor
        .engine()
        .upload_sends(account, visitor.environment()))
}

/// Returns the id of the upload that the path names.
pub(super) fn id(visitor: &Visitor) -> Result<i64, Failure> {
    let id = visitor.param("upload").parse();
    id.map_err(|_| Failure::NotFound)
}

fn failure(error: UploadError) -> Failure {
    match error {
        UploadError::Store(error) => error.into(),
        other => Failure::Refused(other.to_string()),
    }
}

async fn upload_form(visitor: &Visitor, error: Option<String>) -> Answered {
    let kept = upload_sends(visitor)?.uploads().list().await?;
    let shell = visitor.shell("Send to a file of recipients", Section::Send);
    let rows = kept.iter().map(|upload| {
        let href = format!("{PATH}/{}", upload.id);
        let delete = confirm(
            visitor,
            (&format!("delete-{}", upload.id), "Delete"),
            (
                &format!("Delete “{}”?", upload.name),
                "Its rows are deleted. Messages that were sent to it stay.",
            ),
            &format!("{href}/delete"),
            &[],
        );
        vec![
            Cell::link(&upload.name, href),
            Cell::text(count(upload.rows.unsigned_abs())),
            Cell::text(&upload.form),
            Cell::text(time(upload.expires_at_ms)),
            Cell::Changes(vec![dangerous(delete)]),
        ]
    });
    let rows = rows.collect();
    let hint = format!(
        "CSV or XLSX with at most 1,000,000 rows and {} MiB. A column has the numbers, and the others \
         can stand in the text. The file is kept for a day.",
        MAX_UPLOAD_BYTES >> 20
    );
    let screen = FileUpload {
        error,
        field: Field::new(Kind::File(".csv,.txt,.tsv,.xlsx"), "file", "File").hint(hint),
        table: Table {
            label: "Files of the last day".to_owned(),
            columns: vec![
                Column::text("File"),
                Column::number("Rows"),
                Column::text("Form").wide(),
                Column::text("Kept until").wide(),
                Column::text(""),
            ],
            rows,
            now_ms: shell.now_ms,
        },
        max_bytes: MAX_UPLOAD_BYTES,
        shell,
    };
    Ok(visitor.answer_with(status_of(screen.error.as_ref()), &screen))
}

/// Returns the meaning of the columns that a form has, if it was chosen.
pub(super) fn chosen(fields: &Form) -> Option<Columns> {
    fields.find("mapped")?;
    Some(Columns {
        number: fields.get("number").parse().unwrap_or(0),
        has_header: fields.get("header") == "yes",
    })
}

/// Returns the send of a form. It fails if the form does not have the meaning of the columns.
pub(super) fn upload_send(visitor: &Visitor, fields: &Form) -> Result<UploadSend, Failure> {
    let columns = chosen(fields).ok_or(Failure::NotAForm)?;
    Ok(UploadSend {
        upload: id(visitor)?,
        columns,
        fields: SendFields {
            to: None,
            ..send_fields(fields)
        },
    })
}

/// Returns the hidden fields of the meaning of the columns.
pub(super) fn hidden(columns: Columns) -> Vec<(String, String)> {
    let header = if columns.has_header { "yes" } else { "no" };
    let pairs = [
        ("mapped", "yes".to_owned()),
        ("number", columns.number.to_string()),
        ("header", header.to_owned()),
    ];
    pairs.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// Shows the columns and the text, with the reason of a refusal.
pub(super) async fn file_form(visitor: &Visitor, fields: &Form, error: Option<String>) -> Answered {
    let (sends, id) = (upload_sends(visitor)?, id(visitor)?);
    let look = sends.look(id, chosen(fields)).await?;
    // The numbers alone are checked, so that the screen has its counts before there is a text.
    let numbers = UploadSend {
        upload: id,
        columns: look.columns,
        fields: SendFields {
            gateway: fields.find("gateway").map(str::to_owned),
            ..SendFields::default()
        },
    };
    let review = sends.review(&numbers).await?;
    let shell = visitor.shell(&look.upload.name, Section::Send);
    let href = format!("{PATH}/{id}");
    let rows = look.upload.rows.unsigned_abs();
    let admission = admit(visitor, Purpose::Read).await?;
    let status = status_of(error.as_ref());
    let screen = FileSend {
        error,
        lead: format!(
            "{}, {}. It is kept until {}.",
            look.upload.form,
            counted(rows, "row"),
            time(look.upload.expires_at_ms)
        ),
        columns: column_fields(&look),
        first: first_rows(&look, shell.now_ms),
        figures: vec![
            Figure::new("Recipients", count(review.recipients as u64)),
            Figure::new("Rows left out", count(review.left_out_count())),
        ],
        left_out: left_out::rows(&shell, &href, &review, hidden(look.columns)),
        hidden: hidden(look.columns),
        fields: form_fields(&admission, fields, None, text_field(&look)),
        counter: FileSend::empty_counter(),
        href,
        shell,
    };
    Ok(visitor.answer_with(status, &screen))
}

/// Returns the name of a column as people read it: its letter, and its name or first value.
fn title(look: &UploadLook, column: usize) -> String {
    let letter = match u8::try_from(column) {
        Ok(small) if small < 26 => char::from(b'A' + small).to_string(),
        _ => (column + 1).to_string(),
    };
    let cells = look.first.first().map(|(_, cells)| cells);
    let first = cells.and_then(|cells| cells.get(column));
    let first: String = first
        .into_iter()
        .flat_map(|text| text.chars().take(40))
        .collect();
    format!("{letter}: {first}")
}

fn column_fields(look: &UploadLook) -> Vec<Field> {
    let choices =
        (0..look.names.len()).map(|column| Choice::new(column.to_string(), title(look, column)));
    let header = if look.columns.has_header { "yes" } else { "" };
    vec![
        Field::new(
            Kind::Select(choices.collect()),
            "number",
            "Column of the numbers",
        )
        .value(look.columns.number.to_string()),
        Field::new(
            Kind::Checkbox,
            "header",
            "The first row has the names of the columns",
        )
        .value(header)
        .optional(),
    ]
}

fn first_rows(look: &UploadLook, now_ms: i64) -> Table {
    let placeholder = |(column, name): (usize, &String)| {
        let name = if column == look.columns.number {
            "Number".to_owned()
        } else {
            format!("{{{name}}}")
        };
        Column::text(&name)
    };
    let columns = look.names.iter().enumerate().map(placeholder);
    let skipped = usize::from(look.columns.has_header);
    let rows = look.first.iter().skip(skipped).map(|(number, cells)| {
        let cell = |column| cells.get(column).map_or("", String::as_str);
        let shown = (0..look.names.len()).map(|column| {
            let text: String = cell(column).chars().take(80).collect();
            Cell::text(text)
        });
        std::iter::once(Cell::text(number.to_string()))
            .chain(shown)
            .collect()
    });
    Table {
        label: "First rows".to_owned(),
        columns: std::iter::once(Column::number("Row"))
            .chain(columns)
            .collect(),
        rows: rows.collect(),
        now_ms,
    }
}

/// Returns the field of the text, with the placeholders that it may have.
fn text_field(look: &UploadLook) -> Field {
    let others = look.names.iter().enumerate();
    let others = others.filter(|(column, _)| *column != look.columns.number);
    let names: Vec<String> = others.map(|(_, name)| format!("{{{name}}}")).collect();
    let hint = match names.as_slice() {
        [] => "Every recipient gets the same text.".to_owned(),
        names => format!("Placeholders: {}.", names.join(", ")),
    };
    Field::new(Kind::Lines(6), "body", "Text").hint(hint)
}
