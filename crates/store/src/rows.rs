//! From stored values to the types of the trade and back.

use crate::error::{Error, Result};
use domain::{AccountId, Bucket, Environment, MessageId, Recipient};
use uuid::Uuid;

/// Makes a message id of a stored one.
pub(crate) fn message_id(stored: &[u8]) -> Result<MessageId> {
    Uuid::from_slice(stored)
        .map(MessageId)
        .map_err(|_| Error::Unreadable(format!("a message id of {} bytes", stored.len())))
}

/// The bytes under which a message id is stored.
pub(crate) fn id_bytes(id: &MessageId) -> &[u8] {
    id.0.as_bytes()
}

/// Makes a recipient of a stored number.
pub(crate) fn recipient(stored: i64) -> Recipient {
    Recipient::from_digits(stored.unsigned_abs())
}

/// The number under which a recipient is stored. Fifteen digits fit.
pub(crate) fn number(recipient: Recipient) -> i64 {
    i64::try_from(recipient.digits()).unwrap_or(i64::MAX)
}

/// The world of a message, by its stored mark.
pub(crate) fn environment(sandbox: bool) -> Environment {
    if sandbox {
        Environment::Sandbox
    } else {
        Environment::Live
    }
}

/// Reads a stored name of one of our enums.
pub(crate) fn named<T>(read: fn(&str) -> Option<T>, stored: &str) -> Result<T> {
    read(stored).ok_or_else(|| Error::Unreadable(format!("the word {stored:?}")))
}

/// Buckets over which accounts spread on PostgreSQL.
const BUCKETS: i64 = 16;

/// The bucket of an account.
pub(crate) fn bucket_of(account: AccountId, embedded: bool) -> Bucket {
    if embedded {
        Bucket(0)
    } else {
        Bucket(account.0.rem_euclid(BUCKETS))
    }
}

/// All buckets.
pub(crate) fn buckets(embedded: bool) -> impl Iterator<Item = Bucket> {
    (0..if embedded { 1 } else { BUCKETS }).map(Bucket)
}
