//! The connections of a carrier as its worker sees them: sessions that are bound, and the events on them.

use smpp::{CommandStatus, Event, Submit};
use tokio::sync::mpsc;

/// The number of a connection of a carrier.
pub(crate) type LinkId = usize;

/// A `deliver_sm` that is to be answered: its connection, and its sequence number.
pub(crate) type Origin = (LinkId, u32);

/// The orders for the simulated carrier.
#[derive(Clone)]
pub(crate) struct SandboxSession {
    orders: mpsc::UnboundedSender<Vec<Submit>>,
}

impl SandboxSession {
    pub(crate) fn new(orders: mpsc::UnboundedSender<Vec<Submit>>) -> Self {
        Self { orders }
    }

    fn submit(&self, submits: Vec<Submit>) -> Result<(), Vec<Submit>> {
        self.orders.send(submits).map_err(|error| error.0)
    }

    /// An empty order ends the simulation once all before it are done.
    fn unbind(&self) {
        let _ = self.orders.send(Vec::new());
    }
}

/// A connection that is bound.
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

    /// Submits that are queued or unanswered.
    pub(crate) fn load(&self) -> usize {
        match self {
            Self::Smpp(session) => session.load(),
            Self::Sandbox(_) => 0,
        }
    }

    /// Returns `true` if it may be dead: a probe is out on it.
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

/// An event on a carrier's connections.
pub(crate) enum LinkEvent {
    /// A connection is bound; `submits` is `true` if messages go out on it.
    Up {
        link: LinkId,
        session: BoundSession,
        submits: bool,
    },
    /// Responses and receipts came.
    Events { link: LinkId, events: Vec<Event> },
    /// A connection was lost, or ended in order.
    Down { link: LinkId },
}
