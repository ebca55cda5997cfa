//! The connections of a carrier on this node: opened when the node is given a slot, unbound when the slot goes to another.

use super::bind;
use super::sandbox;
use super::transport::{BoundSession, LinkEvent, LinkId, Origin};
use crate::context::Context;
use crate::context::carrier::Carrier;
use database::Outage;
use smpp::{CommandStatus, Submit};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::Bind;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

/// Connections of a slot: a pair at most.
const LINKS_PER_SLOT: LinkId = 2;
/// Slots that are given back, of all carriers.
static BINDS: Outage =
    Outage::of("connections of carriers cannot be given back, and are offered again");

/// A connection in use.
struct Connection {
    session: BoundSession,
    /// `true` if messages go out on it: it is no receiver, and has not begun to end.
    submits: bool,
}

/// A slot in use.
struct BindSlot {
    /// The ways to end its tasks.
    ends: Vec<watch::Sender<bool>>,
    /// Its tasks that run.
    tasks: usize,
}

/// The connections of this node and the tasks that keep them bound.
pub(crate) struct BindSlots {
    context: Arc<Context>,
    carrier: Arc<Carrier>,
    tls: Option<TlsConnector>,
    events: mpsc::Sender<LinkEvent>,
    open: BTreeMap<i64, BindSlot>,
    connections: BTreeMap<LinkId, Connection>,
    pub(crate) tasks: JoinSet<i64>,
}

/// The slot of a connection.
fn slot_of(link: LinkId) -> i64 {
    i64::try_from(link / LINKS_PER_SLOT).unwrap_or(i64::MAX)
}

impl BindSlots {
    pub(crate) fn new(
        context: Arc<Context>,
        carrier: Arc<Carrier>,
        tls: Option<TlsConnector>,
        events: mpsc::Sender<LinkEvent>,
    ) -> Self {
        Self {
            context,
            carrier,
            tls,
            events,
            open: BTreeMap::new(),
            connections: BTreeMap::new(),
            tasks: JoinSet::new(),
        }
    }

    /// The simulated carrier has one connection, which no other node needs.
    pub(crate) async fn connect_sandbox(&self) {
        let (events, random) = (self.events.clone(), self.context.random.clone());
        let session = BoundSession::Sandbox(sandbox::start(events, random));
        let up = LinkEvent::Up {
            link: 0,
            session,
            submits: true,
        };
        // The receiver is alive: it is the caller's.
        let _ = self.events.send(up).await;
    }

    /// The slots of this node: none while the others may take it for dead, as another node may hold them then.
    fn wanted(&self, closing: bool) -> BTreeSet<i64> {
        if closing || !self.context.nodes.holds() {
            BTreeSet::new()
        } else {
            self.carrier.slots.borrow().clone()
        }
    }

    /// Opens and ends connections until they are those that this node has been given. Returns how many slots it has.
    pub(crate) fn assign(&mut self, closing: bool) -> usize {
        let held = self.wanted(closing);
        for &slot in &held {
            if !self.open.contains_key(&slot) {
                self.open(slot);
            }
        }
        for (slot, open) in &self.open {
            if !held.contains(slot) {
                for end in &open.ends {
                    end.send_replace(true);
                }
            }
        }
        let links = self.connections.iter_mut();
        for (_, connection) in links.filter(|(link, _)| !held.contains(&slot_of(**link))) {
            connection.session.unbind();
            connection.submits = false;
        }
        held.len()
    }

    fn open(&mut self, slot: i64) {
        let Some(settings) = &self.carrier.settings else {
            return;
        };
        let mut ends = Vec::new();
        let kinds = bind::kinds(settings);
        let first = usize::try_from(slot).unwrap_or(0) * LINKS_PER_SLOT;
        for (link, &kind) in (first..).zip(kinds) {
            let (end, ending) = watch::channel(false);
            ends.push(end);
            let keeping = bind::keep_bound(
                Arc::clone(&self.context),
                Arc::clone(settings),
                self.tls.clone(),
                link,
                kind,
                self.events.clone(),
                ending,
            );
            self.tasks.spawn(async move {
                keeping.await;
                slot
            });
        }
        let tasks = kinds.len();
        self.open.insert(slot, BindSlot { ends, tasks });
    }

