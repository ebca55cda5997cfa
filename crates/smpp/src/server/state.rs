//! The states of a server's session.

use super::event::SessionEnd;
use crate::pdu::BindKind;
use std::time::Duration;
use tokio::time::Instant;

#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// The client is connected. It must bind before that time.
    Opened(Option<Instant>),
    /// The caller must decide on a bind.
    Binding,
    /// The client is bound.
    Bound(BindKind),
    /// `unbind` was sent, and its response is awaited until then.
    Unbinding(BindKind, Option<Instant>),
    /// The client sent `unbind` with this sequence number. It is answered after the open requests,
    /// or at that time.
    ClientUnbinding(u32, Instant),
    /// The session ends after the last write, or at that time.
    Leaving(SessionEnd, Instant),
}

impl State {
    /// Returns `true` if the client may submit.
    pub(super) const fn submits(self) -> bool {
        match self.kind() {
            Some(kind) => kind.submits(),
            None => false,
        }
    }

    /// Returns `true` if the client may receive.
    pub(super) const fn receives(self) -> bool {
        match self.kind() {
            Some(kind) => kind.receives(),
            None => false,
        }
    }

    const fn kind(self) -> Option<BindKind> {
        match self {
            Self::Bound(kind) | Self::Unbinding(kind, _) => Some(kind),
            Self::Opened(_) | Self::Binding | Self::ClientUnbinding(..) | Self::Leaving(..) => None,
        }
    }
}

/// Returns the end of a timeout that begins at `from`. Zero is no timeout.
pub(super) fn deadline(from: Instant, timeout: Duration) -> Option<Instant> {
    (!timeout.is_zero()).then(|| from + timeout)
}
