//! The requests of a client, and the events of its session.

use crate::codec::{BindFields, CancelFields, Destinations, QueryFields, Sm};
use crate::command::Command;
use crate::frame::Header;
use crate::pdu::BindKind;
use crate::status::CommandStatus;
use std::fmt;

/// A request that waits for its answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Request {
    /// The command that the client sent.
    pub command: Command,
    /// The client's sequence number.
    pub sequence: u32,
}

impl Request {
    pub(crate) const fn of(header: Header) -> Self {
        Self {
            command: header.command,
            sequence: header.sequence,
        }
    }
}

/// An event that the caller of a session handles. Every [`Request`] is answered by one call of
/// [`ServerSession::accept`](super::ServerSession::accept), [`ServerSession::respond`](super::ServerSession::respond), [`ServerSession::nack`](super::ServerSession::nack) and the like.
#[derive(Clone, Copy, Debug)]
pub enum ServerEvent<'a, T> {
    /// The client asks to bind. The answer is [`ServerSession::grant`](super::ServerSession::grant) or [`ServerSession::refuse_bind`](super::ServerSession::refuse_bind).
    Bind(Request, BindKind, BindFields<'a>),
    /// `submit_sm`
    Submit(Request, Sm<'a>),
    /// `submit_multi`
    SubmitMulti(Request, Sm<'a>, Destinations<'a>),
    /// `data_sm`
    Data(Request, Sm<'a>),
    /// `query_sm`
    Query(Request, QueryFields<'a>),
    /// `cancel_sm`
    Cancel(Request, CancelFields<'a>),
    /// The client answered a `deliver_sm` with this status.
    Answered(T, CommandStatus),
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SessionEnd {
    /// The server unbound.
    Unbound,
    /// The client unbound.
    ClientUnbound,
    /// The bind was refused.
    BindRefused,
    /// The client did not bind in time.
    BindTimedOut,
    /// The client did not answer a probe.
    HalfOpen,
    /// A broken `command_length`: the stream is out of step.
    Protocol,
}

impl fmt::Display for SessionEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unbound => "unbound by this side",
            Self::ClientUnbound => "unbound by the client",
            Self::BindRefused => "the bind was refused",
            Self::BindTimedOut => "the client did not bind in time",
            Self::HalfOpen => "the client does not answer",
            Self::Protocol => "the stream is out of step",
        })
    }
}

/// The counts of a session.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ServerCounters {
    /// Requests that were given to the caller.
    pub requests: u64,
    /// Requests that were refused because too many waited for their answer.
    pub throttled: u64,
    /// `deliver_sm` written.
    pub delivers: u64,
    /// `deliver_sm` that were not answered in time.
    pub timeouts: u64,
    /// PDUs that were malformed, unknown or out of place.
    pub odd_pdus: u64,
}
