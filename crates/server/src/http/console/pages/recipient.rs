//! A recipient with its events.

use super::super::failure::sentence;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::shared::{queries, recipient_badge};
use crate::explanation::explanation;
use console::figures::{naira, time};
use console::parts::Tone;
use console::screens::{self, TimelineEvent};
use console::{Section, Shell};
use engine::{CustomerQueries, Event, EventKind, Message, RecipientState, Timeline};

/// `GET /console/messages/{id}/{recipient}`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let place = ("/console/messages", Section::Messages);
    shown(&visitor, &queries(&visitor)?, place, visitor.param("id")).await
}

/// Shows the recipient in the path, of a message in a list.
pub(super) async fn shown(
    visitor: &Visitor,
    queries: &CustomerQueries,
    (list, section): (&str, Section),
    id: &str,
) -> Answered {
    let message = queries.message(id).await?;
    let found = queries.recipient(id, visitor.param("recipient")).await?;
    let shell = visitor.shell(&found.recipient.recipient.to_string(), section);
    let back = format!("{list}/{id}");
    Ok(visitor.answer(&screen(shell, back, &message, &found)))
}

/// Returns the screen of a recipient of a message.
pub(super) fn screen(
    shell: Shell,
    back: String,
    message: &Message,
    found: &Timeline,
) -> screens::Recipient {
    let one = &found.recipient;
    screens::Recipient {
        shell,
        back,
        status: recipient_badge(one.delivery_status),
        explanation: sentence(&explanation(message, found)),
        facts: facts(one),
        text: one.body.clone(),
        events: found.events.iter().map(event).collect(),
    }
}

fn facts(one: &RecipientState) -> Vec<(String, String)> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = vec![
        fact("Network", one.network.clone()),
        fact("Pages", one.pages.to_string()),
        fact("Cost", naira(one.cost)),
        fact("Refunded", naira(one.refunded)),
    ];
    facts.extend(
        one.submitted_at_ms
            .map(|at_ms| fact("Submitted", time(at_ms))),
    );
    facts.push(fact("Changed", time(one.updated_at_ms)));
    facts
}

fn event(event: &Event) -> TimelineEvent {
    let (tone, title, detail) = match &event.kind {
        EventKind::Accepted => (Tone::Plain, "Accepted", String::new()),
        EventKind::Scheduled { for_ms } => (
            Tone::Waiting,
            "Scheduled",
            format!("It is due on {}.", time(*for_ms)),
        ),
        EventKind::Paused => (Tone::Waiting, "Paused", String::new()),
        EventKind::Resumed => (Tone::Plain, "Resumed", String::new()),
        EventKind::Submitted {
            carrier,
            carrier_message_id,
            pages,
        } => {
            let noun = if *pages == 1 { "page" } else { "pages" };
            let id = carrier_message_id.as_ref();
            let id = id.map_or_else(String::new, |id| format!(" Its id is {id}."));
            (
                Tone::Plain,
                "Submitted",
                format!("Carrier {carrier} accepted {pages} {noun}.{id}"),
            )
        }
        EventKind::Refused {
            carrier,
            command_status,
        } => (
            Tone::Bad,
            "Refused",
            format!("Carrier {carrier} answered {command_status}."),
        ),
        EventKind::InDoubt { carrier } => (
            Tone::Warning,
            "In doubt",
            format!("The connection to carrier {carrier} broke before its answer."),
        ),
        EventKind::Receipt { carrier, .. } => (
            Tone::Plain,
            "Receipt",
            format!("Carrier {carrier} sent a receipt."),
        ),
        EventKind::Settled { delivery_status } => {
            let badge = console::parts::Badge::of_delivery(*delivery_status);
            let text = format!("The final status is {}.", badge.text.to_lowercase());
            (badge.tone, "Settled", text)
        }
        EventKind::Cancelled => (Tone::Bad, "Cancelled", String::new()),
        EventKind::Refunded { amount, component } => {
            let text = format!("{} to {}.", naira(*amount), component.as_str());
            (Tone::Good, "Refunded", text)
        }
        EventKind::Callback { attempt, status } => (
            Tone::Plain,
            "Callback",
            format!("Attempt {attempt}: {status}"),
        ),
    };
    TimelineEvent {
        at_ms: event.at_ms,
        tone,
        title: title.to_owned(),
        detail,
        raw: raw(&event.kind),
    }
}

/// Returns a receipt as it came, and nothing for other events.
fn raw(kind: &EventKind) -> String {
    let EventKind::Receipt { raw, .. } = kind else {
        return String::new();
    };
    let parameters = raw
        .shown_parameters()
        .map(|(tag, value)| format!("{tag}={value}"));
    let parts: Vec<String> = [raw.text.clone()].into_iter().chain(parameters).collect();
    parts.join("\n").trim().to_owned()
}
