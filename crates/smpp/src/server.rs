//! A client's connection at a server: bind, window, timers and the answers of the protocol.
//!
//! [`ServerSession`] is a pure state. Frames and time go in, octets and events come out. The caller
//! owns the socket and the clock, decides every request, and answers it at once or later.
//!
//! ```text
//! socket ──▶ FrameBuffer ──▶ ServerSession::on_frame ──▶ ServerEvent ──▶ caller
//! socket ◀────────────────── ServerSession::unsent ◀── grant, accept, respond, deliver
//! ```

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
