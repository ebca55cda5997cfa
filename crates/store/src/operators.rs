//! Changes by operators: the audit, prohibited phrases, and limits of the configuration.

pub(crate) mod audit;
pub(crate) mod content;
pub(crate) mod settings;
