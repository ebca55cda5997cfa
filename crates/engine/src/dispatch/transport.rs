//! The connections of a carrier in the form that its worker uses: bound sessions and their events.

use smpp::{CommandStatus, Event, Submit};
use tokio::sync::mpsc;

/// The number of a connection of a carrier.
pub(crate) type LinkId = usize;

/// A `deliver_sm` to answer: its connection and sequence number.
pub(crate) type Origin = (LinkId, u32);

/// The session of the simulated carrier.
#[derive(Clone)]
pub(crate) struct SandboxSession {
    submits: mpsc::UnboundedSender<Vec<Submit>>,
}

impl SandboxSession {
    pub(crate) fn new(submits: mpsc::UnboundedSender<Vec<Submit>>) -> Self {
        Self { submits }
    }

    fn submit(&self, submits: Vec<Submit>) -> Result<(), Vec<Submit>> {
        self.submits.send(submits).map_err(|error| error.0)
    }

    /// Ends the simulation after all earlier submits. An empty list is the signal.
    fn unbind(&self) {
        let _ = self.submits.send(Vec::new());
    }
}

/// A bound connection.
#[derive(Clone)]
pub(crate) enum BoundSession {
    Smpp(smpp::Session),
    Sandbox(SandboxSession),
}

impl BoundSession {
    pub(crate) fn submit(&self, submits: Vec<Submit>) -> Result<(), Vec<Submit>> {
        match self {
            Self::Smpp(session) => session.submit(submits),
            Self::Sandbox(session) => session.submit(submits),
        }
    }

    pub(crate) fn answer(&self, answers: Vec<(u32, CommandStatus)>) {
        match self {
            Self::Smpp(session) => session.answer(answers),
            Self::Sandbox(_) => {}
        }
    }

    /// Returns the number of queued and unanswered submits.
    pub(crate) fn load(&self) -> usize {
        match self {
            Self::Smpp(session) => session.load(),
            Self::Sandbox(_) => 0,
        }
    }

    /// Returns `true` if the connection may be dead: an `enquire_link` is unanswered.
    pub(crate) fn is_silent(&self) -> bool {
        match self {
            Self::Smpp(session) => session.is_silent(),
            Self::Sandbox(_) => false,
        }
    }

    pub(crate) fn outstanding(&self) -> usize {
        match self {
            Self::Smpp(session) => session.outstanding(),
            Self::Sandbox(_) => 0,
        }
    }

    pub(crate) fn unbind(&self) {
        match self {
            Self::Smpp(session) => session.unbind(),
            Self::Sandbox(session) => session.unbind(),
        }
    }
}

/// An event of a carrier's connections.
pub(crate) enum LinkEvent {
    /// A connection is bound. `submits` is `true` if it takes submits.
    Up {
        link: LinkId,
        session: BoundSession,
        submits: bool,
    },
    /// Responses and receipts arrived.
    Events { link: LinkId, events: Vec<Event> },
    /// A connection has ended.
    Down { link: LinkId },
}
