//! The client's session with an SMSC: bind, in-flight window, timers and outcomes.
//!
//! One task per connection owns the socket. Callers queue vectors of messages and receive vectors
//! of events, so no message needs a task, channel or wake-up of its own.
//!
//! ```text
//! Session ──submits, answers──▶ mailbox ──▶ task ──▶ link (the rules) ──▶ output ──▶ socket
//! EventStream ◀────events────── mailbox ◀── task ◀── link ◀────────── frame buffer ◀─── socket
//! ```

mod commands;
mod event;
mod handshake;
mod link;
mod mailbox;
mod options;
mod sequence_set;
mod state;
mod task;
mod window;
mod writer;

pub use event::{CloseReason, Counters, Event, Peer, Submit, SubmitOutcome};
pub use handshake::{BindError, bind, connect};
pub use mailbox::{EventStream, MAX_QUEUED, Session};
pub use options::{BindOptions, MAX_WINDOW};

#[cfg(test)]
mod tests;
