//! The strict side: PDUs to octets, appended to a buffer that many PDUs share.

use super::{AddressFields, BindFields, Pdu, Sm};
use crate::command::Command;
use crate::frame::{HEADER_OCTETS, MAX_FRAME_OCTETS};
use crate::pdu::{MAX_SHORT_MESSAGE_OCTETS, check_text, check_time};
use crate::status::CommandStatus;
use crate::tlv::Tlvs;

/// Octets of the longest `message_id`, without its NUL.
const MAX_MESSAGE_ID_OCTETS: usize = 64;

/// Appends a PDU to `out`. What SMPP 3.4 does not allow is refused with the status that names the
/// fault, and `out` is left as it was.
pub fn encode(
    out: &mut Vec<u8>,
    status: CommandStatus,
    sequence: u32,
    pdu: &Pdu<'_>,
) -> Result<(), CommandStatus> {
    let start = out.len();
    encode_empty(out, pdu.command(), status, sequence);
    let written = body(out, pdu).and_then(|()| finish(out, start));
    if written.is_err() {
        out.truncate(start);
    }
    written
}

/// Appends a PDU without a body: requests and responses of the link, and refusals of all kinds.
pub fn encode_empty(out: &mut Vec<u8>, command: Command, status: CommandStatus, sequence: u32) {
    let mut header = [0; HEADER_OCTETS];
    header[3] = 16;
    header[4..8].copy_from_slice(&command.0.to_be_bytes());
    header[8..12].copy_from_slice(&status.0.to_be_bytes());
    header[12..].copy_from_slice(&sequence.to_be_bytes());
    out.extend_from_slice(&header);
}

fn body(out: &mut Vec<u8>, pdu: &Pdu<'_>) -> Result<(), CommandStatus> {
    match pdu {
        Pdu::Submit(message) | Pdu::Deliver(message) => short_message(out, message),
        Pdu::Data(message) => data_sm(out, message),
        Pdu::SubmitResp(id) | Pdu::DataResp(id) => {
            text(out, id, MAX_MESSAGE_ID_OCTETS, CommandStatus::RINVMSGID)
        }
        Pdu::Bind(_, fields) => bind(out, fields),
        Pdu::BindResp(_, fields) => {
            text(out, fields.system_id, 15, CommandStatus::RINVSYSID)?;
            tlvs(out, fields.tlvs)
        }
        Pdu::DeliverResp => {
            // The message_id of deliver_sm_resp is unused and sent as an empty text.
            out.push(0);
            Ok(())
        }
        Pdu::EnquireLink
        | Pdu::EnquireLinkResp
        | Pdu::Unbind
        | Pdu::UnbindResp
        | Pdu::GenericNack => Ok(()),
        Pdu::Other(_, octets) => {
            out.extend_from_slice(octets);
            Ok(())
        }
    }
}

/// Writes the length of the PDU that starts at `start` and ends with `out`.
fn finish(out: &mut [u8], start: usize) -> Result<(), CommandStatus> {
    let octets = out.len() - start;
    if octets > MAX_FRAME_OCTETS {
        return Err(CommandStatus::RINVCMDLEN);
    }
    let length = u32::try_from(octets).map_err(|_| CommandStatus::RINVCMDLEN)?;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

fn short_message(out: &mut Vec<u8>, message: &Sm<'_>) -> Result<(), CommandStatus> {
    let length = u8::try_from(message.short_message.len())
        .ok()
        .filter(|&length| usize::from(length) <= MAX_SHORT_MESSAGE_OCTETS)
        .ok_or(CommandStatus::RINVMSGLEN)?;
    addresses(out, message)?;
    out.extend_from_slice(&[message.esm_class, message.protocol_id, message.priority]);
    time(out, message.schedule, CommandStatus::RINVSCHED)?;
    time(out, message.validity_period, CommandStatus::RINVEXPIRY)?;
    out.extend_from_slice(&[
        message.registered_delivery,
        message.replace_if_present,
        message.data_coding,
        message.default_message,
        length,
    ]);
    out.extend_from_slice(message.short_message);
    tlvs(out, message.tlvs)
}

fn data_sm(out: &mut Vec<u8>, message: &Sm<'_>) -> Result<(), CommandStatus> {
    addresses(out, message)?;
    out.extend_from_slice(&[
        message.esm_class,
        message.registered_delivery,
        message.data_coding,
    ]);
    tlvs(out, message.tlvs)
}

fn addresses(out: &mut Vec<u8>, message: &Sm<'_>) -> Result<(), CommandStatus> {
    text(out, message.service_type, 5, CommandStatus::RINVSERTYP)?;
    address(out, message.source, CommandStatus::RINVSRCADR)?;
    address(out, message.destination, CommandStatus::RINVDSTADR)
}

fn address(
    out: &mut Vec<u8>,
    fields: AddressFields<'_>,
    fault: CommandStatus,
) -> Result<(), CommandStatus> {
    out.extend_from_slice(&[fields.ton, fields.npi]);
    text(out, fields.digits, 20, fault)
}

fn bind(out: &mut Vec<u8>, fields: &BindFields<'_>) -> Result<(), CommandStatus> {
    text(out, fields.system_id, 15, CommandStatus::RINVSYSID)?;
    text(out, fields.password, 8, CommandStatus::RINVPASWD)?;
    text(out, fields.system_type, 12, CommandStatus::RINVSYSTYP)?;
    out.extend_from_slice(&[fields.interface_version, fields.addr_ton, fields.addr_npi]);
    text(out, fields.address_range, 40, CommandStatus::RBINDFAIL)
}

fn text(
    out: &mut Vec<u8>,
    text: &[u8],
    max_octets: usize,
    fault: CommandStatus,
) -> Result<(), CommandStatus> {
    check_text(text, max_octets, fault)?;
    out.extend_from_slice(text);
    out.push(0);
    Ok(())
}

fn time(out: &mut Vec<u8>, text: &[u8], fault: CommandStatus) -> Result<(), CommandStatus> {
    check_time(text, fault)?;
    out.extend_from_slice(text);
    out.push(0);
    Ok(())
}

fn tlvs(out: &mut Vec<u8>, tlvs: Tlvs<'_>) -> Result<(), CommandStatus> {
    match tlvs {
        Tlvs::Wire(octets) => out.extend_from_slice(octets),
        Tlvs::List(list) => {
            for tlv in list {
                let length =
                    u16::try_from(tlv.value.len()).map_err(|_| CommandStatus::RINVPARLEN)?;
                out.extend_from_slice(&tlv.tag.to_be_bytes());
                out.extend_from_slice(&length.to_be_bytes());
                out.extend_from_slice(&tlv.value);
            }
        }
    }
    Ok(())
}
