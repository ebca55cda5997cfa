//! The answers of a server's session to the requests of its client.

use super::event::{Request, SessionEnd};
use super::options::INTERFACE_VERSION;
use super::session::{FLUSH_TIMEOUT, ServerSession};
use super::state::State;
use crate::codec::{BindFields, BindRespFields, Pdu, SubmitMultiRespFields, encode, encode_empty};
use crate::command::Command;
use crate::pdu::BindKind;
use crate::status::CommandStatus;
use crate::tlv::{Tlv, Tlvs, tag};
use tokio::time::Instant;

impl<T> ServerSession<T> {
    /// Grants the bind. A client below version 3.4 gets no optional parameters.
    pub fn grant(
        &mut self,
        request: Request,
        kind: BindKind,
        fields: &BindFields<'_>,
    ) -> Result<(), CommandStatus> {
        self.takes_tlvs = fields.interface_version >= INTERFACE_VERSION;
        let version = self.options.interface_version.filter(|_| self.takes_tlvs);
        let tlvs = version.map(|version| Tlv::new(tag::SC_INTERFACE_VERSION, vec![version]));
        let response = BindRespFields {
            system_id: self.options.system_id.as_bytes(),
            tlvs: Tlvs::List(tlvs.as_slice()),
        };
        let pdu = Pdu::BindResp(kind, response);
        let octets = &mut self.output.octets;
        encode(octets, CommandStatus::ROK, request.sequence, &pdu)?;
        if matches!(self.state, State::Binding) {
            self.state = State::Bound(kind);
        }
        Ok(())
    }

    /// Rejects the bind, and ends the session.
    pub fn refuse_bind(&mut self, request: Request, status: CommandStatus, now: Instant) {
        self.write_status(request, status);
        self.leave(SessionEnd::BindRefused, now + FLUSH_TIMEOUT);
    }

    /// Accepts a `submit_sm`, a `data_sm` or all destinations of a `submit_multi`.
    pub fn accept(&mut self, request: Request, message_id: &[u8]) -> Result<(), CommandStatus> {
        let pdu = match request.command {
            Command::DATA_SM => Pdu::DataResp(message_id),
            Command::SUBMIT_MULTI => Pdu::SubmitMultiResp(SubmitMultiRespFields {
                message_id,
                failed: &[],
            }),
            _ => Pdu::SubmitResp(message_id),
        };
        self.answer(request, &pdu)
    }

    /// Answers a request with a PDU: a `query_sm_resp`, or a `submit_multi_resp` with rejected
    /// destinations.
    pub fn answer(&mut self, request: Request, pdu: &Pdu<'_>) -> Result<(), CommandStatus> {
        let octets = &mut self.output.octets;
        encode(octets, CommandStatus::ROK, request.sequence, pdu)?;
        self.end_request();
        Ok(())
    }

    /// Answers a request with a status only: a rejection, or the success of a `cancel_sm`.
    pub fn respond(&mut self, request: Request, status: CommandStatus) {
        self.write_status(request, status);
        self.end_request();
    }

    /// Rejects an unsupported request with `generic_nack`.
    pub fn nack(&mut self, request: Request, status: CommandStatus) {
        self.write_nack(status, request.sequence);
        self.end_request();
    }

    /// Ends a request without an answer.
    pub const fn end_request(&mut self) {
        self.pending = self.pending.saturating_sub(1);
    }

    pub(super) fn reject(&mut self, request: Request, status: CommandStatus) {
        self.counters.odd_pdus += 1;
        self.write_status(request, status);
    }

    pub(super) fn write_nack(&mut self, status: CommandStatus, sequence: u32) {
        self.write_empty(Command::GENERIC_NACK, status, sequence);
    }

    pub(super) fn write_status(&mut self, request: Request, status: CommandStatus) {
        self.write_empty(request.command.response(), status, request.sequence);
    }

    pub(super) fn write_empty(&mut self, command: Command, status: CommandStatus, sequence: u32) {
        encode_empty(&mut self.output.octets, command, status, sequence);
    }
}
