//! The explanation of a recipient's outcome, in words for operators and customers.

use crate::format::lagos_time;
use domain::carrier_control::CarrierControl;
use domain::schedule::MessageState;
use domain::{DeliveryStatus, Money, PENDING};
use engine::{Event, EventKind, Message, Timeline};

/// The meanings of the statuses by which carriers reject submits, and of our own errors.
const MEANINGS: [(&str, &str); 18] = [
    ("ESME_RINVDSTADR", "the number does not exist"),
    (
        "ESME_RINVSRCADR",
        "the carrier does not allow the sender ID",
    ),
    (
        "ESME_RINVMSGLEN",
        "the carrier does not take a text of this length",
    ),
    ("ESME_RMSGQFUL", "the queue of the carrier was full"),
    (
        "ESME_RTHROTTLED",
        "the carrier took no more submits in that second",
    ),
    ("ESME_RSYSERR", "the carrier had a failure"),
    ("ESME_RSUBMITFAIL", "the carrier gives no closer reason"),
    ("ESME_RUNKNOWNERR", "the carrier gives no closer reason"),
    ("ESME_RDELIVERYFAILURE", "the carrier could not deliver it"),
    (
        "ESME_RPROHIBITED",
        "the carrier prohibits the text or the service",
    ),
    (
        "ESME_RSERTYPUNAUTH",
        "the account at the carrier may not use the service type",
    ),
    (
        "ESME_RSERTYPUNAVAIL",
        "the carrier does not offer the service type",
    ),
    (
        "ESME_RINVSERTYP",
        "the carrier does not know the service type",
    ),
    ("ESME_RX_T_APPN", "the carrier had a temporary failure"),
    ("ESME_RX_P_APPN", "the carrier rejects it for good"),
    ("ESME_RX_R_APPN", "the carrier rejects the message"),
    (
        "ESME_RINVEXPIRY",
        "the carrier does not take the validity period",
    ),
    (
        "no receipt in time",
        "the carrier sent no receipt within the validity",
    ),
];

/// Returns a sentence on the control of a carrier after a change.
pub(crate) fn controlled(carrier: &str, control: CarrierControl) -> String {
    let mode = control.mode.as_str();
    match control.max_per_second {
        Some(limit) => format!("{carrier} is {mode}, with at most {limit} submits a second."),
        None => format!("{carrier} is {mode}."),
    }
}

/// Returns the meaning of an error code, if it is one of SMPP or our own.
pub(crate) fn meaning(error: &str) -> Option<&'static str> {
    // A status is stored by its name, or as a number if it has none.
    let name = error
        .split(' ')
        .next()
        .filter(|name| name.starts_with("ESME_"));
    let wanted = name.unwrap_or(error);
    let found = MEANINGS.iter().find(|(name, _)| *name == wanted);
    found.map(|(_, meaning)| *meaning)
}

/// Returns an error code with its meaning.
fn explained(error: &str) -> String {
    match meaning(error) {
        Some(meaning) => format!("{error}: {meaning}"),
        None => error.to_owned(),
    }
}

/// Returns what happened to a recipient, and why, without a full stop.
pub(crate) fn explanation(message: &Message, found: &Timeline) -> String {
    let mut clauses = vec![outcome(message, found)];
    clauses.extend(money(found));
    clauses.extend(callback(&found.events));
    clauses.join("; ")
}

/// Returns a line for each receipt of a recipient, as it came.
pub(crate) fn receipts(events: &[Event]) -> impl Iterator<Item = String> {
    events.iter().filter_map(|event| match &event.kind {
        EventKind::Receipt { carrier, raw } => {
            let at = lagos_time(event.at_ms);
            // The text is escaped, because a terminal obeys control characters.
            let text = format!("receipt of carrier {carrier} at {at}: {:?}", raw.text);
            let parameters = raw.shown_parameters();
            let parameters = parameters.map(|(tag, value)| format!("{tag}={value}"));
            let parts: Vec<String> = std::iter::once(text).chain(parameters).collect();
            Some(parts.join(" "))
        }
        _ => None,
    })
}

/// Returns the last value that an event has.
fn last<'e, T>(events: &'e [Event], value: impl Fn(&'e Event) -> Option<T>) -> Option<T> {
    events.iter().rev().find_map(value)
}

/// Returns the carrier that last accepted the message, and the time.
fn submitted(events: &[Event]) -> Option<(&str, i64)> {
    last(events, |event| match &event.kind {
        EventKind::Submitted { carrier, .. } => Some((carrier.as_str(), event.at_ms)),
        _ => None,
    })
}

/// Returns the carrier that last rejected the message, and its status.
fn refused(events: &[Event]) -> Option<(&str, &str)> {
    last(events, |event| match &event.kind {
        EventKind::Refused {
            carrier,
            command_status,
        } => Some((carrier.as_str(), command_status.as_str())),
        _ => None,
    })
}

