//! The state machine of a session, without input and output. Frames, commands and times go in,
//! octets and events come out.

use super::commands::Commands;
use super::event::{CloseReason, Counters, Event, Submit, SubmitOutcome};
use super::options::{BindOptions, MAX_WINDOW};
use super::sequence_set::SequenceSet;
use super::state::State;
use super::window::{Entry, Window};
use super::writer::Writer;
use crate::codec::{self, Malformed, Pdu, Sm};
use crate::command::Command;
use crate::frame::{Frame, Header};
use crate::limits::{self, MAX_MESSAGE_ID_OCTETS, text_within};
use crate::pdu_log::LoggedPdu;
use crate::probe::{Probe, ProbeStep};
use crate::status::CommandStatus;
use crate::tlv::{Tlvs, tag};
use std::time::Duration;
use tokio::time::Instant;

/// Size of the unwritten output from which no further submits are encoded.
const MAX_UNWRITTEN_SUBMIT_OCTETS: usize = 256 * 1024;
/// Timeout of the response to our `unbind`. Nothing depends on it.
const UNBIND_TIMEOUT: Duration = Duration::from_secs(3);
/// Timeout of the last writes.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest wait for open responses after an `unbind` of the peer, once before it is answered and
/// once after.
const PEER_UNBIND_TIMEOUT: Duration = Duration::from_secs(1);

/// The state of one session.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) writer: Writer,
    pub(super) events: Vec<Event>,
    /// Memory of the `deliver_sm` among the events, in octets.
    pub(super) event_octets: usize,
    pub(super) counters: Counters,
    window: Window,
    state: State,
    response_timeout: Duration,
    send_tlvs: bool,
    probe: Probe,
    timed_out: SequenceSet,
}

impl Link {
    pub(super) fn new(options: &BindOptions, send_tlvs: bool, sequence: u32, now: Instant) -> Self {
        let mut window = Window::new(options.window.clamp(1, MAX_WINDOW));
        window.continue_after(sequence);
        Self {
            writer: Writer::new(options.pdus.clone()),
            events: Vec::new(),
            event_octets: 0,
            counters: Counters::default(),
            window,
            state: State::Open,
            response_timeout: options.response_timeout,
            send_tlvs,
            probe: Probe::new(options.enquire_link, options.response_timeout, now),
            timed_out: SequenceSet::default(),
        }
    }

    /// Returns how many submits may be encoded now.
    pub(super) fn available(&self) -> usize {
        // A connection that may be dead gets no further submits, because they would all be in
        // doubt.
        let takes_more = matches!(self.state, State::Open)
            && !self.is_silent()
            && self.writer.output.waiting() < MAX_UNWRITTEN_SUBMIT_OCTETS;
        if takes_more {
            self.window.available()
        } else {
            0
        }
    }

    /// Returns `true` if the peer asked to unbind, so that no further submit is encoded.
    pub(super) fn is_unbound_by_peer(&self) -> bool {
        matches!(self.state, State::PeerUnbinding(..))
    }

    /// Returns the number of unanswered submits.
    pub(super) fn outstanding(&self) -> usize {
        self.window.open()
    }

    /// Returns `true` if an `enquire_link` is unanswered and nothing else arrived since.
    pub(super) fn is_silent(&self) -> bool {
        self.probe.is_out()
    }

    /// Records that the peer is alive. Any octet is proof of that.
    pub(super) fn note_received(&mut self, now: Instant) {
        self.probe.note_received(now);
    }

    /// Extends all timeouts by a pause in which this side did not read.
    pub(super) fn postpone(&mut self, pause: Duration) {
        self.window.postpone(pause);
        self.probe.postpone(pause);
    }

    /// Encodes answers and submits, and begins to unbind if that was requested.
    pub(super) fn apply_commands(&mut self, commands: &mut Commands, now: Instant) {
        for (sequence, status) in commands.answers.drain(..) {
            if self.writer.answer(sequence, status, now).is_err() {
                self.counters.odd_pdus += 1;
            }
        }
        for submit in commands.submits.drain(..) {
            if commands.unbind {
                self.settle(submit.tag, SubmitOutcome::NotSent);
            } else {
                self.submit(&submit, now);
            }
        }
        if commands.unbind && matches!(self.state, State::Open) {
            self.state = State::Draining(now + self.response_timeout);
        }
    }

    /// Returns a submit that was never encoded.
    pub(super) fn return_unsent(&mut self, submit: &Submit) {
        self.settle(submit.tag, SubmitOutcome::NotSent);
    }

