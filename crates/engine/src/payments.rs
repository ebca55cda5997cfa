//! Payments: what webhooks, return pages and the sweep find out, and the one credit that follows.

mod confirm;
mod sweep;

pub use confirm::WebhookRefusal;
pub(crate) use confirm::{look_up, pay_in_sandbox, return_page, sandbox_page, take_webhook};
pub(crate) use sweep::run;
