//! The received receipts of a carrier that are not committed yet. No effects here.

use super::report::Answers;
use super::segments::{Joined, Segments};
use super::smpp_mapping;
use super::transport::{BoundSession, LinkId, Origin};
use crate::settings::SmppSettings;
use smpp::{DeliverSm, ReceiptIds, Segment};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::Receipt;

/// Memory of uncommitted receipts of a carrier at which its connections are no longer read (back
/// pressure).
const MAX_OCTETS: usize = 8 * 1024 * 1024;

/// A received receipt and the requests to answer after its commit.
pub(crate) struct ReceivedReceipt {
    pub(crate) receipt: Receipt,
    /// The connection of the receipt, until it is lost.
    pub(crate) link: Option<LinkId>,
    pub(crate) sequence: u32,
    /// The segments of the receipt that are answered together with it.
    pub(crate) segments: Vec<Origin>,
}

impl ReceivedReceipt {
    /// Returns the memory of the receipt in octets.
    fn octets(&self) -> usize {
        let Receipt {
            carrier_id,
            other_id,
            sender,
            error,
            raw,
            ..
        } = &self.receipt;
        let others = [other_id, error].into_iter().flatten().map(String::len);
        let raw = raw.as_ref().map_or(0, Vec::len);
        size_of::<Self>() + carrier_id.len() + sender.len() + others.sum::<usize>() + raw
    }
}

/// A receipt without a message id or state. It is answered and dropped, or the carrier would repeat
/// it for ever.
pub(crate) struct UnreadableReceipt {
    pub(crate) deliver: DeliverSm,
    pub(crate) origins: Vec<Origin>,
}

/// The effect of a `deliver_sm`.
pub(crate) enum Delivered {
    /// It was a receipt, or a segment of one. These receipts are unreadable.
    Receipts(Vec<UnreadableReceipt>),
    /// It is an inbound message, or a page of one. A receipt in pages without the mark is also such
    /// a message until its pages are joined.
    Inbound(DeliverSm),
}

/// The received receipts of one carrier.
pub(crate) struct ReceiptInbox {
    carrier: Arc<str>,
    ids: ReceiptIds,
    /// `true` if a text in the form of a receipt counts as one even without the `esm_class`.
    takes_unmarked: bool,
    receipts: Vec<ReceivedReceipt>,
    octets: usize,
    /// Incomplete segmented receipts.
    segments: Segments,
}

impl ReceiptInbox {
    pub(crate) fn new(carrier: Arc<str>, settings: Option<&SmppSettings>) -> Self {
        Self {
            carrier,
            ids: settings.map_or(ReceiptIds::Exact, |settings| settings.receipt_ids),
            takes_unmarked: settings.is_none_or(|settings| settings.unmarked_receipts),
            receipts: Vec::new(),
            octets: 0,
            segments: Segments::default(),
        }
    }

    /// Returns `true` if more receipts may be read.
    pub(crate) fn has_capacity(&self) -> bool {
        self.octets < MAX_OCTETS
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.receipts.is_empty()
    }

    /// Returns the number of uncommitted receipts.
    pub(crate) fn len(&self) -> usize {
        self.receipts.len()
    }

    /// Takes the oldest `count` receipts, with their answers by connection.
    pub(crate) fn take<'a>(
        &mut self,
        count: usize,
        session: impl Fn(LinkId) -> Option<&'a BoundSession>,
    ) -> (Vec<Receipt>, Answers) {
        let mut receipts = Vec::with_capacity(count);
        let mut answers: BTreeMap<LinkId, (BoundSession, Vec<(usize, u32)>)> = BTreeMap::new();
        for (index, received) in self.receipts.drain(..count).enumerate() {
            self.octets -= received.octets();
            receipts.push(received.receipt);
            let own = received.link.map(|link| (link, received.sequence));
            for (link, sequence) in own.into_iter().chain(received.segments) {
                if let Some(session) = session(link) {
                    let of_link = answers
                        .entry(link)
                        .or_insert_with(|| (session.clone(), Vec::new()));
                    of_link.1.push((index, sequence));
                }
            }
        }
        (receipts, Answers(answers.into_values().collect()))
    }

    /// Adds a `deliver_sm`. A segment waits for the others of its receipt.
    pub(crate) fn deliver(
        &mut self,
        origin: Origin,
        deliver: DeliverSm,
        steady_ms: i64,
    ) -> Delivered {
        let segment = Segment::of(&deliver);
        if smpp::receipt::is_marked(&deliver) {
            let unreadable = match segment {
                None => self.receive(deliver, vec![origin]).into_iter().collect(),
                Some(segment) => {
                    let joined = self.segments.add(segment, deliver, origin, steady_ms);
                    self.join(joined)
                }
            };
            return Delivered::Receipts(unreadable);
        }
        match self.receipt(&deliver).filter(|_| segment.is_none()) {
            Some(receipt) => {
                self.push(receipt, vec![origin]);
                Delivered::Receipts(Vec::new())
            }
            None => Delivered::Inbound(deliver),
        }
    }

    /// Returns the segments that must be answered now. Receipts whose segments did not all arrive
    /// in time are read without them.
    pub(crate) fn time_out(&mut self, steady_ms: i64) -> (Vec<Origin>, Vec<UnreadableReceipt>) {
        let (answers, late) = self.segments.time_out(steady_ms);
        (answers, self.join(late))
    }

    fn join(&mut self, joined: Vec<Joined>) -> Vec<UnreadableReceipt> {
        let joined = joined.into_iter();
        joined
            .filter_map(|one| self.receive(one.deliver, one.origins))
            .collect()
    }

    /// Queues a marked receipt, or returns it if it is unreadable.
    fn receive(&mut self, deliver: DeliverSm, origins: Vec<Origin>) -> Option<UnreadableReceipt> {
        match self.receipt(&deliver) {
            Some(receipt) => {
                self.push(receipt, origins);
                None
            }
            None => Some(UnreadableReceipt { deliver, origins }),
        }
    }

    /// Queues a receipt with the requests to answer. The last of them is its own.
    fn push(&mut self, receipt: Receipt, mut origins: Vec<Origin>) {
        let own = origins.pop();
        let received = ReceivedReceipt {
            receipt,
            link: own.map(|(link, _)| link),
            sequence: own.map_or(0, |(_, sequence)| sequence),
            segments: origins,
        };
        self.octets += received.octets();
        self.receipts.push(received);
    }

    /// Returns the receipt of a `deliver_sm`, if it is one that this carrier may send.
    fn receipt(&self, deliver: &DeliverSm) -> Option<Receipt> {
        let read = smpp::receipt::parse(deliver)?;
        if !read.marked && !self.takes_unmarked {
            return None;
        }
        smpp_mapping::receipt(&self.carrier, deliver, read, self.ids)
    }

    /// Returns the receipts from index `count` on.
    pub(crate) fn since(&self, count: usize) -> &[ReceivedReceipt] {
        self.receipts.get(count..).unwrap_or_default()
    }

    /// Removes a lost connection. The carrier repeats unanswered segments on another one. Receipts
    /// are committed without an answer.
    pub(crate) fn forget(&mut self, link: LinkId) {
        for received in &mut self.receipts {
            if received.link == Some(link) {
                received.link = None;
            }
            received.segments.retain(|(other, _)| *other != link);
        }
        self.segments.forget(link);
    }
}
