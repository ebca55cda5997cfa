//! The simulator's decision on a submit, by the rules, mix and faults of the script.

use super::random::Random;
use super::receipt_writer::{self, Outgoing, PendingReceipt};
use super::script::{Fate, Fault, Quirk, Script};
use super::shared::{Received, Shared, Stats};
use crate::codec::Sm;
use crate::long::Segment;
use crate::receipt::ReceiptState;
use crate::server::Request;
use crate::status::CommandStatus;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Time after its `unbind` in which the SMSC still answers.
const UNBIND_DELAY: Duration = Duration::from_millis(500);
/// Delay of a response whose receipt must precede it.
const RECEIPT_LEAD: Duration = Duration::from_millis(20);

/// The submits of one connection so far, and the script for the next one.
#[derive(Debug)]
pub(super) struct SubmitScript {
    pub(super) script: Arc<Script>,
    pub(super) random: Random,
    /// The system id of the bound client.
    pub(super) system_id: String,
    /// New receipts that are not queued yet.
    pub(super) new_receipts: Vec<(Instant, Outgoing)>,
    /// The counters since the last report.
    pub(super) stats: Stats,
    shared: Arc<Shared>,
    count: u64,
    /// `true` if `unbind` was sent.
    is_unbinding: bool,
    second: (Instant, u32),
}

/// The reaction to a submit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reaction {
    pub(super) before: Option<Before>,
    pub(super) answer: Answer,
}

/// The part of a fault that precedes the answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Before {
    Garbage,
    BrokenLength,
    Unbind,
}

/// The answer to a submit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    /// A response with its delay.
    Reply(Reply, Duration),
    /// No answer.
    Silence,
    /// The connection is closed.
    Drop,
    /// The connection stays open, and nothing further is read or written on it.
    HalfOpen,
}

/// A response to a submit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reply {
    pub(super) request: Request,
    pub(super) status: CommandStatus,
    pub(super) message_id: Option<u64>,
}

impl SubmitScript {
    pub(super) fn new(shared: Arc<Shared>, script: Arc<Script>, number: u64, now: Instant) -> Self {
        Self {
            random: Random::new(script.seed.wrapping_add(number)),
            script,
            system_id: String::new(),
            new_receipts: Vec::new(),
            stats: Stats::default(),
            shared,
            count: 0,
            is_unbinding: false,
            second: (now, 0),
        }
    }

    /// Decides on a submit.
    pub(super) fn react(&mut self, request: Request, submit: &Sm<'_>, now: Instant) -> Reaction {
        self.count += 1;
        self.stats.submits += 1;
        let script = Arc::clone(&self.script);
        let mut before = None;
        let answer = if let Some(window) = script.drop_at_window {
            self.record(submit, None);
            if self.count >= window as u64 {
                Answer::Drop
            } else {
                Answer::Silence
            }
        } else if script
            .max_per_second
            .is_some_and(|limit| self.is_too_fast(limit, now))
        {
            self.refuse(request, submit, CommandStatus::RTHROTTLED)
        } else if script.refuse_validity && !submit.validity_period.is_empty() {
            self.refuse(request, submit, CommandStatus::RINVEXPIRY)
        } else {
            match script.fault(self.count) {
                None => self.decide(request, submit, now),
                Some(fault) => {
                    before = before_of(fault);
                    self.go_wrong(fault, request, submit, now)
                }
            }
        };
        Reaction { before, answer }
    }

    fn go_wrong(
        &mut self,
        fault: Fault,
        request: Request,
        submit: &Sm<'_>,
        now: Instant,
    ) -> Answer {
        match fault {
            Fault::Refuse(status) => return self.refuse(request, submit, status),
            Fault::LoseResponse => {
                self.take_silently(submit, now);
                return Answer::Silence;
            }
            Fault::NoId => {
                self.take_silently(submit, now);
                let reply = Reply {
                    request,
                    status: CommandStatus::ROK,
                    message_id: None,
                };
                return Answer::Reply(reply, Duration::ZERO);
            }
            Fault::Silence | Fault::Drop | Fault::HalfOpen => {
                self.record(submit, None);
                return match fault {
                    Fault::Drop => Answer::Drop,
                    Fault::HalfOpen => Answer::HalfOpen,
                    _ => Answer::Silence,
                };
            }
            Fault::WrongSequence => {
                let wrong = Request {
                    sequence: request.sequence ^ 0x4000_0000,
                    ..request
                };
                return self.decide(wrong, submit, now);
            }
            Fault::Flood(count) => self.flood(count, submit, now),
            Fault::Unbind => self.is_unbinding = true,
            Fault::Garbage | Fault::BrokenLength => {}
        }
        self.decide(request, submit, now)
    }

    fn decide(&mut self, request: Request, submit: &Sm<'_>, now: Instant) -> Answer {
        match self.fate(submit) {
            Fate::Receipt(state) => self.accept(request, submit, Some(state), now),
            Fate::Pending => self.accept(request, submit, None, now),
            Fate::Refuse(status) => self.refuse(request, submit, status),
            Fate::Silence => {
                self.record(submit, None);
                Answer::Silence
            }
            Fate::Drop => {
                self.record(submit, None);
                Answer::Drop
            }
        }
    }

