//! The claimed recipients of a carrier between claim and report. No task and no connection here.

use super::decision::{Decision, Tag};
use super::in_flight::{InFlight, Ready};
use super::multipart::Answer;
use super::pages::{Cut, Pages};
use super::retry::{Requeue, RequeueKind};
use super::smpp_mapping::{self, AnsweredRecipient};
use super::transport::{HttpSubmit, Submits};
use crate::context::Context;
use crate::context::carrier::Carrier;
use crate::context::metrics::CarrierMeasures;
use crate::context::outcome::{HttpRejection, Outcome, Rejection};
use crate::settings::CarrierSettings;
use domain::carrier_control::CarrierControl;
use domain::http_carrier::{HttpRecipient, submit_id};
use domain::{DeliveryStatus, Pace, Priority, SubmitFault};
use smpp::{ReceiptIds, Submit};
use std::sync::Arc;
use std::time::Duration;
use store::{Batch, BatchKind, Body, Claimed, Content};

/// Size of an in-flight window from which one slot is reserved for one-time passwords.
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
            ids: carrier
                .smpp()
                .map_or(ReceiptIds::Exact, |smpp| smpp.receipt_ids),
            measures: CarrierMeasures::new(&carrier.name),
            in_flight: InFlight::default(),
            pace: Pace::new(max_per_second, context.clock.steady_ms()),
            closing: false,
            context,
            carrier,
        }
    }

    /// Adds a claimed batch. An expired batch is decided at once.
    pub(crate) fn take(&mut self, claimed: Claimed) {
        // Since the claim, the account may have been held, or message or carrier stopped.
        if self.context.holds.contain(&claimed.content)
            || self.context.stops.contain(&claimed.batch)
            || self.is_stopped()
        {
            self.carrier.withhold();
        }
        let now_ms = self.context.clock.now_ms();
        let (batch, content) = (&claimed.batch, &claimed.content);
        let live = self.context.live();
        let rules = live.plan.rules.leg(content.gateway, batch.leg);
        let left_ms = batch.expires_at_ms - now_ms;
        // The validity ends with the message, so a late recipient cannot arrive after its refund.
        let validity_ms = rules.map_or(left_ms, |rules| rules.validity_ms.min(left_ms));
        let smpp = self.carrier.smpp();
        let service_type = smpp.map_or("", |smpp| smpp.service_type.as_str());
        let sends_validity = smpp.is_none_or(|smpp| smpp.send_validity);
        let validity_ms = sends_validity.then_some(validity_ms);
        let cut = if self.carrier.is_http() {
            Cut::Whole
        } else {
            Cut::Pages
        };
        let pages = Pages::new(
            &claimed,
            &self.context.otp_key,
            cut,
            (service_type, validity_ms),
        );
        let is_late = now_ms >= batch.expires_at_ms;
        // A carrier that cuts texts takes no binary data. Another one may take it.
        let is_refused = pages.is_none() && matches!(content.body, Body::Page(_));
        let ended = match &pages {
            None if !is_refused => Some(without_text as fn() -> Decision),
            None | Some(_) if is_late => Some(expired as fn() -> Decision),
            None | Some(_) => None,
        };
        let is_sent = ended.is_none() && !is_refused;
        let pages = pages.unwrap_or_default();
        for tag in self.in_flight.take(claimed, pages, is_sent) {
            match ended {
                Some(ended) => self.in_flight.decide(tag, ended()),
                None => self.answered(tag, binary_refused()),
            }
        }
    }

    /// Adds a batch of a claim, or releases it if quiet hours have begun since.
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

    /// Returns submits for at most `recipients` recipients and `free_window` free window slots. The
    /// last pages of a multipart message may exceed the window, and wait at the connection. A request
    /// by HTTP takes one slot, however many recipients it has.
    pub(crate) fn fill(
        &mut self,
        recipients: usize,
        free_window: usize,
        pace: &mut usize,
    ) -> Submits {
        let now_ms = self.context.clock.now_ms();
        let window = self.carrier.settings.as_ref().map_or(0, |all| all.window);
        let reserve = usize::from(window >= MIN_WINDOW_WITH_RESERVE);
        let mut submits = self.no_submits(recipients.min(free_window).min(1_024));
        let mut taken = 0;
        while taken < recipients && *pace > 0 {
            let joins = self.next_joins(&submits);
            if !joins && submits.len() >= free_window {
                break;
            }
            let least = if joins || submits.len() + reserve < free_window {
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
            push_pages(&mut submits, &ready, joins);
            taken += 1;
        }
        submits
    }

    /// Returns `true` if the next recipient has room in the last request.
    fn next_joins(&self, submits: &Submits) -> bool {
        let Submits::Http(requests) = submits else {
            return false;
        };
        let settings = self.carrier.settings.as_ref();
        let http = settings.and_then(|settings| settings.http());
        let most = http.map_or(1, |http| http.recipients_per_request);
        let last = requests.last().filter(|last| last.tags.len() < most);
        let before = last.and_then(|last| last.tags.last());
        before.is_some_and(|tag| self.in_flight.next_shares(Tag::from_number(*tag)))
    }

    /// Returns an empty list of submits in the form of the carrier's protocol.
    fn no_submits(&self, capacity: usize) -> Submits {
        if self.carrier.is_http() {
            Submits::Http(Vec::with_capacity(capacity))
        } else {
            Submits::Smpp(Vec::with_capacity(capacity))
        }
    }

    /// Expires a recipient that waited in memory until its message expired. A second leg is put
    /// back instead: it was charged at its claim, and the next claim ends it without a charge.
    fn expire_waiting(&mut self, ready: &Ready, now_ms: i64) {
        if ready.batch.kind == BatchKind::Backup {
            self.put_back(ready.tag, now_ms);
        } else {
            self.in_flight.decide(ready.tag, expired());
        }
    }

    /// Records the outcome of a page. Decides on the recipient once all its pages have one.
    pub(crate) fn record(&mut self, tag: Tag, outcome: Outcome) {
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
        if let Answer::Rejected(rejection) = &answer
            && rejection.fault() == SubmitFault::Throttled
        {
            let before = batch.tries + self.in_flight.delays(tag);
            self.pace.throttled(steady_ms, before);
        }
        // A closing worker ignores the limit, because its delayed recipients are put back.
        let has_capacity =
            self.closing || self.in_flight.delayed() < self.carrier.budget.max_delayed();
        let asked = AnsweredRecipient {
            batch: &batch,
            content: &content,
            recipient,
            is_begun: self.in_flight.is_begun(tag),
            delays: self.in_flight.delays(tag),
            has_capacity,
            now_ms: self.context.clock.now_ms(),
            steady_ms,
        };
        let plan = &self.context.live().plan;
        let decision = smpp_mapping::decision(plan, &asked, answer, self.ids);
        if matches!(decision, Decision::InDoubt(_)) {
            self.measures.in_doubt();
        }
        let is_again = matches!(decision, Decision::ResubmitNow | Decision::ResubmitAt(_));
        let is_stopped = self.is_stopped() || self.context.stops.contain(&batch);
        if is_again && !asked.is_begun && is_stopped {
            self.put_back(tag, asked.now_ms);
            return;
        }
        self.in_flight.decide(tag, decision);
    }

    /// Puts back all recipients that are not on the wire.
    pub(crate) fn put_back_unsent(&mut self) {
        let now_ms = self.context.clock.now_ms();
        for tag in self.in_flight.take_unsent() {
            self.put_back(tag, now_ms);
        }
    }

    /// Returns the control of the carrier by operators.
    pub(crate) fn control(&self) -> CarrierControl {
        self.context.controls.of(&self.carrier.name)
    }

    /// Returns `true` if an operator paused or drained the carrier.
    fn is_stopped(&self) -> bool {
        !self.control().submits()
    }

    /// Returns `true` if an operator drained the carrier, and no claimed recipient is left here.
    pub(crate) fn is_drained(&self) -> bool {
        !self.control().keeps_binds(self.in_flight.is_empty())
    }

    /// Sets the share of the rate that the bind slots of this node have.
    pub(crate) fn set_share(&mut self, settings: &CarrierSettings, held: usize) {
        let limit = self.control().rate(settings.max_per_second);
        self.pace.set_share(limit, held, settings.binds);
    }

    /// Returns the time until the pace allows a submit or a claim. Returns `None` if neither waits.
    pub(crate) fn wait(&self, submits_wait: bool, has_backlog: bool) -> Option<Duration> {
        let submits = match (submits_wait, has_backlog) {
            (true, _) => 1,
            (false, true) => self.pace.min_claim(),
            (false, false) => return None,
        };
        let steady_ms = self.context.clock.steady_ms();
        let next_ms = self.pace.next_ms(steady_ms, submits);
        let wait_ms = (next_ms - steady_ms).clamp(1, 1_000);
        Some(Duration::from_millis(wait_ms.unsigned_abs()))
    }

    /// Puts back recipients of stopped messages, and of accounts that may no longer send, or all of
    /// a stopped carrier. A recipient with accepted pages is still completed.
    pub(crate) fn put_back_withheld(&mut self) {
        if !self.carrier.take_withheld() {
            return;
        }
        let now_ms = self.context.clock.now_ms();
        let context = Arc::clone(&self.context);
        let is_stopped = |batch: &Batch| context.stops.contain(batch);
        let all = self.is_stopped();
        let withheld = |batch: &Batch, content: &Content| {
            all || is_stopped(batch) || context.holds.contain(content)
        };
        for tag in self.in_flight.withdraw(withheld) {
            self.put_back(tag, now_ms);
        }
        self.in_flight.note_stopped(is_stopped);
    }

    fn put_back(&mut self, tag: Tag, now_ms: i64) {
        let Some((batch, _)) = self.in_flight.batch(tag) else {
            return;
        };
        if self.in_flight.is_begun(tag) {
            // A batch submits all pages again, also the accepted ones.
            self.answered(tag, Answer::Unknown);
            return;
        }
        let requeue = Requeue {
            due_at_ms: now_ms,
            carrier: Arc::clone(&batch.carrier),
            tries: batch.tries + self.in_flight.delays(tag),
            kind: RequeueKind::Unsent,
        };
        self.in_flight.decide(tag, Decision::Requeue(requeue));
    }
}

