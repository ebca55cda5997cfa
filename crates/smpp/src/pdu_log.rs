//! The last PDUs of a carrier, masked: no text, no password and no number is kept.

use crate::codec::{AddressFields, Pdu, Sm};
use crate::command::Command;
use crate::frame::Header;
use crate::status::CommandStatus;
use crate::tlv::tag;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::Instant;

/// Number of PDUs that are kept.
pub const PDU_LOG_ROWS: usize = 50;
/// Number of octets of an address that are kept. It covers every valid address.
const ADDRESS_OCTETS: usize = 20;
/// Number of last digits of an address that stay readable.
const READABLE_DIGITS: usize = 3;

/// The side that sent a PDU.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// This client sent it.
    Sent,
    /// The SMSC sent it.
    Received,
}

/// An address in which an asterisk replaces each digit but the last three. Letters stay, since a
/// sender ID with letters belongs to no subscriber.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct MaskedAddress {
    octets: [u8; ADDRESS_OCTETS],
    length: u8,
}

/// A PDU, without its content. It has a fixed size, so that no PDU needs an allocation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LoggedPdu {
    /// The time at which it was encoded or read.
    pub at: Instant,
    /// The side that sent it.
    pub direction: Direction,
    /// The request or response.
    pub command: Command,
    /// The outcome, in responses.
    pub status: CommandStatus,
    /// The sequence number.
    pub sequence: u32,
    /// The sender and the recipient of a message.
    pub addresses: Option<(MaskedAddress, MaskedAddress)>,
    /// The length of the text of a message, octets.
    pub text_octets: Option<u32>,
}

/// The last PDUs of all connections with the same options. A clone shares them.
#[derive(Clone, Debug, Default)]
pub struct PduLog(Arc<Mutex<Ring>>);

#[derive(Debug)]
struct Ring {
    rows: Vec<LoggedPdu>,
    /// The place of the oldest row of a full ring.
    oldest: usize,
}

impl MaskedAddress {
    /// Masks the octets of an address.
    pub fn of(address: &[u8]) -> Self {
        let kept = &address[..address.len().min(ADDRESS_OCTETS)];
        let mut octets = [0; ADDRESS_OCTETS];
        let mut digits_after = address
            .iter()
            .filter(|octet| octet.is_ascii_digit())
            .count();
        for (masked, &octet) in octets.iter_mut().zip(kept) {
            *masked = match octet {
                b'0'..=b'9' if digits_after > READABLE_DIGITS => b'*',
                b' '..=b'~' => octet,
                _ => b'?',
            };
            digits_after -= usize::from(octet.is_ascii_digit());
        }
        Self {
            octets,
            length: u8::try_from(kept.len()).unwrap_or(0),
        }
    }

    /// Returns the masked text.
    pub fn as_str(&self) -> &str {
        let octets = self.octets.get(..usize::from(self.length));
        std::str::from_utf8(octets.unwrap_or_default()).unwrap_or_default()
    }
}

impl fmt::Debug for MaskedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl LoggedPdu {
    /// Returns the row of a PDU without a message.
    pub fn of_header(
        direction: Direction,
        command: Command,
        status: CommandStatus,
        sequence: u32,
        at: Instant,
    ) -> Self {
        Self {
            at,
            direction,
            command,
            status,
            sequence,
            addresses: None,
            text_octets: None,
        }
    }

    /// Returns the row of a PDU of the peer. A malformed one has no message.
    pub(crate) fn received(header: Header, pdu: Option<&Pdu<'_>>, at: Instant) -> Self {
        let Header {
            command,
            status,
            sequence,
        } = header;
        let row = Self::of_header(Direction::Received, command, status, sequence, at);
        pdu.map_or(row, |pdu| row.with(pdu))
    }

    /// Returns this row with the addresses and the length of the text, if the PDU is a message.
    #[must_use]
    pub(crate) fn with(self, pdu: &Pdu<'_>) -> Self {
        let (Pdu::Submit(message) | Pdu::Deliver(message) | Pdu::Data(message)) = pdu else {
            return self;
        };
        let masked = |address: AddressFields<'_>| MaskedAddress::of(address.digits);
        Self {
            addresses: Some((masked(message.source), masked(message.destination))),
            text_octets: Some(text_octets(message)),
            ..self
        }
    }
}

