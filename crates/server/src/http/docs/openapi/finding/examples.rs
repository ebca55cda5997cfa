//! The answers of lists and items, each with an example of the type that answers.

use super::super::answers::{
    Name, RECIPIENT, REFERENCE, TEN_O_CLOCK_MS, add_enveloped, message_id, success,
};
use crate::http::api::list::List;
use crate::http::api::messages::{self, MessageData, MessageItem, RecipientItem, TimelineData};
use domain::schedule::MessageState;
use domain::{AccountId, DeliveryStatus, Environment, Gateway, Money};
use engine::{Event, EventKind, Listed, RecipientState, Timeline};
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{RefOr, Response};

const MESSAGES: Name = "MessagesAnswer";
const MESSAGE: Name = "MessageAnswer";
const RECIPIENTS: Name = "RecipientsAnswer";
const TIMELINE: Name = "RecipientAnswer";

/// A cursor as it looks.
const CURSOR: &str = "AQEBneQ1YADkqFoXw4gNQpvhAAAAAAAAAAAAc2Rm";

/// The schemas, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = Vec::new();
    add_enveloped::<List<MessageItem>>(MESSAGES, &mut schemas);
    add_enveloped::<MessageData>(MESSAGE, &mut schemas);
    add_enveloped::<List<RecipientItem>>(RECIPIENTS, &mut schemas);
    add_enveloped::<TimelineData>(TIMELINE, &mut schemas);
    schemas
}

fn sent() -> engine::Message {
    engine::Message {
        id: message_id(),
        account: AccountId(1),
        created_at_ms: TEN_O_CLOCK_MS,
        scheduled_for_ms: None,
        state: MessageState::Completed,
        sender: "AdaStores".to_owned(),
        gateway: Gateway::DirectRefund,
        body: Some("Your order is ready".to_owned()),
        recipients: 2,
        page_count: 1,
        pages_total: 2,
        cost: Money::from_naira(12),
        refunded: Money::from_naira(6),
        customer_reference: Some(REFERENCE.to_owned()),
        delivered: 1,
        pending: 0,
        failed: 1,
    }
}

fn undelivered() -> RecipientState {
    RecipientState {
        recipient: RECIPIENT,
        network: "mtn".to_owned(),
        delivery_status: DeliveryStatus::Undelivered.outside(),
        error_code: Some("001".to_owned()),
        pages: 1,
        cost: Money::from_naira(6),
        refunded: Money::from_naira(6),
        submitted_at_ms: Some(TEN_O_CLOCK_MS + 1_000),
        updated_at_ms: TEN_O_CLOCK_MS + 4_000,
    }
}

/// A page of messages.
pub(super) fn messages(environment: Environment) -> Response {
    let found = Listed {
        items: vec![sent()],
        next_cursor: Some(CURSOR.to_owned()),
    };
    success(MESSAGES, &messages::messages_answer(found, environment))
}

/// One message.
pub(super) fn message(environment: Environment) -> Response {
    success(MESSAGE, &messages::message_answer(sent(), environment))
}

/// A page of recipients.
pub(super) fn recipients(environment: Environment) -> Response {
    let found = Listed {
        items: vec![undelivered()],
        next_cursor: None,
    };
    success(RECIPIENTS, &messages::recipients_answer(found, environment))
}

/// A recipient with its events.
pub(super) fn timeline(environment: Environment) -> Response {
    let at = |seconds: i64, kind| Event {
        at_ms: TEN_O_CLOCK_MS + 1_000 * seconds,
        kind,
    };
    let found = Timeline {
        recipient: undelivered(),
        events: vec![
            at(0, EventKind::Accepted),
            at(
                1,
                EventKind::Submitted {
                    carrier: "mtn".to_owned(),
                    pages: 1,
                },
            ),
            at(
                4,
                EventKind::Settled {
                    delivery_status: DeliveryStatus::Undelivered,
                },
            ),
            at(
                4,
                EventKind::Refunded {
                    amount: Money::from_naira(6),
                    component: domain::Component::SmsWallet,
                },
            ),
            at(
                5,
                EventKind::Callback {
                    attempt: 1,
                    status: "200".to_owned(),
                },
            ),
        ],
    };
    success(TIMELINE, &TimelineData::answer(found, environment))
}
