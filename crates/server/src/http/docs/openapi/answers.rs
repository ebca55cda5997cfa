//! The answers: the schemas of the types that answer, and an example of each, made by these types.

use crate::http::api::account::AccountData;
use crate::http::api::balance::BalanceAnswer;
use crate::http::api::quote::QuoteData;
use crate::http::api::reports::ReportData;
use crate::http::api::send::{Accepted, LegacyAccepted};
use crate::http::respond::envelope::Envelope;
use crate::http::respond::error::{ErrorCode, ErrorEnvelope, Failure, OURS, Shape, examples};
use domain::opt_out::LeftOut;
use domain::schedule::MessageState;
use domain::{
    Account, AccountId, AccountStatus, Adjustments, Alphabet, Component, Customer, DeliveryStatus,
    Environment, Gateway, MessageId, Money, NetworkCost, Purse, Quote, Recipient, SenderId,
    SenderStatus, TextChange, Verification,
};
use engine::{DeliveryReport, PersonalisedSent, Quoted, Sent};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use utoipa::ToSchema;
use utoipa::openapi::example::{Example, ExampleBuilder};
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{ContentBuilder, Header, Ref, RefOr, Response, ResponseBuilder};

/// A delivery update as it is sent to a `callback_url`.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeliveryUpdate {
    /// The `message_id` in the answer to the send.
    message_id: String,
    /// The number in international format.
    recipient: String,
    /// `delivrd`, `undeliv`, `expired`, `rejectd`, `failed` or `cancelled`. Take any other value as not delivered.
    delivery_status: String,
    /// The reference of the send.
    #[schema(required = true)]
    customer_reference: Option<String>,
    /// The address that this is sent to.
    callback_url: String,
    data: DeliveryUpdateData,
}

/// The same four values again, for older integrations.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeliveryUpdateData {
    /// The same value as above.
    message_id: String,
    /// The same value as above.
    recipient: String,
    /// The same value as above.
    delivery_status: String,
    /// The same value as above.
    #[schema(required = true)]
    customer_reference: Option<String>,
}

/// The name of a schema.
pub(crate) type Name = &'static str;

pub(crate) const ACCEPTED: Name = "Accepted";
pub(crate) const LEGACY_ACCEPTED: Name = "LegacyAccepted";
pub(crate) const QUOTE: Name = "QuoteAnswer";
pub(crate) const BALANCE: Name = "BalanceAnswer";
pub(crate) const REPORT: Name = "ReportAnswer";
pub(crate) const ACCOUNT: Name = "AccountAnswer";
pub(crate) const UPDATE: Name = "DeliveryUpdate";
const ERROR: Name = "Error";

/// Returns the schemas of answers, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = Vec::new();
    add::<Accepted>(ACCEPTED, &mut schemas);
    add::<LegacyAccepted>(LEGACY_ACCEPTED, &mut schemas);
    add_enveloped::<QuoteData>(QUOTE, &mut schemas);
    add::<BalanceAnswer>(BALANCE, &mut schemas);
    add_enveloped::<ReportData>(REPORT, &mut schemas);
    add_enveloped::<AccountData>(ACCOUNT, &mut schemas);
    add::<DeliveryUpdate>(UPDATE, &mut schemas);
    add::<ErrorEnvelope>(ERROR, &mut schemas);
    schemas
}

pub(super) fn add<T: ToSchema>(name: &str, schemas: &mut Vec<(String, RefOr<Schema>)>) {
    schemas.push((name.to_owned(), T::schema()));
    T::schemas(schemas);
}

/// Adds a schema and its envelope. The envelope refers to the schema by its name.
pub(super) fn add_enveloped<T: ToSchema>(name: &str, schemas: &mut Vec<(String, RefOr<Schema>)>) {
    add::<Envelope<T>>(name, schemas);
    schemas.push((T::name().into_owned(), T::schema()));
}

pub(super) const TEN_O_CLOCK_MS: i64 = 1_795_000_000_000;
pub(super) const RECIPIENT: Recipient = Recipient::from_digits(2_348_031_234_567);
pub(super) const REFERENCE: &str = "order-1042";

pub(super) fn message_id() -> MessageId {
    MessageId::new(
        TEN_O_CLOCK_MS,
        [0x5A, 0x17, 0xC3, 0x88, 0x0D, 0x42, 0x9B, 0xE1, 0x36, 0x7F],
    )
}

