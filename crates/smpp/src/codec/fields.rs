//! The fields of PDUs, borrowed from the read buffer.

use crate::pdu::{Address, Bind, ShortMessage};
use crate::tlv::{Tlvs, tag};
use bytes::Bytes;

/// The fields of a bind request.
#[derive(Clone, Copy, Debug, Default)]
pub struct BindFields<'a> {
    /// The `system_id` of the client.
    pub system_id: &'a [u8],
    /// The password.
    pub password: &'a [u8],
    /// The `system_type`, usually empty.
    pub system_type: &'a [u8],
    /// The version, 0x34 for SMPP 3.4.
    pub interface_version: u8,
    /// Type of number of the served addresses.
    pub addr_ton: u8,
    /// Numbering plan of the served addresses.
    pub addr_npi: u8,
    /// The served addresses.
    pub address_range: &'a [u8],
}

/// The fields of a bind response.
#[derive(Clone, Copy, Debug, Default)]
pub struct BindRespFields<'a> {
    /// The `system_id` of the SMSC.
    pub system_id: &'a [u8],
    /// Optional parameters.
    pub tlvs: Tlvs<'a>,
}

impl BindRespFields<'_> {
    /// Returns the SMPP version of the peer. `None` means 3.3.
    pub fn interface_version(&self) -> Option<u8> {
        self.tlvs
            .get(tag::SC_INTERFACE_VERSION)
            .and_then(|value| value.first().copied())
    }
}

/// An address.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct AddressFields<'a> {
    /// Type of number.
    pub ton: u8,
    /// Numbering plan.
    pub npi: u8,
    /// The digits or the name.
    pub digits: &'a [u8],
}

/// The fields of a [`ShortMessage`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Sm<'a> {
    /// See [`ShortMessage::service_type`].
    pub service_type: &'a [u8],
    /// The sender.
    pub source: AddressFields<'a>,
    /// The recipient.
    pub destination: AddressFields<'a>,
    /// See [`ShortMessage::esm_class`].
    pub esm_class: u8,
    /// See [`ShortMessage::protocol_id`].
    pub protocol_id: u8,
    /// See [`ShortMessage::priority`].
    pub priority: u8,
    /// See [`ShortMessage::schedule`].
    pub schedule: &'a [u8],
    /// See [`ShortMessage::validity_period`].
    pub validity_period: &'a [u8],
    /// See [`ShortMessage::registered_delivery`].
    pub registered_delivery: u8,
    /// See [`ShortMessage::replace_if_present`].
    pub replace_if_present: u8,
    /// See [`ShortMessage::data_coding`].
    pub data_coding: u8,
    /// See [`ShortMessage::default_message`].
    pub default_message: u8,
    /// See [`ShortMessage::short_message`].
    pub short_message: &'a [u8],
    /// Optional parameters.
    pub tlvs: Tlvs<'a>,
}

impl<'a> AddressFields<'a> {
    /// Returns an owned copy. Octets that are not UTF-8 become U+FFFD.
    pub fn to_owned(self) -> Address {
        Address {
            ton: self.ton,
            npi: self.npi,
            digits: text(self.digits),
        }
    }

    fn of(address: &'a Address) -> Self {
        Self {
            ton: address.ton,
            npi: address.npi,
            digits: address.digits.as_bytes(),
        }
    }
}

impl<'a> Sm<'a> {
    /// Returns an owned copy.
    pub fn to_owned(&self) -> ShortMessage {
        ShortMessage {
            service_type: text(self.service_type),
            source: self.source.to_owned(),
            destination: self.destination.to_owned(),
            esm_class: self.esm_class,
            protocol_id: self.protocol_id,
            priority: self.priority,
            schedule: text(self.schedule),
            validity_period: text(self.validity_period),
            registered_delivery: self.registered_delivery,
            replace_if_present: self.replace_if_present,
            data_coding: self.data_coding,
            default_message: self.default_message,
            short_message: Bytes::copy_from_slice(self.short_message),
            tlvs: self.tlvs.to_vec(),
        }
    }

    /// Borrows the fields of a message for encoding.
    pub fn of(message: &'a ShortMessage) -> Self {
        Self {
            service_type: message.service_type.as_bytes(),
            source: AddressFields::of(&message.source),
            destination: AddressFields::of(&message.destination),
            esm_class: message.esm_class,
            protocol_id: message.protocol_id,
            priority: message.priority,
            schedule: message.schedule.as_bytes(),
            validity_period: message.validity_period.as_bytes(),
            registered_delivery: message.registered_delivery,
            replace_if_present: message.replace_if_present,
            data_coding: message.data_coding,
            default_message: message.default_message,
            short_message: &message.short_message,
            tlvs: Tlvs::List(&message.tlvs),
        }
    }
}

impl<'a> BindFields<'a> {
    /// Returns an owned copy.
    pub fn to_owned(&self) -> Bind {
        Bind {
            system_id: text(self.system_id),
            password: text(self.password),
            system_type: text(self.system_type),
            interface_version: self.interface_version,
            addr_ton: self.addr_ton,
            addr_npi: self.addr_npi,
            address_range: text(self.address_range),
        }
    }

    /// Borrows the fields of a bind for encoding.
    pub fn of(bind: &'a Bind) -> Self {
        Self {
            system_id: bind.system_id.as_bytes(),
            password: bind.password.as_bytes(),
            system_type: bind.system_type.as_bytes(),
            interface_version: bind.interface_version,
            addr_ton: bind.addr_ton,
            addr_npi: bind.addr_npi,
            address_range: bind.address_range.as_bytes(),
        }
    }
}

/// Decodes a text. Octets that are not UTF-8 become U+FFFD.
pub(crate) fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}
