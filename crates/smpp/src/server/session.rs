//! The state machine of a server's session, without input and output.

use super::answers;
use super::event::{Request, ServerCounters, ServerEvent, SessionEnd};
use super::options::{INTERFACE_VERSION, ServerOptions};
use super::state::{State, deadline};
use super::unanswered::Unanswered;
use crate::codec::{self, BindFields, Pdu, Sm, encode};
use crate::command::Command;
use crate::frame::{Frame, Header};
use crate::output::Output;
use crate::pdu::BindKind;
use crate::probe::{Probe, ProbeStep};
use crate::status::CommandStatus;
use crate::tlv::{Tlvs, tag};
use std::time::Duration;
use tokio::time::Instant;

/// Timeout of the last writes.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
/// Size of the unwritten output from which no further `deliver_sm` are encoded.
const MAX_UNWRITTEN_DELIVER_OCTETS: usize = 256 * 1024;
/// Size of the unwritten output from which the connection should not be read.
const MAX_UNWRITTEN_OCTETS: usize = 1024 * 1024;

/// The session of one client. `T` is a value that the caller attaches to a `deliver_sm`.
#[derive(Debug)]
pub struct ServerSession<T> {
    pub(crate) output: Output,
    /// The options. Timeouts that began before a change of them stay.
    pub options: ServerOptions,
    state: State,
    probe: Probe,
    /// `true` if the client supports optional parameters.
    takes_tlvs: bool,
    /// Number of requests that the caller has not answered.
    pending: usize,
    unanswered: Unanswered<T>,
    counters: ServerCounters,
}

impl<T> ServerSession<T> {
    /// Creates the session of a client that has just connected.
    pub fn new(options: ServerOptions, now: Instant) -> Self {
        Self {
            output: Output::default(),
            state: State::Opened(deadline(now, options.bind_timeout)),
            probe: Probe::new(options.enquire_link, options.response_timeout, now),
            takes_tlvs: false,
            pending: 0,
            unanswered: Unanswered::new(options.response_timeout),
            counters: ServerCounters::default(),
            options,
        }
    }

