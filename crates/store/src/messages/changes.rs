//! Changes of accepted messages: cancel, pause, resume and another due time.
//!
//! A node holds claimed recipients in memory, and the database cannot know which of them it has
//! submitted. So a pause or a cancel begins with a stop, which is a row. No batch of a stopped message
//! is claimed, and each node puts its unsent recipients back. It then marks its batches as stopped:
//! the rest of them is on the wire. A pause moves the waiting batches apart. A cancel ends their
//! recipients.
//!
//! A pause or a cancel concerns first batches alone. Resends and second legs go on, because a
//! carrier has their recipients.
//!
//! Locks are taken in this order: message, stop, batches, wallets.

mod cancel;
mod facts;
mod release;
mod request;
mod resume;
mod stops;
mod windows;

pub use facts::{ChangedMessage, MessageKey};
pub use request::{Requested, StopKind};
pub use stops::{Stop, StopStep};

use crate::buckets::Buckets;
use crate::operators::audit::By;
use cancel::FinishCancel;
use database::{Db, Result};
use domain::{Bucket, MessageId, QuietHours, Refusal};
use request::RequestStop;
use resume::{Reschedule, Resume};

/// The changes of messages.
#[derive(Clone, Copy)]
pub struct MessageChanges<'s> {
    pub(crate) db: &'s Db,
}

impl MessageChanges<'_> {
    /// Requests a pause or a cancel. From its commit on, no batch of the message is claimed. Returns
    /// `None` if there is no such message.
    pub async fn request(
        self,
        key: MessageKey,
        kind: StopKind,
        now_ms: i64,
        by: Option<By>,
    ) -> Result<Option<std::result::Result<Requested, Refusal>>> {
        let bucket = Buckets::of(self.db).account(key.account);
        let request = RequestStop {
            bucket,
            key,
            kind,
            now_ms,
            by,
        };
        self.db.change(request).await
    }

    /// Resumes a paused message: its clock runs again, and its batches wait for claims until the end
    /// of the quiet hours.
    pub async fn resume(
        self,
        key: MessageKey,
        now_ms: i64,
        quiet: Option<QuietHours>,
        by: Option<By>,
    ) -> Result<Option<std::result::Result<ChangedMessage, Refusal>>> {
        let bucket = Buckets::of(self.db).account(key.account);
        let resume = Resume {
            bucket,
            key,
            now_ms,
            quiet,
            by,
        };
        self.db.change(resume).await
    }

    /// Gives a message another due time, while no carrier has any of it.
    pub async fn reschedule(
        self,
        key: MessageKey,
        due_at_ms: i64,
        now_ms: i64,
        by: Option<By>,
    ) -> Result<Option<std::result::Result<ChangedMessage, Refusal>>> {
        let bucket = Buckets::of(self.db).account(key.account);
        let reschedule = Reschedule {
            bucket,
            key,
            due_at_ms,
            now_ms,
            by,
        };
        self.db.change(reschedule).await
    }

    /// Returns the stops that nodes must know, at most `limit`.
    pub async fn stops(self, limit: usize) -> Result<Vec<Stop>> {
        stops::all(self.db, limit).await
    }

    /// Ends or moves the recipients of a stopped message that wait now. It is done when none waits
    /// and no node has an unsent one.
    pub async fn step(self, stop: &Stop, now_ms: i64) -> Result<StopStep> {
        stops::step(self.db, stop, now_ms).await
    }

    /// Finishes a cancel whose recipients have ended. Returns `false` if some have not.
    pub async fn finish_cancel(
        self,
        bucket: Bucket,
        message: MessageId,
        now_ms: i64,
    ) -> Result<bool> {
        let finish = FinishCancel {
            bucket,
            message,
            now_ms,
        };
        self.db.change(finish).await
    }

    /// Removes the stop of a paused message of which no node has a batch.
    pub async fn forget_pause(self, stop: &Stop) -> Result<()> {
        stops::forget_pause(self.db, stop).await
    }

    /// Returns a message after a change. Returns `None` if there is no such message.
    pub async fn changed(self, key: MessageKey) -> Result<Option<ChangedMessage>> {
        facts::changed(self.db, key).await
    }
}
