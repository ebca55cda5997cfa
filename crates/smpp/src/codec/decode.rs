//! The lax side: octets to borrowed PDUs.

use super::{AddressFields, BindFields, BindRespFields, Malformed, Pdu, Sm};
use crate::command::Command;
use crate::pdu::BindKind;
use crate::tlv::Tlvs;

/// Decodes the body of a PDU with this command. Never panics, whatever the octets are.
pub fn decode(command: Command, body: &[u8]) -> Result<Pdu<'_>, Malformed> {
    let mut fields = Fields(body);
    let pdu = match command {
        Command::SUBMIT_SM => fields.short_message().map(Pdu::Submit),
        Command::SUBMIT_SM_RESP => Some(Pdu::SubmitResp(fields.last_text())),
        Command::DELIVER_SM => fields.short_message().map(Pdu::Deliver),
        Command::DELIVER_SM_RESP => Some(Pdu::DeliverResp),
        Command::DATA_SM => fields.data_sm().map(Pdu::Data),
        Command::DATA_SM_RESP => Some(Pdu::DataResp(fields.last_text())),
        Command::ENQUIRE_LINK => Some(Pdu::EnquireLink),
        Command::ENQUIRE_LINK_RESP => Some(Pdu::EnquireLinkResp),
        Command::UNBIND => Some(Pdu::Unbind),
        Command::UNBIND_RESP => Some(Pdu::UnbindResp),
        Command::GENERIC_NACK => Some(Pdu::GenericNack),
        other => match BindKind::from_command(other) {
            Some(kind) if other.is_response() => Some(Pdu::BindResp(kind, fields.bind_resp())),
            Some(kind) => fields.bind().map(|bind| Pdu::Bind(kind, bind)),
            None => Some(Pdu::Other(other, body)),
        },
    };
    pdu.ok_or(Malformed(command))
}

/// What is left of a body.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn octets<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (&first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(first)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(first)
    }

    /// A text that ends with NUL and has fields behind it. Its length does not matter here.
    fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|&octet| octet == 0)?;
        let text = self.0.get(..end)?;
        self.0 = self.0.get(end + 1..)?;
        Some(text)
    }

    /// A text that may end with the PDU instead of a NUL, or be missing.
    fn last_text(&mut self) -> &'a [u8] {
        self.text().unwrap_or_else(|| std::mem::take(&mut self.0))
    }

    fn address(&mut self) -> Option<AddressFields<'a>> {
        let [ton, npi] = self.octets()?;
        let digits = self.text()?;
        Some(AddressFields { ton, npi, digits })
    }

    fn short_message(&mut self) -> Option<Sm<'a>> {
        let service_type = self.text()?;
        let source = self.address()?;
        let destination = self.address()?;
        let [esm_class, protocol_id, priority] = self.octets()?;
        let schedule = self.text()?;
        let validity_period = self.text()?;
        let [
            registered_delivery,
            replace_if_present,
            data_coding,
            default_message,
            length,
        ] = self.octets()?;
        let short_message = self.take(usize::from(length))?;
        Some(Sm {
            service_type,
            source,
            destination,
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
            tlvs: Tlvs::Wire(self.0),
        })
    }

    fn data_sm(&mut self) -> Option<Sm<'a>> {
        let service_type = self.text()?;
        let source = self.address()?;
        let destination = self.address()?;
        let [esm_class, registered_delivery, data_coding] = self.octets()?;
        Some(Sm {
            service_type,
            source,
            destination,
            esm_class,
            registered_delivery,
            data_coding,
            tlvs: Tlvs::Wire(self.0),
            ..Sm::default()
        })
    }

    fn bind(&mut self) -> Option<BindFields<'a>> {
        let system_id = self.text()?;
        let password = self.text()?;
        let system_type = self.text()?;
        let [interface_version, addr_ton, addr_npi] = self.octets()?;
        Some(BindFields {
            system_id,
            password,
            system_type,
            interface_version,
            addr_ton,
            addr_npi,
            address_range: self.last_text(),
        })
    }

    fn bind_resp(&mut self) -> BindRespFields<'a> {
        BindRespFields {
            system_id: self.last_text(),
            tlvs: Tlvs::Wire(self.0),
        }
    }
}