    /// Handles one PDU of the client. Returns an event if the caller must handle it.
    pub fn on_frame<'a>(&mut self, frame: &Frame<'a>, now: Instant) -> Option<ServerEvent<'a, T>> {
        if !self.is_open() {
            return None;
        }
        self.probe.note_received(now);
        let header = frame.header;
        let request = Request::of(header);
        let event = match codec::decode(header.command, frame.body) {
            Ok(Pdu::Submit(message)) => ServerEvent::Submit(request, message),
            Ok(Pdu::SubmitMulti(message, to)) => ServerEvent::SubmitMulti(request, message, to),
            Ok(Pdu::Data(message)) => ServerEvent::Data(request, message),
            Ok(Pdu::Query(fields)) => ServerEvent::Query(request, fields),
            Ok(Pdu::Cancel(fields)) => ServerEvent::Cancel(request, fields),
            Ok(Pdu::Bind(kind, fields)) => return self.on_bind(request, kind, fields),
            Ok(Pdu::DeliverResp | Pdu::DataResp(_)) => {
                return self.on_answer(header, header.status);
            }
            Ok(Pdu::GenericNack) => return self.on_answer(header, header.status.of_nack()),
            other => {
                self.on_link_pdu(header, other.ok(), now);
                return None;
            }
        };
        self.admit(request).then_some(event)
    }

    /// Handles an impossible `command_length`, after which no further PDU can be read.
    pub fn on_broken_length(&mut self, now: Instant) {
        self.counters.odd_pdus += 1;
        if self.is_open() {
            answers::write_nack(&mut self.output, CommandStatus::RINVCMDLEN, 0);
            self.leave_after_answers(SessionEnd::Protocol, now);
        }
    }

    /// Sends a `deliver_sm`, and keeps `item` until its answer. A client below 3.4 gets no optional
    /// parameters.
    pub fn deliver(
        &mut self,
        item: T,
        message: &Sm<'_>,
        now: Instant,
    ) -> Result<(), CommandStatus> {
        let mut message = *message;
        if !self.takes_tlvs {
            if message
                .tlvs
                .into_iter()
                .any(|(tag, _)| tag::is_content(tag))
            {
                return Err(CommandStatus::ROPTPARNOTALLWD);
            }
            message.tlvs = Tlvs::default();
        }
        self.deliver_with(item, now, |_, out, sequence| {
            encode(out, CommandStatus::ROK, sequence, &Pdu::Deliver(message))
        })
    }

    /// Sends a `deliver_sm` or `data_sm` that `write` encodes, and keeps `item` until its answer.
    pub(crate) fn deliver_with(
        &mut self,
        item: T,
        now: Instant,
        write: impl FnOnce(&T, &mut Vec<u8>, u32) -> Result<(), CommandStatus>,
    ) -> Result<(), CommandStatus> {
        let sequence = self.unanswered.next_sequence();
        write(&item, &mut self.output.octets, sequence)?;
        self.counters.delivers += 1;
        self.unanswered.insert(sequence, item, now);
        Ok(())
    }

    /// Returns how many `deliver_sm` may be sent now, if `window` may be unanswered.
    pub fn available(&self, window: usize) -> usize {
        let takes_more = self.output.waiting() <= MAX_UNWRITTEN_DELIVER_OCTETS;
        let window = if self.state.receives() && takes_more {
            window
        } else {
            0
        };
        window.saturating_sub(self.unanswered.len())
    }

    /// Sends `unbind` to the client.
    pub fn unbind(&mut self, now: Instant) {
        if let State::Bound(kind) = self.state {
            let sequence = self.unanswered.next_sequence();
            answers::write_empty(
                &mut self.output,
                Command::UNBIND,
                CommandStatus::ROK,
                sequence,
            );
            self.state = State::Unbinding(kind, self.unanswered.deadline_from(now));
        }
    }

    /// Performs everything that is due. Returns the items of `deliver_sm` whose answers timed out.
    pub fn on_time(&mut self, now: Instant) -> Vec<T> {
        match self.state {
            State::Opened(Some(at)) if at <= now => self.leave(SessionEnd::BindTimedOut, now),
            State::Bound(_) => self.probe(now),
            State::Unbinding(_, Some(deadline)) if deadline <= now => {
                self.leave(SessionEnd::Unbound, now);
            }
            State::ClientUnbinding(sequence, deadline) if self.pending == 0 || deadline <= now => {
                self.answer_unbind(sequence, now);
            }
            _ => {}
        }
        let expired = self.unanswered.expire(now);
        self.counters.timeouts += expired.len() as u64;
        expired
    }

    /// Returns the time of the next call of [`Self::on_time`] or [`Self::ended`].
    pub fn deadline(&self) -> Option<Instant> {
        let state = match self.state {
            State::Binding => None,
            State::Bound(_) => self.probe.deadline(),
            State::Opened(deadline) | State::Unbinding(_, deadline) => deadline,
            State::ClientUnbinding(_, at) | State::Leaving(_, at) => Some(at),
        };
        state.into_iter().chain(self.unanswered.deadline()).min()
    }

    /// Returns the reason once all answers are written, or the timeout of the end is over.
    pub fn ended(&self, now: Instant) -> Option<SessionEnd> {
        let State::Leaving(end, at) = self.state else {
            return None;
        };
        let is_done = self.output.is_done() && !self.awaits_answers();
        (at <= now || is_done).then_some(end)
    }

    /// Returns `true` if frames are still handled.
    pub const fn is_open(&self) -> bool {
        !matches!(self.state, State::Leaving(..))
    }

    /// Returns `true` if so much output is unwritten that the connection should not be read.
    pub fn is_congested(&self) -> bool {
        self.output.waiting() >= MAX_UNWRITTEN_OCTETS
    }

    /// Returns the unwritten octets.
    pub fn unsent(&self) -> &[u8] {
        self.output.unsent()
    }

    /// Records that some of the [`Self::unsent`] octets were written.
    pub fn advance(&mut self, octets: usize) {
        self.output.advance(octets);
    }

    /// Takes the items of all unanswered `deliver_sm`, in the order of sending.
    pub fn take_unanswered(&mut self) -> Vec<T> {
        self.unanswered.take_all()
    }

    /// Returns the counters.
    pub const fn counters(&self) -> ServerCounters {
        self.counters
    }

    /// Grants the bind. A client below version 3.4 gets no optional parameters.
    pub fn grant(
        &mut self,
        request: Request,
        kind: BindKind,
        fields: &BindFields<'_>,
    ) -> Result<(), CommandStatus> {
        self.takes_tlvs = fields.interface_version >= INTERFACE_VERSION;
        let version = self.options.interface_version.filter(|_| self.takes_tlvs);
        let (output, system_id) = (&mut self.output, &self.options.system_id);
        answers::write_granted(output, request, kind, system_id, version)?;
        if matches!(self.state, State::Binding) {
            self.state = State::Bound(kind);
        }
        Ok(())
    }

    /// Rejects the bind and ends the session.
    pub fn refuse_bind(&mut self, request: Request, status: CommandStatus, now: Instant) {
        answers::write_status(&mut self.output, request, status);
        self.leave(SessionEnd::BindRefused, now + FLUSH_TIMEOUT);
    }

    /// Accepts a `submit_sm`, a `data_sm` or all destinations of a `submit_multi`.
    pub fn accept(&mut self, request: Request, message_id: &[u8]) -> Result<(), CommandStatus> {
        self.answer(request, &answers::accepted(request, message_id))
    }

    /// Answers a request with a PDU that has fields, such as a `query_sm_resp`.
    pub fn answer(&mut self, request: Request, pdu: &Pdu<'_>) -> Result<(), CommandStatus> {
        answers::write(&mut self.output, request, pdu)?;
        self.end_request();
        Ok(())
    }

    /// Answers a request with a status only, such as a rejection.
    pub fn respond(&mut self, request: Request, status: CommandStatus) {
        answers::write_status(&mut self.output, request, status);
        self.end_request();
    }

    /// Rejects an unsupported request with `generic_nack`.
    pub fn nack(&mut self, request: Request, status: CommandStatus) {
        answers::write_nack(&mut self.output, status, request.sequence);
        self.end_request();
    }

    /// Ends a request without an answer.
    pub const fn end_request(&mut self) {
        self.pending = self.pending.saturating_sub(1);
    }

    fn reject(&mut self, request: Request, status: CommandStatus) {
        self.counters.odd_pdus += 1;
        answers::write_status(&mut self.output, request, status);
    }

    fn on_bind<'a>(
        &mut self,
        request: Request,
        kind: BindKind,
        fields: BindFields<'a>,
    ) -> Option<ServerEvent<'a, T>> {
        if matches!(self.state, State::Opened(_)) {
            self.state = State::Binding;
            return Some(ServerEvent::Bind(request, kind, fields));
        }
        self.reject(request, CommandStatus::RALYBND);
        None
    }

    /// Returns `true` if the request becomes an event. Otherwise it was rejected.
    fn admit(&mut self, request: Request) -> bool {
        if !self.state.submits() {
            self.reject(request, CommandStatus::RINVBNDSTS);
        } else if self.pending >= self.options.max_pending {
            self.counters.throttled += 1;
            answers::write_status(&mut self.output, request, CommandStatus::RTHROTTLED);
        } else {
            self.counters.requests += 1;
            self.pending += 1;
            return true;
        }
        false
    }

    fn on_answer<'a>(
        &mut self,
        header: Header,
        status: CommandStatus,
    ) -> Option<ServerEvent<'a, T>> {
        let item = self.unanswered.take(header.sequence);
        self.counters.odd_pdus += u64::from(item.is_none());
        Some(ServerEvent::Answered(item?, status))
    }

    /// Handles a PDU that is no event. `None` is a malformed PDU.
    fn on_link_pdu(&mut self, header: Header, pdu: Option<Pdu<'_>>, now: Instant) {
        let request = Request::of(header);
        match pdu {
            Some(Pdu::EnquireLink) => {
                answers::write_status(&mut self.output, request, CommandStatus::ROK);
            }
            Some(Pdu::EnquireLinkResp) => {}
            Some(Pdu::Unbind) => self.on_unbind(header.sequence, now),
            Some(Pdu::UnbindResp) if matches!(self.state, State::Unbinding(..)) => {
                self.leave_after_answers(SessionEnd::Unbound, now);
            }
            Some(Pdu::Other(Command::REPLACE_SM, _)) => {
                self.reject(request, CommandStatus::RREPLACEFAIL);
            }
            Some(Pdu::Other(command, _)) if !command.is_response() => {
                self.counters.odd_pdus += 1;
                answers::write_nack(&mut self.output, CommandStatus::RINVCMDID, header.sequence);
            }
            Some(Pdu::Deliver(_)) => self.reject(request, CommandStatus::RINVBNDSTS),
            None if !header.command.is_response() => {
                self.reject(request, CommandStatus::RINVCMDLEN);
            }
            Some(_) | None => self.counters.odd_pdus += 1,
        }
    }

    fn on_unbind(&mut self, sequence: u32, now: Instant) {
        if self.awaits_answers() {
            self.state = State::ClientUnbinding(sequence, now + self.options.unbind_timeout);
        } else {
            self.answer_unbind(sequence, now);
        }
    }

    /// Returns `true` if the end of the session waits for the caller's answers.
    const fn awaits_answers(&self) -> bool {
        self.pending > 0 && !self.options.unbind_timeout.is_zero()
    }

    /// Ends the session once the caller has answered all requests. A client that gets no answer
    /// would submit the same text again.
    fn leave_after_answers(&mut self, end: SessionEnd, now: Instant) {
        let timeout = if self.awaits_answers() {
            self.options.unbind_timeout
        } else {
            FLUSH_TIMEOUT
        };
        self.leave(end, now + timeout);
    }

    fn answer_unbind(&mut self, sequence: u32, now: Instant) {
        let command = Command::UNBIND.response();
        answers::write_empty(&mut self.output, command, CommandStatus::ROK, sequence);
        self.leave(SessionEnd::ClientUnbound, now + FLUSH_TIMEOUT);
    }

    /// Sends an `enquire_link` to a client that was silent for long.
    fn probe(&mut self, now: Instant) {
        match self.probe.step(false, now) {
            ProbeStep::Wait => {}
            ProbeStep::GiveUp => self.leave(SessionEnd::HalfOpen, now),
            ProbeStep::Write => {
                let sequence = self.unanswered.next_sequence();
                answers::write_empty(
                    &mut self.output,
                    Command::ENQUIRE_LINK,
                    CommandStatus::ROK,
                    sequence,
                );
            }
        }
    }

    /// Ends the session. The first reason is kept.
    fn leave(&mut self, end: SessionEnd, at: Instant) {
        if self.is_open() {
            self.state = State::Leaving(end, at);
        }
    }
}
