//! What comes as `deliver_sm`: receipts wait for their commit, and all else is answered.

use super::bind::LinkId;
use super::segments::{Joined, Origin};
use super::smpp_mapping;
use super::worker::{Desk, Heard};
use smpp::{CommandStatus, DeliverSm, Segment};
use store::Receipt;

impl Desk {
    /// The receipt that it is, where its carrier is believed to have written it.
    fn receipt(&self, deliver: &DeliverSm) -> Option<Receipt> {
        let read = smpp::receipt::parse(deliver)?;
        if !read.marked && !self.takes_unmarked() {
            return None;
        }
        smpp_mapping::receipt(&self.carrier.name, deliver, read, self.ids)
    }

    fn takes_unmarked(&self) -> bool {
        let settings = self.carrier.settings.as_ref();
        settings.is_none_or(|settings| settings.unmarked_receipts)
    }

    /// A segment waits for the others where it may be one of a receipt.
    pub(crate) fn delivered(&mut self, origin: Origin, deliver: DeliverSm) {
        let marked = smpp::receipt::is_marked(&deliver);
        let place = Segment::of(&deliver).filter(|_| marked || self.takes_unmarked());
        let Some(place) = place else {
            self.received(&deliver, Some(origin), Vec::new());
            return;
        };
        let steady_ms = self.shared.clock.steady_ms();
        let segments = if marked {
            &mut self.marked_segments
        } else {
            &mut self.other_segments
        };
        for joined in segments.add(place, deliver, origin, steady_ms) {
            self.joined(joined);
        }
    }

    /// Answers the segments that have waited long enough, and reads what is there of receipts that stay without the rest.
    pub(crate) fn time_out_segments(&mut self) {
        let steady_ms = self.shared.clock.steady_ms();
        let marked = self.marked_segments.time_out(steady_ms);
        let other = self.other_segments.time_out(steady_ms);
        for (answers, late) in [marked, other] {
            self.answer(&answers);
            for joined in late {
                self.joined(joined);
            }
        }
    }

    fn joined(&mut self, joined: Joined) {
        let mut segments = joined.origins;
        let last = segments.pop();
        self.received(&joined.deliver, last, segments);
    }

    /// A receipt waits for its commit. An ordinary message is answered and dropped: nobody asked for it. So is a receipt
    /// that cannot be read, or it would come again for ever.
    fn received(&mut self, deliver: &DeliverSm, origin: Option<Origin>, segments: Vec<Origin>) {
        if let Some(receipt) = self.receipt(deliver) {
            self.measures.receipt(&receipt);
            let heard = Heard {
                receipt,
                link: origin.map(|(link, _)| link),
                sequence: origin.map_or(0, |(_, sequence)| sequence),
                segments,
            };
            self.receipt_octets += heard.octets();
            self.receipts.push(heard);
            return;
        }
        if smpp::receipt::is_marked(deliver) {
            self.unreadable(deliver);
        } else {
            self.measures.inbound();
        }
        self.answer(origin.as_slice());
        self.answer(&segments);
    }

    fn answer(&self, origins: &[Origin]) {
        for (link, sequence) in origins {
            if let Some(bound) = self.wires.get(link) {
                bound.wire.answer(vec![(*sequence, CommandStatus::ROK)]);
            }
        }
    }

    /// The first is told, without what stands in it; those that follow are counted.
    fn unreadable(&mut self, deliver: &DeliverSm) {
        if self.measures.unreadable() {
            tracing::warn!(
                carrier.name = &*self.carrier.name,
                smpp.esm_class = deliver.esm_class,
                smpp.data_coding = deliver.data_coding,
                smpp.octets = deliver.text().len(),
                "a receipt names no message or no state, and is answered and dropped; more of them are only counted, as \
                 ogene_receipts_unreadable_total"
            );
        }
    }

    /// A connection is gone: the segments that came on it come again.
    pub(crate) fn forget_segments(&mut self, link: LinkId) {
        for heard in &mut self.receipts {
            heard.segments.retain(|(other, _)| *other != link);
        }
        self.marked_segments.forget(link);
        self.other_segments.forget(link);
    }
}