/// Returns the carrier whose response is unknown, and the time of the submit.
fn in_doubt(events: &[Event]) -> Option<(&str, i64)> {
    last(events, |event| match &event.kind {
        EventKind::InDoubt { carrier } => Some((carrier.as_str(), event.at_ms)),
        _ => None,
    })
}

fn outcome(message: &Message, found: &Timeline) -> String {
    let (state, events) = (&found.recipient, &found.events);
    let status = state.delivery_status;
    if status == PENDING {
        return pending(message, events);
    }
    let at = lagos_time(state.updated_at_ms);
    if status == DeliveryStatus::Delivered.outside() {
        return match submitted(events) {
            Some((carrier, _)) => format!("delivered by carrier {carrier} at {at}"),
            None => format!("delivered at {at}"),
        };
    }
    if status == "cancelled" {
        return format!("cancelled at {at}, before a carrier had it");
    }
    if let Some((carrier, error)) = refused(events) {
        return format!("refused by carrier {carrier} with {}", explained(error));
    }
    let by = submitted(events).or_else(|| in_doubt(events));
    match (by, state.error_code.as_deref()) {
        (Some((carrier, _)), Some(error)) => {
            format!(
                "not delivered by carrier {carrier} ({status}) with {}",
                explained(error)
            )
        }
        (Some((carrier, _)), None) => {
            format!("not delivered by carrier {carrier}, whose receipt says {status}")
        }
        (None, Some(error)) => format!("ended as {status} at {at} with {}", explained(error)),
        (None, None) => format!("ended as {status} at {at}, before a carrier had it"),
    }
}

fn pending(message: &Message, events: &[Event]) -> String {
    if let Some((carrier, at_ms)) = in_doubt(events) {
        return format!(
            "written to carrier {carrier} at {} without an answer, so a receipt is awaited",
            lagos_time(at_ms)
        );
    }
    if let Some((carrier, at_ms)) = submitted(events) {
        return format!(
            "accepted by carrier {carrier} at {}, whose receipt is awaited",
            lagos_time(at_ms)
        );
    }
    match (message.state, message.scheduled_for_ms) {
        (MessageState::Paused, _) => "paused, before a carrier had it".to_owned(),
        (MessageState::Scheduled, Some(for_ms)) => {
            format!("scheduled for {}", lagos_time(for_ms))
        }
        _ => "waits for a carrier".to_owned(),
    }
}

/// Returns the refund of a recipient that was not delivered.
fn money(found: &Timeline) -> Option<String> {
    let state = &found.recipient;
    if state.refunded > Money::ZERO {
        return Some(format!("refunded {}", state.refunded));
    }
    let is_failed = state.delivery_status != PENDING
        && state.delivery_status != DeliveryStatus::Delivered.outside();
    (is_failed && state.cost > Money::ZERO).then(|| format!("charged {}, not refunded", state.cost))
}

