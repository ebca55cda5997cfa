//! How far a client's session is on its way from bind to close.

use super::event::CloseReason;
use tokio::time::Instant;

/// How far the session is on its way from bind to close.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    Open,
    /// No new submits; open responses are waited for until then.
    Draining(Instant),
    /// `unbind` is out; its response is waited for until then.
    Unbinding(Instant),
    /// The peer asked to unbind with this sequence number. It is answered once all submits are, or at that time.
    PeerUnbinding(u32, Instant),
    /// Over, once what is readable was read and what is answered was written, or at that time.
    Leaving(CloseReason, Instant),
}

impl State {
    /// The time at which this state ends by itself.
    pub(super) const fn deadline(self) -> Option<Instant> {
        match self {
            Self::Open => None,
            Self::Draining(at)
            | Self::Unbinding(at)
            | Self::PeerUnbinding(_, at)
            | Self::Leaving(_, at) => Some(at),
        }
    }

    /// Returns whether the peer is expected to be alive, and is probed.
    pub(super) const fn is_probed(self) -> bool {
        matches!(self, Self::Open | Self::Draining(_))
    }

    /// The session is to end for this reason, at that time at the latest. The first reason counts.
    #[must_use]
    pub(super) fn leaving(self, reason: CloseReason, at: Instant) -> Self {
        match (self, reason) {
            (Self::Leaving(first, until), _) => Self::Leaving(first, until.min(at)),
            // After our own unbind, peers hang up in many ways.
            (Self::Unbinding(_), CloseReason::PeerClosed | CloseReason::PeerUnbound) => {
                Self::Leaving(CloseReason::Unbound, at)
            }
            (Self::PeerUnbinding(..), CloseReason::PeerClosed) => {
                Self::Leaving(CloseReason::PeerUnbound, at)
            }
            (Self::Open | Self::Draining(_) | Self::Unbinding(_) | Self::PeerUnbinding(..), _) => {
                Self::Leaving(reason, at)
            }
        }
    }
}
