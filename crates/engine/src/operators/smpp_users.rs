//! The operations on SMPP users.

use super::accounts::{account, scope_of};
use super::actor::Actor;
use super::error::{MAX_RANGES, OperationError, Result};
use super::page::{Page, PageRequest};
use crate::context::random::Random;
use domain::client_address::AllowList;
use domain::search::List;
use domain::smpp_user::{self, Dialect, SmppLimits, SmppUser, SmppUserFields, SmppUserRequest};
use domain::user::password;
use domain::{AccountId, Gateway};
use std::collections::HashMap;
use store::{Outcome, Store};

/// SMPP users: create, list, show, revoke, limits.
pub struct SmppUsers {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

/// The settings of a new SMPP user.
#[derive(Clone, Debug, Default)]
pub struct NewSmppUser {
    /// `true` if its messages are simulated.
    pub sandbox: bool,
    /// The limits.
    pub limits: SmppLimits,
    /// The addresses from which the user may bind.
    pub allowed: AllowList,
    /// The gateway of its messages, or `None` for the default.
    pub gateway: Option<Gateway>,
    /// The dialect of its program.
    pub dialect: Dialect,
}

impl SmppUsers {
    /// Creates a user. Its password is returned only here, and only its hash is stored.
    pub async fn create(self, id: AccountId, new: NewSmppUser) -> Result<(SmppUser, String)> {
        account(&self.store, id).await?;
        if new.allowed.0.len() > MAX_RANGES {
            return Err(OperationError::Ranges);
        }
        let by = self.actor.now();
        let (user, secret, hash) = made(id, new, by.at_ms).await?;
        self.store.smpp_users().add(user.clone(), hash, by).await?;
        Ok((user, secret))
    }

    /// Creates a user for its account, with at most the limits of a new user, as the API does.
    pub async fn request(
        self,
        id: AccountId,
        fields: &SmppUserFields,
    ) -> Result<(SmppUser, String)> {
        let request = SmppUserRequest::read(fields)?;
        let new = NewSmppUser {
            sandbox: request.sandbox,
            limits: request.limits,
            allowed: request.allowed,
            gateway: request.gateway,
            dialect: request.dialect,
        };
        let by = self.actor.now();
        let (user, secret, hash) = made(id, new, by.at_ms).await?;
        let requested = self.store.smpp_users().request(user, hash, None, by);
        match requested.await? {
            Outcome::Made(user) => Ok((user, secret)),
            Outcome::Refused(refusal) => Err(refusal.into()),
            // A request without a key has no stored answer.
            Outcome::Replay(_) => Err(OperationError::NoAccount(id)),
        }
    }

    /// Returns a page of the users of all accounts or of one, by account and newest first.
    pub async fn list(
        self,
        account: Option<AccountId>,
        request: &PageRequest,
    ) -> Result<Page<SmppUser>> {
        let scope = scope_of(account);
        let behind = request.behind(List::SmppUsers, &scope)?;
        let rows = request.rows();
        let rows = self.store.smpp_users().list(account, behind, rows).await?;
        Ok(request.page(List::SmppUsers, &scope, rows))
    }

    /// Returns a user, revoked or not.
    pub async fn show(self, system_id: &str) -> Result<SmppUser> {
        let found = self.store.smpp_users().find(system_id).await?;
        found
            .map(|(user, _)| user)
            .ok_or_else(|| OperationError::NoSmppUser(system_id.to_owned()))
    }

    /// Returns the number of receipts that wait for a user.
    pub async fn waiting(self, user: &SmppUser) -> Result<i64> {
        let outbox = self.store.outbox();
        Ok(outbox.waiting(&outbox.of_user(user)).await?)
    }

    /// Returns the number of connections, on all nodes, of each user of one account or of all that
    /// is bound now.
    pub async fn bound(self, account: Option<AccountId>) -> Result<HashMap<String, i64>> {
        Ok(self.store.smpp_users().bound(account).await?)
    }

    /// Sets the limits of a user that `change` returns from the ones before. A running server
    /// applies them within a second.
    pub async fn limit(
        self,
        system_id: &str,
        change: impl FnOnce(SmppLimits) -> SmppLimits,
    ) -> Result<SmppUser> {
        let unknown = || OperationError::NoSmppUser(system_id.to_owned());
        let found = self.store.smpp_users().find(system_id).await?;
        let (user, _) = found.ok_or_else(unknown)?;
        let limits = change(user.limits);
        let by = self.actor.now();
        let changed = self.store.smpp_users().limit(system_id, limits, by).await?;
        changed
            .then_some(SmppUser { limits, ..user })
            .ok_or_else(unknown)
    }

    /// Revokes a user of an account, for a user of that account.
    pub async fn revoke_of(self, id: AccountId, system_id: &str) -> Result<()> {
        let by = self.actor.now();
        let users = self.store.smpp_users();
        match users.give_up(id, system_id, None, by).await? {
            Outcome::Made(_) => Ok(()),
            Outcome::Refused(_) | Outcome::Replay(_) => {
                Err(OperationError::NoSmppUser(system_id.to_owned()))
            }
        }
    }

    /// Revokes a user. A running server unbinds it within a second.
    pub async fn revoke(self, system_id: &str) -> Result<()> {
        let by = self.actor.now();
        let revoked = self.store.smpp_users().revoke(system_id, by).await?;
        revoked
            .then_some(())
            .ok_or_else(|| OperationError::NoSmppUser(system_id.to_owned()))
    }
}

/// Returns a new user, its password and the hash of it.
async fn made(id: AccountId, new: NewSmppUser, now_ms: i64) -> Result<(SmppUser, String, String)> {
    let random = Random::system();
    let made = smpp_user::system_id(&random.bytes()).zip(smpp_user::password(&random.bytes()));
    let (system_id, secret) = made.ok_or(OperationError::NoRandomBytes)?;
    let (text, salt) = (secret.clone(), random.bytes());
    let hashed = tokio::task::spawn_blocking(move || password::hash(&text, &salt));
    let hash = hashed.await.ok().flatten();
    let hash = hash.ok_or(OperationError::NotHashed)?;
    let user = SmppUser {
        system_id,
        account: id,
        sandbox: new.sandbox,
        limits: new.limits,
        allowed: new.allowed,
        gateway: new.gateway,
        dialect: new.dialect,
        created_at_ms: now_ms,
        revoked_at_ms: None,
    };
    Ok((user, secret, hash))
}
