//! Changes by operators: the audit, the control of carriers, prohibited phrases, and limits of the
//! configuration.

pub(crate) mod audit;
pub(crate) mod audited_limits;
pub(crate) mod carriers;
pub(crate) mod content;
