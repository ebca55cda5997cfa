//! Frames: where one PDU ends and the next begins (SMPP 3.4, section 3.2).
//!
//! The only fault that costs a connection lives here: after a broken length nobody knows where the
//! next PDU starts. Faults inside a frame are the business of the layers above.

use crate::command::Command;
use crate::status::CommandStatus;

/// The header: length, command, status and sequence number, four octets each.
pub const HEADER_OCTETS: usize = 16;

/// The longest PDU that is taken whole, or written. A `message_payload` may hold 64 KiB in theory; nothing
/// that an SMSC should send comes near.
pub const MAX_FRAME_OCTETS: usize = 64 * 1024;

/// The longest PDU that is taken in part: its first [`MAX_FRAME_OCTETS`] are read, the rest is skipped.
pub const MAX_SKIPPED_FRAME_OCTETS: usize = 1024 * 1024;

/// The largest sequence number; 1 follows it.
pub const MAX_SEQUENCE: u32 = 0x7FFF_FFFF;

/// The header of a PDU, without its length.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header {
    /// The request or response.
    pub command: Command,
    /// The outcome, in responses.
    pub status: CommandStatus,
    /// Joins a response to its request; 1 to [`MAX_SEQUENCE`].
    pub sequence: u32,
}

/// One whole PDU, borrowed from the buffer it was read into.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Frame<'a> {
    /// The header.
    pub header: Header,
    /// The octets behind the header.
    pub body: &'a [u8],
}

impl Frame<'_> {
    /// The length of the whole PDU in octets.
    pub const fn octets(&self) -> usize {
        HEADER_OCTETS + self.body.len()
    }
}

/// A `command_length` below 16 or above what is read: the stream is out of step for good.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("broken command_length {0}")]
pub struct BrokenLength(pub u32);

/// The first frame in `octets`, or `None` when it is not complete yet.
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

/// The first frame in `octets`, and how many of its octets follow and are to be skipped: those beyond
/// [`MAX_FRAME_OCTETS`] of a PDU with a known command, up to [`MAX_SKIPPED_FRAME_OCTETS`].
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

/// The sequence number after `sequence`.
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
    fn a_length_out_of_bounds_is_seen_at_once() {
        for length in [0u32, 15, 64 * 1024 + 1, u32::MAX] {
            assert_eq!(
                first_frame(&length.to_be_bytes()),
                Err(BrokenLength(length))
            );
        }
    }

    #[test]
    fn only_the_beginning_of_an_overlong_frame_is_taken() {
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