/// Returns the length of the text, which is in one of two places.
fn text_octets(message: &Sm<'_>) -> u32 {
    let payload = message
        .tlvs
        .get(tag::MESSAGE_PAYLOAD)
        .map_or(0, <[u8]>::len);
    u32::try_from(message.short_message.len() + payload).unwrap_or(u32::MAX)
}

impl PduLog {
    /// Records a PDU. The oldest one of a full log is left out.
    pub fn record(&self, pdu: LoggedPdu) {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ring.push(pdu);
    }

    /// Returns the PDUs, the newest first.
    pub fn newest_first(&self) -> Vec<LoggedPdu> {
        let ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ring.newest_first()
    }
}

/// All rows are allocated at once, so that none is later.
impl Default for Ring {
    fn default() -> Self {
        Self {
            rows: Vec::with_capacity(PDU_LOG_ROWS),
            oldest: 0,
        }
    }
}

impl Ring {
    fn push(&mut self, pdu: LoggedPdu) {
        if self.rows.len() < PDU_LOG_ROWS {
            self.rows.push(pdu);
            return;
        }
        if let Some(row) = self.rows.get_mut(self.oldest) {
            *row = pdu;
        }
        self.oldest = (self.oldest + 1) % PDU_LOG_ROWS;
    }

    fn newest_first(&self) -> Vec<LoggedPdu> {
        let (newer, older) = self.rows.split_at(self.oldest);
        newer
            .iter()
            .rev()
            .chain(older.iter().rev())
            .copied()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(sequence: u32) -> LoggedPdu {
        LoggedPdu::of_header(
            Direction::Sent,
            Command::SUBMIT_SM,
            CommandStatus::ROK,
            sequence,
            Instant::now(),
        )
    }

    #[test]
    fn the_log_keeps_the_last_pdus_and_shows_the_newest_first() {
        for count in [0, 1, 49, 50, 51, 99, 100, 101, 1_000] {
            let log = PduLog::default();
            (0..count).for_each(|sequence| log.record(row(sequence)));
            let shown: Vec<u32> = log.newest_first().iter().map(|row| row.sequence).collect();
            let expected: Vec<u32> = (0..count).rev().take(PDU_LOG_ROWS).collect();
            assert_eq!(shown, expected, "{count}");
        }
    }

    #[test]
    fn a_clone_of_the_log_shares_its_rows() {
        let log = PduLog::default();
        log.clone().record(row(7));
        assert_eq!(log.newest_first().len(), 1);
    }

    #[test]
    fn a_mask_leaves_letters_and_the_last_three_digits() {
        for (address, masked) in [
            ("2348031234567", "**********567"),
            ("+2348031234567", "+**********567"),
            ("32123", "**123"),
            ("123", "123"),
            ("", ""),
            ("ShopLagos", "ShopLagos"),
            ("MTN 2348031234567", "MTN **********567"),
            ("Bank2U", "Bank2U"),
            ("a\u{0}b\n\u{7f}", "a?b??"),
            ("23480312345678901234567", "********************"),
        ] {
            assert_eq!(MaskedAddress::of(address.as_bytes()).as_str(), masked);
        }
        assert_eq!(MaskedAddress::of(&[0xFF, b'1']).as_str(), "?1");
    }

    #[test]
    fn a_message_has_the_length_of_its_text_and_no_content() {
        let payload = [0x04, 0x24, 0x00, 0x02, b'h', b'i'];
        let message = Sm {
            source: AddressFields {
                ton: 5,
                npi: 0,
                digits: b"ShopLagos",
            },
            destination: AddressFields {
                ton: 1,
                npi: 1,
                digits: b"2348031234567",
            },
            short_message: b"secret",
            tlvs: crate::tlv::Tlvs::Wire(&payload),
            ..Sm::default()
        };
        let logged = row(1).with(&Pdu::Submit(message));
        assert_eq!(logged.text_octets, Some(8));
        let shown = format!("{logged:?}");
        assert!(shown.contains("ShopLagos") && shown.contains("**********567"));
        assert!(
            !shown.contains("secret") && !shown.contains("2348"),
            "{shown}"
        );
        let plain = row(1).with(&Pdu::EnquireLink);
        assert_eq!((plain.addresses, plain.text_octets), (None, None));
    }
}