fn sent() -> Sent {
    Sent {
        message_id: message_id(),
        cost: Money::from_naira(6),
        balance: Money::from_naira(994),
        recipients_count: 1,
        gateway: Gateway::DirectRefund,
        unicode: false,
        page_count: 1,
        invalid_recipients: Vec::new(),
        invalid_count: 0,
        left_out: LeftOut::default(),
        adjustments: Adjustments::default(),
        personalised: None,
        scheduled_for_ms: None,
    }
}

/// Returns the answer to an accepted send.
pub(crate) fn accepted(environment: Environment) -> Response {
    replayable(success(ACCEPTED, &Accepted::new(sent(), environment)))
}

/// Returns the answer to an accepted personalised send.
pub(crate) fn accepted_personalised(environment: Environment) -> Response {
    let sent = Sent {
        cost: Money::from_naira(18),
        balance: Money::from_naira(982),
        recipients_count: 2,
        page_count: 2,
        personalised: Some(PersonalisedSent {
            pages_total: 3,
            repeated: vec![3],
        }),
        ..sent()
    };
    replayable(success(ACCEPTED, &Accepted::new(sent, environment)))
}

/// Returns the answer to a send by `/api/v1`.
pub(crate) fn legacy_accepted() -> Response {
    replayable(success(
        LEGACY_ACCEPTED,
        &LegacyAccepted::new(&sent(), Environment::Live),
    ))
}

/// Adds the header of a repeated answer.
pub(super) fn replayable(response: Response) -> Response {
    ResponseBuilder::from(response)
        .header(
            "Idempotent-Replayed",
            header(
                Type::String,
                "`true` where the `Idempotency-Key` has this answer from before; absent elsewhere.",
            ),
        )
        .build()
}

/// Returns the price of a send in which a quotation mark is made plain.
pub(crate) fn quote(environment: Environment) -> Response {
    let change = |from, to: &str| TextChange {
        from,
        to: to.to_owned(),
        count: 1,
    };
    let quote = Quote {
        cost: Money::from_naira(6),
        recipients_count: 1,
        invalid: Vec::new(),
        invalid_count: 0,
        left_out: LeftOut::default(),
        page_count: 1,
        pages_total: 1,
        alphabet: Alphabet::Gsm,
        prepared_body: "Your order \"1042\" is on its way.".to_owned(),
        changes: vec![change('\u{201C}', "\""), change('\u{201D}', "\"")],
        by_network: vec![NetworkCost {
            network: "mtn".to_owned(),
            recipients: 1,
            pages: 1,
            cost: Money::from_naira(6),
        }],
        adjustments: Adjustments {
            text_changed: true,
            ..Adjustments::default()
        },
    };
    let quoted = Quoted {
        quote,
        balance: Money::from_naira(1_000),
        held_until_ms: None,
    };
    success(QUOTE, &QuoteData::answer(quoted, environment))
}

/// Returns the wallet.
pub(crate) fn balance(environment: Environment) -> Response {
    let purse = Purse::from_iter([
        (Component::SmsWallet, Money::from_naira(994)),
        (Component::PromoBonus, Money::from_naira(50)),
    ]);
    success(BALANCE, &BalanceAnswer::new(&purse, environment))
}

/// Returns a report of one page.
pub(crate) fn report(environment: Environment) -> Response {
    let report = DeliveryReport {
        message_id: message_id(),
        customer_reference: Some(REFERENCE.to_owned()),
        total: 1,
        delivered: 1,
        pending: 0,
        failed: 0,
        scheduled_for_ms: None,
        state: MessageState::Completed,
        reports: vec![(RECIPIENT, DeliveryStatus::Delivered.outside())],
        page: 1,
        per_page: 100,
        last_page: 1,
    };
    success(REPORT, &ReportData::answer(report, environment))
}

/// Returns the profile.
pub(crate) fn account(environment: Environment) -> Response {
    success(
        ACCOUNT,
        &AccountData::answer(&customer().account, Money::from_naira(994), environment),
    )
}

