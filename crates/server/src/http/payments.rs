//! The paths of payments that need no token: webhooks of providers, and pages of customers who pay.

pub(super) mod hooks;
pub(super) mod pages;
