//! The SMPP server: customers' programs bind to it and submit texts, as they do to a carrier.
//!
//! `listener` accepts connections, and `connection` moves octets. `conversation` answers the
//! requests of a client by the session of the crate `smpp` and the entrance of the engine.
//! `submit` reads the fields of a message, and `refusals` has the status of each refusal.

mod connection;
mod conversation;
mod listener;
mod measures;
mod refusals;
mod submit;

pub(crate) use listener::{SmppListener, start};