/// Returns the result of the last attempt at a callback. One that succeeded at once has no attempt.
fn callback(events: &[Event]) -> Option<String> {
    last(events, |event| match &event.kind {
        EventKind::Callback { attempt, status } => {
            Some(format!("callback attempt {attempt} got {status}"))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{AccountId, Component, Gateway, MessageId, RawReceipt, Recipient};
    use engine::RecipientState;

    const AT: i64 = 1_795_219_200_000;

    fn message(state: MessageState) -> Message {
        Message {
            id: MessageId::new(AT, [7; 10]),
            account: AccountId(7),
            created_at_ms: AT,
            scheduled_for_ms: Some(AT + 3_600_000),
            pauses: Vec::new(),
            state,
            sender: "AdaStores".to_owned(),
            gateway: Gateway::DirectRefund,
            body: None,
            is_personalised: false,
            recipients: 1,
            page_count: 1,
            pages_total: 1,
            cost: Money::from_naira(4),
            refunded: Money::ZERO,
            customer_reference: None,
            delivered: 0,
            pending: 1,
            failed: 0,
        }
    }

    fn found(
        status: &'static str,
        error: Option<&str>,
        refunded: i64,
        events: Vec<EventKind>,
    ) -> Timeline {
        let events = events.into_iter().map(|kind| Event { at_ms: AT, kind });
        Timeline {
            recipient: RecipientState {
                recipient: Recipient::from_digits(2_348_031_234_567),
                network: "mtn".to_owned(),
                delivery_status: status,
                error_code: error.map(str::to_owned),
                body: None,
                pages: 1,
                cost: Money::from_naira(4),
                refunded: Money::from_naira(refunded),
                submitted_at_ms: None,
                updated_at_ms: AT,
            },
            events: events.collect(),
        }
    }

    fn words(found: &Timeline) -> String {
        explanation(&message(MessageState::Completed), found)
    }

    fn refused() -> EventKind {
        EventKind::Refused {
            carrier: "mtn".to_owned(),
            command_status: "ESME_RINVDSTADR".to_owned(),
        }
    }

    fn submitted() -> EventKind {
        EventKind::Submitted {
            carrier: "mtn".to_owned(),
            carrier_message_id: None,
            pages: 1,
        }
    }

    #[test]
    fn an_outcome_is_explained_with_its_cause_and_refund() {
        let refund = EventKind::Refunded {
            amount: Money::from_naira(4),
            component: Component::SmsWallet,
        };
        let attempt = EventKind::Callback {
            attempt: 3,
            status: "503".to_owned(),
        };
        let gone = "no receipt in time";
        let doubted = EventKind::InDoubt {
            carrier: "mtn".to_owned(),
        };
        let lines = [
            words(&found(
                "rejectd",
                Some("ESME_RINVDSTADR"),
                4,
                vec![refused(), refund],
            )),
            words(&found(
                "rejectd",
                Some("ESME_RINVDSTADR"),
                0,
                vec![refused()],
            )),
            words(&found("delivrd", None, 0, vec![submitted()])),
            words(&found(
                "undeliv",
                Some("005"),
                4,
                vec![submitted(), attempt],
            )),
            words(&found("expired", Some(gone), 4, vec![submitted()])),
            words(&found("expired", Some(gone), 4, vec![doubted])),
            words(&found("failed", None, 4, vec![])),
            words(&found("cancelled", None, 4, vec![])),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r"
        refused by carrier mtn with ESME_RINVDSTADR: the number does not exist; refunded 4.00
        refused by carrier mtn with ESME_RINVDSTADR: the number does not exist; charged 4.00, not refunded
        delivered by carrier mtn at 2026-11-21 01:00:00
        not delivered by carrier mtn (undeliv) with 005; refunded 4.00; callback attempt 3 got 503
        not delivered by carrier mtn (expired) with no receipt in time: the carrier sent no receipt within the validity; refunded 4.00
        not delivered by carrier mtn (expired) with no receipt in time: the carrier sent no receipt within the validity; refunded 4.00
        ended as failed at 2026-11-21 01:00:00, before a carrier had it; refunded 4.00
        cancelled at 2026-11-21 01:00:00, before a carrier had it; refunded 4.00
        ");
    }

    #[test]
    fn a_pending_recipient_is_explained_by_what_it_waits_for() {
        let doubted = EventKind::InDoubt {
            carrier: "mtn".to_owned(),
        };
        let of = |state, events| explanation(&message(state), &found(PENDING, None, 0, events));
        let lines = [
            of(MessageState::Scheduled, vec![]),
            of(MessageState::Paused, vec![]),
            of(MessageState::Sending, vec![]),
            of(MessageState::Sending, vec![submitted()]),
            of(MessageState::Sending, vec![doubted]),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r"
        scheduled for 2026-11-21 02:00:00
        paused, before a carrier had it
        waits for a carrier
        accepted by carrier mtn at 2026-11-21 01:00:00, whose receipt is awaited
        written to carrier mtn at 2026-11-21 01:00:00 without an answer, so a receipt is awaited
        ");
    }

    #[test]
    fn a_receipt_is_shown_as_it_came_without_control_characters() {
        let receipt = |text: &str, parameters| Event {
            at_ms: AT,
            kind: EventKind::Receipt {
                carrier: "mtn".to_owned(),
                raw: RawReceipt {
                    text: text.to_owned(),
                    parameters,
                },
            },
        };
        let events = [
            receipt("id:7 stat:UNDELIV err:011 text:", vec![(0x0427, vec![5])]),
            Event {
                at_ms: AT,
                kind: EventKind::Accepted,
            },
            receipt("\u{1b}[2Jid:7\u{202e}", vec![]),
        ];
        let lines: Vec<String> = receipts(&events).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        receipt of carrier mtn at 2026-11-21 01:00:00: "id:7 stat:UNDELIV err:011 text:" 0x0427=05
        receipt of carrier mtn at 2026-11-21 01:00:00: "\u{1b}[2Jid:7\u{202e}"
        "#);
    }

    #[test]
    fn every_explained_status_is_one_of_smpp() {
        for (name, _) in MEANINGS
            .iter()
            .filter(|(name, _)| name.starts_with("ESME_"))
        {
            let is_known = (0..=0x102).any(|code| smpp::CommandStatus(code).name() == *name);
            assert!(is_known, "{name}");
        }
        assert_eq!(meaning("0x00000401"), None);
    }
}
