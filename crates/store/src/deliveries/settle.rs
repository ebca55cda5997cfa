//! Settlement of recipients: the one place that refunds money and makes callbacks.
//!
//! `domain::transition` decides. This module applies the decision in the transaction of the caller:
//! delivery, refund with its ledger entry, callback and second leg.

mod apply;
mod context;
mod decide;
mod fast_path;
mod margins;
mod message;
mod put_back;
mod refund;

pub(crate) use apply::settle;
pub(crate) use context::SettleContext;
pub use context::{CallbackRoom, Planner, SecondLeg, Settled};
pub(crate) use fast_path::{assumed, begin, deliver};
pub use message::MessageFacts;
pub(crate) use message::messages;
pub(crate) use put_back::put_back;
pub(crate) use refund::{RefundDue, refund};