pub(super) fn customer() -> Customer {
    let account = Account {
        id: AccountId(1_882_194_149_376_841),
        email: "ada@example.com".to_owned(),
        name: "Ada Stores".to_owned(),
        status: AccountStatus::Active,
        verification: Verification::Verified,
        created_at_ms: TEN_O_CLOCK_MS,
    };
    let sender = SenderId {
        name: "AdaStores".to_owned(),
        status: SenderStatus::Approved,
        purpose: "Order updates".to_owned(),
        international: false,
        approved_at_ms: Some(TEN_O_CLOCK_MS),
        rejection_reason: None,
    };
    Customer {
        account,
        senders: HashMap::from([("adastores".to_owned(), sender)]),
        resale: None,
    }
}

/// Returns a callback's body: the body that is sent, parsed into the described type, so that the
/// two cannot differ.
pub(crate) fn update() -> Option<Value> {
    let url = "https://example.com/sms/outcome";
    let status = DeliveryStatus::Delivered;
    let body = domain::callback::body(message_id(), RECIPIENT, status, Some(REFERENCE), url);
    let update: DeliveryUpdate = serde_json::from_str(&body).ok()?;
    serde_json::to_value(update).ok()
}

pub(super) fn success(schema: Name, example: &impl Serialize) -> Response {
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(schema)))
        .example(serde_json::to_value(example).ok())
        .build();
    rate_headers(
        ResponseBuilder::new()
            .description("Success")
            .content("application/json", content),
    )
    .build()
}

fn rate_headers(response: ResponseBuilder) -> ResponseBuilder {
    response
        .header(
            "X-Request-Id",
            header(Type::String, "Names this request in our log."),
        )
        .header(
            "X-RateLimit-Limit",
            header(Type::Integer, "Requests of this kind in any 60 seconds."),
        )
        .header(
            "X-RateLimit-Remaining",
            header(
                Type::Integer,
                "How many are left, as far as the server that answers knows.",
            ),
        )
}

fn header(kind: Type, about: &str) -> Header {
    HeaderBuilder::new()
        .schema(Some(ObjectBuilder::new().schema_type(kind)))
        .description(Some(about))
        .build()
}

/// Returns every failure under a name of its own: its code, with a number if a code has several.
fn failures(shape: Shape) -> Vec<(String, Failure)> {
    let prefix = match shape {
        Shape::V2 => "",
        Shape::V1 => "v1-",
    };
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let all = examples()
        .into_iter()
        .map(Failure::from)
        .chain([Failure::Ours]);
    let named = all.map(|failure| {
        let code = failure.kind().code;
        let count = seen.entry(code).or_default();
        *count += 1;
        let name = if *count == 1 {
            format!("{prefix}{code}")
        } else {
            format!("{prefix}{code}-{count}")
        };
        (name, failure)
    });
    named.collect()
}

/// Returns an example of every failure in both shapes, by name. The operations refer to these
/// names.
pub(crate) fn failure_examples() -> Vec<(String, Example)> {
    let in_shape = |shape| {
        failures(shape).into_iter().map(move |(name, failure)| {
            let example = ExampleBuilder::new()
                .summary(failure.kind().description)
                .value(serde_json::to_value(failure.envelope(shape)).ok())
                .build();
            (name, example)
        })
    };
    in_shape(Shape::V2).chain(in_shape(Shape::V1)).collect()
}

/// Adds the failures that an operation can have: those whose code is in `codes`, and our own.
pub(crate) fn with_failures(mut operation: Operation, codes: &[&str], shape: Shape) -> Operation {
    let mut by_status: BTreeMap<u16, Vec<(String, ErrorCode)>> = BTreeMap::new();
    for (name, failure) in failures(shape) {
        let kind = failure.kind();
        if codes.contains(&kind.code) || kind == OURS {
            by_status
                .entry(kind.status.as_u16())
                .or_default()
                .push((name, kind));
        }
    }
    for (status, kinds) in by_status {
        let response = failed(&kinds).into();
        operation
            .responses
            .responses
            .insert(status.to_string(), response);
    }
    operation
}

fn failed(kinds: &[(String, ErrorCode)]) -> Response {
    let mut labels: Vec<&str> = kinds.iter().map(|(_, kind)| kind.description).collect();
    labels.dedup();
    let examples = kinds.iter().map(|(name, _)| {
        let reference = Ref::new(format!("#/components/examples/{name}"));
        (name.as_str(), RefOr::Ref(reference))
    });
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(ERROR)))
        .examples_from_iter(examples)
        .build();
    ResponseBuilder::new()
        .description(labels.join(", "))
        .content("application/json", content)
        .build()
}
