//! The states of a client's session.

use super::event::CloseReason;
use tokio::time::Instant;

/// The state of a session between bind and close.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    Open,
    /// No further submits are sent. The client awaits the open responses until this time.
    Draining(Instant),
    /// `unbind` was sent. The client awaits its response until this time.
    Unbinding(Instant),
    /// The peer sent `unbind` with this sequence number. The client answers after the
    /// open responses, or at this time.
    PeerUnbinding(u32, Instant),
    /// The session ends after the last reads and writes, or at this time.
    Leaving(CloseReason, Instant),
}

impl State {
    /// Returns the time at which this state ends by itself.
    pub(super) const fn deadline(self) -> Option<Instant> {
        match self {
            Self::Open => None,
            Self::Draining(at)
            | Self::Unbinding(at)
            | Self::PeerUnbinding(_, at)
            | Self::Leaving(_, at) => Some(at),
        }
    }

    /// Returns `true` if the peer must answer `enquire_link` in this state.
    pub(super) const fn is_probed(self) -> bool {
        matches!(self, Self::Open | Self::Draining(_))
    }

    /// Returns the state of a session that ends for this reason, at `at` at the latest. The first
    /// reason is kept.
    #[must_use]
    pub(super) fn leaving(self, reason: CloseReason, at: Instant) -> Self {
        match (self, reason) {
            (Self::Leaving(first, until), _) => Self::Leaving(first, until.min(at)),
            // After our own unbind, peers close the connection in many ways.
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
