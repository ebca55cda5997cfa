//! What answers are made of: amounts that never were floats, times in Lagos, and the success envelope
//! (interface-spec.md section 2.2).

use axum::http::HeaderValue;
use domain::Money;
use jiff::Timestamp;
use jiff::tz::Offset;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The code of every success.
pub(super) const SUCCESS: &str = "API-0000";
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
    pub(super) code: &'static str,
    /// What happened, for people.
    pub(super) message: &'static str,
    pub(super) data: T,
}

impl<T> Envelope<T> {
    pub(super) fn new(message: &'static str, data: T) -> Self {
        Self {
            status: "success",
            code: SUCCESS,
            message,
            data,
        }
    }
}

/// An amount as a JSON number with two to four decimals, written from the integer.
#[derive(Clone, Copy)]
pub(super) struct Naira(pub(super) Money);

impl Serialize for Naira {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.0.to_string())
            .map_err(S::Error::custom)?
            .serialize(serializer)
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

/// A time as `YYYY-MM-DD HH:MM:SS` in Africa/Lagos.
#[derive(Clone, Copy)]
pub(super) struct LagosTime {
    /// Unix milliseconds.
    pub(super) at_ms: i64,
}

/// Lagos is one hour ahead of UTC all year, so no time-zone database is needed.
const LAGOS: Offset = Offset::constant(1);

impl Serialize for LagosTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let at = Timestamp::from_millisecond(self.at_ms).map_err(S::Error::custom)?;
        serializer.collect_str(&LAGOS.to_datetime(at).strftime("%Y-%m-%d %H:%M:%S"))
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_a_json_number_that_never_was_a_float() {
        let table = [
            (0, "0.00"),
            (60_000, "6.00"),
            (625, "0.0625"),
            (-12_340, "-1.234"),
            (i64::MAX, "922337203685477.5807"),
        ];
        for (units, json) in table {
            let written = serde_json::to_string(&Naira(Money::from_units(units))).unwrap();
            assert_eq!(written, json);
        }
    }

    #[test]
    fn times_are_those_of_lagos() {
        let table = [
            (0, "\"1970-01-01 01:00:00\""),
            (1_795_000_000_999, "\"2026-11-18 12:06:40\""),
            (1_798_758_000_000, "\"2027-01-01 00:00:00\""),
        ];
        for (at_ms, json) in table {
            assert_eq!(serde_json::to_string(&LagosTime { at_ms }).unwrap(), json);
        }
    }
}
