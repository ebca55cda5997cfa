//! The documentation that the service serves about itself.

pub(super) mod document;
pub(super) mod installation;
mod openapi;
pub(super) mod page;
