//! Responses: envelopes, codes, request ids, and the line in the log.

pub(super) mod codes;
pub(super) mod envelope;
pub(super) mod error;
pub(super) mod fallback;
pub(super) mod log_fields;
pub(super) mod observe;
pub(super) mod request_id;
