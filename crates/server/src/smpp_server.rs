//! The SMPP server: customers' programs bind to it and submit texts, as they do to a carrier.
//!
//! `listener` accepts connections, and `connection` moves octets. `conversation` answers the
//! requests of a client by the session of the crate `smpp` and the entrance of the engine. `binds`
//! checks a bind.
//! `submit` reads the fields of a message, and `refusals` has the status of each refusal. `receiving`
//! claims the receipts of a user, and `receipt` writes them.

mod binds;
mod connection;
mod conversation;
mod done;
mod listener;
mod measures;
mod receipt;
mod receiving;
mod refusals;
mod submit;

pub(crate) use listener::{SmppListener, start};
