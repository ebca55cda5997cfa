//! The recipients of a carrier between claim and report: in flight, paced, and decided on. No task and no connection here.

use super::decision::{Decision, Tag};
use super::in_flight::{InFlight, Ready};
use super::multipart::Answer;
use super::pages::Pages;
use super::retry::{Requeue, RequeueKind};
use super::smpp_mapping::{self, AnsweredRecipient};
use crate::context::Context;
use crate::context::carrier::Carrier;
use crate::context::metrics::CarrierMeasures;
use domain::{DeliveryStatus, Pace, Priority, SubmitFault};
use smpp::{ReceiptIds, Submit, SubmitOutcome};
use std::sync::Arc;
use store::{BatchKind, Claimed};

/// A window of so many places keeps one that only a one-time password takes.
const MIN_WINDOW_WITH_RESERVE: usize = 10;

/// The state of a worker.
pub(crate) struct State {
    context: Arc<Context>,
    carrier: Arc<Carrier>,
    ids: ReceiptIds,
    pub(crate) measures: CarrierMeasures,
    pub(crate) in_flight: InFlight,
    pub(crate) pace: Pace,
    pub(crate) closing: bool,
}

impl State {
    pub(crate) fn new(context: Arc<Context>, carrier: Arc<Carrier>) -> Self {
        let settings = carrier.settings.as_ref();
        let max_per_second = settings.and_then(|settings| settings.max_per_second);
        Self {
            ids: settings.map_or(ReceiptIds::Exact, |settings| settings.receipt_ids),
            measures: CarrierMeasures::new(&carrier.name),
            in_flight: InFlight::default(),
            pace: Pace::new(max_per_second, context.clock.steady_ms()),
            closing: false,
            context,
            carrier,
        }
    }

    /// Takes a claimed batch in flight. A batch whose time is over expires.
    pub(crate) fn take(&mut self, claimed: Claimed) {
        // It was claimed just before its account was held.
        if self.context.holds.contain(&claimed.content) {
            self.carrier.withhold();
        }
        let now_ms = self.context.clock.now_ms();
        let (batch, content) = (&claimed.batch, &claimed.content);
        let live = self.context.live();
        let rules = live.plan.rules.leg(content.gateway, batch.leg);
        let left_ms = batch.expires_at_ms - now_ms;
        // A batch that has waited, or goes out again, is not to arrive after it was given up and refunded.
        let validity_ms = rules.map_or(left_ms, |rules| rules.validity_ms.min(left_ms));
        let settings = self.carrier.settings.as_ref();
        let service_type = settings.map_or("", |settings| settings.service_type.as_str());
        let sends_validity = settings.is_none_or(|settings| settings.send_validity);
        let validity_ms = sends_validity.then_some(validity_ms);
        let pages = Pages::new(&claimed, service_type, validity_ms);
        let is_late = now_ms >= batch.expires_at_ms;
        for tag in self.in_flight.take(claimed, pages, !is_late) {
            self.in_flight.decide(tag, expired());
        }
    }

    /// Quiet hours may have begun since the batch became due.
    pub(crate) fn take_claimed(&mut self, claimed: Claimed) {
        let now_ms = self.context.clock.now_ms();
        let content = &claimed.content;
        let due = self.context.live().plan.due(
            content.gateway,
            claimed.batch.leg,
            content.environment,
            now_ms,
        );
        if due <= now_ms && !self.closing {
            self.take(claimed);
            return;
        }
        self.carrier.budget.put(claimed.batch.recipients.len());
        self.context.release(vec![claimed.batch], due, None);
    }

