//! The parameters of lists, exports and items.

use super::super::parameters::parameter;
use domain::search::{DEFAULT_LIMIT, MAX_LIMIT};
use serde_json::json;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

/// A parameter of a path: its name and its meaning.
pub(crate) type InPath = (&'static str, &'static str);

pub(crate) const MESSAGE_ID: InPath = ("message_id", "The `message_id` in the answer to the send.");
pub(super) const RECIPIENT: InPath = ("recipient", "The number, in any form that a send accepts.");

/// The meaning of each filter.
const FILTERS: [(&str, &str); 14] = [
    (
        "since",
        "From this time on: RFC 3339 with an offset, or `YYYY-MM-DD HH:MM:SS` in Africa/Lagos.",
    ),
    ("until", "Before this time, in the same forms."),
    (
        "recipient",
        "Sent to this number, in any form that a send accepts.",
    ),
    ("sender", "Sent by this sender ID, in upper or lower case."),
    ("gateway", "Sent over this gateway, by name or number."),
    (
        "state",
        "In this state: `scheduled`, `sending`, `paused`, `completed` or `cancelled`.",
    ),
    (
        "delivery_status",
        "With a recipient of this status: `sent awaiting status`, `delivrd`, `undeliv`, `expired`, `rejectd`, `failed` or \
         `cancelled`.",
    ),
    ("customer_reference", "Sent with this reference."),
    (
        "kind",
        "Of this kind: `charge`, `refund`, `credit`, `debit`, `transfer` or `margin`.",
    ),
    ("message_id", "Of this message."),
    (
        "by",
        "The groups: `hour`, `day` (the default), `gateway`, `network` or `sender`.",
    ),
    ("number", "Sent to this number of the account."),
    (
        "sub_account_id",
        "Of this sub-account instead of the account itself.",
    ),
    (
        "keyword",
        "Taken by the route with this keyword; case and punctuation do not count.",
    ),
];

fn text() -> Schema {
    ObjectBuilder::new().schema_type(Type::String).into()
}

/// Returns the parameters of a list with these filters.
pub(crate) fn list(filters: &[&str]) -> Vec<Parameter> {
    let limit = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(1))
        .default(Some(json!(DEFAULT_LIMIT)))
        .into();
    let of_limit = format!("Items of a page; the maximum is {MAX_LIMIT}.");
    let of_cursor = "The `next_cursor` of the previous page, unchanged.";
    let mut all = self::filters(filters);
    all.push(parameter(
        "limit",
        ParameterIn::Query,
        false,
        &of_limit,
        limit,
    ));
    all.push(parameter(
        "cursor",
        ParameterIn::Query,
        false,
        of_cursor,
        text(),
    ));
    all
}

/// Returns these filters only.
pub(super) fn filters(names: &[&str]) -> Vec<Parameter> {
    let wanted = FILTERS.iter().filter(|(name, _)| names.contains(name));
    wanted
        .map(|(name, about)| parameter(name, ParameterIn::Query, false, about, text()))
        .collect()
}

/// Returns the parameters of a path.
pub(crate) fn path(parts: &[InPath]) -> Vec<Parameter> {
    let parts = parts.iter();
    parts
        .map(|(name, about)| parameter(name, ParameterIn::Path, true, about, text()))
        .collect()
}
