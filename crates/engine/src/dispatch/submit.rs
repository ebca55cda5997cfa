//! Out: claimed batches become submits on the connections, as window, pace and budget allow.

use super::bind::{LinkId, Wire};
use super::completed::Done;
use super::in_flight::{Fate, Ready, Tag};
use super::pages::Pages;
use super::worker::Desk;
use crate::context::FAILURE_PAUSE;
use database::Outage;
use domain::{DeliveryStatus, Priority};
use smpp::Submit;
use store::{BatchKind, Claimed};

/// A window of so many places keeps one that only a one-time password takes.
const WIDE_WINDOW: usize = 10;
/// Claims, of all carriers.
static CLAIMS: Outage = Outage::of("batches cannot be claimed");

/// A connection that takes submits.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Open {
    is_silent: bool,
    /// Free places in its window.
    places: usize,
    link: LinkId,
}

impl Desk {
    /// Takes a claimed batch in hand, unless its time is over.
    pub(crate) fn take(&mut self, claimed: Claimed) {
        // It was claimed just before its account was held.
        if self.shared.holds.contain(&claimed.content) {
            self.carrier.withhold();
        }
        let now_ms = self.shared.clock.now_ms();
        let (batch, content) = (&claimed.batch, &claimed.content);
        let live = self.shared.live();
        let rules = live.plan.rules.leg(content.gateway, batch.leg);
        let left_ms = batch.expires_at_ms - now_ms;
        // What has waited, or goes out again, is not to arrive after it was given up and refunded.
        let validity_ms = rules.map_or(left_ms, |rules| rules.validity_ms.min(left_ms));
        let settings = self.carrier.settings.as_ref();
        let service_type = settings.map_or("", |settings| settings.service_type.as_str());
        let sends_validity = settings.is_none_or(|settings| settings.send_validity);
        let validity_ms = sends_validity.then_some(validity_ms);
        let pages = Pages::new(&claimed, service_type, validity_ms);
        let late = now_ms >= batch.expires_at_ms;
        for tag in self.hand.take(claimed, pages, !late) {
            self.hand.decide(tag, self::late());
        }
    }

    /// Hands to the connections what is ready, as far as their windows and the pace allow. The rest stays in hand,
    /// where what is urgent overtakes it.
    pub(crate) fn dispatch(&mut self) {
        self.crowded = false;
        if self.hand.waiting() == 0 || !self.shared.nodes.holds() {
            return;
        }
        let mut pace = self.pace.room(self.shared.clock.steady_ms());
        let submitting = self.wires.iter().filter(|(_, bound)| bound.submits);
        let links = submitting.map(|(&link, bound)| Open {
            is_silent: bound.wire.is_silent(),
            places: self.places(&bound.wire),
            link,
        });
        let links = in_turn(links.collect());
        for (before, &Open { places, link, .. }) in links.iter().enumerate() {
            let share = self.hand.waiting() / (links.len() - before);
            let submits = self.fill(share, places, &mut pace);
            self.submit(link, submits);
        }
        self.crowded = pace > 0 && self.hand.waiting() > 0;
    }

    /// The free places in a connection's window.
    fn places(&self, wire: &Wire) -> usize {
        let window = self.carrier.settings.as_ref();
        window.map_or(usize::MAX, |settings| {
            settings.window.saturating_sub(wire.load())
        })
    }

    /// The pages of so many recipients at most, for that many free places. The last of a long message may have to
    /// wait for theirs at the connection.
    fn fill(&mut self, recipients: usize, places: usize, pace: &mut usize) -> Vec<Submit> {
        let now_ms = self.shared.clock.now_ms();
        let window = self.carrier.settings.as_ref().map_or(0, |all| all.window);
        let kept = usize::from(window >= WIDE_WINDOW);
        let mut submits = Vec::with_capacity(recipients.min(places).min(1_024));
        let mut taken = 0;
        while taken < recipients && submits.len() < places && *pace > 0 {
            let least = if submits.len() + kept < places {
                Priority::Bulk
            } else {
                Priority::Otp
            };
            let Some(ready) = self.hand.next(least) else {
                break;
            };
            if now_ms >= ready.batch.expires_at_ms {
                self.waited_too_long(&ready, now_ms);
                continue;
            }
            let pages = ready.due().count();
            self.pace.spend(pages);
            *pace = pace.saturating_sub(pages);
            self.measures.submitted(&ready.batch, now_ms);
            push_pages(&mut submits, &ready);
            taken += 1;
        }
        submits
    }

    /// It waited in hand, for pace, a place or a carrier that throttles, until its time was over. A second leg counts as
    /// sent since it was claimed: put back, it ends without its price where it is claimed again.
    fn waited_too_long(&mut self, ready: &Ready, now_ms: i64) {
        if ready.batch.kind == BatchKind::Backup {
            self.put_back(ready.tag, now_ms);
        } else {
            self.hand.decide(ready.tag, late());
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
                if let Some(answer) = self.hand.answered(tag, smpp::SubmitOutcome::NotSent) {
                    self.answered(tag, answer);
                }
            }
        }
    }

    /// Claims as much as there is room for.
    pub(crate) fn claim(&mut self) {
        let able = self.carrier.is_up() && self.shared.nodes.holds();
        if self.busy.claiming || self.closing || !able {
            return;
        }
        let Some((room, priority)) = self.carrier.claimable(self.hand.waiting() > 0) else {
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
        let claim = self
            .shared
            .claim(&self.carrier.name, asked, priority, now_ms);
        let (store, done) = (self.shared.store.clone(), self.done.clone());
        tokio::spawn(async move {
            let step = match store.claim(claim).await {
                Ok(claimed) => {
                    CLAIMS.worked();
                    Done::Claimed { asked, claimed }
                }
                Err(error) => {
                    CLAIMS.failed(&error);
                    tokio::time::sleep(FAILURE_PAUSE).await;
                    Done::ClaimFailed { asked }
                }
            };
            let _ = done.send(step);
        });
    }

    /// Quiet hours may have begun since the batch became due.
    pub(crate) fn take_claimed(&mut self, claimed: Claimed) {
        let now_ms = self.shared.clock.now_ms();
        let content = &claimed.content;
        let due = self.shared.live().plan.due(
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

/// The connections that are given submits, the fullest first: what it has no place for goes to the others. One that may
/// be dead is given none while there are others; alone, it sends on when it is heard.
fn in_turn(mut links: Vec<Open>) -> Vec<Open> {
    let one_is_heard = links.iter().any(|one| !one.is_silent);
    links.retain(|one| !one.is_silent || !one_is_heard);
    links.sort_unstable();
    links
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_may_be_dead_is_given_nothing_while_another_is_heard() {
        let open = |is_silent, places, link| Open {
            is_silent,
            places,
            link,
        };
        let (silent, full, free) = (open(true, 0, 1), open(false, 2, 2), open(false, 90, 3));
        assert_eq!(in_turn(vec![free, silent, full]), [full, free]);
        assert_eq!(in_turn(vec![silent]), [silent]);
    }
}
