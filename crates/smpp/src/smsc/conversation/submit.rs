//! What the simulator makes of a submit: the script's rules, mix and faults.

use super::{Conversation, End, Response};
use crate::codec::{Pdu, Sm, encode_empty};
use crate::command::Command;
use crate::frame::{Header, next_sequence};
use crate::long::Segment;
use crate::receipt::ReceiptState;
use crate::smsc::Received;
use crate::smsc::letter::{self, Due, Letter};
use crate::smsc::script::{Fate, Fault, Quirk, Script};
use crate::status::CommandStatus;
use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long after its `unbind` the SMSC answers what it still has.
const ANSWER_AFTER_UNBIND: Duration = Duration::from_millis(500);
/// How long a response is held back, so that its receipt comes first.
const AFTER_RECEIPT: Duration = Duration::from_millis(20);

impl Conversation {
    pub(super) fn on_submit(&mut self, header: Header, submit: &Sm<'_>, now: Instant) {
        if !self
            .bound
            .as_ref()
            .is_some_and(|bound| bound.kind.submits())
        {
            self.stats.odd_pdus += 1;
            self.respond(header, CommandStatus::RINVBNDSTS);
            return;
        }
        self.submits += 1;
        self.stats.submits += 1;
        let script = Arc::clone(&self.script);
        if let Some(window) = script.drop_at_window {
            if self.submits >= window as u64 {
                self.end = End::Now;
            }
            self.record(submit, None);
            return;
        }
        if script
            .max_per_second
            .is_some_and(|limit| self.is_too_fast(limit, now))
        {
            self.refuse(header, submit, CommandStatus::RTHROTTLED, now);
            return;
        }
        if script.refuse_validity && !submit.validity_period.is_empty() {
            self.refuse(header, submit, CommandStatus::RINVEXPIRY, now);
            return;
        }
        match script.fault(self.submits) {
            None => self.decide(header, submit, now),
            Some(fault) => self.go_wrong(fault, header, submit, now),
        }
    }

    fn go_wrong(&mut self, fault: Fault, header: Header, submit: &Sm<'_>, now: Instant) {
        match fault {
            Fault::Refuse(status) => self.refuse(header, submit, status, now),
            Fault::Silence => self.record(submit, None),
            Fault::LoseResponse => self.take_silently(submit, now),
            Fault::NoId => {
                self.take_silently(submit, now);
                self.respond(header, CommandStatus::ROK);
            }
            Fault::Drop => {
                self.end = End::Now;
                self.record(submit, None);
            }
            Fault::HalfOpen => {
                self.mute = true;
                self.record(submit, None);
            }
            Fault::WrongSequence => {
                let wrong = Header {
                    sequence: header.sequence ^ 0x4000_0000,
                    ..header
                };
                self.decide(wrong, submit, now);
            }
            Fault::Garbage => {
                self.write(1, &Pdu::Other(Command(0x0BAD), b"\x01\x02\x03"));
                self.write(2, &Pdu::Other(Command::DELIVER_SM, b"\x01\x02\x03"));
                self.decide(header, submit, now);
            }
            Fault::BrokenLength => {
                self.output.octets.extend_from_slice(&[0xFF; 16]);
                self.decide(header, submit, now);
            }
            Fault::Flood(count) => {
                self.flood(count, submit, now);
                self.decide(header, submit, now);
            }
            Fault::Unbind => {
                self.write(next_sequence(u32::MAX), &Pdu::Unbind);
                self.is_unbinding = true;
                self.decide(header, submit, now);
            }
        }
    }

    fn decide(&mut self, header: Header, submit: &Sm<'_>, now: Instant) {
        match self.fate(submit) {
            Fate::Receipt(state) => self.accept(header, submit, Some(state), now),
            Fate::Pending => self.accept(header, submit, None, now),
            Fate::Refuse(status) => self.refuse(header, submit, status, now),
            Fate::Silence => self.record(submit, None),
            Fate::Drop => {
                self.end = End::Now;
                self.record(submit, None);
            }
        }
    }

    fn fate(&mut self, submit: &Sm<'_>) -> Fate {
        let digits = submit.destination.digits;
        self.script.fate(digits, &mut self.chance)
    }

    fn accept(
        &mut self,
        header: Header,
        submit: &Sm<'_>,
        state: Option<ReceiptState>,
        now: Instant,
    ) {
        let mut wait = self.script.response_delay.pick(&mut self.chance);
        if self.is_unbinding {
            wait = wait.max(ANSWER_AFTER_UNBIND);
        }
        let mut receipt_after = wait;
        if self.script.receipts.has(Quirk::BeforeResponse) {
            wait = wait.max(AFTER_RECEIPT);
            receipt_after = Duration::ZERO;
        }
        let message_id = Some(self.take(submit, state, now, receipt_after));
        let response = Response {
            sequence: header.sequence,
            status: 0,
            message_id,
        };
        self.reply(response, now, wait);
    }

