//! What follows from the answers of a carrier: for its connection, its pace, and the recipients.

use super::bind::LinkId;
use super::in_flight::{Answer, Fate, Later, LaterKind, Tag};
use super::smpp_mapping::{self, Asked};
use super::worker::Desk;
use crate::context::metrics::status_word;
use domain::SubmitFault;
use smpp::{CommandStatus, StatusClass, SubmitOutcome};
use std::sync::Arc;

impl Desk {
    /// Counts a response, and looks at what it says of the carrier and the connection.
    pub(crate) fn note_response(&mut self, link: LinkId, outcome: &SubmitOutcome) {
        let is_first = self.measures.response(outcome);
        match outcome {
            SubmitOutcome::Accepted { .. } => self.pace.taken(),
            SubmitOutcome::Rejected(status) => {
                if is_first {
                    self.log_refusal(*status);
                }
                self.check_bind(link, *status);
            }
            SubmitOutcome::NotSent | SubmitOutcome::Unknown => {}
        }
    }

    /// The log has the first refusal with each status; all are counted.
    fn log_refusal(&self, status: CommandStatus) {
        let settings = self.carrier.settings.as_ref();
        let sends_validity = settings.is_some_and(|settings| settings.send_validity);
        let advice = if status == CommandStatus::RINVEXPIRY && sends_validity {
            "; it takes no validity_period: set `send_validity = false` for this carrier"
        } else {
            ""
        };
        tracing::warn!(
            carrier.name = &*self.carrier.name,
            smpp.status = status_word(status),
            "submit refused, more with this status are only counted, as ogene_responses_total{advice}"
        );
    }

    /// A connection that says it is not bound has to be bound again, and so has one that refuses who is bound: what
    /// waits does so for a bind then, or it would go out again at once, and be refused again, without end.
    fn check_bind(&mut self, link: LinkId, status: CommandStatus) {
        if matches!(
            status.class(),
            StatusClass::BindState | StatusClass::BindRefused
        ) && let Some(bound) = self.wires.get_mut(&link)
        {
            bound.wire.unbind();
            bound.submits = false;
            self.count_wires();
        }
    }

    pub(crate) fn answered(&mut self, tag: Tag, answer: Answer) {
        let Some((batch, content)) = self.hand.batch(tag) else {
            return;
        };
        let Some(&recipient) = batch.recipients.get(usize::from(tag.recipient)) else {
            return;
        };
        let now_ms = self.shared.clock.now_ms();
        if let Answer::Rejected(status) = &answer
            && smpp_mapping::fault(*status) == SubmitFault::Throttled
        {
            let before = batch.tries + self.hand.waits(tag);
            self.pace.throttled(self.shared.clock.steady_ms(), before);
        }
        // Who ends waits for nobody, and is asked below what becomes of who waits in hand.
        let has_room = self.closing || self.hand.held() < self.carrier.budget.held();
        let asked = Asked {
            batch: &batch,
            content: &content,
            recipient,
            is_begun: self.hand.is_begun(tag),
            waits: self.hand.waits(tag),
            has_room,
            now_ms,
            steady_ms: self.shared.clock.steady_ms(),
        };
        let fate = smpp_mapping::fate(&self.shared.live().plan, &asked, answer, self.ids);
        if matches!(fate, Fate::Doubted(_)) {
            self.measures.in_doubt();
        }
        self.hand.decide(tag, fate);
    }

    pub(crate) fn put_back_unsent(&mut self) {
        let now_ms = self.shared.clock.now_ms();
        for tag in self.hand.unsent() {
            self.put_back(tag, now_ms);
        }
    }

    pub(crate) fn put_back(&mut self, tag: Tag, now_ms: i64) {
        let Some((batch, _)) = self.hand.batch(tag) else {
            return;
        };
        if self.hand.is_begun(tag) {
            // From a row all pages would go out, also those that the carrier has.
            self.answered(tag, Answer::Unknown);
            return;
        }
        let later = Later {
            due_at_ms: now_ms,
            carrier: Arc::clone(&batch.carrier),
            tries: batch.tries + self.hand.waits(tag),
            kind: LaterKind::Unsent,
        };
        self.hand.decide(tag, Fate::Later(later));
    }
}
