//! The counter and the review of a send to a file, the send itself, and the rows that are left out.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::file::{PATH, file_form, hidden, id, upload_send, upload_sends};
use super::left_out;
use super::send_parts::{
    self, alphabet_name, changes, counter_or_reason, fresh_key, given_pairs, uncovered, warnings,
    when,
};
use super::shared::exported;
use console::Section;
use console::figures::{count, counted};
use console::parts::{Cell, Column, Figure, Table, Tone};
use console::screens::{Counter, FileProgress, FileReview, FileSend};
use domain::Quote;
use domain::upload::Columns;
use engine::{UploadReview, UploadStep};

/// The fields of the send that the review passes on.
const FIELDS: [&str; 5] = ["from", "body", "gateway", "send_at", "customer_reference"];

/// Largest number of rows that are counted while the text is typed. Each change reads them all.
const MAX_COUNTED_ROWS: i64 = 10_000;

/// The reason why a file has no price.
const NO_ROW: &str = "No row of the file can be sent. The reasons are below.";

/// `POST /console/send/file/{upload}/count`: the counter alone.
pub(super) async fn count_pages(visitor: Visitor, fields: Form) -> Answered {
    let request = upload_send(&visitor, &fields)?;
    if request.fields.body.is_none() {
        return Ok(visitor.answer(&FileSend::empty_counter()));
    }
    let sends = upload_sends(&visitor)?;
    let upload = sends.uploads().find(request.upload).await?;
    if upload.ok_or(Failure::NotFound)?.rows > MAX_COUNTED_ROWS {
        let most = count(MAX_COUNTED_ROWS.unsigned_abs());
        let text = format!("A file of over {most} rows is counted at the review.");
        return Ok(visitor.answer(&Counter::with_note(Tone::Plain, text)));
    }
    let counted = sends.review(&request).await.map_err(Failure::from);
    let counted = counted.map(|review| counted_as(&review, fields.get("body")));
    Ok(visitor.answer(&counter_or_reason(counted)?))
}

fn counted_as(review: &UploadReview, body: &str) -> Counter {
    match &review.quote {
        Some(quote) => {
            let figures = figures(review, quote);
            let warnings = warnings(quote.left_out, review.held_until_ms);
            send_parts::counter(quote, review.balance, body, figures, warnings)
        }
        None => Counter::with_note(Tone::Bad, NO_ROW.to_owned()),
    }
}

/// `POST /console/send/file/{upload}/review`: what will be sent and charged, with one button.
pub(super) async fn review(visitor: Visitor, fields: Form) -> Answered {
    let request = upload_send(&visitor, &fields)?;
    let reviewed = upload_sends(&visitor)?.review(&request).await;
    let review = match reviewed.map_err(Failure::from) {
        Ok(review) => review,
        Err(failure) => return again(&visitor, &fields, failure).await,
    };
    let Some(quote) = &review.quote else {
        let text = if request.fields.body.is_none() {
            "Type a text first."
        } else {
            NO_ROW
        };
        return again(&visitor, &fields, Failure::Refused(text.to_owned())).await;
    };
    if let Some(failure) = uncovered(quote, review.balance) {
        return again(&visitor, &fields, failure).await;
    }
    Ok(visitor.answer(&review_screen(
        &visitor,
        &fields,
        request.columns,
        &review,
        quote,
    )?))
}

fn review_screen(
    visitor: &Visitor,
    fields: &Form,
    columns: Columns,
    review: &UploadReview,
    quote: &Quote,
) -> Result<FileReview, Failure> {
    let recipients = counted(quote.recipients_count as u64, "recipient");
    let title = format!("Send to {recipients}?");
    let shell = visitor.shell(&title, Section::Send);
    let href = format!("{PATH}/{}", id(visitor)?);
    let texts = given(fields, columns);
    let mut fields_of_send = texts.clone();
    fields_of_send.push(fresh_key(visitor));
    fields_of_send.push(("messages".to_owned(), review.messages.to_string()));
    let previews = review.previews.iter().map(|one| {
        vec![
            Cell::text(one.row.to_string()),
            Cell::text(one.recipient.to_string()),
            Cell::text(&one.text),
        ]
    });
    let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Ok(FileReview {
        notes: notes(fields, review, quote),
        figures: figures(review, quote),
        facts: vec![
            fact("Sender ID", fields.get("from")),
            fact("Gateway", fields.get("gateway")),
            fact("Rows left out", &count(review.left_out_count())),
            fact("Longest text", &quote.prepared_body),
        ],
        previews: Table {
            label: "First texts".to_owned(),
            columns: vec![
                Column::number("Row"),
                Column::text("Recipient"),
                Column::text("Text"),
            ],
            rows: previews.collect(),
            now_ms: shell.now_ms,
        },
        left_out: left_out::rows(&shell, &href, review, texts),
        hidden: fields_of_send,
        href,
        shell,
    })
}

