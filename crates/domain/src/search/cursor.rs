//! Cursors: the place in a list where the next page begins, as a text that clients only hand back.
//!
//! A cursor is base64url of version, list, position and CRC-32. The checksum covers the scope as well, so a cursor that was
//! cut, changed or taken from another list is refused. It guards against mistakes and not against forgery: a list shows
//! nothing but the account's own rows, whatever the cursor.

use crate::refusal::Refusal;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

const VERSION: u8 = 1;
const CHECK_OCTETS: usize = 4;
/// Version, list, id, place and checksum.
const OCTETS: usize = 2 + 16 + 8 + CHECK_OCTETS;

/// A list that has pages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum List {
    /// Messages of an account.
    Messages = 1,
    /// Recipients of a message.
    Recipients = 2,
    /// Entries of a wallet.
    WalletEntries = 3,
    /// Sender IDs of an account.
    SenderIds = 4,
    /// Groups of a usage report.
    Usage = 5,
}

/// The place of an item in its list. A list is ordered by it, so that a new row neither repeats nor hides another.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Position {
    /// The id of the item, or of the one to which it belongs.
    pub id: u128,
    /// The place among items of the same id, such as a recipient of a message.
    pub place: u64,
}

impl Position {
    /// Writes the cursor of the page after this item.
    pub fn encode(self, list: List, scope: &[u8]) -> String {
        let mut octets = Vec::with_capacity(OCTETS);
        octets.extend_from_slice(&[VERSION, list as u8]);
        octets.extend_from_slice(&self.id.to_be_bytes());
        octets.extend_from_slice(&self.place.to_be_bytes());
        let check = checksum(&octets, scope);
        octets.extend_from_slice(&check);
        URL_SAFE_NO_PAD.encode(octets)
    }

    /// Reads a cursor of this list and scope.
    pub fn decode(cursor: &str, list: List, scope: &[u8]) -> Result<Self, Refusal> {
        let octets = URL_SAFE_NO_PAD.decode(cursor).ok();
        let position = octets.and_then(|octets| {
            let (position, check) = octets.split_last_chunk::<CHECK_OCTETS>()?;
            let position = position.strip_prefix(&[VERSION, list as u8])?;
            let is_own = checksum(&octets[..octets.len() - CHECK_OCTETS], scope) == *check;
            let (id, place) = position.split_first_chunk::<16>().filter(|_| is_own)?;
            Some(Self {
                id: u128::from_be_bytes(*id),
                place: u64::from_be_bytes(place.try_into().ok()?),
            })
        });
        position.ok_or_else(|| {
            Refusal::Malformed(
                "`cursor` is not one that this list gave. Repeat `next_cursor` of the page before as it is, or leave \
                 it out for the first page."
                    .to_owned(),
            )
        })
    }
}

fn checksum(octets: &[u8], scope: &[u8]) -> [u8; CHECK_OCTETS] {
    let mut check = crc32fast::Hasher::new();
    check.update(octets);
    check.update(scope);
    check.finalize().to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cursor_reads_as_its_position(id: u128, place: u64, scope: [u8; 8]) {
            let position = Position { id, place };
            let cursor = position.encode(List::Recipients, &scope);
            prop_assert_eq!(cursor.len(), 40);
            prop_assert_eq!(Position::decode(&cursor, List::Recipients, &scope), Ok(position));
            prop_assert!(Position::decode(&cursor, List::Messages, &scope).is_err());
            prop_assert!(Position::decode(&cursor, List::Recipients, b"other").is_err());
        }

        #[test]
        fn a_changed_cursor_is_refused(id: u128, place: u64, at in 0..40_usize, other in "[A-Za-z0-9_-]") {
            let cursor = Position { id, place }.encode(List::Messages, &[]);
            let mut changed = cursor.clone();
            changed.replace_range(at..=at, &other);
            if changed != cursor {
                let refusal = Position::decode(&changed, List::Messages, &[]).unwrap_err();
                prop_assert!(matches!(refusal, Refusal::Malformed(_)));
            }
            prop_assert!(Position::decode(&cursor[..at], List::Messages, &[]).is_err());
        }

        #[test]
        fn reading_never_panics(cursor in "\\PC{0,60}") {
            prop_assert!(Position::decode(&cursor, List::Messages, &[]).is_err());
        }
    }

    #[test]
    fn a_refused_cursor_is_met_with_advice() {
        let refusal = Position::decode("x", List::Messages, &[]).unwrap_err();
        assert!(
            refusal.to_string().contains("Repeat `next_cursor`"),
            "{refusal}"
        );
    }
}
