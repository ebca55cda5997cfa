//! The rules of a session, without any input or output: frames, commands and time go in, octets
//! and events come out.

use super::commands::Commands;
use super::event::{CloseReason, Counters, Event, Submit, SubmitOutcome};
use super::options::{BindOptions, MAX_WINDOW};
use super::remembered::Remembered;
use super::state::State;
use super::window::{Entry, Window};
use crate::codec::{self, Malformed, Pdu, Sm, encode, encode_empty};
use crate::command::Command;
use crate::frame::{Frame, Header};
use crate::limits::{self, MAX_MESSAGE_ID_OCTETS, text_within};
use crate::output::Output;
use crate::probe::{Probe, ProbeStep};
use crate::status::CommandStatus;
use crate::tlv::{Tlvs, tag};
use std::time::Duration;
use tokio::time::Instant;

/// No more submits are encoded while this much waits to be written.
const MAX_UNWRITTEN_SUBMIT_OCTETS: usize = 256 * 1024;
/// How long the response to `unbind` is waited for: nothing depends on it.
const UNBIND_TIMEOUT: Duration = Duration::from_secs(3);
/// How long the last octets may take to leave.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
/// How long open responses are waited for after the peer's `unbind`, before it is answered and once more after that.
const PEER_UNBIND_TIMEOUT: Duration = Duration::from_secs(1);

/// One session's state.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) output: Output,
    pub(super) events: Vec<Event>,
    /// Octets that the `deliver_sm` among the events take in memory.
    pub(super) event_octets: usize,
    pub(super) counters: Counters,
    window: Window,
    state: State,
    response_timeout: Duration,
    send_tlvs: bool,
    probe: Probe,
    /// `data_sm` that wait for their answer, which differs from that of `deliver_sm`.
    data_sequences: Remembered,
    timed_out: Remembered,
}

impl Link {
    pub(super) fn new(options: &BindOptions, send_tlvs: bool, sequence: u32, now: Instant) -> Self {
        let mut window = Window::new(options.window.clamp(1, MAX_WINDOW));
        window.continue_after(sequence);
        Self {
            output: Output::default(),
            events: Vec::new(),
            event_octets: 0,
            counters: Counters::default(),
            window,
            state: State::Open,
            response_timeout: options.response_timeout,
            send_tlvs,
            probe: Probe::new(options.enquire_link, options.response_timeout, now),
            data_sequences: Remembered::default(),
            timed_out: Remembered::default(),
        }
    }

    /// How many submits may be encoded now.
    pub(super) fn room(&self) -> usize {
        // A connection that may be dead gets no more than it has: all of it would be in doubt.
        let takes_more = matches!(self.state, State::Open)
            && !self.is_silent()
            && self.output.waiting() < MAX_UNWRITTEN_SUBMIT_OCTETS;
        if takes_more { self.window.room() } else { 0 }
    }

    /// Returns whether the peer asked to unbind: no submit will be encoded any more.
    pub(super) fn is_unbound_by_peer(&self) -> bool {
        matches!(self.state, State::PeerUnbinding(..))
    }

    /// How many submits are unanswered.
    pub(super) fn outstanding(&self) -> usize {
        self.window.open()
    }

    /// Returns whether a probe is out, and nothing came since.
    pub(super) fn is_silent(&self) -> bool {
        self.probe.is_out()
    }

    /// Any octet is a sign of life.
    pub(super) fn note_received(&mut self, now: Instant) {
        self.probe.note_received(now);
    }

    /// Nothing was read for that long, by our own choice: the peer shall not pay for it.
    pub(super) fn postpone(&mut self, pause: Duration) {
        self.window.postpone(pause);
        self.probe.postpone(pause);
    }

