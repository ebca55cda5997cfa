//! The server's session with a client: bind, in-flight window, timers and answers.
//!
//! [`ServerSession`] is a state machine without effects. Frames and times go in, octets and events
//! come out. The caller owns the socket and the clock, and answers every request at once or later.
//!
//! ```text
//! socket ──▶ FrameBuffer ──▶ ServerSession::on_frame ──▶ ServerEvent ──▶ caller
//! socket ◀────────────────── ServerSession::unsent ◀── grant, accept, respond, deliver
//! ```

mod answers;
mod event;
mod options;
mod session;
mod state;
mod unanswered;

pub use event::{Request, ServerCounters, ServerEvent, SessionEnd};
pub use options::{INTERFACE_VERSION, ServerOptions};
pub use session::ServerSession;

#[cfg(test)]
mod tests;
