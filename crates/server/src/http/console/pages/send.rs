//! The send: its form, its counter, its review, and the send itself.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::send_parts::{
    self, admit, alphabet_name, counter_or_reason, form_fields, fresh_key, given_pairs,
    send_fields, status_of, uncovered, warnings, when,
};
use console::figures::{count, counted, naira, time};
use console::parts::{Field, Figure, Kind, Tone};
use console::screens::{self, Confirmation, Counter};
use console::{Notice, Section};
use domain::Quote;
use domain::idempotency::{IdempotencyKey, Operation};
use engine::{Answered as Accepted, Keyed, Purpose, Quoted, SendRequest};
use std::sync::Arc;

/// The fields of the form, in the order of the page.
const FIELDS: [&str; 7] = [
    "from",
    "to",
    "body",
    "gateway",
    "send_at",
    "customer_reference",
    "callback_url",
];
/// Most invalid numbers that the counter names.
const MAX_NAMED: usize = 10;

/// `GET /console/send`. The query may fill the form, such as for a retry.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let fields = visitor.query().clone();
    form(&visitor, &fields, Counter::empty(), None).await
}

/// Shows the form with fields that another page filled, and a note on them.
pub(super) async fn draft(visitor: &Visitor, fields: &Form, note: String) -> Answered {
    let mut screen = form_screen(visitor, fields, Counter::empty(), None).await?;
    screen.shell.notices.push(Notice {
        tone: Tone::Plain,
        text: note,
    });
    Ok(visitor.answer(&screen))
}

/// `POST /console/send/count`: the counter alone.
pub(super) async fn count_pages(visitor: Visitor, fields: Form) -> Answered {
    Ok(visitor.answer(&counter(&visitor, &fields).await?))
}

/// `POST /console/send/review`: what will be sent and charged, with one button.
pub(super) async fn review(visitor: Visitor, fields: Form) -> Answered {
    let quoted = match quote(&visitor, &fields).await {
        Ok(quoted) => quoted,
        Err(failure) => return again(&visitor, &fields, failure).await,
    };
    if let Some(failure) = uncovered(&quoted.quote, quoted.balance) {
        return again(&visitor, &fields, failure).await;
    }
    let recipients = quoted.quote.recipients_count as u64;
    let title = format!("Send to {}?", counted(recipients, "recipient"));
    let mut hidden = given_pairs(&fields, &FIELDS);
    hidden.push(fresh_key(&visitor));
    let screen = Confirmation {
        shell: visitor.shell(&title, Section::Send),
        text: when(&fields, quoted.held_until_ms),
        facts: facts(&fields, &quoted),
        fields: Vec::new(),
        hidden,
        href: "/console/send".to_owned(),
        action: "Send now".to_owned(),
        back: "/console/send".to_owned(),
        is_dangerous: false,
    };
    Ok(visitor.answer(&screen))
}

