//! The lax side: octets to borrowed PDUs.

use super::{AddressFields, BindFields, BindRespFields, Malformed, Pdu, Sm};
use crate::command::Command;
use crate::pdu::BindKind;
use crate::tlv::Tlvs;

/// The lowest tag of an optional parameter (SMPP 3.4, section 5.3.2).
const LOWEST_TAG: u16 = 0x0005;

/// Zeros that are skipped before optional parameters.
const MAX_STRAY_NULS: usize = 4;

/// Decodes the body of a PDU with this command. Never panics, whatever the octets are.
pub fn decode(command: Command, body: &[u8]) -> Result<Pdu<'_>, Malformed> {
    let mut fields = Fields(body);
    let pdu = match command {
        Command::SUBMIT_SM | Command::DELIVER_SM => {
            let message = fields.short_message().ok_or(Malformed(command))?;
            if command == Command::SUBMIT_SM {
                Pdu::Submit(message)
            } else {
                Pdu::Deliver(message)
            }
        }
        Command::SUBMIT_SM_RESP => Pdu::SubmitResp(fields.last_text()),
        Command::DELIVER_SM_RESP => Pdu::DeliverResp,
        Command::DATA_SM => Pdu::Data(fields.data_sm().ok_or(Malformed(command))?),
        Command::DATA_SM_RESP => Pdu::DataResp(fields.last_text()),
        Command::ENQUIRE_LINK => Pdu::EnquireLink,
        Command::ENQUIRE_LINK_RESP => Pdu::EnquireLinkResp,
        Command::UNBIND => Pdu::Unbind,
        Command::UNBIND_RESP => Pdu::UnbindResp,
        Command::GENERIC_NACK => Pdu::GenericNack,
        other => match BindKind::from_command(other) {
            Some(kind) if other.is_response() => Pdu::BindResp(kind, fields.bind_resp()),
            Some(kind) => Pdu::Bind(kind, fields.bind().ok_or(Malformed(command))?),
            None => Pdu::Other(other, body),
        },
    };
    Ok(pdu)
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
        let end = nul_at(self.0)?;
        let text = self.take(end)?;
        self.take(1)?;
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
            tlvs: Tlvs::Wire(without_nuls(self.0)),
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

/// The optional parameters without the zeros that some SMSCs write before them, as if the text ended with a NUL that its
/// length does not count. The first tag may begin with a zero as well: what can be read as it stands is left so.
fn without_nuls(octets: &[u8]) -> &[u8] {
    if octets.first() != Some(&0) || are_parameters(octets) {
        return octets;
    }
    let zeros = octets.iter().take(MAX_STRAY_NULS);
    let zeros = zeros.take_while(|&&octet| octet == 0).count();
    let mut rests = (1..=zeros).filter_map(|skipped| octets.get(skipped..));
    rests.find(|rest| are_parameters(rest)).unwrap_or(octets)
}

/// Whether these octets are parameters from the first to the last, each with a tag that SMPP gives or leaves to vendors.
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

/// Where the first NUL is. Eight octets are looked at together: texts are too short for a call to pay.
fn nul_at(octets: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let (words, rest) = octets.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The lowest high bit that is left stands in the first octet that is zero.
        let zeros = word.wrapping_sub(ONES) & !word & HIGHS;
        if zeros != 0 {
            return Some(8 * index + zeros.trailing_zeros() as usize / 8);
        }
    }
    let at = rest.iter().position(|&octet| octet == 0)?;
    Some(8 * words.len() + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        assert_eq!(without_nuls(&[0]), [], "the NUL alone");
        // What is not understood either way is left, and so is what can be read as it stands.
        let odd = [0, 0x04, 0x27, 0, 9, 2];
        for octets in [&odd[..], id, &[], &[0, 0, 0, 0, 0, 0, 0]] {
            assert_eq!(without_nuls(octets), octets);
        }
    }

    proptest! {
        #[test]
        fn the_first_nul_is_found_wherever_it_stands(octets in proptest::collection::vec(prop_oneof![0u8..3, any::<u8>()], 0..40)) {
            prop_assert_eq!(nul_at(&octets), octets.iter().position(|&octet| octet == 0));
        }
    }
}
