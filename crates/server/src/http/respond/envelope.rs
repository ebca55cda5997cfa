//! The success envelope, and the schemas of amounts and times
//! (docs/spec/interface.md, section 5.1).

use super::codes::{Coded, SUCCESS};
use crate::format::{LagosTime, Naira};
use axum::http::HeaderValue;
use serde::Serialize;
use std::borrow::Cow;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The message by which existing clients recognise an accepted send.
pub(crate) const MESSAGE_SENT: &str = "Message Sent";
/// The only currency.
pub(crate) const CURRENCY: &str = "NGN";

/// The success envelope.
#[derive(Serialize, ToSchema)]
pub(crate) struct Envelope<T> {
    /// Always `success`.
    #[schema(example = "success")]
    pub(crate) status: &'static str,
    /// Always `API-0000`.
    #[schema(example = "API-0000")]
    #[schema(value_type = String)]
    pub(crate) code: Cow<'static, str>,
    /// The outcome in words.
    pub(crate) message: &'static str,
    pub(crate) data: T,
}

impl<T> Envelope<T> {
    pub(crate) fn new(message: &'static str, data: T) -> Self {
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

/// Makes a header value from a constant.
pub(crate) const fn text(value: &'static str) -> HeaderValue {
    HeaderValue::from_static(value)
}

/// Returns `Some(true)` in the sandbox: the field is in sandbox answers only.
pub(crate) fn sandbox_mark(environment: domain::Environment) -> Option<bool> {
    match environment {
        domain::Environment::Sandbox => Some(true),
        domain::Environment::Live => None,
    }
}
