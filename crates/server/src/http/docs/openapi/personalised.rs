//! The request of a personalised send: the fields of a send, and rows.

use super::request::FIELDS;
use crate::http::docs::installation::{Installation, count, size};
use serde_json::json;
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::schema::{ArrayBuilder, Object, ObjectBuilder, Schema, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Required};

const PERSONALISED_REQUEST: &str = "PersonalisedRequest";
const PERSONALISED_ROW: &str = "PersonalisedRow";

/// Returns the schemas of the request, by name.
pub(crate) fn schemas(installation: &Installation) -> [(&'static str, RefOr<Schema>); 2] {
    let fields: Schema = fields(installation).into();
    let row: Schema = row().into();
    [
        (PERSONALISED_REQUEST, fields.into()),
        (PERSONALISED_ROW, row.into()),
    ]
}

/// Returns the fields of a personalised send: those of a send, with rows in place of `to`.
fn fields(installation: &Installation) -> Object {
    let object = ObjectBuilder::new().description(Some(
        "A message with a text of its own for each recipient. `{name}` in `body` is replaced by the variable `name` of the row; \
         `{{` and `}}` are braces.",
    ));
    let shared = FIELDS.iter().filter(|field| field.name != "to");
    let object = shared.fold(object, |object, field| {
        let object = object.property(field.name, field.schema(installation));
        if field.name == "from" {
            object.required(field.name)
        } else {
            object
        }
    });
    let most = count(installation.body.recipients);
    let rows = ArrayBuilder::new()
        .description(Some(format!("The recipients, at most {most}.")))
        .items(Ref::from_schema_name(PERSONALISED_ROW))
        .min_items(Some(1));
    object
        .property("messages", rows)
        .required("messages")
        .build()
}

fn row() -> Object {
    let text = |about: &str| {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(about.to_owned()))
    };
    ObjectBuilder::new()
        .description(Some(
            "One recipient. A number that an earlier row has is skipped.",
        ))
        .property("to", text("The phone number.").examples(["2348031234567"]))
        .required("to")
        .property(
            "variables",
            ObjectBuilder::new()
                .schema_type(Type::Object)
                .description(Some(
                    "The values of the placeholders: strings, numbers or booleans.",
                ))
                .examples([json!({ "name": "Ada" })]),
        )
        .property(
            "body",
            text("The text of this recipient, in place of that of the message."),
        )
        .property(
            "customer_reference",
            text("Your reference for this recipient, in place of that of the message."),
        )
        .build()
}

/// Returns the body of a personalised send. CSV is described only in words, as forms are.
pub(crate) fn body(installation: &Installation) -> RequestBody {
    let example = json!({
        "from": "AdaStores",
        "body": "Hello {name}, your order {order} is on its way.",
        "messages": [
            { "to": "2348031234567", "variables": { "name": "Ada", "order": 1042 } },
            { "to": "2348051234567", "variables": { "name": "Obi", "order": 1043 } },
        ],
    });
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(PERSONALISED_REQUEST)))
        .example(Some(example))
        .build();
    let about = format!(
        "JSON, at most {}. A CSV (`text/csv`, UTF-8) is accepted too: its header has `to`, and optionally `body` and \
         `customer_reference`; all other columns are variables. The other fields are then in the query string.",
        size(installation.body.bytes),
    );
    RequestBodyBuilder::new()
        .description(Some(about))
        .content("application/json", content)
        .required(Some(Required::True))
        .build()
}
