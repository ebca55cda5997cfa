//! A client's connection to an SMSC: bind, window, timers, outcomes.
//!
//! One task per connection owns the socket. Callers put whole vectors of messages into its queue and
//! get vectors of events back; between them there is no task, channel or wake-up per message.
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
mod remembered;
mod state;
mod task;
mod window;

pub use event::{CloseReason, Counters, Event, Peer, Submit, SubmitOutcome};
pub use handshake::{BindError, bind, connect};
pub use mailbox::{EventStream, MAX_QUEUED, Session};
pub use options::{BindOptions, MAX_WINDOW};

#[cfg(test)]
mod tests;
