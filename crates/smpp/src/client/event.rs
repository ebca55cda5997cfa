//! The submits that a client's session takes, and the events that it returns.

use crate::pdu::{DeliverSm, SubmitSm};
use crate::status::CommandStatus;
use std::fmt;

/// The SMSC that answered the bind.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Peer {
    /// The name that the SMSC gives itself.
    pub system_id: String,
    /// The version it speaks; absent means 3.3 (or an SMSC that names none).
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

/// The outcome of a submit. `NotSent` and `Unknown` must never be taken for one another.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SubmitOutcome {
    /// The SMSC took it.
    Accepted {
        /// Its id there, which receipts will name; empty when the SMSC gave none.
        message_id: String,
    },
    /// The SMSC refused it; or it cannot be put on the wire, and the status names the reason.
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

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// An event of a session. The last event is `Closed`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// A submit has its outcome: exactly one per submit, also when the connection dies.
    Submitted {
        /// The caller's mark.
        tag: u64,
        /// The outcome.
        outcome: SubmitOutcome,
    },
    /// A message or a receipt came; answer it with [`crate::Session::answer`] once its effect is durable.
    Deliver {
        /// Names it in the answer.
        sequence: u32,
        /// The message.
        deliver: Box<DeliverSm>,
    },
    /// The session ended.
    Closed(CloseReason),
}

/// The counts of a session since its bind.
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
