//! The strict encoder of PDUs. It appends to a buffer of many PDUs.

use super::fields::{AddressFields, BindFields, Sm};
use super::pdu::Pdu;
use super::requests::{
    CancelFields, Destination, Destinations, MAX_DESTINATIONS, QueryRespFields,
    SubmitMultiRespFields,
};
use crate::command::Command;
use crate::frame::{HEADER_OCTETS, MAX_FRAME_OCTETS};
use crate::pdu::{MAX_PASSWORD_OCTETS, MAX_SHORT_MESSAGE_OCTETS};
use crate::status::CommandStatus;
use crate::tlv::Tlvs;

/// Maximum size of a `message_id` without its NUL.
const MAX_MESSAGE_ID_OCTETS: usize = 64;
/// Upper bound of the mandatory fields of any PDU. A bind has the most, 138 octets.
const MAX_FIELDS_OCTETS: usize = 144;

/// Appends a PDU to `out`. A PDU that SMPP 3.4 does not allow is rejected with the status for its
/// fault, and `out` does not change.
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

/// Appends a PDU without a body: requests and responses of the link, and rejections.
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
        Pdu::SubmitMulti(message, destinations) => submit_multi(out, message, *destinations),
        Pdu::SubmitMultiResp(response) => submit_multi_resp(out, response),
        Pdu::SubmitResp(id) | Pdu::DataResp(id) => {
            let mut fields = Fields::default();
            fields.message_id(id)?;
            fields.write(out);
            Ok(())
        }
        Pdu::Query(query) => {
            let mut fields = Fields::default();
            fields.message_id(query.message_id)?;
            fields.address(query.source, CommandStatus::RINVSRCADR)?;
            fields.write(out);
            Ok(())
        }
        Pdu::QueryResp(response) => {
            let mut fields = Fields::default();
            fields.query_resp(response)?;
            fields.write(out);
            Ok(())
        }
        Pdu::Cancel(cancel) => {
            let mut fields = Fields::default();
            fields.cancel(cancel)?;
            fields.write(out);
            Ok(())
        }
        Pdu::Bind(_, bind) => {
            let mut fields = Fields::default();
            fields.bind(bind)?;
            fields.write(out);
            Ok(())
        }
        Pdu::BindResp(_, response) => {
            let mut fields = Fields::default();
            fields.text(response.system_id, 15, CommandStatus::RINVSYSID)?;
            fields.write(out);
            tlvs(out, response.tlvs)
        }
        Pdu::DeliverResp => {
            // The `message_id` of `deliver_sm_resp` is unused and empty.
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

/// Writes the length of the PDU from `start` to the end of `out`.
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
    let mut fields = Fields::default();
    fields.addresses(message)?;
    behind_addresses(out, fields, message)
}

/// Encodes the fields after the addresses of a message, behind those in `fields`.
fn behind_addresses(
    out: &mut Vec<u8>,
    mut fields: Fields,
    message: &Sm<'_>,
) -> Result<(), CommandStatus> {
    let length = u8::try_from(message.short_message.len())
        .ok()
        .filter(|&length| usize::from(length) <= MAX_SHORT_MESSAGE_OCTETS)
        .ok_or(CommandStatus::RINVMSGLEN)?;
    fields.octets([message.esm_class, message.protocol_id, message.priority]);
    fields.time(message.schedule, CommandStatus::RINVSCHED)?;
    fields.time(message.validity_period, CommandStatus::RINVEXPIRY)?;
    fields.octets([
        message.registered_delivery,
        message.replace_if_present,
        message.data_coding,
        message.default_message,
        length,
    ]);
    fields.write(out);
    out.extend_from_slice(message.short_message);
    tlvs(out, message.tlvs)
}

fn submit_multi(
    out: &mut Vec<u8>,
    message: &Sm<'_>,
    destinations: Destinations<'_>,
) -> Result<(), CommandStatus> {
    let count = destinations.count();
    if !(1..=MAX_DESTINATIONS).contains(&count) || destinations.into_iter().count() != count {
        return Err(CommandStatus::RINVNUMDESTS);
    }
    let mut fields = Fields::default();
    fields.text(message.service_type, 5, CommandStatus::RINVSERTYP)?;
    fields.address(message.source, CommandStatus::RINVSRCADR)?;
    fields.octets([destinations.count]);
    fields.write(out);
    for destination in destinations {
        let (octets, fault) = match destination {
            Destination::Address(address) => (address.digits, CommandStatus::RINVDSTADR),
            Destination::List(name) => (name, CommandStatus::RINVDLNAME),
        };
        if octets.len() > 20 {
            return Err(fault);
        }
    }
    out.extend_from_slice(destinations.octets);
    behind_addresses(out, Fields::default(), message)
}

