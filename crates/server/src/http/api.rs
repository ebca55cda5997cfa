//! The operations of the interface (docs/spec/interface.md, section 6).

pub(super) mod account;
pub(super) mod alerts;
pub(super) mod balance;
pub(super) mod exports;
pub(super) mod inbound;
pub(super) mod inbound_answers;
pub(super) mod list;
pub(super) mod messages;
pub(super) mod opt_outs;
pub(super) mod otp;
pub(super) mod quote;
pub(super) mod reports;
pub(super) mod send;
pub(super) mod senders;
pub(super) mod smpp_users;
pub(super) mod sub_accounts;
pub(super) mod tokens;
pub(super) mod top_ups;
pub(super) mod usage;
pub(super) mod wallet;
pub(super) mod webhooks;