    /// Receipts with ids that no response names.
    fn flood(&mut self, count: u32, submit: &Sm<'_>, now: Instant) {
        let submitted_at_s = self.server.unix_s(&self.script, now);
        for _ in 0..count {
            let id = self.server.next_message_id();
            let due = Due::of(submit, id, ReceiptState::Undeliverable, submitted_at_s);
            self.fresh.push((now, Letter::Receipt(Box::new(due))));
        }
    }

    /// Makes the message ours; what is told of it is its receipt alone.
    fn take_silently(&mut self, submit: &Sm<'_>, now: Instant) {
        let state = match self.fate(submit) {
            Fate::Receipt(state) => Some(state),
            Fate::Pending | Fate::Refuse(_) | Fate::Silence | Fate::Drop => None,
        };
        self.take(submit, state, now, Duration::ZERO);
    }

    /// Makes the message ours, and its receipts due not before `receipt_after`.
    fn take(
        &mut self,
        submit: &Sm<'_>,
        state: Option<ReceiptState>,
        now: Instant,
        receipt_after: Duration,
    ) -> u64 {
        self.stats.accepted += 1;
        let script = Arc::clone(&self.script);
        let (id, is_last) = self.message_id(&script, submit);
        self.record(submit, Some(id));
        let asked = state.filter(|state| wants_receipt(submit.registered_delivery, state));
        let Some(state) = asked.filter(|_| is_last) else {
            return id;
        };
        let due = Due::of(submit, id, state, self.server.unix_s(&script, now));
        let at = now + receipt_after + script.receipt_delay.pick(&mut self.chance);
        let first = script
            .receipts
            .has(Quirk::Intermediate)
            .then(|| due.first());
        let twin = script.receipts.has(Quirk::Duplicate).then(|| due.clone());
        for due in [first, twin, Some(due)].into_iter().flatten() {
            let segments = due.segments(&script.receipts);
            let letters = segments.map(|due| (at, Letter::Receipt(Box::new(due))));
            self.fresh.extend(letters);
        }
        id
    }

    /// The id of a message, and whether a receipt of that id follows it: where pages share one, it follows the last.
    fn message_id(&self, script: &Script, submit: &Sm<'_>) -> (u64, bool) {
        if script.receipts.has(Quirk::OneIdForAll) {
            return (script.last_message_id, true);
        }
        let long = script.receipts.has(Quirk::OneIdPerMessage);
        match Segment::of(&submit.to_owned()).filter(|_| long) {
            Some(place) => {
                // Equal for all pages of a message to a number, and for few others.
                let number = submit.destination.digits.iter().fold(0_u64, |sum, &digit| {
                    sum.wrapping_mul(10).wrapping_add(u64::from(digit & 0x0F))
                });
                let id = number
                    .wrapping_mul(1_000)
                    .wrapping_add(place.reference.into());
                (id, place.number == place.total)
            }
            None => (self.server.next_message_id(), true),
        }
    }

    fn refuse(&mut self, header: Header, submit: &Sm<'_>, status: CommandStatus, now: Instant) {
        self.stats.refused += 1;
        let wait = self.script.response_delay.pick(&mut self.chance);
        let response = Response {
            sequence: header.sequence,
            status: status.0,
            message_id: None,
        };
        self.reply(response, now, wait);
        self.record(submit, None);
    }

    fn reply(&mut self, response: Response, now: Instant, wait: Duration) {
        if wait.is_zero() {
            self.write_response(response);
        } else {
            self.responses += 1;
            let number = self.responses;
            self.delayed.push(Reverse((now + wait, number, response)));
        }
    }

    pub(super) fn write_response(&mut self, response: Response) {
        if self.mute {
            return;
        }
        if let Some(id) = response.message_id {
            let id = letter::response_id(self.script.receipts.ids, id);
            self.write(response.sequence, &Pdu::SubmitResp(id.as_bytes()));
        } else {
            let (command, status) = (Command::SUBMIT_SM_RESP, CommandStatus(response.status));
            encode_empty(&mut self.output.octets, command, status, response.sequence);
        }
    }

    fn is_too_fast(&mut self, limit: u32, now: Instant) -> bool {
        let (since, count) = self.second;
        self.second = if now.duration_since(since) >= Duration::from_secs(1) {
            (now, 1)
        } else {
            (since, count.saturating_add(1))
        };
        self.second.1 > limit
    }

    fn record(&self, submit: &Sm<'_>, id: Option<u64>) {
        let Some(bound) = &self.bound else { return };
        if self.script.record > 0 {
            let received = Received {
                system_id: bound.system_id.clone(),
                message_id: id.map(|id| letter::response_id(self.script.receipts.ids, id)),
                submit: submit.to_owned(),
            };
            self.server.record(self.script.record, received);
        }
    }
}

/// Bits 0 and 1 of `registered_delivery` (SMPP 3.4, section 5.2.17).
fn wants_receipt(registered_delivery: u8, state: &ReceiptState) -> bool {
    match registered_delivery & 0x03 {
        0 => false,
        2 => state.is_final() && *state != ReceiptState::Delivered,
        _ => true,
    }
}
