//! Cursors: an opaque text with the position of the next page of a list.
//!
//! A cursor is base64url of version, list, key and CRC-32. The checksum covers the scope as well,
//! so a cursor that was cut, changed or taken from another list is refused. It guards against
//! mistakes and not against forgery: a list shows nothing but the rows of its scope, whatever the
//! cursor.

use crate::refusal::Refusal;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;

const VERSION: u8 = 1;
const CHECK_OCTETS: usize = 4;

/// A list with pages.
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
    /// All accounts. This list and the following lists are for operators.
    Accounts = 6,
    /// Tokens.
    Tokens = 7,
    /// Sender IDs of all accounts.
    RegisteredSenders = 8,
    /// Ledger entries of an account.
    Statement = 9,
    /// Receivers with dead callbacks.
    DeadOrigins = 10,
    /// Dead callbacks of an account.
    DeadCallbacks = 11,
    /// Attempts at callbacks.
    CallbackAttempts = 12,
    /// Secrets that sign callbacks.
    CallbackSecrets = 13,
    /// Prohibited phrases.
    Phrases = 14,
    /// Paused blocks of numbers.
    PausedBlocks = 15,
    /// Changes by operators.
    Audit = 16,
    /// Users of the console.
    Users = 17,
    /// Refused requests of an account.
    RefusedRequests = 18,
    /// Contacts of a group.
    Contacts = 19,
    /// Inbound messages of an account.
    Inbound = 20,
    /// Routes of inbound messages.
    InboundRoutes = 21,
    /// Inbound messages of all accounts, for operators.
    OperatorInbound = 22,
    /// SMPP users.
    SmppUsers = 23,
    /// Tokens of an account, for the account.
    OwnTokens = 30,
    /// Secrets that sign the callbacks of an account, for the account.
    OwnSecrets = 31,
    /// Dead callbacks of an account, for the account.
    OwnDeadCallbacks = 32,
    /// Attempts at callbacks of an account, for the account.
    OwnAttempts = 33,
    /// Sub-accounts of an account.
    SubAccounts = 34,
    /// SMPP users of an account, for the account.
    OwnSmppUsers = 35,
    /// Sub-accounts of an account, for operators.
    OperatorSubAccounts = 36,
    /// Opt-outs of an account.
    OptOuts = 40,
    /// Opt-outs of an account, for operators.
    OperatorOptOuts = 41,
    /// Top-ups of an account.
    TopUps = 50,
    /// Top-ups of all accounts, for operators.
    OperatorTopUps = 51,
    /// Alerts of an account.
    Alerts = 52,
}

/// The start of the next page of a list, as an opaque text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cursor(String);

impl Cursor {
    /// Wraps the text of a cursor. The text is checked by [`Cursor::key`].
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the cursor of the page after the item with this key.
    pub fn after(key: &impl Serialize, list: List, scope: &[u8]) -> Self {
        // The keys are tuples of numbers and texts, which always have a JSON form.
        let key = serde_json::to_vec(key).unwrap_or_default();
        Self(seal(&key, list, scope))
    }

    /// Returns the key in a cursor of this list and scope. Returns `None` for a cursor of another
    /// list or scope, and for any other text.
    pub fn key<K: DeserializeOwned>(&self, list: List, scope: &[u8]) -> Option<K> {
        serde_json::from_slice(&open(self.0.trim(), list, scope)?).ok()
    }

    /// Returns the key in a cursor of this list and scope, or the refusal of any other text.
    pub fn read<K: DeserializeOwned>(&self, list: List, scope: &[u8]) -> Result<K, Refusal> {
        self.key(list, scope).ok_or_else(foreign)
    }

    /// Returns the text of the cursor.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The position of an item in its list. Lists are ordered by position, so a new row neither repeats
/// nor hides another row between two pages.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Position {
    /// The id of the item, or of its parent.
    pub id: u128,
    /// The index among items of the same id, such as the recipients of a message.
    pub place: u64,
}

impl Position {
    /// Returns the cursor of the page after this item.
    pub fn encode(self, list: List, scope: &[u8]) -> String {
        let mut key = [0; 24];
        let (id, place) = key.split_at_mut(16);
        id.copy_from_slice(&self.id.to_be_bytes());
        place.copy_from_slice(&self.place.to_be_bytes());
        seal(&key, list, scope)
    }

    /// Parses a cursor of this list and scope.
    pub fn decode(cursor: &str, list: List, scope: &[u8]) -> Result<Self, Refusal> {
        let position = open(cursor, list, scope).and_then(|key| {
            let (id, place) = key.split_first_chunk::<16>()?;
            Some(Self {
                id: u128::from_be_bytes(*id),
                place: u64::from_be_bytes(place.try_into().ok()?),
            })
        });
        position.ok_or_else(foreign)
    }
}

/// Returns the refusal of a cursor of another list.
fn foreign() -> Refusal {
    Refusal::Malformed(
        "`cursor` is not one that this list gave. Repeat `next_cursor` of the page before as it is, or leave \
         it out for the first page."
            .to_owned(),
    )
}

/// Returns the text of a cursor with this key.
fn seal(key: &[u8], list: List, scope: &[u8]) -> String {
    let mut octets = vec![VERSION, list as u8];
    octets.extend_from_slice(key);
    let check = checksum(&octets, scope);
    octets.extend_from_slice(&check);
    URL_SAFE_NO_PAD.encode(octets)
}

/// Returns the key in a cursor of this list and scope.
fn open(cursor: &str, list: List, scope: &[u8]) -> Option<Vec<u8>> {
    let octets = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let (sealed, check) = octets.split_last_chunk::<CHECK_OCTETS>()?;
    let key = sealed.strip_prefix(&[VERSION, list as u8])?;
    (checksum(sealed, scope) == *check).then(|| key.to_vec())
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
        fn a_cursor_parses_to_its_position(id: u128, place: u64, scope: [u8; 8]) {
            let position = Position { id, place };
            let cursor = position.encode(List::Recipients, &scope);
            prop_assert_eq!(cursor.len(), 40);
            prop_assert_eq!(Position::decode(&cursor, List::Recipients, &scope), Ok(position));
            prop_assert!(Position::decode(&cursor, List::Messages, &scope).is_err());
            prop_assert!(Position::decode(&cursor, List::Recipients, b"other").is_err());
        }

        #[test]
        fn a_cursor_of_an_operator_parses_to_its_key(time: i64, id: u128, name: String, scope: [u8; 8]) {
            let key = (time, id, name);
            let cursor = Cursor::after(&key, List::Tokens, &scope);
            let read = |text: &str, list, scope: &[u8]| Cursor::new(text).key::<(i64, u128, String)>(list, scope);
            prop_assert_eq!(read(cursor.as_str(), List::Tokens, &scope), Some(key));
            prop_assert_eq!(read(cursor.as_str(), List::Accounts, &scope), None);
            prop_assert_eq!(read(cursor.as_str(), List::Tokens, b"other"), None);
            prop_assert_eq!(read(&cursor.as_str()[1..], List::Tokens, &scope), None);
            prop_assert_eq!(cursor.key::<i64>(List::Tokens, &scope), None);
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
    fn the_refusal_of_a_cursor_has_advice() {
        let refusal = Position::decode("x", List::Messages, &[]).unwrap_err();
        assert!(
            refusal.to_string().contains("Repeat `next_cursor`"),
            "{refusal}"
        );
    }
}