/// `POST /console/send`.
pub(super) async fn send(visitor: Visitor, fields: Form) -> Answered {
    let key = IdempotencyKey::read([fields.get("key").as_bytes()])
        .ok()
        .flatten();
    let keyed = key.map(|key| Keyed {
        key,
        operation: Operation::Send,
        write: Arc::new(|_| r#"{"status":"success"}"#.to_owned()),
    });
    let sent = async {
        let admission = admit(&visitor, Purpose::Send).await?;
        let request = SendRequest::Shared(send_fields(&fields));
        admission.send(request, keyed).await.map_err(Failure::from)
    };
    match sent.await {
        Ok(Accepted::First(sent)) => {
            let text = match sent.scheduled_for_ms {
                Some(at_ms) => format!("The message is scheduled for {}.", time(at_ms)),
                None => "The message was accepted and is sent now.".to_owned(),
            };
            Ok(visitor.done(&format!("/console/messages/{}", sent.message_id), &text))
        }
        Ok(Accepted::Replay(kept)) => {
            let path = kept.message.map_or_else(
                || "/console/messages".to_owned(),
                |id| format!("/console/messages/{id}"),
            );
            Ok(visitor.done(
                &path,
                "The message was accepted before. It was not sent again.",
            ))
        }
        Err(failure) => again(&visitor, &fields, failure).await,
    }
}

/// Shows the form again with the reason of a refusal.
async fn again(visitor: &Visitor, fields: &Form, failure: Failure) -> Answered {
    let (_, text) = failure.shown()?;
    form(visitor, fields, Counter::empty(), Some(text)).await
}

async fn form(
    visitor: &Visitor,
    fields: &Form,
    counter: Counter,
    error: Option<String>,
) -> Answered {
    let status = status_of(error.as_ref());
    let screen = form_screen(visitor, fields, counter, error).await?;
    Ok(visitor.answer_with(status, &screen))
}

async fn form_screen(
    visitor: &Visitor,
    fields: &Form,
    counter: Counter,
    error: Option<String>,
) -> Result<screens::Send, Failure> {
    let admission = admit(visitor, Purpose::Read).await?;
    let to = Field::new(Kind::Lines(5), "to", "Recipients")
        .hint("One number in each line, or with commas between them.")
        .inputmode("tel");
    let text = Field::new(Kind::Lines(6), "body", "Text");
    Ok(screens::Send {
        shell: visitor.shell("Send messages", Section::Send),
        error,
        fields: form_fields(&admission, fields, Some(to), text),
        counter,
    })
}

async fn quote(visitor: &Visitor, fields: &Form) -> Result<Quoted, Failure> {
    let admission = admit(visitor, Purpose::Quote).await?;
    let request = SendRequest::Shared(send_fields(fields));
    Ok(admission.quote(request).await?)
}

async fn counter(visitor: &Visitor, fields: &Form) -> Result<Counter, Failure> {
    if fields.find("to").is_none() || fields.find("body").is_none() {
        return Ok(Counter::empty());
    }
    let quoted = quote(visitor, fields).await;
    counter_or_reason(quoted.map(|quoted| counted_as(&quoted, fields.get("body"))))
}

fn counted_as(quoted: &Quoted, body: &str) -> Counter {
    let quote = &quoted.quote;
    let notes = skipped(quote).into_iter();
    let notes = notes.chain(warnings(quote.left_out, quoted.held_until_ms));
    let (figures, notes) = (figures(quoted), notes.collect());
    send_parts::counter(quote, quoted.balance, body, figures, notes)
}

fn figures(quoted: &Quoted) -> Vec<Figure> {
    let quote = &quoted.quote;
    let characters = quote.prepared_body.chars().count() as u64;
    let note = format!(
        "{}, {}",
        alphabet_name(quote),
        counted(characters, "character")
    );
    let pages = Figure::new("Pages", quote.page_count.to_string()).note(Tone::Plain, note);
    send_parts::figures(quote, quoted.balance, pages)
}

/// Returns the note on numbers that are skipped.
fn skipped(quote: &Quote) -> Option<(Tone, String)> {
    let named = quote.invalid.iter().take(MAX_NAMED).map(String::as_str);
    let named: Vec<&str> = named.collect();
    let invalid = counted(quote.invalid_count as u64, "invalid number");
    let text = format!("{invalid} will be skipped: {}.", named.join(", "));
    (quote.invalid_count > 0).then_some((Tone::Warning, text))
}

fn facts(fields: &Form, quoted: &Quoted) -> Vec<(String, String)> {
    let quote = &quoted.quote;
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let left_out = [
        ("Left out, opted out", quote.left_out.opted_out),
        ("Left out, on do-not-disturb", quote.left_out.dnd),
    ];
    let left_out = left_out.into_iter().filter(|(_, number)| *number > 0);
    let mut facts = vec![
        fact("Sender ID", fields.get("from").to_owned()),
        fact("Recipients", count(quote.recipients_count as u64)),
        fact("Skipped numbers", count(quote.invalid_count as u64)),
    ];
    facts.extend(left_out.map(|(name, number)| fact(name, count(number as u64))));
    facts.extend([
        fact("Pages", format!("{} in all", quote.pages_total)),
        fact("Cost", naira(quote.cost)),
        fact("Balance after", naira(quoted.balance - quote.cost)),
        fact("Text", quote.prepared_body.clone()),
    ]);
    facts
}
