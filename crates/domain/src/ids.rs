//! Identifiers. The application creates all of them, so none needs the database.

use crate::number::recipient::Recipient;
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

/// Random bits of the id of an account.
const RANDOM_BITS: u32 = 20;

/// The id of an account, which is `user_id` in the API.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct AccountId(pub i64);

impl AccountId {
    /// Creates an id that grows with time and cannot be guessed from others.
    pub fn new(now_ms: i64, random: u32) -> Self {
        Self((now_ms << RANDOM_BITS) | i64::from(random & 0xF_FFFF))
    }

    /// Creates the id of a sub-account. It has the low octet of its parent, so both accounts have
    /// one bucket, and it is the higher one, so wallets are locked in their order.
    pub fn of_sub(parent: Self, now_ms: i64, random: u32) -> Self {
        let later_ms = now_ms.max((parent.0 >> RANDOM_BITS) + 1);
        let Self(id) = Self::new(later_ms, random);
        Self((id & !0xFF) | (parent.0 & 0xFF))
    }
}

impl fmt::Display for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for AccountId {
    type Err = std::num::ParseIntError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// The number of a node, one process of the service.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeId(pub i64);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of a batch.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct BatchId(pub i64);

/// The bucket of an account's rows: the first column of the message tables' primary keys.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Bucket(pub i64);

/// The id of a message: a version 7 UUID, whose text is `message_id` in the API.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct MessageId(pub Uuid);

impl MessageId {
    /// An id above the ids of all messages.
    pub const HIGHEST: Self = Self(Uuid::max());

    /// Creates the id of a message accepted at `now_ms` (Unix milliseconds).
    pub fn new(now_ms: i64, random: [u8; 10]) -> Self {
        Self(uuid::Builder::from_unix_timestamp_millis(now_ms.unsigned_abs(), &random).into_uuid())
    }

    /// Returns the lowest possible id of a message accepted at `at_ms`, for scans by time.
    pub fn lowest_at(at_ms: i64) -> Self {
        Self(Uuid::from_u128(
            u128::from(at_ms.max(0).unsigned_abs()) << 80,
        ))
    }

    /// Returns the id with the number of a cursor.
    pub const fn from_number(number: u128) -> Self {
        Self(Uuid::from_u128(number))
    }

    /// Returns the id as a number. Numbers have the order of ids.
    pub const fn number(self) -> u128 {
        self.0.as_u128()
    }

    /// Returns the time of acceptance, Unix milliseconds.
    pub fn accepted_at_ms(self) -> i64 {
        let (high, _) = self.0.as_u64_pair();
        i64::try_from(high >> 16).unwrap_or(i64::MAX)
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for MessageId {
    type Err = uuid::Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::try_parse(text).map(Self)
    }
}

/// The id of an event of the outbox, the same for all attempts.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EventId([u8; 24]);

impl EventId {
    /// Returns the id of the final status of one recipient of a message. The ids of a message are
    /// adjacent.
    pub fn of_delivery(message: MessageId, recipient: Recipient) -> Self {
        let mut bytes = [0; 24];
        let (head, tail) = bytes.split_at_mut(16);
        head.copy_from_slice(message.0.as_bytes());
        tail.copy_from_slice(&recipient.digits().to_be_bytes());
        Self(bytes)
    }

    /// Returns the stored form.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_id_is_a_version_7_uuid_that_knows_its_time() {
        let id = MessageId::new(1_795_000_000_123, [0xAB; 10]);
        assert_eq!(id.0.get_version_num(), 7);
        assert_eq!(id.accepted_at_ms(), 1_795_000_000_123);
        assert!(MessageId::lowest_at(1_795_000_000_123) <= id);
        assert!(id < MessageId::lowest_at(1_795_000_000_124));
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn event_ids_are_in_the_order_of_messages_and_recipients() {
        let id = |at_ms, digits| {
            let message = MessageId::lowest_at(at_ms);
            EventId::of_delivery(message, Recipient::from_digits(digits))
        };
        let ids = [id(1, 2), id(1, 300), id(2, 1)];
        assert!(ids.is_sorted());
        assert_ne!(ids[0], ids[1]);
    }
}
