//! Retention: old data is removed in small steps, first the texts of messages, later whole messages
//! with all their rows. Ledger, wallets and accounts stay.
//!
//! A message is removed once it is settled, whatever its age: every recipient has a final status,
//! no batch is left, and no callback waits. A settled message stays settled, since only recipients
//! without a final status make batches and callbacks. So the check runs outside the writer,
//! recipients first, and the transaction that removes need not repeat it.

mod keys;
mod removal;
mod sandbox;
pub(crate) mod texts;

pub use keys::{CarrierIdKey, DeadKey, ReceiptKey};
pub use removal::Removed;
pub use texts::TextCursor;

use database::{Db, Result};
use domain::{Bucket, MessageId};
use removal::{RemoveMessages, fitting, old_messages, open};

/// The removal of old data.
#[derive(Clone, Copy)]
pub struct Retention<'s> {
    pub(crate) db: &'s Db,
}

impl Retention<'_> {
    /// Removes some settled messages that were due before a time, with their deliveries. Returns
    /// how many are gone. One with very many deliveries takes several steps: its list is emptied
    /// first, which marks it as under removal.
    pub async fn remove_messages(
        self,
        bucket: Bucket,
        before_ms: i64,
        after: Option<MessageId>,
    ) -> Result<Removed<MessageId>> {
        let after = after.unwrap_or(MessageId::lowest_at(0));
        // The readers are few, and the writer may be busy, so they are released before the change.
        let (taken, open) = Db::in_time(async {
            let mut tx = self.db.read().await?;
            let mut taken = old_messages(&mut tx, bucket, after, before_ms).await?;
            taken.truncate(fitting(&taken));
            let intact = taken.iter().filter(|old| old.recipients > 0);
            let intact: Vec<MessageId> = intact.map(|old| old.message).collect();
            let open = open(&mut tx, bucket, before_ms, &intact).await?;
            Ok((taken, open))
        })
        .await?;
        let Some(last) = taken.last().map(|old| old.message) else {
            return Ok(Removed {
                count: 0,
                next: None,
            });
        };
        let messages = taken.iter().map(|old| old.message);
        let messages: Vec<MessageId> = messages.filter(|message| !open.contains(message)).collect();
        let settled = messages.len() as u64;
        let count = if messages.is_empty() {
            0
        } else {
            let removal = RemoveMessages {
                bucket,
                messages,
                with_callbacks: false,
            };
            self.db.change(removal).await?
        };
        let next = if count < settled { after } else { last };
        Ok(Removed {
            count,
            next: Some(next),
        })
    }

    /// Removes the texts of some settled messages that were due before a time. Returns how many.
    pub async fn remove_texts(
        self,
        bucket: Bucket,
        before_ms: i64,
        cursor: Option<TextCursor>,
    ) -> Result<Removed<TextCursor>> {
        texts::remove(self.db, bucket, before_ms, cursor).await
    }

    /// Removes old pages among the next rows by key, of one carrier or of all. A page is old if its
    /// hour of submission ended before a time. Returns how many were removed.
    pub async fn remove_parts(
        self,
        bucket: Bucket,
        before_ms: i64,
        after: Option<CarrierIdKey>,
        carrier: Option<&str>,
    ) -> Result<Removed<CarrierIdKey>> {
        keys::remove_parts(self.db, bucket, before_ms, after, carrier).await
    }

    /// Removes the receipts that were committed before a time, among the next ones by key. Returns
    /// how many were removed.
    pub async fn remove_receipts(
        self,
        bucket: Bucket,
        before_ms: i64,
        after: Option<ReceiptKey>,
    ) -> Result<Removed<ReceiptKey>> {
        keys::remove_receipts(self.db, bucket, before_ms, after).await
    }

    /// Removes the dead callbacks, among the next ones by key, of messages that were due before a
    /// time. Returns how many were removed.
    pub async fn remove_dead_callbacks(
        self,
        bucket: Bucket,
        before_ms: i64,
        after: Option<DeadKey>,
    ) -> Result<Removed<DeadKey>> {
        keys::remove_dead_callbacks(self.db, bucket, before_ms, after).await
    }

    /// Removes some messages of the sandbox that were due before a time. Returns how many are gone.
    /// A message that the simulated carrier `carrier` has not accepted yet stays until it has.
    pub async fn remove_simulated(
        self,
        bucket: Bucket,
        carrier: &str,
        before_ms: i64,
        after: Option<MessageId>,
    ) -> Result<Removed<MessageId>> {
        sandbox::remove(self.db, bucket, carrier, before_ms, after).await
    }
}
