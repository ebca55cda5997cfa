//! The parameters apart from the fields of a send: headers, and the parameters of reports.

use crate::http::docs::installation::Installation;
use domain::idempotency::{HEADER, MAX_KEY_CHARACTERS};
use serde_json::json;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

/// Returns the header that makes a request idempotent.
pub(crate) fn idempotency_key(installation: &Installation) -> Parameter {
    let hours = installation.limits.idempotency_window_ms / 3_600_000;
    let about = format!(
        "A name of your choice for this request, such as a UUID. The same request with the same key is handled once: for \
         {hours} hours it gets the first answer again, with the header `Idempotent-Replayed: true`, and is neither sent nor \
         charged. Another request with the same key is refused (API-2016). A refused request leaves its key free.",
    );
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(MAX_KEY_CHARACTERS))
        .pattern(Some("^[!-~]+$"))
        .examples(["7f0c2d9e-3c1b-4f7a-9b0e-5a1d2c3b4a59"])
        .into();
    parameter(HEADER, ParameterIn::Header, false, &about, schema)
}

/// Returns the parameters of a delivery report.
pub(crate) fn report_parameters(message_id: ParameterIn) -> Vec<Parameter> {
    let number = |default: u32| {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(1))
            .default(Some(json!(default)))
            .into()
    };
    let id = ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(custom("uuid")))
        .min_length(Some(1))
        .into();
    vec![
        parameter(
            "message_id",
            message_id,
            true,
            "The `message_id` in the answer to the send.",
            id,
        ),
        parameter(
            "page",
            ParameterIn::Query,
            false,
            "Number of the page; a page past the last is empty.",
            number(1),
        ),
        parameter(
            "per_page",
            ParameterIn::Query,
            false,
            "Recipients on a page; the maximum is 1000.",
            number(100),
        ),
    ]
}

/// Returns the headers of a signed callback, by Standard Webhooks.
pub(crate) fn signature_headers() -> Vec<Parameter> {
    let header = |name, about| {
        let text = ObjectBuilder::new().schema_type(Type::String).into();
        parameter(name, ParameterIn::Header, false, about, text)
    };
    vec![
        header(
            "webhook-id",
            "Id of this update, the same at every attempt. This header and the next two are sent if your account has a signing \
             secret.",
        ),
        header(
            "webhook-timestamp",
            "Time of this attempt, in Unix seconds.",
        ),
        header(
            "webhook-signature",
            "`v1,` and the base64 of the HMAC-SHA256 of `id.timestamp.body`, by the bytes behind `whsec_` of your secret. \
             During a rotation of the secret there are several, with spaces between them, and one that matches is enough.",
        ),
    ]
}

pub(super) fn parameter(
    name: &str,
    place: ParameterIn,
    required: bool,
    about: &str,
    schema: Schema,
) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(if required {
            Required::True
        } else {
            Required::False
        })
        .description(Some(about))
        .schema(Some(schema))
        .build()
}

/// Returns a format that utoipa does not know.
pub(super) fn custom(format: &str) -> utoipa::openapi::SchemaFormat {
    utoipa::openapi::SchemaFormat::Custom(format.to_owned())
}
