//! The rules of a session, without any input or output: frames, commands and time go in, octets
//! and events come out.

mod incoming;

use super::mailbox::Commands;
use super::remembered::Remembered;
use super::window::{Entry, Window};
use super::{BindOptions, CloseReason, Counters, Event, MAX_WINDOW, Outcome, Submit};
use crate::codec::{Pdu, Sm, encode, encode_empty};
use crate::command::Command;
use crate::output::Output;
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
    probe_after: Duration,
    response_timeout: Duration,
    send_tlvs: bool,
    heard_at: Instant,
    /// Set while a probe is out and nothing was heard since.
    probe_deadline: Option<Instant>,
    /// `data_sm` that wait for their answer, which differs from that of `deliver_sm`.
    data_sequences: Remembered,
    timed_out: Remembered,
}

/// How far the session is on its way from bind to close.
#[derive(Clone, Copy, Debug)]
enum State {
    Open,
    /// No new submits; open responses are waited for until then.
    Draining(Instant),
    /// `unbind` is out; its response is waited for until then.
    Unbinding(Instant),
    /// The peer asked to unbind with this sequence number. It is answered once all submits are, or at that time.
    PeerUnbinding(u32, Instant),
    /// Over, once what is readable was read and what is answered was written, or at that time.
    Leaving(CloseReason, Instant),
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
            probe_after: options.enquire_link,
            response_timeout: options.response_timeout,
            send_tlvs,
            heard_at: now,
            probe_deadline: None,
            data_sequences: Remembered::default(),
            timed_out: Remembered::default(),
        }
    }

    /// How many submits may be encoded now.
    pub(super) fn room(&self) -> usize {
        match self.state {
            // A connection that may be dead gets no more than it has: all of it would be in doubt.
            State::Open
                if !self.is_silent() && self.output.waiting() < MAX_UNWRITTEN_SUBMIT_OCTETS =>
            {
                self.window.room()
            }
            State::Open
            | State::Draining(_)
            | State::Unbinding(_)
            | State::PeerUnbinding(..)
            | State::Leaving(..) => 0,
        }
    }

    /// Whether the peer asked to unbind: no submit will be encoded any more.
    pub(super) fn is_unbound_by_peer(&self) -> bool {
        matches!(self.state, State::PeerUnbinding(..))
    }

    /// How many submits are unanswered.
    pub(super) fn outstanding(&self) -> usize {
        self.window.open()
    }

    /// Whether a probe is out, and nothing was heard since.
    pub(super) fn is_silent(&self) -> bool {
        self.probe_deadline.is_some()
    }

    /// Any octet is a sign of life.
    pub(super) fn heard(&mut self, now: Instant) {
        self.heard_at = now;
        self.probe_deadline = None;
    }

    /// Nothing was read for that long, by our own choice: the peer shall not pay for it.
    pub(super) fn postpone(&mut self, pause: Duration) {
        self.window.postpone(pause);
        self.heard_at += pause;
        self.probe_deadline = self.probe_deadline.map(|deadline| deadline + pause);
    }

    /// Writes answers and submits, and begins to end when that is asked.
    pub(super) fn obey(&mut self, commands: &mut Commands, now: Instant) {
        for (sequence, status) in commands.answers.drain(..) {
            self.answer(sequence, status);
        }
        for submit in commands.submits.drain(..) {
            if commands.unbind {
                self.settle(submit.tag, Outcome::NotSent);
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
        self.settle(submit.tag, Outcome::NotSent);
    }

    /// What is due. Call it only when everything readable was read: a slow reader would otherwise
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
        let state = match self.state {
            State::Open => None,
            State::Draining(at)
            | State::Unbinding(at)
            | State::PeerUnbinding(_, at)
            | State::Leaving(_, at) => Some(at),
        };
        let idle = (!self.probe_after.is_zero()).then(|| self.heard_at + self.probe_after);
        let alive = match self.state {
            State::Open | State::Draining(_) => self.probe_deadline.or(idle),
            State::Unbinding(_) | State::PeerUnbinding(..) | State::Leaving(..) => None,
        };
        [state, alive, self.window.deadline(self.response_timeout)]
            .into_iter()
            .flatten()
            .min()
    }

    /// The session is to end for this reason, at that time at the latest. The first reason counts.
    pub(super) fn leave(&mut self, reason: CloseReason, at: Instant) {
        self.state = match (self.state, reason) {
            (State::Leaving(first, until), _) => State::Leaving(first, until.min(at)),
            // After our own unbind, peers hang up in many ways.
            (State::Unbinding(_), CloseReason::PeerClosed | CloseReason::PeerUnbound) => {
                State::Leaving(CloseReason::Unbound, at)
            }
            (State::PeerUnbinding(..), CloseReason::PeerClosed) => {
                State::Leaving(CloseReason::PeerUnbound, at)
            }
            (
                State::Open | State::Draining(_) | State::Unbinding(_) | State::PeerUnbinding(..),
                _,
            ) => State::Leaving(reason, at),
        };
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

    /// The stream is out of step: tell the peer, and leave.
    pub(super) fn on_broken_length(&mut self, now: Instant) {
        self.empty(Command::GENERIC_NACK, CommandStatus::RINVCMDLEN, 0);
        self.leave(CloseReason::Protocol, now + FLUSH_TIMEOUT);
    }

    /// Whether the session is over, and why. `drained`: nothing is readable any more.
    pub(super) fn ended(&self, drained: bool, now: Instant) -> Option<CloseReason> {
        match self.state {
            State::Leaving(reason, at) => {
                let owes = reason == CloseReason::PeerUnbound && self.window.open() > 0;
                let is_done = drained && self.output.is_done() && !owes;
                (now >= at || is_done).then_some(reason)
            }
            State::Open | State::Draining(_) | State::Unbinding(_) | State::PeerUnbinding(..) => {
                None
            }
        }
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
            if submit.pdu.tlvs.iter().any(|tlv| is_content(tlv.tag)) {
                self.settle(
                    submit.tag,
                    Outcome::Rejected(CommandStatus::ROPTPARNOTALLWD),
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
            Err(fault) => self.settle(submit.tag, Outcome::Rejected(fault)),
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
        let patience = if missed {
            self.probe_after.min(self.response_timeout)
        } else {
            self.probe_after
        };
        match self.probe_deadline {
            Some(deadline) if now >= deadline => self.leave(CloseReason::HalfOpen, now),
            Some(_) => {}
            None if patience.is_zero() || now < self.heard_at + patience => {}
            None => {
                let sequence = self.window.next_sequence();
                self.empty(Command::ENQUIRE_LINK, CommandStatus::ROK, sequence);
                self.probe_deadline = Some(now + self.response_timeout);
            }
        }
    }

    /// The connection, or the patience, ended before the response came.
    fn lose(&mut self, entry: &Entry) {
        let outcome = if entry.start < self.output.sent() {
            Outcome::Unknown
        } else {
            Outcome::NotSent
        };
        self.settle(entry.tag, outcome);
    }

    fn settle(&mut self, tag: u64, outcome: Outcome) {
        self.events.push(Event::Submitted { tag, outcome });
    }

    fn empty(&mut self, command: Command, status: CommandStatus, sequence: u32) {
        encode_empty(&mut self.output.octets, command, status, sequence);
    }
}

/// Parameters that carry the text or join its parts: without them another message would be sent.
fn is_content(tag: u16) -> bool {
    matches!(
        tag,
        tag::MESSAGE_PAYLOAD
            | tag::SAR_MSG_REF_NUM
            | tag::SAR_TOTAL_SEGMENTS
            | tag::SAR_SEGMENT_SEQNUM
    )
}
