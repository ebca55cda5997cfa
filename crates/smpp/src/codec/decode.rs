//! The lenient decoder of PDUs.

use super::fields::{BindFields, BindRespFields, Sm};
use super::pdu::{Malformed, Pdu};
use super::reader::Reader;
use super::requests::{Destinations, cancel, destinations, query};
use crate::command::Command;
use crate::pdu::BindKind;
use crate::tlv::Tlvs;

/// The lowest tag of an optional parameter (SMPP 3.4, section 5.3.2).
const LOWEST_TAG: u16 = 0x0005;

/// Maximum number of zeros that are skipped before optional parameters.
const MAX_STRAY_NULS: usize = 4;

/// Decodes the body of a PDU with this command. It never panics.
pub fn decode(command: Command, body: &[u8]) -> Result<Pdu<'_>, Malformed> {
    let mut fields = Reader(body);
    let pdu = match command {
        Command::SUBMIT_SM | Command::DELIVER_SM => {
            let message = short_message(&mut fields).ok_or(Malformed(command))?;
            if command == Command::SUBMIT_SM {
                Pdu::Submit(message)
            } else {
                Pdu::Deliver(message)
            }
        }
        Command::SUBMIT_SM_RESP => Pdu::SubmitResp(fields.last_text()),
        Command::DELIVER_SM_RESP => Pdu::DeliverResp,
        Command::DATA_SM => Pdu::Data(data_sm(&mut fields).ok_or(Malformed(command))?),
        Command::DATA_SM_RESP => Pdu::DataResp(fields.last_text()),
        Command::SUBMIT_MULTI => {
            let (message, destinations) = submit_multi(&mut fields).ok_or(Malformed(command))?;
            Pdu::SubmitMulti(message, destinations)
        }
        Command::QUERY_SM => Pdu::Query(query(&mut fields).ok_or(Malformed(command))?),
        Command::CANCEL_SM => Pdu::Cancel(cancel(&mut fields).ok_or(Malformed(command))?),
        Command::ENQUIRE_LINK => Pdu::EnquireLink,
        Command::ENQUIRE_LINK_RESP => Pdu::EnquireLinkResp,
        Command::UNBIND => Pdu::Unbind,
        Command::UNBIND_RESP => Pdu::UnbindResp,
        Command::GENERIC_NACK => Pdu::GenericNack,
        other => match BindKind::from_command(other) {
            Some(kind) if other.is_response() => Pdu::BindResp(kind, bind_resp(&mut fields)),
            Some(kind) => Pdu::Bind(kind, bind(&mut fields).ok_or(Malformed(command))?),
            None => Pdu::Other(other, body),
        },
    };
    Ok(pdu)
}

fn short_message<'a>(fields: &mut Reader<'a>) -> Option<Sm<'a>> {
    let head = Sm {
        service_type: fields.text()?,
        source: fields.address()?,
        destination: fields.address()?,
        ..Sm::default()
    };
    behind_addresses(fields, head)
}

fn submit_multi<'a>(fields: &mut Reader<'a>) -> Option<(Sm<'a>, Destinations<'a>)> {
    let head = Sm {
        service_type: fields.text()?,
        source: fields.address()?,
        ..Sm::default()
    };
    let destinations = destinations(fields)?;
    Some((behind_addresses(fields, head)?, destinations))
}

/// Decodes the fields after the addresses of a message.
fn behind_addresses<'a>(fields: &mut Reader<'a>, head: Sm<'a>) -> Option<Sm<'a>> {
    let [esm_class, protocol_id, priority] = fields.octets()?;
    let schedule = fields.text()?;
    let validity_period = fields.text()?;
    let [
        registered_delivery,
        replace_if_present,
        data_coding,
        default_message,
        length,
    ] = fields.octets()?;
    let short_message = fields.take(usize::from(length))?;
    Some(Sm {
        esm_class,
        protocol_id,
        priority,
        schedule,
        validity_period,
        registered_delivery,
        replace_if_present,
        data_coding,
        default_message,
        short_message,
        tlvs: Tlvs::Wire(without_nuls(fields.0)),
        ..head
    })
}

fn data_sm<'a>(fields: &mut Reader<'a>) -> Option<Sm<'a>> {
    let service_type = fields.text()?;
    let source = fields.address()?;
    let destination = fields.address()?;
    let [esm_class, registered_delivery, data_coding] = fields.octets()?;
    Some(Sm {
        service_type,
        source,
        destination,
        esm_class,
        registered_delivery,
        data_coding,
        tlvs: Tlvs::Wire(fields.0),
        ..Sm::default()
    })
}

fn bind<'a>(fields: &mut Reader<'a>) -> Option<BindFields<'a>> {
    let system_id = fields.text()?;
    let password = fields.text()?;
    let system_type = fields.text()?;
    let [interface_version, addr_ton, addr_npi] = fields.octets()?;
    Some(BindFields {
        system_id,
        password,
        system_type,
        interface_version,
        addr_ton,
        addr_npi,
        address_range: fields.last_text(),
    })
}

fn bind_resp<'a>(fields: &mut Reader<'a>) -> BindRespFields<'a> {
    BindRespFields {
        system_id: fields.last_text(),
        tlvs: Tlvs::Wire(fields.0),
    }
}

/// Returns the optional parameters without stray zeros before them. Some SMSCs write a NUL after
/// the text that its length does not include. The first tag may begin with a zero too, so readable
/// parameters are not changed.
fn without_nuls(octets: &[u8]) -> &[u8] {
    if octets.first() != Some(&0) || are_parameters(octets) {
        return octets;
    }
    let zeros = octets.iter().take(MAX_STRAY_NULS);
    let zeros = zeros.take_while(|&&octet| octet == 0).count();
    let mut rests = (1..=zeros).filter_map(|skipped| octets.get(skipped..));
    rests.find(|rest| are_parameters(rest)).unwrap_or(octets)
}

/// Returns `true` if all of these octets are parameters whose tags are defined or left to vendors.
fn are_parameters(mut octets: &[u8]) -> bool {
    while let Some((&[t0, t1, l0, l1], rest)) = octets.split_first_chunk::<4>() {
        let length = usize::from(u16::from_be_bytes([l0, l1]));
        let Some(rest) = rest.get(length..) else {
            return false;
        };
        if u16::from_be_bytes([t0, t1]) < LOWEST_TAG {
            return false;
        }
        octets = rest;
    }
    octets.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_before_the_parameters_are_skipped() {
        let state = &[0x04, 0x27, 0, 1, 2][..];
        let id = &[0x00, 0x1E, 0, 3, b'1', b'2', 0][..];
        for (zeros, parameters) in [
            (0, [state, id]),
            (1, [state, id]),
            (1, [id, state]),
            (4, [id, state]),
        ] {
            let octets = [vec![0; zeros], parameters.concat()].concat();
            assert_eq!(without_nuls(&octets), parameters.concat(), "{zeros}");
        }
        assert!(without_nuls(&[0]).is_empty(), "a single NUL");
        // Octets that are readable as they are, and octets that are readable in no way, are not
        // changed.
        let odd = [0, 0x04, 0x27, 0, 9, 2];
        for octets in [&odd[..], id, &[], &[0, 0, 0, 0, 0, 0, 0]] {
            assert_eq!(without_nuls(octets), octets);
        }
    }
}