/// Returns the end of recipients whose text was removed from the database by hand.
fn without_text() -> Decision {
    Decision::Ended(DeliveryStatus::Undelivered, "text is missing".to_owned())
}

/// Returns the answer to binary data in the place of a carrier that cuts texts.
fn binary_refused() -> Answer {
    Answer::Rejected(Rejection::Http(HttpRejection {
        fault: SubmitFault::SenderRejected,
        error: "binary data".to_owned(),
        label: "binary".to_owned(),
    }))
}

fn expired() -> Decision {
    Decision::Ended(DeliveryStatus::Expired, "validity passed".to_owned())
}

/// Adds the submits of a recipient. A carrier by HTTP gets the whole text in one. If the recipient
/// `joins`, the last request has it too.
fn push_pages(submits: &mut Submits, ready: &Ready, joins: bool) {
    let index = usize::from(ready.tag.recipient);
    for page in ready.due() {
        let tag = Tag {
            page: u8::try_from(page).unwrap_or(u8::MAX),
            ..ready.tag
        };
        let tag = tag.number();
        match submits {
            Submits::Smpp(submits) => submits.push(Submit {
                tag,
                pdu: ready.pages.submit(ready.recipient, index, page),
            }),
            Submits::Http(submits) => {
                let recipient = HttpRecipient {
                    to: ready.recipient.to_string(),
                    id: submit_id(ready.batch.message, ready.recipient, ready.batch.leg),
                };
                if let Some(last) = submits.last_mut().filter(|_| joins) {
                    last.tags.push(tag);
                    last.recipients.push(recipient);
                    continue;
                }
                let (from, body, unicode) = ready.pages.whole(index);
                submits.push(HttpSubmit {
                    tags: vec![tag],
                    recipients: vec![recipient],
                    from,
                    body,
                    unicode,
                });
            }
        }
    }
}
