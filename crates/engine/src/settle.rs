//! The fourth stage: responses and receipts are committed in groups, and only then acknowledged.

pub(crate) mod group_commit;
pub(crate) mod quarantine;
pub(crate) mod report;
