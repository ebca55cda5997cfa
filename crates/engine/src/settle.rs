//! The fourth stage: responses and receipts are committed in groups, and only then acknowledged.

pub(crate) mod commit;
mod group_commit;
pub(crate) mod http_receipts;
mod quarantine;
mod report;

pub(crate) use report::sink;
