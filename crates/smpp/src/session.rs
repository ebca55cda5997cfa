//! A client's connection to an SMSC: bind, window, timers, outcomes.
//!
//! One task per connection owns the socket. Callers put whole vectors of messages into its queue and
//! get vectors of events back; between them there is no task, channel or wake-up per message.
//!
//! ```text
//! Session ──submits, answers──▶ mailbox ──▶ task ──▶ link (the rules) ──▶ output ──▶ socket
//! EventStream ◀────events────── mailbox ◀── task ◀── link ◀────────────── input ◀─── socket
//! ```

mod handshake;
mod link;
mod mailbox;
mod remembered;
mod task;
mod window;

pub use handshake::{BindError, bind, connect};
pub use mailbox::{EventStream, MAX_QUEUED, Session};

use crate::pdu::{BindKind, DeliverSm, SubmitSm};
use crate::status::CommandStatus;
use std::fmt;
use std::time::Duration;

/// The largest window that is granted: more unanswered requests than this serve no carrier.
pub const MAX_WINDOW: usize = 10_000;

/// How to bind, and how to behave then.
#[derive(Clone)]
pub struct BindOptions {
    /// What the connection is for.
    pub kind: BindKind,
    /// Who we are; at most 15 octets.
    pub system_id: String,
    /// At most [`MAX_PASSWORD_OCTETS`](crate::MAX_PASSWORD_OCTETS).
    pub password: String,
    /// Usually empty; at most 12 octets.
    pub system_type: String,
    /// Type of number of the addresses served; 0 normally.
    pub addr_ton: u8,
    /// Numbering plan of the addresses served; 0 normally.
    pub addr_npi: u8,
    /// Usually empty; at most 40 octets.
    pub address_range: String,
    /// How many requests may be unanswered at a time: 1 to [`MAX_WINDOW`].
    pub window: usize,
    /// After how long a silence the link is probed; zero: never. Sooner where a response was missed in silence. Until
    /// something is heard nothing more is submitted.
    pub enquire_link: Duration,
    /// How long a response, also to a probe, is waited for.
    pub response_timeout: Duration,
    /// How long the response to the bind is waited for, and by [`connect`] the connection before it.
    pub bind_timeout: Duration,
    /// Send optional parameters also to a peer that does not say it speaks 3.4.
    pub always_send_tlvs: bool,
}

impl Default for BindOptions {
    fn default() -> Self {
        Self {
            kind: BindKind::Transceiver,
            system_id: String::new(),
            password: String::new(),
            system_type: String::new(),
            addr_ton: 0,
            addr_npi: 0,
            address_range: String::new(),
            window: 10,
            enquire_link: Duration::from_secs(30),
            response_timeout: Duration::from_mins(1),
            bind_timeout: Duration::from_secs(10),
            always_send_tlvs: false,
        }
    }
}

/// Without the password.
impl fmt::Debug for BindOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BindOptions")
            .field("kind", &self.kind)
            .field("system_id", &self.system_id)
            .field("window", &self.window)
            .field("enquire_link", &self.enquire_link)
            .field("response_timeout", &self.response_timeout)
            .finish_non_exhaustive()
    }
}

/// Who answered the bind.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Peer {
    /// What the SMSC calls itself.
    pub system_id: String,
    /// The version it speaks; absent means 3.3 (or an SMSC that does not say).
    pub interface_version: Option<u8>,
}

/// A message to submit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Submit {
    /// The caller's mark; comes back in [`Event::Submitted`].
    pub tag: u64,
    /// The message.
    pub pdu: SubmitSm,
}

/// What became of a submit. `NotSent` and `Unknown` must never be taken for one another.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The SMSC took it.
    Accepted {
        /// Its id there, which receipts will name; empty when the SMSC gave none.
        message_id: String,
    },
    /// The SMSC refused it; or it cannot be put on the wire, and the status says why.
    Rejected(CommandStatus),
    /// Not one octet of it was handed to the transport: it may be sent again without a doubt.
    NotSent,
    /// It was written, even partly, and no response came: the SMSC may have it.
    Unknown,
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CloseReason {
    /// We unbound, and the peer agreed (or did not answer in time).
    Unbound,
    /// The peer unbound.
    PeerUnbound,
    /// The peer closed the connection.
    PeerClosed,
    /// The peer did not answer a probe, or did not read what was sent.
    HalfOpen,
    /// Reading or writing failed.
    Io(std::io::ErrorKind),
    /// A broken `command_length`: the stream is out of step.
    Protocol,
    /// The task was dropped before its end, with the runtime.
    Aborted,
}

impl std::fmt::Display for CloseReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unbound => f.write_str("unbound by this side"),
            Self::PeerUnbound => f.write_str("unbound by the peer"),
            Self::PeerClosed => f.write_str("closed by the peer"),
            Self::HalfOpen => f.write_str("the peer does not answer"),
            Self::Io(kind) => kind.fmt(f),
            Self::Protocol => f.write_str("the stream is out of step"),
            Self::Aborted => f.write_str("the process ends"),
        }
    }
}

/// What happens on a session. The last event is `Closed`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// A submit has its outcome: exactly one per submit, also when the connection dies.
    Submitted {
        /// The caller's mark.
        tag: u64,
        /// What became of it.
        outcome: Outcome,
    },
    /// A message or a receipt came; answer it with [`Session::answer`] once its effect is durable.
    Deliver {
        /// Names it in the answer.
        sequence: u32,
        /// What came.
        deliver: Box<DeliverSm>,
    },
    /// The session ended.
    Closed(CloseReason),
}

/// What a session counted since its bind.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counters {
    /// `submit_sm` encoded.
    pub submits: u64,
    /// Responses that met their request.
    pub responses: u64,
    /// `deliver_sm` and `data_sm` taken.
    pub delivers: u64,
    /// Responses that came after their time-out.
    pub late_responses: u64,
    /// Responses to nothing that was asked.
    pub unmatched_responses: u64,
    /// PDUs that were malformed, unknown or out of place, and skipped.
    pub odd_pdus: u64,
    /// Responses that never came in time.
    pub timeouts: u64,
}

#[cfg(test)]
mod tests;
