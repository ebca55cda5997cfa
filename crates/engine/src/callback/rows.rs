//! What the callbacks need of the database, until the store has it.

use domain::callback::Next;
use domain::{AccountId, Bucket, DeliveryStatus, MessageId, Recipient};
use std::future::Future;
use std::sync::Arc;

/// One callback to make: a recipient's outcome, for the URL that came with its message.
#[derive(Clone, Debug)]
pub struct Callback {
    /// Where its row lives.
    pub bucket: Bucket,
    /// Whose message it is.
    pub account: AccountId,
    /// Scheme, host and port of the URL.
    pub origin: String,
    /// When it is due, Unix milliseconds.
    pub due_at_ms: i64,
    /// The message.
    pub message: MessageId,
    /// The recipient.
    pub recipient: Recipient,
    /// The recipient's outcome.
    pub status: DeliveryStatus,
    /// Attempts made before.
    pub attempts: i32,
    /// Where to.
    pub url: Arc<str>,
    /// What the customer calls the message.
    pub customer_reference: Option<Arc<str>>,
}

/// A callback after an attempt.
#[derive(Clone, Debug)]
pub struct Finished {
    /// As it was before the attempt.
    pub callback: Callback,
    /// What becomes of it.
    pub next: Next,
}

/// Why the database did not do it.
#[derive(Debug, thiserror::Error)]
#[error("the database did not do it")]
pub struct RowsError;

/// The callback rows.
pub trait Rows: Clone + Send + Sync + 'static {
    /// Who has callbacks due and unclaimed.
    fn due_origins(
        &self,
        now_ms: i64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<(Bucket, AccountId, String)>, RowsError>> + Send;

    /// Claims callbacks that are due.
    fn claim_callbacks(
        &self,
        bucket: Bucket,
        account: AccountId,
        origin: &str,
        now_ms: i64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Callback>, RowsError>> + Send;

    /// Removes, reschedules or keeps as dead.
    fn finish_callbacks(
        &self,
        finished: &[Finished],
    ) -> impl Future<Output = Result<(), RowsError>> + Send;

    /// Gives claimed callbacks back, due as before.
    fn release_callbacks(
        &self,
        callbacks: &[Callback],
    ) -> impl Future<Output = Result<(), RowsError>> + Send;
}
