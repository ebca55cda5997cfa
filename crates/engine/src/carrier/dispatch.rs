//! Out: claimed batches become submits on the connections, as window, pace and budget allow.

use super::desk::Desk;
use super::done::Done;
use super::hand::{Fate, Ready, Tag};
use super::link::LinkId;
use super::pages::Pages;
use crate::shared::FAILURE_PAUSE;
use domain::DeliveryStatus;
use smpp::Submit;
use store::Claimed;

impl Desk {
    /// Takes a claimed batch in hand, unless its time is over.
    pub(super) fn take(&mut self, claimed: Claimed) {
        let now_ms = self.shared.clock.now_ms();
        let (batch, content) = (&claimed.batch, &claimed.content);
        let rules = self.shared.plan.rules.leg(content.gateway, batch.leg);
        let validity_ms = rules.map_or(batch.expires_at_ms - now_ms, |rules| rules.validity_ms);
        let service_type = self
            .carrier
            .settings
            .as_ref()
            .map_or("", |settings| settings.service_type.as_str());
        let pages = Pages::new(&claimed, service_type, validity_ms);
        let late = now_ms >= batch.expires_at_ms;
        for tag in self.hand.take(claimed, pages, !late) {
            self.hand.decide(tag, self::late());
        }
    }

    /// Hands to the connections what is ready, as far as the pace allows.
    pub(super) fn dispatch(&mut self) {
        if self.hand.waiting() == 0 || !self.shared.nodes.holds() {
            return;
        }
        let now_ms = self.shared.clock.now_ms();
        let mut room = self.pace.room(self.shared.clock.steady_ms());
        let mut loads: Vec<(usize, LinkId)> = self
            .wires
            .iter()
            .filter(|(_, bound)| bound.submits)
            .map(|(&link, bound)| (bound.wire.load(), link))
            .collect();
        loads.sort_unstable();
        let share = self.hand.waiting().div_ceil(loads.len().max(1));
        for (_, link) in loads {
            let mut submits = Vec::with_capacity(share.min(1_024));
            while submits.len() < share && room > 0 {
                let Some(ready) = self.hand.next() else { break };
                if now_ms >= ready.batch.expires_at_ms {
                    // It waited too long in hand, for pace or for a carrier that throttles.
                    self.hand.decide(ready.tag, late());
                    continue;
                }
                let pages = ready.due().count();
                self.pace.spend(pages);
                room = room.saturating_sub(pages);
                self.measures.submitted(&ready.batch, now_ms);
                push_pages(&mut submits, &ready);
            }
            self.submit(link, submits);
        }
    }

    fn submit(&mut self, link: LinkId, submits: Vec<Submit>) {
        let Some(bound) = self.wires.get_mut(&link) else {
            return;
        };
        if submits.is_empty() {
            return;
        }
        if let Err(returned) = bound.wire.submit(submits) {
            // The connection is ending: the event that says so is on the way.
            bound.submits = false;
            self.count_wires();
            for submit in returned {
                let tag = Tag::from_number(submit.tag);
                if let Some(answer) = self.hand.answered(tag, smpp::Outcome::NotSent) {
                    self.answered(tag, answer);
                }
            }
        }
    }

    /// Claims as much as there is room for.
    pub(super) fn claim(&mut self) {
        let able = self.carrier.is_up() && self.shared.nodes.holds();
        if self.busy.claiming || self.closing || !able {
            return;
        }
        let Some((room, priority)) = self.carrier.claimable() else {
            return;
        };
        let clock = &self.shared.clock;
        let (now_ms, steady_ms) = (clock.now_ms(), clock.steady_ms());
        // What waits in hand uses up the pace first. A portion at a time: a claim costs the same for one.
        let pace = self
            .pace
            .room(steady_ms)
            .saturating_sub(self.hand.waiting());
        let asked = room.min(pace);
        if asked == 0
            || pace < self.pace.portion()
            || !self.carrier.budget.try_take(asked, priority)
        {
            return;
        }
        // Whatever arrives from here on sets it again.
        self.carrier.note_claim(priority);
        self.busy.claiming = true;
        let claim = self.shared.claim(&self.carrier, asked, priority, now_ms);
        let (store, done) = (self.shared.store.clone(), self.done.clone());
        tokio::spawn(async move {
            let step = match store.claim(claim).await {
                Ok(claimed) => Done::Claimed { asked, claimed },
                Err(error) => {
                    tracing::error!(%error, "batches could not be claimed");
                    tokio::time::sleep(FAILURE_PAUSE).await;
                    Done::ClaimFailed { asked }
                }
            };
            let _ = done.send(step);
        });
    }

    /// Quiet hours may have begun since the batch became due.
    pub(super) fn take_claimed(&mut self, claimed: Claimed) {
        let now_ms = self.shared.clock.now_ms();
        let content = &claimed.content;
        let plan = &self.shared.plan;
        let due = plan.due(
            content.gateway,
            claimed.batch.leg,
            content.environment,
            now_ms,
        );
        if due <= now_ms && !self.closing {
            self.take(claimed);
            return;
        }
        self.carrier.budget.give(claimed.batch.recipients.len());
        self.shared.release(vec![claimed.batch], due, None);
    }
}

fn late() -> Fate {
    Fate::Ended(DeliveryStatus::Expired, "validity passed".to_owned())
}

fn push_pages(submits: &mut Vec<Submit>, ready: &Ready) {
    for page in ready.due() {
        let tag = Tag {
            page: u8::try_from(page).unwrap_or(u8::MAX),
            ..ready.tag
        };
        submits.push(Submit {
            tag: tag.number(),
            pdu: ready.pages.submit(ready.recipient, page),
        });
    }
}
