//! An SMSC to test and demonstrate against, on real TCP: it follows its [`Script`], also in
//! things that real ones should not do.
//!
//! Each connection is a [`ServerSession`](crate::server::ServerSession) that obeys the script. Receipts wait in a
//! queue per system id, and every connection that may receive takes from it what is due: whichever bind asks first, as
//! at a real SMSC. A receipt that a client did not answer before its connection ended is delivered again.

mod account;
mod connection;
mod conversation;
mod parse;
mod random;
mod receipt_writer;
mod script;
mod shared;
mod smsc;
mod submits;

pub use parse::{parse_delay, parse_fate, parse_fault, parse_mix, parse_rule, parse_status};
pub use script::{
    BindRules, Delay, Fate, Fault, Quirk, ReceiptDates, ReceiptForm, ReceiptLabels, ReceiptStyle,
    Rule, Script,
};
pub use shared::{Received, Stats};
pub use smsc::{Smsc, serve};

#[cfg(test)]
mod tests;
