//! Frames, the boundaries of PDUs in a stream (SMPP 3.4, section 3.2).
//!
//! After a broken `command_length` the start of the next PDU is unknown. So this is the only error
//! that ends a connection, and errors inside of a frame belong to the layers above.

use crate::command::Command;
use crate::status::CommandStatus;

/// Size of the header: length, command, status and sequence number, four octets each.
pub const HEADER_OCTETS: usize = 16;

/// Largest PDU that is read completely or written. A `message_payload` may have 64 KiB, but no SMSC
/// comes near that.
pub const MAX_FRAME_OCTETS: usize = 64 * 1024;

/// Largest PDU that is read in part: its first [`MAX_FRAME_OCTETS`] are kept and the rest is
/// skipped.
pub const MAX_SKIPPED_FRAME_OCTETS: usize = 1024 * 1024;

/// The largest sequence number, after which 1 follows.
pub const MAX_SEQUENCE: u32 = 0x7FFF_FFFF;

/// The header of a PDU without its length.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header {
    /// The request or response.
    pub command: Command,
    /// The outcome, in responses.
    pub status: CommandStatus,
    /// The sequence number, from 1 to [`MAX_SEQUENCE`]. It is the same in a request and its
    /// response.
    pub sequence: u32,
}

/// A complete PDU, borrowed from the read buffer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Frame<'a> {
    /// The header.
    pub header: Header,
    /// The octets after the header.
    pub body: &'a [u8],
}

impl Frame<'_> {
    /// Returns the length of the PDU in octets.
    pub const fn octets(&self) -> usize {
        HEADER_OCTETS + self.body.len()
    }
}

/// A `command_length` below 16 or above the largest readable PDU.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("broken command_length {0}")]
pub struct BrokenLength(pub u32);

/// Returns the first frame in `octets`, or `None` if it is incomplete.
pub fn first_frame(octets: &[u8]) -> Result<Option<Frame<'_>>, BrokenLength> {
    let Some((&length, after)) = octets.split_first_chunk::<4>() else {
        return Ok(None);
    };
    let length = u32::from_be_bytes(length);
    let end = usize::try_from(length).unwrap_or(usize::MAX);
    if !(HEADER_OCTETS..=MAX_FRAME_OCTETS).contains(&end) {
        return Err(BrokenLength(length));
    }
    let Some((rest, body)) = after
        .get(..end - 4)
        .and_then(|pdu| pdu.split_first_chunk::<12>())
    else {
        return Ok(None);
    };
    let [c0, c1, c2, c3, s0, s1, s2, s3, n0, n1, n2, n3] = *rest;
    Ok(Some(Frame {
        header: Header {
            command: Command(u32::from_be_bytes([c0, c1, c2, c3])),
            status: CommandStatus(u32::from_be_bytes([s0, s1, s2, s3])),
            sequence: u32::from_be_bytes([n0, n1, n2, n3]),
        },
        body,
    }))
}

/// Returns the first frame in `octets`, and how many of its octets must be skipped. These are the
/// octets beyond [`MAX_FRAME_OCTETS`] of a known command, up to [`MAX_SKIPPED_FRAME_OCTETS`].
pub(crate) fn first_frame_in_part(
    octets: &[u8],
) -> Result<Option<(Frame<'_>, usize)>, BrokenLength> {
    let broken = match first_frame(octets) {
        Ok(frame) => return Ok(frame.map(|frame| (frame, 0))),
        Err(broken) => broken,
    };
    let end = usize::try_from(broken.0).unwrap_or(usize::MAX);
    if !(HEADER_OCTETS..=MAX_SKIPPED_FRAME_OCTETS).contains(&end) {
        return Err(broken);
    }
    let Some((head, _)) = octets.split_first_chunk::<HEADER_OCTETS>() else {
        return Ok(None);
    };
    let [_, _, _, _, c0, c1, c2, c3, rest @ ..] = *head;
    let command = Command(u32::from_be_bytes([c0, c1, c2, c3]));
    if !command.is_known() {
        return Err(broken);
    }
    let [s0, s1, s2, s3, n0, n1, n2, n3] = rest;
    let Some(body) = octets.get(HEADER_OCTETS..MAX_FRAME_OCTETS) else {
        return Ok(None);
    };
    let frame = Frame {
        header: Header {
            command,
            status: CommandStatus(u32::from_be_bytes([s0, s1, s2, s3])),
            sequence: u32::from_be_bytes([n0, n1, n2, n3]),
        },
        body,
    };
    Ok(Some((frame, end - MAX_FRAME_OCTETS)))
}

/// Returns the sequence number after `sequence`.
pub const fn next_sequence(sequence: u32) -> u32 {
    if sequence >= MAX_SEQUENCE {
        1
    } else {
        sequence + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENQUIRE_LINK: [u8; 16] = [0, 0, 0, 16, 0, 0, 0, 0x15, 0, 0, 0, 0, 0, 0, 0, 7];

    #[test]
    fn a_frame_is_complete_with_its_last_octet() {
        for cut in 0..16 {
            assert_eq!(first_frame(&ENQUIRE_LINK[..cut]), Ok(None), "{cut}");
        }
        let frame = first_frame(&ENQUIRE_LINK).unwrap().unwrap();
        assert_eq!(frame.header.command, Command::ENQUIRE_LINK);
        assert_eq!(frame.header.sequence, 7);
        assert_eq!(frame.octets(), 16);
    }

    #[test]
    fn an_invalid_length_is_an_error_at_once() {
        for length in [0u32, 15, 64 * 1024 + 1, u32::MAX] {
            assert_eq!(
                first_frame(&length.to_be_bytes()),
                Err(BrokenLength(length))
            );
        }
    }

    #[test]
    fn only_the_beginning_of_an_overlong_frame_is_read() {
        let pdu = |length: usize, command: Command| {
            let mut octets = vec![b'x'; length.min(MAX_FRAME_OCTETS)];
            octets[..4].copy_from_slice(&u32::try_from(length).unwrap().to_be_bytes());
            octets[4..8].copy_from_slice(&command.0.to_be_bytes());
            octets
        };
        let deliver = Command::DELIVER_SM;
        for length in [MAX_FRAME_OCTETS + 1, MAX_SKIPPED_FRAME_OCTETS] {
            let octets = pdu(length, deliver);
            for cut in [8, 16, MAX_FRAME_OCTETS - 1] {
                assert_eq!(first_frame_in_part(&octets[..cut]), Ok(None), "{cut}");
            }
            let (frame, rest) = first_frame_in_part(&octets).unwrap().unwrap();
            assert_eq!(frame.octets() + rest, length);
            assert_eq!(frame.header.command, deliver);
        }
        for (length, command) in [
            (MAX_SKIPPED_FRAME_OCTETS + 1, deliver),
            (MAX_FRAME_OCTETS + 1, Command(0x0BAD)),
        ] {
            let octets = pdu(length, command);
            assert!(first_frame_in_part(&octets[..16]).is_err(), "{length}");
        }
    }

    #[test]
    fn sequence_numbers_wrap_to_one() {
        assert_eq!(next_sequence(1), 2);
        assert_eq!(next_sequence(MAX_SEQUENCE), 1);
    }
}
