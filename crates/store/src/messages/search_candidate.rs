//! The messages that a search finds, before callers apply the filters that have no index.

use crate::messages::info::count;
use crate::rows::{message_id, named};
use database::Result;
use domain::{AccountId, Gateway, MessageId};

/// A range of message ids: from the first, up to but not including the last.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IdRange {
    /// The first id.
    pub from: MessageId,
    /// The end of the range.
    pub until: MessageId,
}

/// A message that a search found, with the values that filters compare.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Candidate {
    /// The message.
    pub id: MessageId,
    /// The account.
    pub account: AccountId,
    /// The sender ID.
    pub sender: String,
    /// The gateway asked for.
    pub gateway: Gateway,
    /// The number of recipients.
    pub recipients: u64,
}

impl IdRange {
    /// Returns the range of all messages that were accepted between two moments, Unix milliseconds.
    pub fn accepted(since_ms: Option<i64>, until_ms: Option<i64>) -> Self {
        Self {
            from: MessageId::lowest_at(since_ms.unwrap_or(0)),
            until: until_ms.map_or(MessageId::HIGHEST, MessageId::lowest_at),
        }
    }

    /// Returns the part of the range before a message.
    #[must_use]
    pub fn before(self, message: MessageId) -> Self {
        Self {
            until: self.until.min(message),
            ..self
        }
    }
}

/// A stored candidate.
pub(super) struct CandidateRow {
    message_id: Vec<u8>,
    account_id: i64,
    sender: String,
    gateway: String,
    octets: i64,
}

database::from_row!(CandidateRow {
    message_id,
    account_id,
    sender,
    gateway,
    octets
});

impl CandidateRow {
    pub(super) fn candidate(self) -> Result<Candidate> {
        Ok(Candidate {
            id: message_id(&self.message_id)?,
            account: AccountId(self.account_id),
            sender: self.sender,
            gateway: named(Gateway::from_name, &self.gateway)?,
            recipients: count(self.octets),
        })
    }
}