    /// Writes answers and submits, and begins to end when that is asked.
    pub(super) fn apply_commands(&mut self, commands: &mut Commands, now: Instant) {
        for (sequence, status) in commands.answers.drain(..) {
            self.answer(sequence, status);
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

    /// Gives back a submit that was never encoded.
    pub(super) fn give_back(&mut self, submit: &Submit) {
        self.settle(submit.tag, SubmitOutcome::NotSent);
    }

    /// Acts on everything that is due. Call it only when everything readable was read: a slow reader would otherwise
    /// make time-outs of its own, and duplicates with them.
    pub(super) fn on_time(&mut self, now: Instant) {
        let due = self.window.deadline(self.response_timeout);
        let missed = due.is_some_and(|due| due <= now);
        if missed {
            self.expire(now);
        }
        match self.state {
            State::Draining(deadline) if self.window.open() == 0 || now >= deadline => {
                let sequence = self.window.next_sequence();
                self.empty(Command::UNBIND, CommandStatus::ROK, sequence);
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

    /// When `on_time` or `ended` may have something to do.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let alive = self.probe.deadline().filter(|_| self.state.is_probed());
        let response = self.window.deadline(self.response_timeout);
        [self.state.deadline(), alive, response]
            .into_iter()
            .flatten()
            .min()
    }

    /// The session is to end for this reason, at that time at the latest. The first reason counts.
    pub(super) fn leave(&mut self, reason: CloseReason, at: Instant) {
        self.state = self.state.leaving(reason, at);
    }

    /// The peer asked to unbind: many close as soon as that is answered, so what they still owe comes first.
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
        self.empty(command, CommandStatus::ROK, sequence);
        self.leave(CloseReason::PeerUnbound, now + PEER_UNBIND_TIMEOUT);
    }

    /// The stream is out of step: the peer gets a nack, and the session ends.
    pub(super) fn on_broken_length(&mut self, now: Instant) {
        self.empty(Command::GENERIC_NACK, CommandStatus::RINVCMDLEN, 0);
        self.leave(CloseReason::Protocol, now + FLUSH_TIMEOUT);
    }

    /// Returns whether the session is over, and why. `drained`: nothing is readable any more.
    pub(super) fn ended(&self, drained: bool, now: Instant) -> Option<CloseReason> {
        let State::Leaving(reason, at) = self.state else {
            return None;
        };
        let owes = reason == CloseReason::PeerUnbound && self.window.open() > 0;
        let is_done = drained && self.output.is_done() && !owes;
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
        let start = self.output.position();
        let pdu = Pdu::Submit(message);
        match encode(&mut self.output.octets, CommandStatus::ROK, sequence, &pdu) {
            Ok(()) => {
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

    fn answer(&mut self, sequence: u32, status: CommandStatus) {
        let pdu = if self.data_sequences.take(sequence) {
            Pdu::DataResp(b"")
        } else {
            Pdu::DeliverResp
        };
        if encode(&mut self.output.octets, status, sequence, &pdu).is_err() {
            self.counters.odd_pdus += 1;
        }
    }

    fn expire(&mut self, now: Instant) {
        let sent = self.output.sent();
        for entry in self.window.expire(now, self.response_timeout) {
            self.counters.timeouts += 1;
            if entry.start < sent {
                self.timed_out.insert(entry.sequence);
            } else {
                // The peer did not read for as long as a response may take.
                self.leave(CloseReason::HalfOpen, now);
            }
            self.lose(&entry);
        }
    }

    /// Probes a link that is silent for long, or for as long as a response may take where one was missed.
    fn probe(&mut self, missed: bool, now: Instant) {
        match self.probe.step(missed, now) {
            ProbeStep::Wait => {}
            ProbeStep::GiveUp => self.leave(CloseReason::HalfOpen, now),
            ProbeStep::Write => {
                let sequence = self.window.next_sequence();
                self.empty(Command::ENQUIRE_LINK, CommandStatus::ROK, sequence);
            }
        }
    }

    /// The connection, or the time, ended before the response came.
    fn lose(&mut self, entry: &Entry) {
        let outcome = if entry.start < self.output.sent() {
            SubmitOutcome::Unknown
        } else {
            SubmitOutcome::NotSent
        };
        self.settle(entry.tag, outcome);
    }

    fn settle(&mut self, tag: u64, outcome: SubmitOutcome) {
        self.events.push(Event::Submitted { tag, outcome });
    }

    fn empty(&mut self, command: Command, status: CommandStatus, sequence: u32) {
        encode_empty(&mut self.output.octets, command, status, sequence);
    }

    /// Handles one PDU of the peer.
    pub(super) fn on_frame(&mut self, frame: &Frame<'_>, now: Instant) {
        let header = frame.header;
        match codec::decode(header.command, frame.body) {
            Ok(Pdu::SubmitResp(id)) => self.on_response(header, id),
            Ok(Pdu::Deliver(message)) => self.on_deliver(header, &message),
            Ok(Pdu::Data(message)) => {
                self.data_sequences.insert(header.sequence);
                self.on_deliver(header, &message);
            }
            Ok(Pdu::EnquireLink) => self.respond(header, CommandStatus::ROK),
            Ok(Pdu::GenericNack) => self.on_nack(header, now),
            Ok(Pdu::Unbind) => self.on_unbind(header.sequence, now),
            Ok(Pdu::UnbindResp) if matches!(self.state, State::Unbinding(_)) => {
                self.leave(CloseReason::Unbound, now + FLUSH_TIMEOUT);
            }
            // They carry no more than a sign of life.
            Ok(
                Pdu::EnquireLinkResp
                | Pdu::Other(Command::OUTBIND | Command::ALERT_NOTIFICATION, _),
            ) => {}
            Ok(Pdu::DeliverResp | Pdu::DataResp(_)) => self.counters.unmatched_responses += 1,
            Ok(
                Pdu::UnbindResp | Pdu::BindResp(..) | Pdu::SubmitMultiResp(_) | Pdu::QueryResp(_),
            ) => self.counters.odd_pdus += 1,
            Ok(Pdu::Bind(..) | Pdu::Submit(_)) => self.refuse(header, CommandStatus::RINVBNDSTS),
            Ok(Pdu::SubmitMulti(..) | Pdu::Query(_) | Pdu::Cancel(_) | Pdu::Other(..))
            | Err(Malformed(Command::SUBMIT_MULTI | Command::QUERY_SM | Command::CANCEL_SM)) => {
                self.nack(header, CommandStatus::RINVCMDID);
            }
            Err(_) => self.refuse(header, CommandStatus::RINVCMDLEN),
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
            // A peer that does not know unbind is as good as unbound.
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

    fn respond(&mut self, header: Header, status: CommandStatus) {
        self.empty(header.command.response(), status, header.sequence);
    }

    /// Answers an odd request with its own response; odd responses are only counted.
    fn refuse(&mut self, header: Header, status: CommandStatus) {
        self.counters.odd_pdus += 1;
        if !header.command.is_response() {
            self.respond(header, status);
        }
    }

    fn nack(&mut self, header: Header, status: CommandStatus) {
        self.counters.odd_pdus += 1;
        if !header.command.is_response() {
            self.empty(Command::GENERIC_NACK, status, header.sequence);
        }
    }
}
