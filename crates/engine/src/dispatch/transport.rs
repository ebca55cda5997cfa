//! The connections of a carrier in the form that its worker uses: bound sessions and their events.

use crate::context::outcome::Outcome;
use domain::http_carrier::HttpRecipient;
use smpp::{CommandStatus, Event, Submit};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc;

/// The number of a connection of a carrier.
pub(crate) type LinkId = usize;

/// A `deliver_sm` to answer: its connection and sequence number.
pub(crate) type Origin = (LinkId, u32);

/// A request to a carrier by HTTP: one text to one or several recipients.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct HttpSubmit {
    /// The tag of each recipient.
    pub(crate) tags: Vec<u64>,
    pub(crate) recipients: Vec<HttpRecipient>,
    pub(crate) from: String,
    /// The whole text.
    pub(crate) body: String,
    pub(crate) unicode: bool,
}

/// Submits to one carrier, in the form of its protocol.
#[derive(Debug)]
pub(crate) enum Submits {
    Smpp(Vec<Submit>),
    Http(Vec<HttpSubmit>),
}

impl Submits {
    /// Returns the number of submits, or of requests.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Smpp(submits) => submits.len(),
            Self::Http(submits) => submits.len(),
        }
    }

    /// Returns the tags of the pages or recipients.
    pub(crate) fn tags(&self) -> Vec<u64> {
        match self {
            Self::Smpp(submits) => submits.iter().map(|submit| submit.tag).collect(),
            Self::Http(submits) => submits.iter().flat_map(|one| one.tags.clone()).collect(),
        }
    }
}

/// The session of a carrier by HTTP.
#[derive(Clone)]
pub(crate) struct HttpSession {
    submits: mpsc::UnboundedSender<Vec<HttpSubmit>>,
    /// Number of requests without an outcome.
    load: Arc<AtomicUsize>,
}

impl HttpSession {
    /// Creates a session, with the end at which its submits arrive. The window bounds the channel.
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<Vec<HttpSubmit>>) {
        let (submits, arrived) = mpsc::unbounded_channel();
        let load = Arc::default();
        (Self { submits, load }, arrived)
    }

    /// Records that requests have an outcome.
    pub(crate) fn answered(&self, count: usize) {
        self.load.fetch_sub(count, Ordering::Relaxed);
    }

    fn load(&self) -> usize {
        self.load.load(Ordering::Relaxed)
    }

    fn submit(&self, submits: Vec<HttpSubmit>) -> Result<(), Vec<HttpSubmit>> {
        let count = submits.len();
        self.load.fetch_add(count, Ordering::Relaxed);
        self.submits.send(submits).map_err(|error| {
            self.answered(count);
            error.0
        })
    }

    /// Ends the session after all earlier submits. An empty list is the signal.
    fn unbind(&self) {
        let _ = self.submits.send(Vec::new());
    }
}

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
    Http(HttpSession),
    Sandbox(SandboxSession),
}

impl BoundSession {
    pub(crate) fn submit(&self, submits: Submits) -> Result<(), Submits> {
        match (self, submits) {
            (Self::Smpp(session), Submits::Smpp(all)) => session.submit(all).map_err(Submits::Smpp),
            (Self::Sandbox(session), Submits::Smpp(all)) => {
                session.submit(all).map_err(Submits::Smpp)
            }
            (Self::Http(session), Submits::Http(all)) => session.submit(all).map_err(Submits::Http),
            // A carrier has one protocol.
            (_, submits) => Err(submits),
        }
    }

    pub(crate) fn answer(&self, answers: Vec<(u32, CommandStatus)>) {
        match self {
            Self::Smpp(session) => session.answer(answers),
            Self::Http(_) | Self::Sandbox(_) => {}
        }
    }

    /// Returns the number of queued and unanswered submits.
    pub(crate) fn load(&self) -> usize {
        match self {
            Self::Smpp(session) => session.load(),
            Self::Http(session) => session.load(),
            Self::Sandbox(_) => 0,
        }
    }

    /// Returns `true` if the connection may be dead: an `enquire_link` is unanswered.
    pub(crate) fn is_silent(&self) -> bool {
        match self {
            Self::Smpp(session) => session.is_silent(),
            Self::Http(_) | Self::Sandbox(_) => false,
        }
    }

    pub(crate) fn outstanding(&self) -> usize {
        match self {
            Self::Smpp(session) => session.outstanding(),
            Self::Http(session) => session.load(),
            Self::Sandbox(_) => 0,
        }
    }

    pub(crate) fn unbind(&self) {
        match self {
            Self::Smpp(session) => session.unbind(),
            Self::Http(session) => session.unbind(),
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
    /// Requests have an outcome, by their tags.
    Answered {
        link: LinkId,
        outcomes: Vec<(u64, Outcome)>,
    },
    /// A connection has ended.
    Down { link: LinkId },
}
