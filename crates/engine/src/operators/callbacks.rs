//! The operations on callbacks.

use super::accounts::{account, scope_of};
use super::actor::Actor;
use super::error::{OperationError, Result};
use super::page::{Page, PageRequest};
use crate::context::random::Random;
use domain::callback::signature::{MAX_SECRETS, RANDOM_BYTES, Secret, Signing};
use domain::search::{List, MAX_LIMIT};
use domain::{AccountId, MessageId};
use std::time::Duration;
use store::{Callback, CallbackAttempt, CallbackSecret, DeadOrigin, ListRow, Store};

/// Callbacks: attempts, dead ones, replay, secrets.
pub struct Callbacks {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl Callbacks {
    /// Returns a page of the receivers of dead callbacks, by account and origin.
    pub async fn dead_origins(self, request: &PageRequest) -> Result<Page<DeadOrigin>> {
        let behind = request.behind(List::DeadOrigins, "")?;
        let rows = self
            .store
            .dead_callbacks()
            .origins(behind, request.rows())
            .await?;
        Ok(request.page(List::DeadOrigins, "", rows))
    }

    /// Returns a page of the dead callbacks of an account, newest first.
    pub async fn dead(self, id: AccountId, request: &PageRequest) -> Result<Page<Callback>> {
        account(&self.store, id).await?;
        let scope = scope_of(Some(id));
        let behind = request.behind(List::DeadCallbacks, &scope)?;
        let rows = self
            .store
            .dead_callbacks()
            .list(id, behind, request.rows())
            .await?;
        Ok(request.page(List::DeadCallbacks, &scope, rows))
    }

    /// Returns a page of the recorded attempts of an account or of one message, newest messages
    /// first.
    pub async fn attempts(
        self,
        id: AccountId,
        message: Option<MessageId>,
        request: &PageRequest,
    ) -> Result<Page<CallbackAttempt>> {
        account(&self.store, id).await?;
        let mut scope = scope_of(Some(id));
        if let Some(message) = message {
            scope = format!("{scope} {message}");
        }
        let behind = request.behind(List::CallbackAttempts, &scope)?;
        let read = request.rows();
        let rows = self.store.attempts().list(id, message, behind, read);
        Ok(request.page(List::CallbackAttempts, &scope, rows.await?))
    }

    /// Queues dead callbacks again, with a new series of attempts. Returns their number.
    pub async fn replay(self, which: &Replay) -> Result<u64> {
        let (mut replayed, mut behind) = (0, None);
        loop {
            let page = self
                .store
                .dead_callbacks()
                .origins(behind, MAX_LIMIT)
                .await?;
            for dead in page.iter().filter(|dead| which.has(dead)) {
                let by = self.actor.now();
                replayed += self
                    .store
                    .dead_callbacks()
                    .replay(dead, which.message, by)
                    .await?;
            }
            let Some(last) = page.last() else {
                return Ok(replayed);
            };
            behind = Some(last.key());
        }
    }

    /// Creates the first secret of an account, which signs its callbacks from now on.
    pub async fn create_secret(self, id: AccountId) -> Result<CallbackSecret> {
        account(&self.store, id).await?;
        let by = self.actor.now();
        let secret = new_secret(by.at_ms, id)?;
        let at_once = secret.created_at_ms;
        let added = self
            .store
            .callback_secrets()
            .add(secret.clone(), 0..=0, at_once, by);
        match added.await? {
            0 => Ok(secret),
            _ => Err(OperationError::SecretExists),
        }
    }

    /// Creates another secret for an account. The existing ones keep signing for `overlap`.
    pub async fn rotate_secret(self, id: AccountId, overlap: Duration) -> Result<CallbackSecret> {
        account(&self.store, id).await?;
        let by = self.actor.now();
        let secret = new_secret(by.at_ms, id)?;
        let overlap_ms = i64::try_from(overlap.as_millis()).unwrap_or(i64::MAX);
        let others_end_at_ms = secret.created_at_ms.saturating_add(overlap_ms);
        let others = 1..=MAX_SECRETS - 1;
        let added = self
            .store
            .callback_secrets()
            .add(secret.clone(), others, others_end_at_ms, by);
        match added.await? {
            0 => Err(OperationError::NoSecret),
            1..MAX_SECRETS => Ok(secret),
            _ => Err(OperationError::ManySecrets),
        }
    }

    /// Returns a page of the valid secrets of all accounts or of one, by account and newest first.
    pub async fn list_secrets(
        self,
        account: Option<AccountId>,
        request: &PageRequest,
    ) -> Result<Page<CallbackSecret>> {
        let now_ms = self.actor.clock().now_ms();
        let scope = scope_of(account);
        let behind = request.behind(List::CallbackSecrets, &scope)?;
        let read = request.rows();
        let rows = self
            .store
            .callback_secrets()
            .list(now_ms, account, behind, read);
        Ok(request.page(List::CallbackSecrets, &scope, rows.await?))
    }

    /// Revokes one secret or all secrets of an account. Without any, its callbacks are not signed.
    /// Returns their number.
    pub async fn revoke_secrets(self, id: AccountId, secret: Option<&str>) -> Result<u64> {
        account(&self.store, id).await?;
        match self
            .store
            .callback_secrets()
            .revoke(id, secret, self.actor.now())
            .await?
        {
            0 => Err(OperationError::NoSecret),
            revoked => Ok(revoked),
        }
    }
}

/// Selects the dead callbacks to queue again. Each field narrows the selection.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// The account.
    pub account: Option<AccountId>,
    /// The scheme, host and port.
    pub origin: Option<String>,
    /// The message.
    pub message: Option<MessageId>,
}

impl Replay {
    /// Returns `true` if callbacks to this receiver may be selected.
    fn has(&self, dead: &DeadOrigin) -> bool {
        self.account.is_none_or(|account| account == dead.account)
            && self
                .origin
                .as_ref()
                .is_none_or(|origin| *origin == dead.origin)
    }
}

fn new_secret(now_ms: i64, account: AccountId) -> Result<CallbackSecret> {
    let random = Random::system().bytes();
    if random == [0; RANDOM_BYTES] {
        return Err(OperationError::NoRandomBytes);
    }
    Ok(CallbackSecret {
        account,
        created_at_ms: now_ms,
        signing: Signing {
            secret: Secret::make(&random),
            ends_at_ms: None,
        },
    })
}
