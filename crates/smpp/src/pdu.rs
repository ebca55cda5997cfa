//! Owned forms of messages and binds.

use crate::command::Command;
use crate::tlv::{Tlv, Tlvs, tag};
use bytes::Bytes;

/// Maximum size of `short_message`.
pub const MAX_SHORT_MESSAGE_OCTETS: usize = 254;

/// Bits of `esm_class` (SMPP 3.4, section 5.2.12).
pub mod esm_class {
    /// The bits of the message type in `deliver_sm` and `data_sm`. Zero is an ordinary message.
    pub const TYPE_MASK: u8 = 0x3C;
    /// A delivery receipt of the SMSC.
    pub const RECEIPT: u8 = 0x04;
    /// An intermediate notification.
    pub const INTERMEDIATE: u8 = 0x20;
    /// The message starts with a user data header.
    pub const UDHI: u8 = 0x40;
}

/// A source or destination address.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Address {
    /// Type of number: 1 international, 3 network (short code), 5 alphanumeric.
    pub ton: u8,
    /// Numbering plan: 1 for telephone numbers, 0 otherwise.
    pub npi: u8,
    /// The number without `+`, or the name. At most 20 octets are sent.
    pub digits: String,
}

impl Address {
    /// Returns an international number (1/1).
    pub fn international(digits: impl Into<String>) -> Self {
        Self {
            ton: 1,
            npi: 1,
            digits: digits.into(),
        }
    }

    /// Returns an alphanumeric sender (5/0). Handsets show at most 11 characters.
    pub fn alphanumeric(name: impl Into<String>) -> Self {
        Self {
            ton: 5,
            npi: 0,
            digits: name.into(),
        }
    }
}

/// A message with the fields that `submit_sm` and `deliver_sm` share (SMPP 3.4, sections 4.4.1 and
/// 4.6.1). A `data_sm` has some of them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ShortMessage {
    /// The `service_type`, usually empty, at most 5 octets.
    pub service_type: String,
    /// The sender.
    pub source: Address,
    /// The recipient.
    pub destination: Address,
    /// Message mode, type and features, see [`esm_class`].
    pub esm_class: u8,
    /// Protocol identifier of the network, usually 0.
    pub protocol_id: u8,
    /// The `priority_flag`, from 0 to 3.
    pub priority: u8,
    /// The time of the first delivery attempt, empty or 16 characters.
    pub schedule: String,
    /// The end of the delivery attempts, empty or 16 characters.
    pub validity_period: String,
    /// The requested receipts. Value 1 requests one for success and failure, and bit 0x10
    /// intermediate ones.
    pub registered_delivery: u8,
    /// Value 1 replaces an earlier message, usually 0.
    pub replace_if_present: u8,
    /// The alphabet: 0 is the SMSC's default, and 8 is UCS-2.
    pub data_coding: u8,
    /// The number of a predefined message at the SMSC, usually 0.
    pub default_message: u8,
    /// The encoded text, after the user data header if `esm_class` has its flag. At most 254
    /// octets.
    pub short_message: Bytes,
    /// Optional parameters.
    pub tlvs: Vec<Tlv>,
}

/// A message to the SMSC.
pub type SubmitSm = ShortMessage;

/// A message or receipt from the SMSC. A `data_sm` is converted to this form too.
pub type DeliverSm = ShortMessage;

impl ShortMessage {
    /// Returns the text from `short_message`, or from `message_payload` if that is empty.
    pub fn text(&self) -> &[u8] {
        if self.short_message.is_empty() {
            self.tlv(tag::MESSAGE_PAYLOAD).unwrap_or_default()
        } else {
            &self.short_message
        }
    }

    /// Returns the value of the first optional parameter with this tag.
    pub fn tlv(&self, tag: u16) -> Option<&[u8]> {
        Tlvs::List(&self.tlvs).get(tag)
    }
}

/// Maximum size of a bind password. SMPP 3.4 allows 8 octets, but SMSCs use longer ones.
pub const MAX_PASSWORD_OCTETS: usize = 64;

/// The directions of a connection.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum BindKind {
    /// The connection submits and receives.
    #[default]
    Transceiver,
    /// The connection only submits.
    Transmitter,
    /// The connection only receives.
    Receiver,
}

impl BindKind {
    /// Returns the bind request of this kind.
    pub const fn command(self) -> Command {
        match self {
            Self::Transceiver => Command::BIND_TRANSCEIVER,
            Self::Transmitter => Command::BIND_TRANSMITTER,
            Self::Receiver => Command::BIND_RECEIVER,
        }
    }

    /// Returns the kind of a bind request or response.
    pub const fn from_command(command: Command) -> Option<Self> {
        match command {
            Command::BIND_TRANSCEIVER | Command::BIND_TRANSCEIVER_RESP => Some(Self::Transceiver),
            Command::BIND_TRANSMITTER | Command::BIND_TRANSMITTER_RESP => Some(Self::Transmitter),
            Command::BIND_RECEIVER | Command::BIND_RECEIVER_RESP => Some(Self::Receiver),
            _ => None,
        }
    }

    /// Returns `true` if the client may send `submit_sm`.
    pub const fn submits(self) -> bool {
        matches!(self, Self::Transceiver | Self::Transmitter)
    }

    /// Returns `true` if the server may send `deliver_sm`.
    pub const fn receives(self) -> bool {
        matches!(self, Self::Transceiver | Self::Receiver)
    }
}

/// A bind request (SMPP 3.4, section 4.1).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Bind {
    /// The `system_id` of the client, at most 15 octets.
    pub system_id: String,
    /// The password, at most [`MAX_PASSWORD_OCTETS`].
    pub password: String,
    /// The `system_type`, usually empty, at most 12 octets.
    pub system_type: String,
    /// The version, 0x34 for SMPP 3.4.
    pub interface_version: u8,
    /// Type of number of the served addresses.
    pub addr_ton: u8,
    /// Numbering plan of the served addresses.
    pub addr_npi: u8,
    /// The served addresses, usually empty, at most 40 octets.
    pub address_range: String,
}
