//! The bind slots of a carrier on this node. A connection is opened when the node gets a slot, and
//! unbound when it loses it.

use super::bind;
use super::http_link;
use super::sandbox;
use super::transport::{BoundSession, LinkEvent, LinkId, Origin, Submits};
use crate::context::Context;
use crate::context::carrier::Carrier;
use crate::settings::{CarrierSettings, Protocol, SmppSettings};
use database::Outage;
use smpp::CommandStatus;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::Bind;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

/// Maximum number of connections in a slot.
const LINKS_PER_SLOT: LinkId = 2;
/// Outage of the release of bind slots, over all carriers.
static BINDS: Outage = Outage::of("bind slots cannot be released, retrying");

/// A bound connection.
struct Connection {
    session: BoundSession,
    /// `true` if the connection takes submits: it is no receiver, and is not being unbound.
    submits: bool,
}

/// A slot in use.
struct BindSlot {
    /// The senders that end its tasks.
    ends: Vec<watch::Sender<bool>>,
    /// Number of its tasks that run.
    tasks: usize,
}

/// The bind slots and connections of one carrier on this node.
pub(crate) struct BindSlots {
    context: Arc<Context>,
    carrier: Arc<Carrier>,
    tls: Option<TlsConnector>,
    events: mpsc::Sender<LinkEvent>,
    open: BTreeMap<i64, BindSlot>,
    connections: BTreeMap<LinkId, Connection>,
    pub(crate) tasks: JoinSet<i64>,
    /// `true` if an operator drained the carrier, so its slots stay without connections.
    is_drained: bool,
}