    /// The pages of so many recipients at most, for so many free places. The last of a long message may have to wait for
    /// theirs at the connection.
    pub(crate) fn fill(
        &mut self,
        recipients: usize,
        places: usize,
        pace: &mut usize,
    ) -> Vec<Submit> {
        let now_ms = self.context.clock.now_ms();
        let window = self.carrier.settings.as_ref().map_or(0, |all| all.window);
        let reserve = usize::from(window >= MIN_WINDOW_WITH_RESERVE);
        let mut submits = Vec::with_capacity(recipients.min(places).min(1_024));
        let mut taken = 0;
        while taken < recipients && submits.len() < places && *pace > 0 {
            let least = if submits.len() + reserve < places {
                Priority::Bulk
            } else {
                Priority::Otp
            };
            let Some(ready) = self.in_flight.next(least) else {
                break;
            };
            if now_ms >= ready.batch.expires_at_ms {
                self.expire_waiting(&ready, now_ms);
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

    /// A recipient waited in flight, for pace, a place or a carrier that throttles, until its time was over. A second leg
    /// counts as sent since it was claimed: put back, it ends without its price where it is claimed again.
    fn expire_waiting(&mut self, ready: &Ready, now_ms: i64) {
        if ready.batch.kind == BatchKind::Backup {
            self.put_back(ready.tag, now_ms);
        } else {
            self.in_flight.decide(ready.tag, expired());
        }
    }

    /// Records the outcome of a page, and decides on the recipient once all its pages have one.
    pub(crate) fn record(&mut self, tag: Tag, outcome: SubmitOutcome) {
        if let Some(answer) = self.in_flight.answered(tag, outcome) {
            self.answered(tag, answer);
        }
    }

    fn answered(&mut self, tag: Tag, answer: Answer) {
        let Some((batch, content)) = self.in_flight.batch(tag) else {
            return;
        };
        let Some(&recipient) = batch.recipients.get(usize::from(tag.recipient)) else {
            return;
        };
        let steady_ms = self.context.clock.steady_ms();
        if let Answer::Rejected(status) = &answer
            && smpp_mapping::fault(*status) == SubmitFault::Throttled
        {
            let before = batch.tries + self.in_flight.waits(tag);
            self.pace.throttled(steady_ms, before);
        }
        // A worker that ends holds nobody back for room: its waiting recipients are put back.
        let has_room = self.closing || self.in_flight.held() < self.carrier.budget.max_delayed();
        let asked = AnsweredRecipient {
            batch: &batch,
            content: &content,
            recipient,
            is_begun: self.in_flight.is_begun(tag),
            waits: self.in_flight.waits(tag),
            has_room,
            now_ms: self.context.clock.now_ms(),
            steady_ms,
        };
        let plan = &self.context.live().plan;
        let decision = smpp_mapping::decision(plan, &asked, answer, self.ids);
        if matches!(decision, Decision::Doubted(_)) {
            self.measures.in_doubt();
        }
        self.in_flight.decide(tag, decision);
    }

    /// Puts back all recipients that are not on the wire.
    pub(crate) fn put_back_unsent(&mut self) {
        let now_ms = self.context.clock.now_ms();
        for tag in self.in_flight.unsent() {
            self.put_back(tag, now_ms);
        }
    }

    /// Puts back recipients of accounts that may not send any more. Where pages of a recipient are on the wire the others
    /// follow them.
    pub(crate) fn put_back_withheld(&mut self) {
        if !self.carrier.take_withheld() {
            return;
        }
        let now_ms = self.context.clock.now_ms();
        let context = Arc::clone(&self.context);
        let withheld = |content: &_| context.holds.contain(content);
        for tag in self.in_flight.withdraw(withheld) {
            self.put_back(tag, now_ms);
        }
    }

    fn put_back(&mut self, tag: Tag, now_ms: i64) {
        let Some((batch, _)) = self.in_flight.batch(tag) else {
            return;
        };
        if self.in_flight.is_begun(tag) {
            // From a row all pages would go out, also those that the carrier has.
            self.answered(tag, Answer::Unknown);
            return;
        }
        let requeue = Requeue {
            due_at_ms: now_ms,
            carrier: Arc::clone(&batch.carrier),
            tries: batch.tries + self.in_flight.waits(tag),
            kind: RequeueKind::Unsent,
        };
        self.in_flight.decide(tag, Decision::Requeue(requeue));
    }
}

fn expired() -> Decision {
    Decision::Ended(DeliveryStatus::Expired, "validity passed".to_owned())
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
