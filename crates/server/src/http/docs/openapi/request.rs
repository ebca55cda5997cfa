//! The requests: the fields of a send with their rules.

use super::parameters::{custom, idempotency_key, parameter};
use crate::http::docs::installation::{Installation, count, size};
use domain::schedule::{MAX_VALIDITY_S, MIN_VALIDITY_S};
use domain::sender::MAX_SENDER_CHARACTERS;
use domain::{Gateway, MAX_BODY_CHARACTERS, MAX_REFERENCE_CHARACTERS, token};
use serde_json::{Value, json};
use std::borrow::Cow;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Required};

/// A field of a send (docs/spec/interface.md, sections 2 and 6.1).
pub(crate) struct Field {
    pub(crate) name: &'static str,
    required: bool,
    kind: FieldType,
    about: &'static str,
}

/// Printable ASCII that is not blank.
const SENDER_ID_PATTERN: &str = "^[ -~]*[!-~][ -~]*$";

/// The type of a field.
enum FieldType {
    Text {
        longest: usize,
        example: &'static str,
    },
    SenderId {
        example: &'static str,
    },
    Address {
        example: &'static str,
    },
    Seconds {
        least: i64,
        most: i64,
    },
    Numbers,
    Flag,
    Gateway,
    Choice(&'static [&'static str]),
}

pub(crate) const FIELDS: [Field; 12] = [
    Field {
        name: "from",
        required: true,
        kind: FieldType::SenderId {
            example: "AdaStores",
        },
        about: "Sender ID, at most 11 characters; registered and approved on the account. Compared without regard to case.",
    },
    Field {
        name: "to",
        required: true,
        kind: FieldType::Numbers,
        about: "Phone numbers in international format (`2348031234567`): a string of them, separated by commas, or an array of \
                strings. `0803…`, `+234…` and bare ten digits are understood too, with white space, hyphens, dots and \
                brackets of every kind between them, and JSON numbers in place of strings. Whatever else is in an array counts \
                as an invalid number. Duplicates are sent once and charged once. Forms and query strings may repeat `to` or `to[]`.",
    },
    Field {
        name: "body",
        required: true,
        kind: FieldType::Text {
            longest: MAX_BODY_CHARACTERS,
            example: "Your order 1042 is on its way.",
        },
        about: "Message text, at most 1530 characters. One page up to 160 characters, then 153 a page; as Unicode 70, then 67.",
    },
    Field {
        name: "gateway",
        required: false,
        kind: FieldType::Gateway,
        about: "`direct-refund` refunds undelivered recipients. `direct-corporate` and `otp` carry transactional text and are not \
                refunded. `dual-backup` sends over the first, and over the second if that fails. `international` accepts foreign numbers.",
    },
    Field {
        name: "unicode",
        required: false,
        kind: FieldType::Flag,
        about: "If false, curly quotes and accented letters become plain characters, and emoji and other characters without a plain \
                equivalent; `text_changed` and `removed_characters` in the answer report it. True or 1 sends the text exactly \
                as written, at the price of Unicode pages if it needs them.",
    },
    Field {
        name: "append_sender",
        required: false,
        kind: FieldType::Choice(&["hosted", "none", "all"]),
        about: "Adds ` - ` and the sender ID to the text: `hosted` only where the network replaces the sender ID, `all` always, \
                `none` never. The addition counts for pages and price.",
    },
    Field {
        name: "callback_url",
        required: false,
        kind: FieldType::Address {
            example: "https://example.com/sms/outcome",
        },
        about: "An http(s) address that gets a POST with each recipient's final outcome.",
    },
    Field {
        name: "customer_reference",
        required: false,
        kind: FieldType::Text {
            longest: MAX_REFERENCE_CHARACTERS,
            example: "order-1042",
        },
        about: "Your own reference, at most 255 characters; returned in reports and callbacks. A JSON number is kept as text.",
    },
    Field {
        name: "send_at",
        required: false,
        kind: FieldType::Text {
            longest: 40,
            example: "2027-01-31T18:00:00+01:00",
        },
        about: "When the message is sent: RFC 3339 with an offset, or `YYYY-MM-DD HH:MM:SS` in Africa/Lagos, at most 90 days \
                ahead. Up to a minute in the past means now. The charge is drawn at once.",
    },
    Field {
        name: "validity",
        required: false,
        kind: FieldType::Seconds {
            least: MIN_VALIDITY_S,
            most: MAX_VALIDITY_S,
        },
        about: "Seconds from the moment the message is due in which it may be delivered, from 60 to 172800. The gateway's own \
                validity counts where it is smaller.",
    },
    Field {
        name: "dnd",
        required: false,
        kind: FieldType::Choice(&["1", "2", "3", "4", "5", "6"]),
        about: "The older way to choose a gateway, used if `gateway` is absent: 1 is direct-refund, 2, 3 and 6 are \
                direct-corporate, 4 and 5 are dual-backup.",
    },
    Field {
        name: "api_token",
        required: false,
        kind: FieldType::Text {
            longest: token::LENGTH,
            example: "",
        },
        about: "The API token, if it is neither in a header nor in the query string. It is read last.",
    },
];

