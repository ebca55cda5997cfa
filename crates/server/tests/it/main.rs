//! The service from outside: HTTP, SMPP and callbacks over real sockets.
//!
//! Each test runs a whole installation of its own (`kit`) and is named by the rule that it proves.

#[cfg(test)]
mod accounts;
#[cfg(test)]
mod alerts;
#[cfg(test)]
mod answering;
#[cfg(test)]
mod backup;
#[cfg(test)]
mod callbacks;
#[cfg(test)]
mod cancel_race;
#[cfg(test)]
mod cancelling;
#[cfg(test)]
mod carrier_testing;
#[cfg(test)]
mod carriers;
#[cfg(test)]
mod clock;
#[cfg(test)]
mod console;
#[cfg(test)]
mod controlling;
mod documentation;
#[cfg(test)]
mod doubt;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod exporting;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod finding;
#[cfg(test)]
mod fraud;
#[cfg(test)]
mod http_bulk;
#[cfg(test)]
mod http_carriers;
#[cfg(test)]
mod http_polling;
#[cfg(test)]
mod idempotency;
#[cfg(test)]
mod inbound;
#[cfg(test)]
mod kit;
#[cfg(test)]
mod legacy;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod odd_carriers;
#[cfg(test)]
mod opt_out_requests;
#[cfg(test)]
mod opting_out;
#[cfg(test)]
mod otp;
#[cfg(test)]
mod outcomes;
#[cfg(test)]
mod pausing;
#[cfg(test)]
mod payments;
#[cfg(test)]
mod personalised;
#[cfg(test)]
mod quotes;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod reload;
#[cfg(test)]
mod restarts;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod sandbox;
#[cfg(test)]
mod schedule;
#[cfg(test)]
mod scopes;
#[cfg(test)]
mod sender_ids;
#[cfg(test)]
mod sending;
#[cfg(test)]
mod slow;
#[cfg(test)]
mod smpp_server;
#[cfg(test)]
mod smpp_user_requests;
#[cfg(test)]
mod sub_accounts;
#[cfg(test)]
mod tenants;
#[cfg(test)]
mod texts;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod token_requests;
#[cfg(test)]
mod tokens;
#[cfg(test)]
mod top_ups;
#[cfg(test)]
mod webhooks;
#[cfg(test)]
mod window;
