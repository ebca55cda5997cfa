//! The encoding of a text file, and its decoder.

use crate::error::SheetError;
use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::io::{Read, Seek, SeekFrom};

/// The size of a piece of a file.
const PIECE_BYTES: usize = 64 << 10;
/// The part of a file in which zero octets are counted.
const SAMPLE_BYTES: usize = 4 << 10;

/// Decodes a file piece by piece.
pub(crate) struct Decoded<R> {
    file: R,
    decoder: Decoder,
    piece: Vec<u8>,
    text: String,
    is_ended: bool,
    /// The encoding.
    pub(crate) encoding: &'static Encoding,
}

impl<R: Read + Seek> Decoded<R> {
    /// Finds the encoding of a file: by its byte order mark, by its zero octets, or else UTF-8 if
    /// the whole file is valid, and Windows-1252 if not.
    pub(crate) fn new(mut file: R) -> Result<Self, SheetError> {
        let encoding = encoding_of(&mut file)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(Self {
            file,
            decoder: encoding.new_decoder_with_bom_removal(),
            piece: vec![0; PIECE_BYTES],
            text: String::with_capacity(3 * PIECE_BYTES + 16),
            is_ended: false,
            encoding,
        })
    }

    /// Returns the next piece of text, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<&str>, SheetError> {
        if self.is_ended {
            return Ok(None);
        }
        let length = fill(&mut self.file, &mut self.piece)?;
        self.is_ended = length < self.piece.len();
        self.text.clear();
        // The capacity has room for any piece, so one call decodes all of it.
        let _ = self
            .decoder
            .decode_to_string(&self.piece[..length], &mut self.text, self.is_ended);
        Ok(Some(&self.text))
    }
}

/// Fills a buffer, unless the file ends. Returns the number of octets.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

fn encoding_of<R: Read + Seek>(file: &mut R) -> Result<&'static Encoding, SheetError> {
    let mut piece = vec![0; PIECE_BYTES];
    let length = fill(file, &mut piece)?;
    if let Some((encoding, _)) = Encoding::for_bom(&piece[..length]) {
        return Ok(encoding);
    }
    let sample = &piece[..length.min(SAMPLE_BYTES)];
    if sample.contains(&0) {
        return by_zeros(sample).ok_or(SheetError::NotATable);
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(if is_utf8(file, &mut piece)? {
        UTF_8
    } else {
        WINDOWS_1252
    })
}

/// Returns the UTF-16 encoding in which Latin text has its zero octets.
fn by_zeros(sample: &[u8]) -> Option<&'static Encoding> {
    let zeros = |odd: usize| {
        let octets = sample.iter().skip(odd).step_by(2);
        octets.filter(|octet| **octet == 0).count()
    };
    let (even, odd) = (zeros(0), zeros(1));
    let quarter = sample.len() / 4;
    if odd >= quarter && even == 0 {
        Some(UTF_16LE)
    } else if even >= quarter && odd == 0 {
        Some(UTF_16BE)
    } else {
        None
    }
}

fn is_utf8(file: &mut impl Read, piece: &mut [u8]) -> std::io::Result<bool> {
    let mut begun = 0;
    loop {
        let length = begun + fill(file, &mut piece[begun..])?;
        let is_last = length < piece.len();
        match str::from_utf8(&piece[..length]) {
            Ok(_) => begun = 0,
            Err(fault) if fault.error_len().is_none() && !is_last => {
                piece.copy_within(fault.valid_up_to()..length, 0);
                begun = length - fault.valid_up_to();
            }
            Err(_) => return Ok(false),
        }
        if is_last {
            return Ok(true);
        }
    }
}
