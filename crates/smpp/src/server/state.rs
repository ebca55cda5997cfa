//! How far a server's session is on its way from connect to close.

use super::event::SessionEnd;
use crate::pdu::BindKind;
use std::time::Duration;
use tokio::time::Instant;

#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// The client has not bound; it may until then.
    Opened(Option<Instant>),
    /// A bind waits for the caller's decision.
    Binding,
    /// The client is bound.
    Bound(BindKind),
    /// `unbind` was written; its response is waited for until then.
    Unbinding(BindKind, Option<Instant>),
    /// The client sent `unbind` with this sequence number. It is answered once all requests are, or then.
    ClientUnbinding(u32, Instant),
    /// Over, once everything is written, or then.
    Leaving(SessionEnd, Instant),
}

impl State {
    /// Returns whether the client may submit.
    pub(super) const fn submits(self) -> bool {
        match self.kind() {
            Some(kind) => kind.submits(),
            None => false,
        }
    }

    /// Returns whether the client may be delivered to.
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

/// The end of a time that begins at `from`; zero has none.
pub(super) fn deadline(from: Instant, timeout: Duration) -> Option<Instant> {
    (!timeout.is_zero()).then(|| from + timeout)
}
