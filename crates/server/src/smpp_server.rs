//! The SMPP server: customers' programs bind to it and submit texts, as they do to a carrier.
//!
//! `listener` accepts connections, `proxied` reads the header of a proxy, and `connection` moves
//! octets. `conversation` keeps the state of a client, and `requests` answers its requests by the
//! session of the crate `smpp` and the entrance of the engine. `binds` checks a bind, and
//! `cheap_answers` slows a flood down. `submit` reads the fields of a message and `destinations`
//! those of a list, and `refusals` has the status of each refusal. `receiving` claims the receipts
//! and inbound messages of a user, and `receipt` and `inbound` write them.

mod binds;
mod cheap_answers;
mod connection;
mod conversation;
mod destinations;
mod done;
mod inbound;
mod listener;
mod measures;
mod proxied;
mod receipt;
mod receiving;
mod refusals;
mod requests;
mod submit;

pub(crate) use listener::{Address, Clients, SmppListener, start};