/// Returns the fields of the send as hidden ones.
fn given(fields: &Form, columns: Columns) -> Vec<(String, String)> {
    let mut all = hidden(columns);
    all.extend(given_pairs(fields, &FIELDS));
    all
}

fn figures(review: &UploadReview, quote: &Quote) -> Vec<Figure> {
    let most = format!(
        "{}, at most {} for a recipient",
        alphabet_name(quote),
        quote.page_count
    );
    let pages = count(quote.pages_total.unsigned_abs());
    let pages = Figure::new("Pages", pages).note(Tone::Plain, most);
    send_parts::figures(quote, review.balance, pages)
}

fn notes(fields: &Form, review: &UploadReview, quote: &Quote) -> Vec<(Tone, String)> {
    let mut notes = vec![(Tone::Plain, when(fields, review.held_until_ms))];
    // The time is in the first note.
    notes.extend(warnings(quote.left_out, None));
    if review.messages > 1 {
        let text = format!(
            "The file is sent as {} messages, one after the other. Each has a part of the recipients.",
            review.messages
        );
        notes.push((Tone::Plain, text));
    }
    notes.extend(changes(quote));
    notes
}

/// `POST /console/send/file/{upload}/send`: sends messages for some seconds. The progress goes on
/// with the next ones.
pub(super) async fn send(visitor: Visitor, fields: Form) -> Answered {
    let request = upload_send(&visitor, &fields)?;
    let from = fields.get("next").parse().unwrap_or(0);
    let messages = fields.get("messages").parse().unwrap_or(0);
    if fields.find("key").is_none() {
        return Err(Failure::NotAForm);
    }
    let sent = upload_sends(&visitor)?
        .send(&request, fields.get("key"), from)
        .await;
    let step = match sent.map_err(Failure::from) {
        Ok(step) => step,
        Err(failure) => return again(&visitor, &fields, failure).await,
    };
    if let Some(next) = step.next {
        return progress(&visitor, &fields, request.columns, (next, messages), step);
    }
    if let ([one], 0) = (step.messages.as_slice(), from) {
        let path = format!("/console/messages/{one}");
        return Ok(visitor.done(&path, "The message was accepted."));
    }
    let all = (from + step.messages.len()) as u64;
    let text = format!("{} were accepted.", counted(all, "message"));
    Ok(visitor.done("/console/messages", &text))
}

fn progress(
    visitor: &Visitor,
    fields: &Form,
    columns: Columns,
    (next, messages): (usize, usize),
    step: UploadStep,
) -> Answered {
    let error = step
        .stopped
        .map(|error| Failure::from(error).shown().map(|(_, text)| text))
        .transpose()?;
    let mut hidden = given(fields, columns);
    for (name, value) in [
        ("key", fields.get("key").to_owned()),
        ("messages", messages.to_string()),
        ("next", next.to_string()),
    ] {
        hidden.push((name.to_owned(), value));
    }
    Ok(visitor.answer(&FileProgress {
        shell: visitor.shell("The send goes on", Section::Send),
        href: format!("{PATH}/{}", id(visitor)?),
        done: (next, messages.max(next)),
        error,
        hidden,
    }))
}

/// Shows the form again with the reason of a refusal.
async fn again(visitor: &Visitor, fields: &Form, failure: Failure) -> Answered {
    let (_, text) = failure.shown()?;
    file_form(visitor, fields, Some(text)).await
}

/// `POST /console/send/file/{upload}/left-out`: the rows that are left out, as CSV.
pub(super) async fn download(visitor: Visitor, fields: Form) -> Answered {
    let request = upload_send(&visitor, &fields)?;
    let left_out = upload_sends(&visitor)?.left_out(&request).await?;
    exported(left_out, "left-out.csv").await
}
