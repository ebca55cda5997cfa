//! The documentation that the service serves of itself.

pub(super) mod document;
pub(super) mod installation;
mod openapi;
pub(super) mod page;
