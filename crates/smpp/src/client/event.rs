//! The submits and events of a client's session.

use crate::pdu::{DeliverSm, SubmitSm};
use crate::status::CommandStatus;
use std::fmt;

/// The SMSC that answered the bind.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Peer {
    /// The `system_id` of the SMSC.
    pub system_id: String,
    /// The SMPP version of the SMSC. `None` means 3.3, or an SMSC that announces no version.
    pub interface_version: Option<u8>,
}

/// A message to submit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Submit {
    /// A number of the caller's choice, which [`Event::Submitted`] returns.
    pub tag: u64,
    /// The message.
    pub pdu: SubmitSm,
}

/// The outcome of a submit. `NotSent` and `Unknown` must never be confused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SubmitOutcome {
    /// The SMSC accepted the message.
    Accepted {
        /// The message id of the SMSC, which its receipts name. It is empty if the SMSC returned
        /// none.
        message_id: String,
    },
    /// The SMSC rejected the message. If it could not be encoded, the status names the invalid
    /// field.
    Rejected(CommandStatus),
    /// No octet of the message was written, so a repetition cannot be a duplicate.
    NotSent,
    /// The message was written at least in part, and no response arrived. The SMSC may have it.
    Unknown,
}

/// The reason why a session ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CloseReason {
    /// This side unbound, and the peer agreed or did not answer in time.
    Unbound,
    /// The peer unbound.
    PeerUnbound,
    /// The peer closed the connection.
    PeerClosed,
    /// The peer did not answer an `enquire_link`, or did not read the written data.
    HalfOpen,
    /// Reading or writing failed.
    Io(std::io::ErrorKind),
    /// The peer sent an impossible `command_length`, so the boundaries of the next frames are
    /// unknown.
    Protocol,
    /// The runtime dropped the task of the session.
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
    /// The outcome of a submit. Each submit has exactly one, even if the connection is lost.
    Submitted {
        /// The tag of the submit.
        tag: u64,
        /// The outcome.
        outcome: SubmitOutcome,
    },
    /// A message or receipt. Answer it with [`crate::Session::answer`] once its effect is durable.
    Deliver {
        /// The sequence number for the answer.
        sequence: u32,
        /// The message.
        deliver: Box<DeliverSm>,
    },
    /// The session ended.
    Closed(CloseReason),
}

/// The counters of a session since its bind.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counters {
    /// Encoded `submit_sm`.
    pub submits: u64,
    /// Responses that matched their request.
    pub responses: u64,
    /// Received `deliver_sm` and `data_sm`.
    pub delivers: u64,
    /// Responses that arrived after their timeout.
    pub late_responses: u64,
    /// Responses that match no request.
    pub unmatched_responses: u64,
    /// Skipped PDUs that were malformed, unknown or not allowed in their state.
    pub odd_pdus: u64,
    /// Requests whose response timed out.
    pub timeouts: u64,
}
