//! What the peer sends: responses meet their requests, messages become events, and what is odd is answered
//! as far as it can be.

use super::{FLUSH_TIMEOUT, Link, State};
use crate::codec::{self, Pdu, Sm};
use crate::command::Command;
use crate::frame::{Frame, Header};
use crate::limits::{self, MAX_MESSAGE_ID_OCTETS, text_within};
use crate::session::{CloseReason, Event, Outcome};
use crate::status::CommandStatus;
use tokio::time::Instant;

impl Link {
    /// One PDU came.
    pub(in crate::session) fn on_frame(&mut self, frame: &Frame<'_>, now: Instant) {
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
            // They say nothing that the octets themselves did not say, or nothing to us.
            Ok(
                Pdu::EnquireLinkResp
                | Pdu::Other(Command::OUTBIND | Command::ALERT_NOTIFICATION, _),
            ) => {}
            Ok(Pdu::DeliverResp | Pdu::DataResp(_)) => self.counters.unmatched_responses += 1,
            Ok(Pdu::UnbindResp | Pdu::BindResp(..)) => self.counters.odd_pdus += 1,
            Ok(Pdu::Bind(..) | Pdu::Submit(_)) => self.refuse(header, CommandStatus::RINVBNDSTS),
            Ok(Pdu::Other(..)) => self.nack(header, CommandStatus::RINVCMDID),
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
            Outcome::Accepted {
                message_id: text_within(id, MAX_MESSAGE_ID_OCTETS),
            }
        } else {
            Outcome::Rejected(header.status)
        };
        self.settle(entry.tag, outcome);
    }

    fn on_nack(&mut self, header: Header, now: Instant) {
        match self.window.take(header.sequence) {
            Some(entry) => {
                self.counters.responses += 1;
                // A nack never means success, whatever its status says.
                let status = match header.status {
                    CommandStatus::ROK => CommandStatus::RUNKNOWNERR,
                    status => status,
                };
                self.settle(entry.tag, Outcome::Rejected(status));
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
