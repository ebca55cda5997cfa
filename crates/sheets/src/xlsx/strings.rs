//! The shared strings of a workbook in one block of memory.

use super::part::{Parts, character};
use crate::error::SheetError;
use quick_xml::events::Event;
use std::io::{Read, Seek};

/// Maximum number of shared strings.
const MAX_STRINGS: usize = 4_000_000;

/// The shared strings.
#[derive(Debug, Default)]
pub(super) struct Strings {
    text: String,
    ends: Vec<u32>,
}

impl Strings {
    /// Returns the string with an index.
    pub(super) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)? as usize;
        let start = index
            .checked_sub(1)
            .map_or(0, |before| self.ends[before] as usize);
        Some(&self.text[start..end])
    }
}

/// Reads the strings. Pronunciations of East Asian text are left out.
pub(super) fn read<R: Read + Seek>(
    parts: &mut Parts<R>,
    path: &str,
    max_bytes: usize,
) -> Result<Strings, SheetError> {
    let mut strings = Strings::default();
    let (mut is_text, mut is_phonetic) = (false, false);
    parts.events(path, &mut |event| {
        match event {
            Event::Start(tag) => match tag.local_name().as_ref() {
                "t" => is_text = !is_phonetic,
                "rPh" => is_phonetic = true,
                _ => {}
            },
            Event::Text(text) if is_text => strings.text.push_str(&text.xml10_content()),
            Event::CData(text) if is_text => strings.text.push_str(&text),
            Event::GeneralRef(reference) if is_text => strings.text.extend(character(&reference)),
            Event::End(tag) => match tag.local_name().as_ref() {
                "t" => is_text = false,
                "rPh" => is_phonetic = false,
                "si" => {
                    let end = u32::try_from(strings.text.len());
                    strings.ends.push(end.unwrap_or(u32::MAX));
                }
                _ => {}
            },
            _ => {}
        }
        if strings.text.len() > max_bytes || strings.ends.len() > MAX_STRINGS {
            return Err(SheetError::TooLarge {
                max_mib: (max_bytes >> 20) as u64,
            });
        }
        Ok(true)
    })?;
    Ok(strings)
}
