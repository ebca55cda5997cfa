//! The answers of lists and items, each with an example made by the type that answers.

use super::super::answers::{
    Name, RECIPIENT, REFERENCE, TEN_O_CLOCK_MS, add_enveloped, message_id, success,
};
use crate::http::api::list::List;
use crate::http::api::messages::{self, MessageData, MessageItem, RecipientItem, TimelineData};
use crate::http::api::usage::{self, UsageItem};
use crate::http::api::wallet::{self, WalletItem};
use domain::schedule::MessageState;
use domain::{AccountId, DeliveryStatus, Environment, Gateway, Money, RawReceipt};
use engine::{Event, EventKind, ListPage, RecipientState, Timeline};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{ContentBuilder, RefOr, Response, ResponseBuilder};
use utoipa::{PartialSchema, ToSchema};

const MESSAGES: Name = "MessagesAnswer";
const MESSAGE: Name = "MessageAnswer";
const RECIPIENTS: Name = "RecipientsAnswer";
const TIMELINE: Name = "RecipientAnswer";
const ENTRIES: Name = "WalletEntriesAnswer";
const USAGE: Name = "UsageAnswer";

/// Rows as the exports write them.
const RECIPIENTS_CSV: &str = "message_id,created_at,sender,gateway,customer_reference,recipient,network,delivery_status,error_code,pages,\
     cost,refunded,submitted_at,updated_at\r\n019a96a4-f878-7a17-8388-0d429be1367f,2026-11-18 12:06:40,AdaStores,\
     direct-refund,order-1042,2348031234567,mtn,delivrd,,1,6.00,0.00,2026-11-18 12:06:41,2026-11-18 12:06:44\r\n";
const WALLET_CSV: &str = "entry_id,at,kind,amount,component,balance_after,message_id,recipient,reference\r\n\
     019a96a4f8787a1783880d429be1367f-b,2026-11-18 12:06:40,charge,-6.00,sms_wallet,994.00,\
     019a96a4-f878-7a17-8388-0d429be1367f,,\r\n";

/// An example of a cursor.
const CURSOR: &str = "AQEBneQ1YADkqFoXw4gNQpvhAAAAAAAAAAAAc2Rm";

/// The schemas, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = Vec::new();
    add_enveloped::<List<MessageItem>>(MESSAGES, &mut schemas);
    add_enveloped::<MessageData>(MESSAGE, &mut schemas);
    add_enveloped::<List<RecipientItem>>(RECIPIENTS, &mut schemas);
    add_enveloped::<TimelineData>(TIMELINE, &mut schemas);
    add_enveloped::<List<WalletItem>>(ENTRIES, &mut schemas);
    add_enveloped::<List<UsageItem>>(USAGE, &mut schemas);
    schemas.push((WalletItem::name().into_owned(), WalletItem::schema()));
    schemas.push((UsageItem::name().into_owned(), UsageItem::schema()));
    schemas
}

fn sent() -> engine::Message {
    engine::Message {
        id: message_id(),
        account: AccountId(1),
        created_at_ms: TEN_O_CLOCK_MS,
        scheduled_for_ms: None,
        state: MessageState::Completed,
        pauses: Vec::new(),
        sender: "AdaStores".to_owned(),
        gateway: Gateway::DirectRefund,
        is_personalised: false,
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
        body: None,
        pages: 1,
        cost: Money::from_naira(6),
        refunded: Money::from_naira(6),
        submitted_at_ms: Some(TEN_O_CLOCK_MS + 1_000),
        updated_at_ms: TEN_O_CLOCK_MS + 4_000,
    }
}

/// A page of messages.
pub(super) fn messages(environment: Environment) -> Response {
    let found = ListPage {
        items: vec![sent()],
        next_cursor: Some(CURSOR.to_owned()),
    };
    success(MESSAGES, &messages::messages_answer(found, environment))
}

/// One message.
pub(super) fn message(environment: Environment) -> Response {
    success(MESSAGE, &messages::message_answer(sent(), environment))
}

/// One message of a campaign after a change.
pub(crate) fn changed(
    environment: Environment,
    (state, scheduled_for_ms): (MessageState, Option<i64>),
    text: &'static str,
) -> Response {
    let message = engine::Message {
        state,
        scheduled_for_ms,
        refunded: Money::ZERO,
        delivered: 0,
        pending: 2,
        failed: 0,
        ..sent()
    };
    success(
        MESSAGE,
        &messages::changed_answer(message, environment, text),
    )
}

/// A page of recipients.
pub(super) fn recipients(environment: Environment) -> Response {
    let found = ListPage {
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
                    carrier_message_id: Some("7f3a".to_owned()),
                    pages: 1,
                },
            ),
            at(
                4,
                EventKind::Receipt {
                    carrier: "mtn".to_owned(),
                    raw: RawReceipt {
                        text: "id:7f3a sub:001 dlvrd:000 submit date:2611300958 done \
                               date:2611301000 stat:UNDELIV err:011 text:"
                            .to_owned(),
                        parameters: vec![(0x0427, vec![5])],
                    },
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

/// A page of entries.
pub(super) fn entries(environment: Environment) -> Response {
    let entry = engine::WalletEntry {
        id: format!("{}-b", message_id().0.simple()),
        at_ms: TEN_O_CLOCK_MS,
        kind: domain::search::EntryKind::Charge,
        amount: Money::ZERO - Money::from_naira(6),
        component: domain::Component::SmsWallet,
        balance_after: Money::from_naira(994),
        message: Some(message_id()),
        recipient: None,
        reference: None,
    };
    let found = ListPage {
        items: vec![entry],
        next_cursor: None,
    };
    success(ENTRIES, &wallet::entries_answer(found, environment))
}

/// A usage report.
pub(super) fn usage(environment: Environment) -> Response {
    let day = engine::Usage {
        key: "2026-11-18".to_owned(),
        messages: 1,
        recipients: 2,
        delivered: 1,
        failed: 1,
        pending: 0,
        pages: 2,
        cost: Money::from_naira(12),
        refunded: Money::from_naira(6),
    };
    let found = ListPage {
        items: vec![day],
        next_cursor: None,
    };
    success(USAGE, &usage::usage_answer(found, environment))
}

/// An export of recipients.
pub(super) fn recipients_csv() -> Response {
    csv(RECIPIENTS_CSV)
}

/// An export of entries.
pub(super) fn wallet_csv() -> Response {
    csv(WALLET_CSV)
}

/// Returns an answer with this CSV.
pub(crate) fn csv(example: &str) -> Response {
    let text = ObjectBuilder::new().schema_type(Type::String);
    let content = ContentBuilder::new()
        .schema(Some(text))
        .example(Some(example.into()))
        .build();
    ResponseBuilder::new()
        .description("Success")
        .content("text/csv", content)
        .build()
}
