//! What answers are made of: the success envelope, and what the documentation says of amounts and times
//! (docs/spec/interface.md, section 5.1).

use super::codes::Coded;
use crate::written::{LagosTime, Naira};
use axum::http::HeaderValue;
use serde::Serialize;
use std::borrow::Cow;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The code of every success.
pub(super) const SUCCESS: &str = "API-0000";
/// The message that existing clients take an accepted send by.
pub(super) const MESSAGE_SENT: &str = "Message Sent";
/// The only currency.
pub(super) const CURRENCY: &str = "NGN";

/// The success envelope.
#[derive(Serialize, ToSchema)]
pub(super) struct Envelope<T> {
    /// Always `success`.
    #[schema(example = "success")]
    pub(super) status: &'static str,
    /// Always `API-0000`.
    #[schema(example = "API-0000")]
    #[schema(value_type = String)]
    pub(super) code: Cow<'static, str>,
    /// What happened, for people.
    pub(super) message: &'static str,
    pub(super) data: T,
}

impl<T> Envelope<T> {
    pub(super) fn new(message: &'static str, data: T) -> Self {
        Self {
            status: "success",
            code: Cow::Borrowed(SUCCESS),
            message,
            data,
        }
    }
}

impl<T> Coded for Envelope<T> {
    fn code(&mut self) -> &mut Cow<'static, str> {
        &mut self.code
    }
}

impl PartialSchema for Naira {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::Type(Type::Number))
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Double)))
            .description(Some(
                "An amount in naira, exact, with two to four decimals.",
            ))
            .into()
    }
}

impl ToSchema for Naira {}

impl PartialSchema for LagosTime {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::Type(Type::String))
            .pattern(Some(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$"))
            .description(Some("A time as `YYYY-MM-DD HH:MM:SS` in Africa/Lagos."))
            .into()
    }
}

impl ToSchema for LagosTime {}

/// A header value that is known when the program is built.
pub(super) const fn text(value: &'static str) -> HeaderValue {
    HeaderValue::from_static(value)
}

/// `Some(true)` in the sandbox: the field is in sandbox answers only.
pub(super) fn sandbox_mark(environment: domain::Environment) -> Option<bool> {
    match environment {
        domain::Environment::Sandbox => Some(true),
        domain::Environment::Live => None,
    }
}
