//! The PDUs that carry something: messages and binds, as owned structures.

use crate::command::Command;
use crate::tlv::{Tlv, Tlvs, tag};
use bytes::Bytes;

/// The longest `short_message`, in octets.
pub const MAX_SHORT_MESSAGE_OCTETS: usize = 254;

/// Bits of `esm_class` (SMPP 3.4, section 5.2.12).
pub mod esm_class {
    /// Type of message, in `deliver_sm` and `data_sm`: zero is an ordinary message.
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
    /// The number without `+`, or the name; at most 20 octets are sent.
    pub digits: String,
}

impl Address {
    /// An international number (1/1).
    pub fn international(digits: impl Into<String>) -> Self {
        Self {
            ton: 1,
            npi: 1,
            digits: digits.into(),
        }
    }

    /// A sender's name (5/0), at most 11 characters on handsets.
    pub fn alphanumeric(name: impl Into<String>) -> Self {
        Self {
            ton: 5,
            npi: 0,
            digits: name.into(),
        }
    }
}

/// A message: the fields that `submit_sm` and `deliver_sm` share (SMPP 3.4, sections 4.4.1 and 4.6.1).
/// A `data_sm` fills those it has.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ShortMessage {
    /// Empty, unless the operator names one; at most 5 octets.
    pub service_type: String,
    /// The sender.
    pub source: Address,
    /// The recipient.
    pub destination: Address,
    /// Mode, type and features: see [`esm_class`].
    pub esm_class: u8,
    /// Protocol identifier of the network; 0 normally.
    pub protocol_id: u8,
    /// 0 to 3.
    pub priority: u8,
    /// When the SMSC should begin to try: empty, or 16 characters.
    pub schedule: String,
    /// Until when it should try: empty, or 16 characters.
    pub validity_period: String,
    /// Bits 0 and 1: 1 asks for a receipt of success and failure; 0x10 for intermediate ones.
    pub registered_delivery: u8,
    /// 1 replaces an earlier message; 0 normally.
    pub replace_if_present: u8,
    /// The alphabet: 0 the SMSC's default, 8 UCS-2.
    pub data_coding: u8,
    /// A canned message at the SMSC; 0 normally.
    pub default_message: u8,
    /// The text, encoded, with its user data header if `esm_class` has the flag; at most 254 octets.
    pub short_message: Bytes,
    /// Optional parameters.
    pub tlvs: Vec<Tlv>,
}

/// A message on its way to the SMSC.
pub type SubmitSm = ShortMessage;

/// A message or a receipt on its way from the SMSC; what came as `data_sm` is given as this, too.
pub type DeliverSm = ShortMessage;

impl ShortMessage {
    /// The text, wherever it is: `short_message`, or `message_payload` when that is empty.
    pub fn text(&self) -> &[u8] {
        if self.short_message.is_empty() {
            self.tlv(tag::MESSAGE_PAYLOAD).unwrap_or_default()
        } else {
            &self.short_message
        }
    }

    /// The value of the first optional parameter with this tag.
    pub fn tlv(&self, tag: u16) -> Option<&[u8]> {
        Tlvs::List(&self.tlvs).get(tag)
    }
}

/// Octets of the longest password of a bind. SMPP 3.4 has room for 8, but SMSCs issue and take longer ones.
pub const MAX_PASSWORD_OCTETS: usize = 64;

/// The rights of a client on a connection.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum BindKind {
    /// Submits and receives.
    #[default]
    Transceiver,
    /// Submits only.
    Transmitter,
    /// Receives only.
    Receiver,
}

impl BindKind {
    /// The request that asks for it.
    pub const fn command(self) -> Command {
        match self {
            Self::Transceiver => Command::BIND_TRANSCEIVER,
            Self::Transmitter => Command::BIND_TRANSMITTER,
            Self::Receiver => Command::BIND_RECEIVER,
        }
    }

    /// The kind that a bind request asks for, or a bind response grants.
    pub const fn from_command(command: Command) -> Option<Self> {
        match command {
            Command::BIND_TRANSCEIVER | Command::BIND_TRANSCEIVER_RESP => Some(Self::Transceiver),
            Command::BIND_TRANSMITTER | Command::BIND_TRANSMITTER_RESP => Some(Self::Transmitter),
            Command::BIND_RECEIVER | Command::BIND_RECEIVER_RESP => Some(Self::Receiver),
            _ => None,
        }
    }

    /// Returns whether `submit_sm` may be sent.
    pub const fn submits(self) -> bool {
        matches!(self, Self::Transceiver | Self::Transmitter)
    }

    /// Returns whether `deliver_sm` may come.
    pub const fn receives(self) -> bool {
        matches!(self, Self::Transceiver | Self::Receiver)
    }
}

/// A bind request (SMPP 3.4, section 4.1).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Bind {
    /// The name of the client; at most 15 octets.
    pub system_id: String,
    /// At most [`MAX_PASSWORD_OCTETS`]; the protocol has 8, and SMSCs give longer ones.
    pub password: String,
    /// Usually empty; at most 12 octets.
    pub system_type: String,
    /// 0x34 for SMPP 3.4.
    pub interface_version: u8,
    /// Addresses served: type of number.
    pub addr_ton: u8,
    /// Addresses served: numbering plan.
    pub addr_npi: u8,
    /// Addresses served: usually empty; at most 40 octets.
    pub address_range: String,
}
