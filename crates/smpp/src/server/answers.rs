//! The answers of a server's session to the requests of its client.

use super::event::Request;
use crate::codec::{BindRespFields, Pdu, SubmitMultiRespFields, encode, encode_empty};
use crate::command::Command;
use crate::output::Output;
use crate::pdu::BindKind;
use crate::status::CommandStatus;
use crate::tlv::{Tlv, Tlvs, tag};

/// Returns the answer that accepts a `submit_sm`, a `data_sm` or all destinations of a
/// `submit_multi`.
pub(super) fn accepted(request: Request, message_id: &[u8]) -> Pdu<'_> {
    match request.command {
        Command::DATA_SM => Pdu::DataResp(message_id),
        Command::SUBMIT_MULTI => Pdu::SubmitMultiResp(SubmitMultiRespFields {
            message_id,
            failed: &[],
        }),
        _ => Pdu::SubmitResp(message_id),
    }
}

/// Writes the response that grants a bind, with the version of the interface if there is one.
pub(super) fn write_granted(
    output: &mut Output,
    request: Request,
    kind: BindKind,
    system_id: &str,
    version: Option<u8>,
) -> Result<(), CommandStatus> {
    let tlvs = version.map(|version| Tlv::new(tag::SC_INTERFACE_VERSION, vec![version]));
    let response = BindRespFields {
        system_id: system_id.as_bytes(),
        tlvs: Tlvs::List(tlvs.as_slice()),
    };
    write(output, request, &Pdu::BindResp(kind, response))
}

/// Writes a response without an error.
pub(super) fn write(
    output: &mut Output,
    request: Request,
    pdu: &Pdu<'_>,
) -> Result<(), CommandStatus> {
    encode(
        &mut output.octets,
        CommandStatus::ROK,
        request.sequence,
        pdu,
    )
}

/// Writes a `generic_nack`.
pub(super) fn write_nack(output: &mut Output, status: CommandStatus, sequence: u32) {
    write_empty(output, Command::GENERIC_NACK, status, sequence);
}

/// Writes the response to a request, which has a status only.
pub(super) fn write_status(output: &mut Output, request: Request, status: CommandStatus) {
    write_empty(output, request.command.response(), status, request.sequence);
}

/// Writes a PDU without a body.
pub(super) fn write_empty(
    output: &mut Output,
    command: Command,
    status: CommandStatus,
    sequence: u32,
) {
    encode_empty(&mut output.octets, command, status, sequence);
}