/// Returns the slot of a connection.
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
            is_drained: false,
        }
    }

    /// Connects the simulated carrier, which has one connection on each node.
    pub(crate) async fn connect_sandbox(&self) {
        let (events, random) = (self.events.clone(), self.context.random.clone());
        let session = BoundSession::Sandbox(sandbox::start(events, random));
        let up = LinkEvent::Up {
            link: 0,
            session,
            submits: true,
        };
        // The caller holds the receiver, so the send succeeds.
        let _ = self.events.send(up).await;
    }

    /// Returns the slots that this node holds. There are none without a valid lease, since another
    /// node may hold them then.
    fn wanted(&self, closing: bool) -> BTreeSet<i64> {
        if closing || self.is_drained || !self.context.nodes.holds() {
            BTreeSet::new()
        } else {
            self.carrier.slots.borrow().clone()
        }
    }

    /// Opens and closes connections to match the slots of this node. A drained carrier has none.
    /// Returns the number of slots.
    pub(crate) fn assign(&mut self, closing: bool, is_drained: bool) -> usize {
        self.is_drained = is_drained;
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
        let Some(settings) = self.carrier.settings.clone() else {
            return;
        };
        let first = usize::try_from(slot).unwrap_or(0) * LINKS_PER_SLOT;
        let (ends, tasks) = match &settings.protocol {
            Protocol::Smpp(smpp) => self.bind(slot, first, (Arc::clone(&settings), smpp)),
            Protocol::Http(http) => {
                let (end, ending) = watch::channel(false);
                let keeping = http_link::keep_open(
                    Arc::clone(&self.context),
                    (Arc::clone(&settings), Arc::clone(http)),
                    self.tls.clone(),
                    first,
                    self.events.clone(),
                    ending,
                );
                self.tasks.spawn(async move {
                    keeping.await;
                    slot
                });
                (vec![end], 1)
            }
        };
        self.open.insert(slot, BindSlot { ends, tasks });
    }

    /// Starts the binds of a slot. Returns the senders that end them, and their number.
    fn bind(
        &mut self,
        slot: i64,
        first: LinkId,
        (settings, smpp): (Arc<CarrierSettings>, &SmppSettings),
    ) -> (Vec<watch::Sender<bool>>, usize) {
        let mut ends = Vec::new();
        let kinds = bind::kinds(smpp);
        for (link, &kind) in (first..).zip(kinds) {
            let (end, ending) = watch::channel(false);
            ends.push(end);
            let keeping = bind::keep_bound(
                Arc::clone(&self.context),
                (Arc::clone(&settings), smpp.clone()),
                self.tls.clone(),
                (link, kind, self.carrier.pdus.clone()),
                self.events.clone(),
                ending,
            );
            self.tasks.spawn(async move {
                keeping.await;
                slot
            });
        }
        (ends, kinds.len())
    }

    /// Removes a task of a slot that has ended. After its last task the slot is released for other
    /// nodes.
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
            // The slot was assigned again while its connections were closing.
            self.open(slot);
        } else if context.store.is_shared() && !closing && context.nodes.holds() {
            let (context, carrier) = (Arc::clone(context), self.carrier.name.to_string());
            tokio::spawn(async move {
                let bind = Bind {
                    carrier,
                    slot,
                    node: Some(context.node),
                    bound: false,
                };
                BINDS.note(context.store.nodes().free_bind(bind).await);
            });
        }
    }

    /// Adds a bound connection. It is unbound at once if this node lost its slot.
    pub(crate) fn up(&mut self, link: LinkId, session: BoundSession, submits: bool, closing: bool) {
        let is_held =
            self.carrier.settings.is_none() || self.wanted(closing).contains(&slot_of(link));
        let is_assigned = !closing && is_held;
        if !is_assigned {
            session.unbind();
        }
        let submits = submits && is_assigned;
        self.connections
            .insert(link, Connection { session, submits });
    }

    /// Removes a connection that has ended.
    pub(crate) fn down(&mut self, link: LinkId) {
        self.connections.remove(&link);
    }

    /// Unbinds a connection, which gets no further submits.
    pub(crate) fn unbind(&mut self, link: LinkId) {
        if let Some(connection) = self.connections.get_mut(&link) {
            connection.session.unbind();
            connection.submits = false;
        }
    }

    /// Unbinds all connections after their outstanding submits are answered.
    pub(crate) fn unbind_all(&self) {
        let connections = self.connections.values();
        connections.for_each(|connection| connection.session.unbind());
    }

    /// Returns `true` if no connection is bound.
    pub(crate) fn is_empty(&self) -> bool {
        self.connections.is_empty()
    }

    /// Returns the number of bound connections.
    pub(crate) fn len(&self) -> usize {
        self.connections.len()
    }

    /// Returns the connections that take submits.
    pub(crate) fn submitting(&self) -> impl Iterator<Item = (LinkId, &BoundSession)> {
        let submitting = self.connections.iter().filter(|(_, one)| one.submits);
        submitting.map(|(&link, one)| (link, &one.session))
    }

    /// Returns the number of submits without a response.
    pub(crate) fn outstanding(&self) -> usize {
        let connections = self.connections.values();
        connections.map(|one| one.session.outstanding()).sum()
    }

    /// Returns the session of a connection.
    pub(crate) fn session(&self, link: LinkId) -> Option<&BoundSession> {
        self.connections.get(&link).map(|one| &one.session)
    }

    /// Queues submits on a connection. A connection that is ending returns them, and gets no
    /// further ones.
    pub(crate) fn submit(&mut self, link: LinkId, submits: Submits) -> Result<(), Submits> {
        let Some(connection) = self.connections.get_mut(&link) else {
            return Err(submits);
        };
        let queued = connection.session.submit(submits);
        if queued.is_err() {
            connection.submits = false;
        }
        queued
    }

    /// Answers `deliver_sm` with success, on connections that still exist.
    pub(crate) fn answer(&self, origins: &[Origin]) {
        for (link, sequence) in origins {
            if let Some(session) = self.session(*link) {
                session.answer(vec![(*sequence, CommandStatus::ROK)]);
            }
        }
    }

    /// Records at the carrier which slots have a connection that takes submits. Returns the number
    /// of these connections.
    pub(crate) fn note_bound(&self) -> usize {
        let links: Vec<LinkId> = self.submitting().map(|(link, _)| link).collect();
        self.carrier
            .set_bound(links.iter().map(|&link| slot_of(link)).collect());
        links.len()
    }
}
