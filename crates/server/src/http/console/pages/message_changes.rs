//! Changes of a message: pause, resume, cancel, a new draft for the recipients that failed, and its export.

use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::lists::{confirm, dangerous};
use super::send;
use super::send_parts::admit;
use super::shared::{exported, queries};
use console::figures::{counted, naira};
use console::parts::Confirm;
use domain::schedule::MessageState;
use domain::search::{FilterFields, StatusFilter};
use domain::user::role::Permission::SendMessages;
use engine::message_changes::MessageRequest;
use engine::{Changed, Message, PageFields, Purpose, message_changes};

/// The outcomes that a retry covers.
const FAILURES: [StatusFilter; 4] = [
    StatusFilter::Undelivered,
    StatusFilter::Expired,
    StatusFilter::Rejected,
    StatusFilter::Failed,
];
/// Maximum number of recipients of a draft. Their form is smaller than the largest form.
const MAX_DRAFT_RECIPIENTS: usize = 5_000;
/// Recipients that are read at a time.
const ROWS: &str = "500";

/// Returns the changes that the user may make now.
pub(super) fn offered(visitor: &Visitor, message: &Message) -> Vec<Confirm> {
    let hold = match message.state {
        MessageState::Scheduled | MessageState::Sending => Offer::PAUSE,
        MessageState::Paused => Offer::RESUME,
        MessageState::Completed | MessageState::Cancelled => return Vec::new(),
    };
    if !visitor.may(SendMessages) {
        return Vec::new();
    }
    let offers = [hold, Offer::CANCEL];
    offers.map(|offer| offer.of(visitor, message)).to_vec()
}

/// A change that a page offers.
struct Offer {
    /// The last part of its address.
    path: &'static str,
    action: &'static str,
    consequence: &'static str,
    is_dangerous: bool,
}

impl Offer {
    const PAUSE: Self = Self {
        path: "pause",
        action: "Pause the message",
        consequence: "Those that no carrier has wait until the message is resumed.",
        is_dangerous: false,
    };
    const RESUME: Self = Self {
        path: "resume",
        action: "Resume the message",
        consequence: "Those that no carrier has are sent.",
        is_dangerous: false,
    };
    const CANCEL: Self = Self {
        path: "cancel",
        action: "Cancel the message",
        consequence: "Those that no carrier has end and are refunded. A cancelled message cannot \
                      be resumed.",
        is_dangerous: true,
    };

    fn of(&self, visitor: &Visitor, message: &Message) -> Confirm {
        let pending = counted(message.pending, "recipient");
        let text = format!(
            "The message has {pending} without an outcome. {}",
            self.consequence
        );
        let change = confirm(
            visitor,
            (self.path, self.action),
            (&format!("{}?", self.action), &text),
            &format!("/console/messages/{}/{}", message.id, self.path),
            &[],
        );
        if self.is_dangerous {
            dangerous(change)
        } else {
            change
        }
    }
}

/// Returns the addresses beside the changes, by name.
pub(super) fn links(visitor: &Visitor, message: &Message) -> Vec<(String, String)> {
    let link = |name: &str, last: &str| {
        let path = format!("/console/messages/{}/{last}", message.id);
        (name.to_owned(), path)
    };
    let retry =
        (message.failed > 0 && visitor.may(SendMessages)).then(|| link("Retry failed", "retry"));
    let export = link("Export CSV", "recipients.csv");
    retry.into_iter().chain([export]).collect()
}

/// `POST /console/messages/{id}/cancel`.
pub(super) async fn cancel(visitor: Visitor, _: Form) -> Answered {
    let (id, admission) = (visitor.param("id"), admit(&visitor, Purpose::Read).await?);
    // A change that is repeated has no effect, so it needs no key.
    let changed = message_changes::cancel(&admission, id, None).await;
    let text = match &changed {
        Ok(Changed::First(done)) => cancelled(done.cancelled, &naira(done.refunded)),
        Ok(Changed::Replay(_)) | Err(_) => String::new(),
    };
    visitor.after(changed, &path(&visitor), &text)
}

/// `POST /console/messages/{id}/pause`.
pub(super) async fn pause(visitor: Visitor, _: Form) -> Answered {
    let text = "The message is paused. Recipients that a carrier has go on.";
    change(&visitor, MessageRequest::Pause, text).await
}

/// `POST /console/messages/{id}/resume`.
pub(super) async fn resume(visitor: Visitor, _: Form) -> Answered {
    change(&visitor, MessageRequest::Resume, "The message goes on.").await
}

async fn change(visitor: &Visitor, request: MessageRequest, text: &str) -> Answered {
    let (id, admission) = (visitor.param("id"), admit(visitor, Purpose::Read).await?);
    let changed = message_changes::change(&admission, id, request, None).await;
    visitor.after(changed, &path(visitor), text)
}

/// Returns the address of the message's page.
fn path(visitor: &Visitor) -> String {
    format!("/console/messages/{}", visitor.param("id"))
}

fn cancelled(recipients: i64, refunded: &str) -> String {
    match u64::try_from(recipients).unwrap_or(0) {
        0 => "No recipient was cancelled, because the carriers have them all.".to_owned(),
        many => {
            let many = counted(many, "recipient");
            format!("The message was cancelled for {many}, and {refunded} was refunded.")
        }
    }
}

/// `GET /console/messages/{id}/retry`: the form of a send, filled for the recipients that failed.
/// The numbers stand in the page and in no address.
pub(super) async fn retry(visitor: Visitor) -> Answered {
    let (id, queries) = (visitor.param("id"), queries(&visitor)?);
    let message = queries.message(id).await?;
    let mut numbers: Vec<String> = Vec::new();
    for status in FAILURES {
        let fields = FilterFields {
            delivery_status: Some(status.as_str().to_owned()),
            ..FilterFields::default()
        };
        let mut cursor = None;
        while numbers.len() < MAX_DRAFT_RECIPIENTS {
            let page = PageFields {
                limit: Some(ROWS),
                cursor: cursor.as_deref(),
            };
            let found = queries.recipients(id, &fields, page).await?;
            numbers.extend(found.items.iter().map(|one| one.recipient.to_string()));
            cursor = found.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
    }
    numbers.truncate(MAX_DRAFT_RECIPIENTS);
    let note = draft_note(&message, numbers.len() as u64);
    let fields = Form::of([
        ("from", message.sender),
        ("to", numbers.join("\n")),
        ("body", message.body.unwrap_or_default()),
        ("gateway", message.gateway.as_str().to_owned()),
    ]);
    send::draft(&visitor, &fields, note).await
}

fn draft_note(message: &Message, numbers: u64) -> String {
    let mut note = match numbers {
        0 => "No recipient of the message has failed.".to_owned(),
        many => format!(
            "This draft is for the {} that failed. Nothing was sent yet.",
            counted(many, "recipient")
        ),
    };
    if numbers < message.failed && numbers > 0 {
        note.push_str(" The others do not fit into one form, so retry again after this send.");
    }
    if message.body.is_none() {
        note.push_str(" Write the text anew, because the message has no common text.");
    }
    note
}

/// `GET /console/messages/{id}/recipients.csv`.
pub(super) async fn export(visitor: Visitor) -> Answered {
    let export = queries(&visitor)?
        .export_message(visitor.param("id"))
        .await?;
    exported(export, "recipients.csv").await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancel_names_its_recipients_and_the_refund() {
        assert!(cancelled(0, "₦0.00").starts_with("No recipient"));
        assert!(cancelled(1, "₦5.00").contains("for 1 recipient, and ₦5.00"));
        assert!(cancelled(-1, "₦5.00").starts_with("No recipient"));
    }
}
