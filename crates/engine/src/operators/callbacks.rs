//! The commands about callbacks.

use super::accounts::account;
use super::actor::Actor;
use super::error::{OperationError, Result};
use crate::context::random::Random;
use domain::callback::signature::{MAX_SECRETS, RANDOM_BYTES, Secret, Signing};
use domain::{AccountId, MessageId};
use std::time::Duration;
use store::{Callback, CallbackAttempt, CallbackSecret, DeadOrigin, Store};

/// Callbacks: attempts, dead ones, replay, secrets.
pub struct Callbacks {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl Callbacks {
    /// The dead callbacks by account and origin.
    pub async fn dead_origins(self) -> Result<Vec<DeadOrigin>> {
        Ok(self.store.dead_origins().await?)
    }

    /// The dead callbacks of an account, the latest first.
    pub async fn dead(self, id: AccountId, limit: u32) -> Result<Vec<Callback>> {
        account(&self.store, id).await?;
        Ok(self.store.dead_callbacks(id, limit).await?)
    }

    /// The attempts that are kept for an account, or for one of its messages: the latest messages first.
    pub async fn attempts(
        self,
        id: AccountId,
        message: Option<MessageId>,
        limit: u32,
    ) -> Result<Vec<CallbackAttempt>> {
        account(&self.store, id).await?;
        Ok(self.store.callback_attempts(id, message, limit).await?)
    }

    /// Queues dead callbacks again, with all their attempts before them. Returns their number.
    pub async fn replay(self, which: &Replay) -> Result<u64> {
        let is_meant = |dead: &DeadOrigin| {
            which.account.is_none_or(|account| account == dead.account)
                && which
                    .origin
                    .as_ref()
                    .is_none_or(|origin| *origin == dead.origin)
        };
        let mut replayed = 0;
        for dead in self
            .store
            .dead_origins()
            .await?
            .iter()
            .filter(|dead| is_meant(dead))
        {
            let by = self.actor.now();
            replayed += self.store.replay_callbacks(dead, which.message, by).await?;
        }
        Ok(replayed)
    }

    /// Creates a secret, which signs the callbacks of an account from now on.
    pub async fn create_secret(self, id: AccountId) -> Result<CallbackSecret> {
        account(&self.store, id).await?;
        let by = self.actor.now();
        let secret = fresh(by.at_ms, id)?;
        let at_once = secret.created_at_ms;
        let added = self
            .store
            .add_callback_secret(secret.clone(), 0..=0, at_once, by);
        match added.await? {
            0 => Ok(secret),
            _ => Err(OperationError::SecretExists),
        }
    }

    /// Gives an account another secret; those that it has sign as well for `overlap`.
    pub async fn rotate_secret(self, id: AccountId, overlap: Duration) -> Result<CallbackSecret> {
        account(&self.store, id).await?;
        let by = self.actor.now();
        let secret = fresh(by.at_ms, id)?;
        let overlap_ms = i64::try_from(overlap.as_millis()).unwrap_or(i64::MAX);
        let others_end_at_ms = secret.created_at_ms.saturating_add(overlap_ms);
        let others = 1..=MAX_SECRETS - 1;
        let added = self
            .store
            .add_callback_secret(secret.clone(), others, others_end_at_ms, by);
        match added.await? {
            0 => Err(OperationError::NoSecret),
            1..MAX_SECRETS => Ok(secret),
            _ => Err(OperationError::ManySecrets),
        }
    }

    /// The secrets that sign now, of all accounts or of one.
    pub async fn list_secrets(self, account: Option<AccountId>) -> Result<Vec<CallbackSecret>> {
        let mut secrets = self.store.callback_secrets(account).await?;
        let now_ms = self.actor.clock().now_ms();
        secrets.retain(|secret| secret.signing.is_valid(now_ms));
        Ok(secrets)
    }

    /// Removes a secret, or all of the account: then its callbacks are signed no more. Gives how many.
    pub async fn revoke_secrets(self, id: AccountId, secret: Option<&str>) -> Result<u64> {
        account(&self.store, id).await?;
        match self
            .store
            .revoke_callback_secrets(id, secret, self.actor.now())
            .await?
        {
            0 => Err(OperationError::NoSecret),
            revoked => Ok(revoked),
        }
    }
}

/// Which dead callbacks are to be made again: all, or those that are as named.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// Only those of this account.
    pub account: Option<AccountId>,
    /// Only those to this scheme, host and port.
    pub origin: Option<String>,
    /// Only those of this message.
    pub message: Option<MessageId>,
}

fn fresh(now_ms: i64, account: AccountId) -> Result<CallbackSecret> {
    let random = Random::system().bytes();
    if random == [0; RANDOM_BYTES] {
        return Err(OperationError::NoChance);
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