impl Field {
    /// Returns the field's description, with the limits of this installation if it has some.
    fn about(&self, installation: &Installation) -> Cow<'static, str> {
        match self.kind {
            FieldType::Numbers => {
                let most = count(installation.body.recipients);
                format!("{} At most {most} in one request.", self.about).into()
            }
            _ => self.about.into(),
        }
    }

    pub(super) fn schema(&self, installation: &Installation) -> Schema {
        let object = ObjectBuilder::new().description(Some(self.about));
        match self.kind {
            FieldType::Text { longest, example } => {
                let examples: &[&str] = if example.is_empty() { &[] } else { &[example] };
                object
                    .schema_type(Type::String)
                    .min_length(self.required.then_some(1))
                    .max_length(Some(longest))
                    .examples(examples.iter().copied())
                    .into()
            }
            FieldType::SenderId { example } => object
                .schema_type(Type::String)
                .min_length(Some(1))
                .max_length(Some(MAX_SENDER_CHARACTERS))
                .pattern(Some(SENDER_ID_PATTERN))
                .examples([example])
                .into(),
            FieldType::Address { example } => object
                .schema_type(Type::String)
                .format(Some(custom("uri")))
                .examples([example])
                .into(),
            FieldType::Seconds { least, most } => object
                .schema_type(Type::Integer)
                .format(Some(custom("int32")))
                .minimum(Some(least))
                .maximum(Some(most))
                .into(),
            FieldType::Flag => object
                .schema_type(Type::Boolean)
                .extensions(Some(taken_as(&json!(false))))
                .into(),
            FieldType::Gateway => {
                let offers = installation.offers();
                let names: Vec<&str> = offers.iter().map(|offer| offer.gateway).collect();
                let default = json!(Gateway::DirectRefund.as_str());
                object
                    .schema_type(Type::String)
                    .enum_values(Some(names))
                    .extensions(Some(taken_as(&default)))
                    .into()
            }
            FieldType::Choice(values) => {
                let object = object
                    .schema_type(Type::String)
                    .enum_values(Some(values.iter().copied()));
                // The first name is the default of a field of names. A field of numbers has no
                // default here.
                match values.first().filter(|first| !first.starts_with('1')) {
                    Some(first) => object.extensions(Some(taken_as(&json!(first)))).into(),
                    None => object.into(),
                }
            }
            FieldType::Numbers => self.numbers(installation),
        }
    }

    /// Returns the schema of numbers. It uses `oneOf`, since generators do not support `anyOf`. It
    /// has no integers, since generators take these as 32 bits.
    fn numbers(&self, installation: &Installation) -> Schema {
        let list = ObjectBuilder::new()
            .schema_type(Type::String)
            .min_length(Some(1))
            .examples(["2348031234567,2348021234567"]);
        let array = ArrayBuilder::new()
            .items(
                ObjectBuilder::new()
                    .schema_type(Type::String)
                    .min_length(Some(1)),
            )
            .min_items(Some(1));
        OneOfBuilder::new()
            .description(Some(self.about(installation)))
            .item(list)
            .item(array)
            .examples(["2348031234567"])
            .into()
    }
}

/// Returns the value that an absent field stands for. It is no `default`, because generators for
/// TypeScript treat a field with a default as required.
fn taken_as(value: &Value) -> Extensions {
    Extensions::from_iter([("x-default", value.clone())])
}

/// Adds the field of the token, which every body may have.
pub(super) fn with_token(object: ObjectBuilder, installation: &Installation) -> ObjectBuilder {
    let token = FIELDS.iter().filter(|field| field.name == "api_token");
    token.fold(object, |object, field| {
        object.property(field.name, field.schema(installation))
    })
}

const SEND_REQUEST: &str = "SendRequest";

/// Returns the schemas of requests, by name.
pub(crate) fn schemas(installation: &Installation) -> Vec<(&'static str, RefOr<Schema>)> {
    let object = ObjectBuilder::new().description(Some(
        "A message to send. Unknown fields are ignored and named in the answer; null is absent. A field that is given twice with \
         different values is refused.",
    ));
    let object = FIELDS.iter().fold(object, |object, field| {
        let object = object.property(field.name, field.schema(installation));
        if field.required {
            object.required(field.name)
        } else {
            object
        }
    });
    vec![(SEND_REQUEST, object.into())]
}

/// Returns the body of a send. Forms are described only in words. For several content types,
/// generators make clients that do not compile or that send each field more than once.
pub(crate) fn send_body(installation: &Installation) -> RequestBody {
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(SEND_REQUEST)))
        .example(Some(send_example()))
        .build();
    let about = format!(
        "JSON, at most {}. A URL-encoded form (`application/x-www-form-urlencoded`) or a multipart form \
         (`multipart/form-data`) with the same fields is taken as well. The fields may also be in the query string; where \
         both name one, the body's wins.",
        size(installation.body.bytes),
    );
    RequestBodyBuilder::new()
        .description(Some(about))
        .content("application/json", content)
        .required(Some(Required::True))
        .build()
}

/// Returns an example of a usual send.
pub(crate) fn send_example() -> Value {
    json!({
        "from": "AdaStores",
        "to": "2348031234567",
        "body": "Your order 1042 is on its way.",
        "customer_reference": "order-1042",
    })
}

/// Returns the fields of a send as parameters of a query string.
pub(crate) fn send_parameters(installation: &Installation) -> Vec<Parameter> {
    let in_query = FIELDS.iter().filter(|field| field.name != "api_token");
    let in_query = in_query.map(|field| {
        let schema = match field.kind {
            FieldType::Numbers => ObjectBuilder::new()
                .schema_type(Type::String)
                .min_length(Some(1))
                .examples(["2348031234567"])
                .into(),
            _ => field.schema(installation),
        };
        parameter(
            field.name,
            ParameterIn::Query,
            field.required,
            &field.about(installation),
            schema,
        )
    });
    let header = idempotency_key(installation);
    in_query.chain([header]).collect()
}
