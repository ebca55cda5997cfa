//! The requests and events of a server's session.

use crate::codec::{BindFields, CancelFields, Destinations, QueryFields, Sm};
use crate::command::Command;
use crate::frame::Header;
use crate::pdu::BindKind;
use crate::status::CommandStatus;
use std::fmt;

/// A request that must be answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Request {
    /// The command of the request.
    pub command: Command,
    /// The sequence number of the request.
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

/// An event for the caller of a session. Every [`Request`] must be answered by one call of
/// [`ServerSession::accept`](super::ServerSession::accept),
/// [`ServerSession::respond`](super::ServerSession::respond),
/// [`ServerSession::nack`](super::ServerSession::nack) or a similar method.
#[derive(Clone, Copy, Debug)]
pub enum ServerEvent<'a, T> {
    /// A bind request. Answer it with [`ServerSession::grant`](super::ServerSession::grant) or
    /// [`ServerSession::refuse_bind`](super::ServerSession::refuse_bind).
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
    /// The client's answer to a `deliver_sm`.
    Answered(T, CommandStatus),
}

/// The reason why a session ended.
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
    /// The client did not answer an `enquire_link`.
    HalfOpen,
    /// The client sent an impossible `command_length`, so the boundaries of the next frames are
    /// unknown.
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

/// The counters of a session.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ServerCounters {
    /// Requests that became events.
    pub requests: u64,
    /// Requests that were rejected because too many were unanswered.
    pub throttled: u64,
    /// Sent `deliver_sm`.
    pub delivers: u64,
    /// `deliver_sm` whose response timed out.
    pub timeouts: u64,
    /// PDUs that were malformed, unknown or not allowed in their state.
    pub odd_pdus: u64,
}