    fn fate(&mut self, submit: &Sm<'_>) -> Fate {
        let digits = submit.destination.digits;
        self.script.fate(digits, &mut self.random)
    }

    fn accept(
        &mut self,
        request: Request,
        submit: &Sm<'_>,
        state: Option<ReceiptState>,
        now: Instant,
    ) -> Answer {
        let mut wait = self.script.response_delay.pick(&mut self.random);
        if self.is_unbinding {
            wait = wait.max(UNBIND_DELAY);
        }
        let mut receipt_after = wait;
        if self.script.receipts.has(Quirk::BeforeResponse) {
            wait = wait.max(RECEIPT_LEAD);
            receipt_after = Duration::ZERO;
        }
        let reply = Reply {
            request,
            status: CommandStatus::ROK,
            message_id: Some(self.take(submit, state, now, receipt_after)),
        };
        Answer::Reply(reply, wait)
    }

    fn refuse(&mut self, request: Request, submit: &Sm<'_>, status: CommandStatus) -> Answer {
        self.stats.refused += 1;
        let wait = self.script.response_delay.pick(&mut self.random);
        self.record(submit, None);
        let reply = Reply {
            request,
            status,
            message_id: None,
        };
        Answer::Reply(reply, wait)
    }

    /// Queues receipts with unknown ids.
    fn flood(&mut self, count: u32, submit: &Sm<'_>, now: Instant) {
        let submitted_at_s = self.shared.unix_s(&self.script, now);
        for _ in 0..count {
            let id = self.shared.next_message_id();
            let due = PendingReceipt::of(submit, id, ReceiptState::Undeliverable, submitted_at_s);
            self.new_receipts
                .push((now, Outgoing::Receipt(Box::new(due))));
        }
    }

    /// Accepts the message without a response. Only its receipt follows.
    fn take_silently(&mut self, submit: &Sm<'_>, now: Instant) {
        let state = match self.fate(submit) {
            Fate::Receipt(state) => Some(state),
            Fate::Pending | Fate::Refuse(_) | Fate::Silence | Fate::Drop => None,
        };
        self.take(submit, state, now, Duration::ZERO);
    }

    /// Accepts the message, and queues its receipts not before `receipt_after`.
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
        let due = PendingReceipt::of(submit, id, state, self.shared.unix_s(&script, now));
        let at = now + receipt_after + script.receipt_delay.pick(&mut self.random);
        let first = script
            .receipts
            .has(Quirk::Intermediate)
            .then(|| due.first());
        let twin = script.receipts.has(Quirk::Duplicate).then(|| due.clone());
        for due in [first, twin, Some(due)].into_iter().flatten() {
            let segments = due.segments(&script.receipts);
            let receipts = segments.map(|due| (at, Outgoing::Receipt(Box::new(due))));
            self.new_receipts.extend(receipts);
        }
        id
    }

    /// Returns the id of a message, and `true` if a receipt with that id follows. Pages with a
    /// common id have one receipt, after the last of them.
    fn message_id(&self, script: &Script, submit: &Sm<'_>) -> (u64, bool) {
        if script.receipts.has(Quirk::OneIdForAll) {
            return (script.last_message_id, true);
        }
        let long = script.receipts.has(Quirk::OneIdPerMessage);
        match Segment::of(&submit.to_owned()).filter(|_| long) {
            Some(segment) => {
                // The id is equal for all pages of a message to a number, and rarely for others.
                let number = submit.destination.digits.iter().fold(0_u64, |sum, &digit| {
                    sum.wrapping_mul(10).wrapping_add(u64::from(digit & 0x0F))
                });
                let id = number
                    .wrapping_mul(1_000)
                    .wrapping_add(segment.reference.into());
                (id, segment.number == segment.total)
            }
            None => (self.shared.next_message_id(), true),
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
        if self.script.record > 0 {
            let received = Received {
                system_id: self.system_id.clone(),
                message_id: id.map(|id| receipt_writer::response_id(self.script.receipts.ids, id)),
                submit: submit.to_owned(),
            };
            self.shared.record(self.script.record, received);
        }
    }
}

/// Returns the part of a fault that precedes the answer.
const fn before_of(fault: Fault) -> Option<Before> {
    match fault {
        Fault::Garbage => Some(Before::Garbage),
        Fault::BrokenLength => Some(Before::BrokenLength),
        Fault::Unbind => Some(Before::Unbind),
        _ => None,
    }
}

/// Returns `true` if bits 0 and 1 of `registered_delivery` request a receipt (SMPP 3.4, section
/// 5.2.17).
fn wants_receipt(registered_delivery: u8, state: &ReceiptState) -> bool {
    match registered_delivery & 0x03 {
        0 => false,
        2 => state.is_final() && *state != ReceiptState::Delivered,
        _ => true,
    }
}
