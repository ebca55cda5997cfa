//! Extraction of the caller and the fields from a request.

pub(super) mod body;
pub(super) mod call;
pub(super) mod client;
pub(super) mod drain;
pub(super) mod fields;
pub(super) mod form;
mod json;
pub(super) mod list;
mod object_body;
pub(super) mod scope;
mod token;
