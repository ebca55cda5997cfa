//! The callback rows of the store.

use super::rows::{Callback, Finished, Rows, RowsError};
use domain::callback::Next;
use domain::{AccountId, Bucket};
use store::Store;

/// How long a claim is this node's own.
const CLAIM_MS: i64 = 120_000;

/// The store, as this node sees it.
#[derive(Clone)]
pub(crate) struct StoreRows {
    pub(crate) store: Store,
    pub(crate) node: i64,
}

fn told(error: &store::Error) -> RowsError {
    tracing::error!(%error, "callbacks could not be read or kept");
    RowsError
}

impl From<store::Callback> for Callback {
    fn from(row: store::Callback) -> Self {
        Self {
            bucket: row.bucket,
            account: row.account,
            origin: row.origin,
            due_at_ms: row.due_at_ms,
            message: row.message,
            recipient: row.recipient,
            status: row.status,
            attempts: i32::try_from(row.attempts).unwrap_or(i32::MAX),
            url: row.url,
            customer_reference: row.customer_reference,
        }
    }
}

impl From<&Callback> for store::Callback {
    fn from(callback: &Callback) -> Self {
        Self {
            bucket: callback.bucket,
            account: callback.account,
            origin: callback.origin.clone(),
            due_at_ms: callback.due_at_ms,
            message: callback.message,
            recipient: callback.recipient,
            status: callback.status,
            attempts: i64::from(callback.attempts),
            url: callback.url.clone(),
            customer_reference: callback.customer_reference.clone(),
        }
    }
}

impl Rows for StoreRows {
    async fn due_origins(
        &self,
        now_ms: i64,
        limit: usize,
    ) -> Result<Vec<(Bucket, AccountId, String)>, RowsError> {
        let mut origins = self
            .store
            .due_origins(now_ms)
            .await
            .map_err(|error| told(&error))?;
        origins.truncate(limit);
        Ok(origins)
    }

    async fn claim_callbacks(
        &self,
        bucket: Bucket,
        account: AccountId,
        origin: &str,
        now_ms: i64,
        limit: usize,
    ) -> Result<Vec<Callback>, RowsError> {
        let until_ms = now_ms + CLAIM_MS;
        let rows = self
            .store
            .claim_callbacks(bucket, account, origin, now_ms, limit, self.node, until_ms)
            .await
            .map_err(|error| told(&error))?;
        Ok(rows.into_iter().map(Into::into).collect())
    }

    async fn finish_callbacks(&self, finished: &[Finished]) -> Result<(), RowsError> {
        let finished = finished
            .iter()
            .map(|finished| {
                let next = match finished.next {
                    Next::Done => store::Finished::Done,
                    Next::Retry { at_ms } => store::Finished::Retry { at_ms },
                    Next::Dead => store::Finished::Dead,
                    Next::EndMessage => store::Finished::EndMessage,
                };
                ((&finished.callback).into(), next)
            })
            .collect();
        self.store
            .finish_callbacks(finished)
            .await
            .map_err(|error| told(&error))
    }

    async fn release_callbacks(&self, callbacks: &[Callback]) -> Result<(), RowsError> {
        let released = callbacks
            .iter()
            .map(|callback| (callback.into(), store::Finished::Untouched))
            .collect();
        self.store
            .finish_callbacks(released)
            .await
            .map_err(|error| told(&error))
    }
}
