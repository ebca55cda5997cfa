//! The parts of a workbook, streamed from its ZIP file within limits.

use crate::error::SheetError;
use crate::limits::Limits;
use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};
use std::io::{BufReader, Error, Read, Seek};
use zip::ZipArchive;

/// Maximum distance between two tags, which bounds the memory of a text or a tag.
const MAX_MARKUP_BYTES: usize = 1 << 20;
/// Maximum number of files in a workbook.
const MAX_FILES: usize = 10_000;
/// The size of the buffer of a part.
const BUFFER_BYTES: usize = 32 << 10;

/// The error of a part that exceeds its limit.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum Exceeded {
    #[error("the part is too large once it is inflated")]
    Inflated,
    #[error("a text or a tag is longer than 1 MiB")]
    Markup,
}

/// The parts of a workbook.
pub(super) struct Parts<R> {
    archive: ZipArchive<R>,
    max_bytes: u64,
}

impl<R: Read + Seek> Parts<R> {
    pub(super) fn open(file: R, limits: &Limits) -> Result<Self, SheetError> {
        let archive = ZipArchive::new(file).map_err(|e| SheetError::damaged("ZIP", e))?;
        if archive.len() > MAX_FILES {
            return Err(SheetError::damaged("ZIP", "too many files"));
        }
        Ok(Self {
            archive,
            max_bytes: limits.inflated_bytes,
        })
    }

    /// Returns `true` if there is a part with this path.
    pub(super) fn has(&self, path: &str) -> bool {
        self.archive.index_for_name(path).is_some()
    }

    /// Passes each event of a part to `each`, until it returns `false`.
    pub(super) fn events(
        &mut self,
        path: &str,
        each: &mut dyn FnMut(Event<'_>) -> Result<bool, SheetError>,
    ) -> Result<(), SheetError> {
        let max = self.max_bytes;
        let file = self.archive.by_name(path);
        let file = file.map_err(|error| SheetError::damaged(path, error))?;
        let bounded = Bounded {
            file,
            left: max,
            since_tag: 0,
        };
        let mut xml = Reader::from_reader(BufReader::with_capacity(BUFFER_BYTES, bounded));
        xml.config_mut().expand_empty_elements = true;
        let mut buffer = Vec::with_capacity(BUFFER_BYTES);
        loop {
            buffer.clear();
            match xml.read_event_into(&mut buffer) {
                Ok(Event::Eof) => return Ok(()),
                Ok(event) => {
                    if !each(event)? {
                        return Ok(());
                    }
                }
                Err(error) => return Err(refusal(path, &error, max)),
            }
        }
    }
}

fn refusal(path: &str, error: &quick_xml::Error, max: u64) -> SheetError {
    if let quick_xml::Error::Io(io) = error
        && let Some(inner) = io.get_ref()
        && let Some(Exceeded::Inflated) = inner.downcast_ref()
    {
        return SheetError::TooLarge { max_mib: max >> 20 };
    }
    SheetError::damaged(path, error)
}

/// A part within the limits of its size, and of the distance between its tags.
struct Bounded<R> {
    file: R,
    left: u64,
    since_tag: usize,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.file.read(buffer)?;
        self.left = self
            .left
            .checked_sub(length as u64)
            .ok_or_else(|| Error::other(Exceeded::Inflated))?;
        let last_tag = buffer[..length].iter().rposition(|byte| *byte == b'<');
        self.since_tag = match last_tag {
            Some(at) => length - at,
            None => self.since_tag + length,
        };
        if self.since_tag > MAX_MARKUP_BYTES {
            return Err(Error::other(Exceeded::Markup));
        }
        Ok(length)
    }
}

/// Returns an attribute by its local name.
pub(super) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    attributes.with_checks(false);
    let found = attributes
        .flatten()
        .find(|attribute| attribute.key.local_name().as_ref() == name)?;
    Some(
        found
            .normalized_value(quick_xml::XmlVersion::Implicit1_0)
            .ok()?
            .into_owned(),
    )
}

/// Returns the character of a reference such as `&amp;` or `&#10;`.
pub(super) fn character(reference: &BytesRef<'_>) -> Option<char> {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return Some(character);
    }
    let text = quick_xml::escape::resolve_predefined_entity(reference)?;
    text.chars().next()
}
