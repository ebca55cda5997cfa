//! Messages: accepting them, their duplicate windows, and reports on them.

pub(crate) mod accept;
pub(crate) mod duplicates;
pub(crate) mod reports;