    /// A connection has ended for good. After the last of a slot, another node can take the slot.
    pub(crate) fn ended(&mut self, slot: i64, closing: bool) {
        let Some(open) = self.open.get_mut(&slot) else {
            return;
        };
        open.tasks -= 1;
        if open.tasks > 0 {
            return;
        }
        self.open.remove(&slot);
        let context = &self.context;
        if self.wanted(closing).contains(&slot) {
            // It came back while it was ending.
            self.open(slot);
        } else if context.store.is_shared() && !closing && context.nodes.holds() {
            let (context, carrier) = (Arc::clone(context), self.carrier.name.to_string());
            tokio::spawn(async move {
                let bind = Bind {
                    carrier,
                    slot,
                    node: context.node,
                    bound: false,
                };
                BINDS.note(context.store.free_bind(bind).await);
            });
        }
    }

    /// A connection is bound; one that this node was not given is unbound.
    pub(crate) fn up(&mut self, link: LinkId, session: BoundSession, submits: bool, closing: bool) {
        let is_mine =
            self.carrier.settings.is_none() || self.wanted(closing).contains(&slot_of(link));
        let given = !closing && is_mine;
        if !given {
            session.unbind();
        }
        let submits = submits && given;
        self.connections
            .insert(link, Connection { session, submits });
    }

    /// A connection was lost, or ended in order.
    pub(crate) fn down(&mut self, link: LinkId) {
        self.connections.remove(&link);
    }

    /// Gives a connection no more submits, and unbinds it.
    pub(crate) fn unbind(&mut self, link: LinkId) {
        if let Some(connection) = self.connections.get_mut(&link) {
            connection.session.unbind();
            connection.submits = false;
        }
    }

    /// Unbinds all connections once the submits on them have their responses.
    pub(crate) fn unbind_all(&self) {
        let connections = self.connections.values();
        connections.for_each(|connection| connection.session.unbind());
    }

    /// Returns `true` if no connection is in use.
    pub(crate) fn is_empty(&self) -> bool {
        self.connections.is_empty()
    }

    /// How many connections are in use.
    pub(crate) fn len(&self) -> usize {
        self.connections.len()
    }

    /// The connections on which messages go out.
    pub(crate) fn submitting(&self) -> impl Iterator<Item = (LinkId, &BoundSession)> {
        let submitting = self.connections.iter().filter(|(_, one)| one.submits);
        submitting.map(|(&link, one)| (link, &one.session))
    }

    /// Submits that have no response.
    pub(crate) fn outstanding(&self) -> usize {
        let connections = self.connections.values();
        connections.map(|one| one.session.outstanding()).sum()
    }

    /// The session of a connection.
    pub(crate) fn session(&self, link: LinkId) -> Option<&BoundSession> {
        self.connections.get(&link).map(|one| &one.session)
    }

    /// Queues submits on a connection. One that is ending returns them, and gets no more.
    pub(crate) fn submit(&mut self, link: LinkId, submits: Vec<Submit>) -> Result<(), Vec<Submit>> {
        let Some(connection) = self.connections.get_mut(&link) else {
            return Err(submits);
        };
        let queued = connection.session.submit(submits);
        if queued.is_err() {
            connection.submits = false;
        }
        queued
    }

    /// Answers `deliver_sm` with success, on those of the connections that are still there.
    pub(crate) fn answer(&self, origins: &[Origin]) {
        for (link, sequence) in origins {
            if let Some(session) = self.session(*link) {
                session.answer(vec![(*sequence, CommandStatus::ROK)]);
            }
        }
    }

    /// Notes at the carrier which slots have a connection on which messages go out. Returns how many connections these are.
    pub(crate) fn note_bound(&self) -> usize {
        let links: Vec<LinkId> = self.submitting().map(|(link, _)| link).collect();
        self.carrier
            .set_bound(links.iter().map(|&link| slot_of(link)).collect());
        links.len()
    }
}