    /// Performs everything that is due. All readable data must be read first, or slow reads would
    /// cause timeouts and thereby duplicates.
    pub(super) fn on_time(&mut self, now: Instant) {
        let due = self.window.deadline(self.response_timeout);
        let missed = due.is_some_and(|due| due <= now);
        if missed {
            self.expire(now);
        }
        match self.state {
            State::Draining(deadline) if self.window.open() == 0 || now >= deadline => {
                let sequence = self.window.next_sequence();
                self.writer
                    .empty(Command::UNBIND, CommandStatus::ROK, sequence, now);
                self.state = State::Unbinding(now + self.response_timeout.min(UNBIND_TIMEOUT));
            }
            State::Open | State::Draining(_) => self.probe(missed, now),
            State::Unbinding(deadline) if now >= deadline => self.leave(CloseReason::Unbound, now),
            State::PeerUnbinding(sequence, deadline)
                if self.window.open() == 0 || now >= deadline =>
            {
                self.answer_unbind(sequence, now);
            }
            State::Unbinding(_) | State::PeerUnbinding(..) | State::Leaving(..) => {}
        }
    }

    /// Returns the time of the next call of `on_time` or `ended`.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let alive = self.probe.deadline().filter(|_| self.state.is_probed());
        let response = self.window.deadline(self.response_timeout);
        [self.state.deadline(), alive, response]
            .into_iter()
            .flatten()
            .min()
    }

    /// Ends the session for this reason, at `at` at the latest. The first reason is kept.
    pub(super) fn leave(&mut self, reason: CloseReason, at: Instant) {
        self.state = self.state.leaving(reason, at);
    }

    /// Handles `unbind` of the peer. Many peers close after our answer, so open responses are
    /// awaited first.
    fn on_unbind(&mut self, sequence: u32, now: Instant) {
        match self.state {
            State::Open | State::Draining(_) if self.window.open() > 0 => {
                self.state = State::PeerUnbinding(sequence, now + PEER_UNBIND_TIMEOUT);
            }
            State::Open
            | State::Draining(_)
            | State::Unbinding(_)
            | State::PeerUnbinding(..)
            | State::Leaving(..) => self.answer_unbind(sequence, now),
        }
    }

    fn answer_unbind(&mut self, sequence: u32, now: Instant) {
        let command = Command::UNBIND.response();
        self.writer
            .empty(command, CommandStatus::ROK, sequence, now);
        self.leave(CloseReason::PeerUnbound, now + PEER_UNBIND_TIMEOUT);
    }

    /// Answers an impossible length with a `generic_nack`, and ends the session.
    pub(super) fn on_broken_length(&mut self, now: Instant) {
        let status = CommandStatus::RINVCMDLEN;
        self.writer.empty(Command::GENERIC_NACK, status, 0, now);
        self.leave(CloseReason::Protocol, now + FLUSH_TIMEOUT);
    }

    /// Returns the reason if the session is over. `drained` is `true` if nothing is readable any
    /// more.
    pub(super) fn ended(&self, drained: bool, now: Instant) -> Option<CloseReason> {
        let State::Leaving(reason, at) = self.state else {
            return None;
        };
        let awaits_responses = reason == CloseReason::PeerUnbound && self.window.open() > 0;
        let is_done = drained && self.writer.output.is_done() && !awaits_responses;
        (now >= at || is_done).then_some(reason)
    }

    /// Gives every open request its outcome.
    pub(super) fn abandon(&mut self) {
        for entry in self.window.take_all() {
            self.lose(&entry);
        }
    }

    fn submit(&mut self, submit: &Submit, now: Instant) {
        let mut message = Sm::of(&submit.pdu);
        if !self.send_tlvs && !submit.pdu.tlvs.is_empty() {
            if submit.pdu.tlvs.iter().any(|tlv| tag::is_content(tlv.tag)) {
                self.settle(
                    submit.tag,
                    SubmitOutcome::Rejected(CommandStatus::ROPTPARNOTALLWD),
                );
                return;
            }
            message.tlvs = Tlvs::default();
        }
        let sequence = self.window.next_sequence();
        match self.writer.submit(message, sequence, now) {
            Ok(start) => {
                self.counters.submits += 1;
                self.window.insert(Entry {
                    sequence,
                    tag: submit.tag,
                    start,
                    encoded_at: now,
                });
            }
            Err(fault) => self.settle(submit.tag, SubmitOutcome::Rejected(fault)),
        }
    }

    fn expire(&mut self, now: Instant) {
        let sent = self.writer.output.sent();
        for entry in self.window.expire(now, self.response_timeout) {
            self.counters.timeouts += 1;
            if entry.start < sent {
                self.timed_out.insert(entry.sequence);
            } else {
                // The peer did not read for a whole response timeout.
                self.leave(CloseReason::HalfOpen, now);
            }
            self.lose(&entry);
        }
    }

    /// Sends an `enquire_link` if the link was silent for long, or since a missed response.
    fn probe(&mut self, missed: bool, now: Instant) {
        match self.probe.step(missed, now) {
            ProbeStep::Wait => {}
            ProbeStep::GiveUp => self.leave(CloseReason::HalfOpen, now),
            ProbeStep::Write => {
                let sequence = self.window.next_sequence();
                let status = CommandStatus::ROK;
                self.writer
                    .empty(Command::ENQUIRE_LINK, status, sequence, now);
            }
        }
    }

    /// Settles a request whose response will not arrive.
    fn lose(&mut self, entry: &Entry) {
        let outcome = if entry.start < self.writer.output.sent() {
            SubmitOutcome::Unknown
        } else {
            SubmitOutcome::NotSent
        };
        self.settle(entry.tag, outcome);
    }

    fn settle(&mut self, tag: u64, outcome: SubmitOutcome) {
        self.events.push(Event::Submitted { tag, outcome });
    }

    /// Handles one PDU of the peer.
    pub(super) fn on_frame(&mut self, frame: &Frame<'_>, now: Instant) {
        let header = frame.header;
        let decoded = codec::decode(header.command, frame.body);
        let pdu = decoded.as_ref().ok();
        self.writer
            .log
            .record(LoggedPdu::received(header, pdu, now));
        match decoded {
            Ok(Pdu::SubmitResp(id)) => self.on_response(header, id),
            Ok(Pdu::Deliver(message)) => self.on_deliver(header, &message),
            Ok(Pdu::Data(message)) => {
                self.writer.data_sequences.insert(header.sequence);
                self.on_deliver(header, &message);
            }
            Ok(Pdu::EnquireLink) => self.respond(header, CommandStatus::ROK, now),
            Ok(Pdu::GenericNack) => self.on_nack(header, now),
            Ok(Pdu::Unbind) => self.on_unbind(header.sequence, now),
            Ok(Pdu::UnbindResp) if matches!(self.state, State::Unbinding(_)) => {
                self.leave(CloseReason::Unbound, now + FLUSH_TIMEOUT);
            }
            // These PDUs only prove that the peer is alive.
            Ok(
                Pdu::EnquireLinkResp
                | Pdu::Other(Command::OUTBIND | Command::ALERT_NOTIFICATION, _),
            ) => {}
            Ok(Pdu::DeliverResp | Pdu::DataResp(_)) => self.counters.unmatched_responses += 1,
            Ok(
                Pdu::UnbindResp | Pdu::BindResp(..) | Pdu::SubmitMultiResp(_) | Pdu::QueryResp(_),
            ) => self.counters.odd_pdus += 1,
            Ok(Pdu::Bind(..) | Pdu::Submit(_)) => {
                self.refuse(header, CommandStatus::RINVBNDSTS, now);
            }
            Ok(Pdu::SubmitMulti(..) | Pdu::Query(_) | Pdu::Cancel(_) | Pdu::Other(..))
            | Err(Malformed(Command::SUBMIT_MULTI | Command::QUERY_SM | Command::CANCEL_SM)) => {
                self.nack(header, CommandStatus::RINVCMDID, now);
            }
            Err(_) => self.refuse(header, CommandStatus::RINVCMDLEN, now),
        }
    }

    fn on_response(&mut self, header: Header, id: &[u8]) {
        let Some(entry) = self.window.take(header.sequence) else {
            self.on_unmatched(header.sequence);
            return;
        };
        self.counters.responses += 1;
        let outcome = if header.status.is_ok() {
            SubmitOutcome::Accepted {
                message_id: text_within(id, MAX_MESSAGE_ID_OCTETS),
            }
        } else {
            SubmitOutcome::Rejected(header.status)
        };
        self.settle(entry.tag, outcome);
    }

    fn on_nack(&mut self, header: Header, now: Instant) {
        match self.window.take(header.sequence) {
            Some(entry) => {
                self.counters.responses += 1;
                self.settle(entry.tag, SubmitOutcome::Rejected(header.status.of_nack()));
            }
            // A peer without `unbind` counts as unbound.
            None if matches!(self.state, State::Unbinding(_)) => {
                self.leave(CloseReason::Unbound, now + FLUSH_TIMEOUT);
            }
            None => self.on_unmatched(header.sequence),
        }
    }

    fn on_unmatched(&mut self, sequence: u32) {
        if self.timed_out.take(sequence) {
            self.counters.late_responses += 1;
        } else {
            self.counters.unmatched_responses += 1;
        }
    }

    fn on_deliver(&mut self, header: Header, message: &Sm<'_>) {
        self.counters.delivers += 1;
        let deliver = Box::new(limits::received(message));
        self.event_octets += limits::octets_in_memory(&deliver);
        self.events.push(Event::Deliver {
            sequence: header.sequence,
            deliver,
        });
    }

    fn respond(&mut self, header: Header, status: CommandStatus, now: Instant) {
        let command = header.command.response();
        self.writer.empty(command, status, header.sequence, now);
    }

    /// Answers an invalid request with its own response. Invalid responses are only counted.
    fn refuse(&mut self, header: Header, status: CommandStatus, now: Instant) {
        self.counters.odd_pdus += 1;
        if !header.command.is_response() {
            self.respond(header, status, now);
        }
    }

    fn nack(&mut self, header: Header, status: CommandStatus, now: Instant) {
        self.counters.odd_pdus += 1;
        if !header.command.is_response() {
            let command = Command::GENERIC_NACK;
            self.writer.empty(command, status, header.sequence, now);
        }
    }
}