fn submit_multi_resp(
    out: &mut Vec<u8>,
    response: &SubmitMultiRespFields<'_>,
) -> Result<(), CommandStatus> {
    let count = u8::try_from(response.failed.len()).map_err(|_| CommandStatus::RINVNUMDESTS)?;
    let mut fields = Fields::default();
    fields.message_id(response.message_id)?;
    fields.octets([count]);
    fields.write(out);
    for failed in response.failed {
        let mut fields = Fields::default();
        fields.address(failed.address, CommandStatus::RINVDSTADR)?;
        fields.octets(failed.status.0.to_be_bytes());
        fields.write(out);
    }
    Ok(())
}

fn data_sm(out: &mut Vec<u8>, message: &Sm<'_>) -> Result<(), CommandStatus> {
    let mut fields = Fields::default();
    fields.addresses(message)?;
    fields.octets([
        message.esm_class,
        message.registered_delivery,
        message.data_coding,
    ]);
    fields.write(out);
    tlvs(out, message.tlvs)
}

/// The mandatory fields of a PDU. They are collected here and appended at once, which saves a
/// capacity check for each field.
struct Fields {
    octets: [u8; MAX_FIELDS_OCTETS],
    length: usize,
}

impl Default for Fields {
    fn default() -> Self {
        Self {
            octets: [0; MAX_FIELDS_OCTETS],
            length: 0,
        }
    }
}

impl Fields {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.octets[..self.length]);
    }

    fn octets<const N: usize>(&mut self, octets: [u8; N]) {
        self.octets[self.length..self.length + N].copy_from_slice(&octets);
        self.length += N;
    }

    /// Appends a text with its NUL. The array is zeroed, so the NUL is already there.
    fn text(
        &mut self,
        text: &[u8],
        max_octets: usize,
        fault: CommandStatus,
    ) -> Result<(), CommandStatus> {
        if text.len() > max_octets {
            return Err(fault);
        }
        // Search and copy are one loop, which is faster than two calls for short texts.
        let mut holds_nul = false;
        let target = &mut self.octets[self.length..self.length + text.len()];
        for (octet_out, &octet) in target.iter_mut().zip(text) {
            *octet_out = octet;
            holds_nul |= octet == 0;
        }
        if holds_nul {
            return Err(fault);
        }
        self.length += text.len() + 1;
        Ok(())
    }

    /// Appends a time, which is empty or exactly 16 characters.
    fn time(&mut self, text: &[u8], fault: CommandStatus) -> Result<(), CommandStatus> {
        match text.len() {
            0 | 16 => self.text(text, 16, fault),
            _ => Err(fault),
        }
    }

    fn addresses(&mut self, message: &Sm<'_>) -> Result<(), CommandStatus> {
        self.text(message.service_type, 5, CommandStatus::RINVSERTYP)?;
        self.address(message.source, CommandStatus::RINVSRCADR)?;
        self.address(message.destination, CommandStatus::RINVDSTADR)
    }

    fn address(
        &mut self,
        address: AddressFields<'_>,
        fault: CommandStatus,
    ) -> Result<(), CommandStatus> {
        self.octets([address.ton, address.npi]);
        self.text(address.digits, 20, fault)
    }

    fn message_id(&mut self, id: &[u8]) -> Result<(), CommandStatus> {
        self.text(id, MAX_MESSAGE_ID_OCTETS, CommandStatus::RINVMSGID)
    }

    fn query_resp(&mut self, response: &QueryRespFields<'_>) -> Result<(), CommandStatus> {
        self.message_id(response.message_id)?;
        self.time(response.final_date, CommandStatus::RQUERYFAIL)?;
        self.octets([response.message_state, response.error_code]);
        Ok(())
    }

    fn cancel(&mut self, cancel: &CancelFields<'_>) -> Result<(), CommandStatus> {
        self.text(cancel.service_type, 5, CommandStatus::RINVSERTYP)?;
        self.message_id(cancel.message_id)?;
        self.address(cancel.source, CommandStatus::RINVSRCADR)?;
        self.address(cancel.destination, CommandStatus::RINVDSTADR)
    }

    fn bind(&mut self, bind: &BindFields<'_>) -> Result<(), CommandStatus> {
        self.text(bind.system_id, 15, CommandStatus::RINVSYSID)?;
        self.text(bind.password, MAX_PASSWORD_OCTETS, CommandStatus::RINVPASWD)?;
        self.text(bind.system_type, 12, CommandStatus::RINVSYSTYP)?;
        self.octets([bind.interface_version, bind.addr_ton, bind.addr_npi]);
        self.text(bind.address_range, 40, CommandStatus::RBINDFAIL)
    }
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
