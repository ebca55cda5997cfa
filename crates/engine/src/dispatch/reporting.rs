//! What came back from a carrier, lined up to be committed.

use super::bind::Wire;
use super::worker::Desk;
use crate::settle::group_commit::Said;
use crate::settle::quarantine::Answers;
use crate::settle::report::{MOST_ASIDE, Teller, take_turn};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Desk {
    /// Has what came back committed, one commit at a time.
    pub(crate) fn report(&mut self) {
        if self.busy.reporting || (!self.hand.has_news() && self.receipts.is_empty()) {
            return;
        }
        let now_ms = self.shared.clock.now_ms();
        let most = self.shared.turns.most(now_ms);
        let (progress, accounted) = self.hand.progress(&self.shared.live().plan, now_ms, most);
        let most = self.receipts.len().min(most.max(accounted));
        if progress.is_empty() && most == 0 {
            // All news is of batches that are held back.
            return;
        }
        let (mut receipts, mut answers) = (Vec::with_capacity(most), BTreeMap::new());
        for (place, heard) in self.receipts.drain(..most).enumerate() {
            self.receipt_octets -= heard.octets();
            receipts.push(heard.receipt);
            if let Some(bound) = heard.link.and_then(|link| self.wires.get(&link)) {
                let answers: &mut (Wire, Vec<(usize, u32)>) = answers
                    .entry(heard.link)
                    .or_insert_with(|| (bound.wire.clone(), Vec::new()));
                answers.1.push((place, heard.sequence));
            }
            for (link, sequence) in heard.segments {
                if let Some(bound) = self.wires.get(&link) {
                    let answers = answers
                        .entry(Some(link))
                        .or_insert_with(|| (bound.wire.clone(), Vec::new()));
                    answers.1.push((place, sequence));
                }
            }
        }
        let teller = Teller {
            carrier: Arc::clone(&self.carrier.name),
            accounted,
            answers: Answers(answers.into_values().collect()),
            aside: MOST_ASIDE.saturating_sub(self.busy.aside),
            done: self.done.clone(),
        };
        self.busy.reporting = true;
        self.shared.turns.line_up(Said {
            progress,
            receipts,
            teller,
        });
        tokio::spawn(take_turn(Arc::clone(&self.shared)));
    }
}
