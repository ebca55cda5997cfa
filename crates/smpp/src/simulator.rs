//! An SMSC simulator over TCP for tests and demonstrations. It follows its [`Script`], including
//! faults of real SMSCs.
//!
//! Each connection is a [`ServerSession`](crate::server::ServerSession) that follows the script.
//! Receipts are queued per system id, and every connection that may receive takes due ones from the
//! queue, as at a real SMSC. A receipt that is unanswered when its connection ends is delivered
//! again.

mod account;
mod connection;
mod conversation;
mod delay;
mod inbound;
mod parse;
mod random;
mod receipt_writer;
mod script;
mod shared;
mod smsc;
mod submits;

pub use delay::Delay;
pub use inbound::{Inbound, InboundForm, InboundOrder, InboundScript};
pub use parse::{
    parse_delay, parse_fate, parse_fault, parse_inbound, parse_mix, parse_rule, parse_status,
};
pub use script::{
    BindRules, Fate, Fault, Quirk, ReceiptDates, ReceiptForm, ReceiptLabels, ReceiptStyle, Rule,
    Script,
};
pub use shared::{Received, Stats};
pub use smsc::{Smsc, serve};

#[cfg(test)]
mod tests;
