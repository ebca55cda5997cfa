//! Receipts and inbound messages of a carrier that are not committed yet.

use super::completed::Completed;
use super::inbound::InboundInbox;
use super::keep;
use super::logs;
use super::receipts::{Delivered, ReceiptInbox, UnreadableReceipt};
use super::slots::BindSlots;
use super::state::State;
use super::transport::{LinkId, Origin};
use crate::context::Context;
use crate::context::carrier::Carrier;
use smpp::DeliverSm;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

/// The receipts and inbound messages of one carrier that are not committed yet.
pub(crate) struct Inboxes {
    context: Arc<Context>,
    carrier: Arc<str>,
    pub(crate) receipts: ReceiptInbox,
    inbound: InboundInbox,
    /// `true` while inbound messages are committed.
    keeping: bool,
}

impl Inboxes {
    pub(crate) fn new(context: Arc<Context>, carrier: &Carrier) -> Self {
        let name = &carrier.name;
        Self {
            context,
            carrier: Arc::clone(name),
            receipts: ReceiptInbox::new(Arc::clone(name), carrier.smpp()),
            inbound: InboundInbox::new(Arc::clone(name)),
            keeping: false,
        }
    }

    /// Returns `true` if more may be read.
    pub(crate) fn have_capacity(&self) -> bool {
        self.receipts.has_capacity() && self.inbound.has_capacity()
    }

    /// Returns `true` if everything is committed.
    pub(crate) fn are_empty(&self) -> bool {
        self.receipts.is_empty() && self.inbound.is_empty() && !self.keeping
    }

    /// Adds a bound connection.
    pub(crate) fn bound(&mut self, link: LinkId) {
        let connection = self.context.live().plan.numbers(1);
        self.inbound.bound(link, connection);
    }

    /// Removes a lost connection.
    pub(crate) fn lost(&mut self, link: LinkId) {
        self.receipts.forget(link);
        self.inbound.lost(link);
    }

    /// Queues a receipt or an inbound message for its commit. An unreadable receipt is answered.
    pub(crate) fn deliver(
        &mut self,
        origin: Origin,
        deliver: DeliverSm,
        (state, slots): (&mut State, &BindSlots),
    ) {
        let (now_ms, steady_ms) = self.context.clock.both_ms();
        let before = self.receipts.len();
        match self.receipts.deliver(origin, deliver, steady_ms) {
            Delivered::Receipts(unreadable) => self.count(before, &unreadable, (state, slots)),
            Delivered::Inbound(deliver) => {
                state.measures.inbound();
                let id = self.context.live().plan.numbers(1);
                self.inbound.deliver(origin, &deliver, id, now_ms);
            }
        }
    }

    /// Answers segments of receipts that waited long enough.
    pub(crate) fn time_out(&mut self, (state, slots): (&mut State, &BindSlots)) {
        let (before, steady_ms) = (self.receipts.len(), self.context.clock.steady_ms());
        let (answers, unreadable) = self.receipts.time_out(steady_ms);
        slots.answer(&answers);
        self.count(before, &unreadable, (state, slots));
    }

    /// Counts the receipts since index `before`, and answers unreadable ones.
    fn count(
        &self,
        before: usize,
        unreadable: &[UnreadableReceipt],
        (state, slots): (&mut State, &BindSlots),
    ) {
        for received in self.receipts.since(before) {
            state.measures.receipt(&received.receipt);
        }
        for unreadable in unreadable {
            if state.measures.unreadable() {
                logs::unreadable(&self.carrier, &unreadable.deliver);
            }
            slots.answer(&unreadable.origins);
        }
    }

    /// Commits inbound messages, one group at a time. Their carrier gets its answers afterwards.
    pub(crate) fn keep(&mut self, slots: &BindSlots, done: &UnboundedSender<Completed>) {
        if self.keeping || self.inbound.is_empty() {
            return;
        }
        let (kept, requests) = self.inbound.take(|link| slots.session(link));
        self.keeping = true;
        let (context, done) = (Arc::clone(&self.context), done.clone());
        tokio::spawn(async move {
            // The worker may have ended.
            let _ = done.send(keep::keep(context, kept, requests).await);
        });
    }

    /// Records that a group is committed.
    pub(crate) fn kept(&mut self) {
        self.keeping = false;
    }
}
