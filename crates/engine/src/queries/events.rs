//! The events of one recipient, from its stored rows.

use super::messages::Message;
use domain::{Component, DeliveryStatus, Money, RawReceipt};
use store::{CallbackAttempt, DeliveryInfo, ReceiptInfo, RefundInfo};

/// An event of a recipient.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Event {
    /// The time, Unix milliseconds.
    pub at_ms: i64,
    /// The kind.
    pub kind: EventKind,
}

/// The kind of an event, with its details.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum EventKind {
    /// The message was accepted and charged.
    Accepted,
    /// The message waits for its due time.
    Scheduled {
        /// The due time, Unix milliseconds.
        for_ms: i64,
    },
    /// The recipient waits, because its message was paused.
    Paused,
    /// The message was resumed.
    Resumed,
    /// A carrier accepted the message.
    Submitted {
        /// The last carrier.
        carrier: String,
        /// Its id of the message, or of its first page, as a receipt that is still kept names it.
        carrier_message_id: Option<String>,
        /// The pages of the text.
        pages: i64,
    },
    /// A carrier rejected the message.
    Refused {
        /// The carrier.
        carrier: String,
        /// The status of its response.
        command_status: String,
    },
    /// The message was written to a connection, and its response is unknown.
    InDoubt {
        /// The carrier.
        carrier: String,
    },
    /// A receipt of a carrier changed the recipient.
    Receipt {
        /// The carrier.
        carrier: String,
        /// The receipt as it came.
        raw: RawReceipt,
    },
    /// The recipient was cancelled before a carrier had it.
    Cancelled,
    /// The recipient has a final status.
    Settled {
        /// The status.
        delivery_status: DeliveryStatus,
    },
    /// Money was refunded.
    Refunded {
        /// The amount.
        amount: Money,
        /// The component of the wallet.
        component: Component,
    },
    /// The final status was posted to the customer's URL.
    Callback {
        /// The number of the attempt, from 1.
        attempt: i64,
        /// The HTTP status, or the reason why there was no response.
        status: String,
    },
}

/// Returns the events of a recipient, oldest first.
pub(super) fn recipient_events(
    message: &Message,
    delivery: Option<&DeliveryInfo>,
    receipts: Vec<ReceiptInfo>,
    refunds: &[RefundInfo],
    attempts: &[CallbackAttempt],
) -> Vec<Event> {
    let accepted_at_ms = message.created_at_ms;
    let mut events = vec![Event {
        at_ms: accepted_at_ms,
        kind: EventKind::Accepted,
    }];
    events.extend(message.scheduled_for_ms.map(|for_ms| Event {
        at_ms: accepted_at_ms,
        kind: EventKind::Scheduled { for_ms },
    }));
    events.extend(pause_events(message, delivery));
    if let Some(delivery) = delivery {
        events.extend(delivery_events(delivery, receipts, accepted_at_ms));
    }
    events.extend(refunds.iter().map(|refund| Event {
        at_ms: refund.at_ms,
        kind: EventKind::Refunded {
            amount: refund.amount,
            component: refund.component,
        },
    }));
    events.extend(attempts.iter().map(|attempt| Event {
        at_ms: attempt.attempted.made_at_ms,
        kind: EventKind::Callback {
            attempt: attempt.attempt,
            status: attempt.attempted.result.clone(),
        },
    }));
    // Deliveries store whole seconds, so an effect may have an earlier time than its
    // cause.
    let mut latest_ms = accepted_at_ms;
    for event in &mut events {
        latest_ms = latest_ms.max(event.at_ms);
        event.at_ms = latest_ms;
    }
    events
}

/// Returns the pauses and resumes before the recipient was submitted or ended.
fn pause_events(message: &Message, delivery: Option<&DeliveryInfo>) -> Vec<Event> {
    // Deliveries store whole seconds.
    let until_ms = delivery.map_or(i64::MAX, |delivery| delivery.submitted_at_ms + 1_000);
    let pauses = message.pauses.iter().filter(|one| one.at_ms < until_ms);
    pauses
        .map(|one| Event {
            at_ms: one.at_ms,
            kind: if one.is_pause {
                EventKind::Paused
            } else {
                EventKind::Resumed
            },
        })
        .collect()
}

fn delivery_events(
    delivery: &DeliveryInfo,
    receipts: Vec<ReceiptInfo>,
    accepted_at_ms: i64,
) -> Vec<Event> {
    let carrier = || delivery.carrier.clone();
    let refusal = delivery
        .error
        .as_ref()
        .filter(|error| is_command_status(error));
    let mut of_carrier = receipts
        .iter()
        .filter(|one| one.carrier == delivery.carrier);
    let carrier_message_id = of_carrier.find_map(|one| one.raw.carrier_message_id());
    let submitted = match (refusal, delivery.leg, delivery.status) {
        (Some(status), ..) => Some(EventKind::Refused {
            carrier: carrier(),
            command_status: status.clone(),
        }),
        (None, _, DeliveryStatus::InDoubt) => Some(EventKind::InDoubt { carrier: carrier() }),
        (None, Some(_), _) => Some(EventKind::Submitted {
            carrier: carrier(),
            carrier_message_id,
            pages: delivery.pages,
        }),
        (None, None, _) => None,
    };
    let submitted = submitted.map(|kind| Event {
        at_ms: delivery.submitted_at_ms.max(accepted_at_ms),
        kind,
    });
    let settled_at_ms = delivery
        .settled_at_ms
        .map(|at_ms| at_ms.max(accepted_at_ms));
    let settled = settled_at_ms.map(|at_ms| Event {
        at_ms,
        kind: EventKind::Settled {
            delivery_status: delivery.status,
        },
    });
    let is_cancelled = delivery.status == DeliveryStatus::Cancelled;
    let cancelled = settled_at_ms.filter(|_| is_cancelled).map(|at_ms| Event {
        at_ms,
        kind: EventKind::Cancelled,
    });
    let received = receipts.into_iter().map(|one| Event {
        at_ms: one.at_ms,
        kind: EventKind::Receipt {
            carrier: one.carrier,
            raw: one.raw,
        },
    });
    let events = submitted.into_iter().chain(received).chain(cancelled);
    events.chain(settled).collect()
}

/// Returns `true` if an error is the status of a response and not the code of a receipt.
fn is_command_status(error: &str) -> bool {
    error.starts_with("ESME_") || error.starts_with("0x")
}
