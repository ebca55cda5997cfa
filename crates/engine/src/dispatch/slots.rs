//! Which connections a carrier has on this node: opened when the node is given them, unbound when they go to
//! another.

use super::bind::{self, LinkEvent, LinkId, Wire};
use super::worker::Desk;
use crate::dispatch::sandbox;
use database::Outage;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::Bind;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

/// Links of a slot: a pair at most.
const LINKS: LinkId = 2;
/// Slots that are given back, of all carriers.
static BINDS: Outage =
    Outage::of("connections of carriers cannot be given back, and are offered again");

/// The connections of this node and the tasks that keep them bound.
pub(crate) struct Slots {
    tls: Option<TlsConnector>,
    events: mpsc::Sender<LinkEvent>,
    /// The slots in use, each with the ways to end its tasks and how many it has.
    open: BTreeMap<i64, (Vec<watch::Sender<bool>>, usize)>,
    pub(crate) tasks: JoinSet<i64>,
}

impl Slots {
    pub(crate) fn new(tls: Option<TlsConnector>, events: mpsc::Sender<LinkEvent>) -> Self {
        Self {
            tls,
            events,
            open: BTreeMap::new(),
            tasks: JoinSet::new(),
        }
    }

    /// The slot of a link.
    fn of(link: LinkId) -> i64 {
        i64::try_from(link / LINKS).unwrap_or(i64::MAX)
    }
}

impl Desk {
    /// The simulated carrier has one connection, which no other node needs.
    pub(crate) async fn connect_sandbox(&self) {
        let (events, chance) = (self.slots.events.clone(), self.shared.chance.clone());
        let wire = Wire::Sandbox(sandbox::Wire::start(events, chance));
        let (link, submits) = (0, true);
        // The receiver is alive: it is the caller's.
        let _ = self
            .slots
            .events
            .send(LinkEvent::Up {
                link,
                wire,
                submits,
            })
            .await;
    }

    /// Opens and ends connections until they are those that this node has been given.
    pub(crate) fn reslot(&mut self) {
        let Some(settings) = self.carrier.settings.clone() else {
            return;
        };
        let held = self.wanted();
        for &slot in &held {
            if !self.slots.open.contains_key(&slot) {
                self.open(slot);
            }
        }
        for (slot, (ends, _)) in &self.slots.open {
            if !held.contains(slot) {
                for end in ends {
                    end.send_replace(true);
                }
            }
        }
        let given = |link: &LinkId| held.contains(&Slots::of(*link));
        for (_, bound) in self.wires.iter_mut().filter(|(link, _)| !given(link)) {
            bound.wire.unbind();
            bound.submits = false;
        }
        self.carrier.budget.resize(settings.window * held.len());
        self.pace
            .set_share(settings.max_per_second, held.len(), settings.binds);
        self.count_wires();
    }

    /// Whether a connection is this node's to have.
    pub(crate) fn is_given(&self, link: LinkId) -> bool {
        self.carrier.settings.is_none() || self.wanted().contains(&Slots::of(link))
    }

    /// None while this node may be taken for dead: another may have them, and receipts are better told to it.
    fn wanted(&self) -> BTreeSet<i64> {
        if self.closing || !self.shared.nodes.holds() {
            BTreeSet::new()
        } else {
            self.carrier.slots.borrow().clone()
        }
    }

    fn open(&mut self, slot: i64) {
        let Some(settings) = &self.carrier.settings else {
            return;
        };
        let mut ends = Vec::new();
        let kinds = bind::kinds(settings);
        let first = usize::try_from(slot).unwrap_or(0) * LINKS;
        for (link, &kind) in (first..).zip(kinds) {
            let (end, ending) = watch::channel(false);
            ends.push(end);
            let keeping = bind::keep_bound(
                Arc::clone(&self.shared),
                Arc::clone(settings),
                self.slots.tls.clone(),
                link,
                kind,
                self.slots.events.clone(),
                ending,
            );
            self.slots.tasks.spawn(async move {
                keeping.await;
                slot
            });
        }
        self.slots.open.insert(slot, (ends, kinds.len()));
    }

    /// A connection has ended for good. When the last of a slot has, the slot is another node's to take.
    pub(crate) fn slot_ended(&mut self, slot: i64) {
        let Some((_, tasks)) = self.slots.open.get_mut(&slot) else {
            return;
        };
        *tasks -= 1;
        if *tasks > 0 {
            return;
        }
        self.slots.open.remove(&slot);
        if self.wanted().contains(&slot) {
            // It came back while it was ending.
            self.open(slot);
        } else if self.shared.store.is_shared() && !self.closing && self.shared.nodes.holds() {
            let (shared, carrier) = (Arc::clone(&self.shared), self.carrier.name.to_string());
            tokio::spawn(async move {
                let bind = Bind {
                    carrier,
                    slot,
                    node: shared.nodes.node,
                    bound: false,
                };
                BINDS.note(shared.store.free_bind(bind).await);
            });
        }
    }

    /// Tells which slots have a connection on which messages go out.
    pub(crate) fn note_bound(&self) {
        let bound = self
            .wires
            .iter()
            .filter(|(_, bound)| bound.submits)
            .map(|(&link, _)| Slots::of(link))
            .collect();
        self.carrier.set_bound(bound);
    }
}
