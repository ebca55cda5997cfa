//! The changes of SMPP users at the request of their account, with their refusals.

use super::smpp_user_changes::{AddUser, RevokeUser};
use crate::accounts::revision::touch;
use crate::operators::audit::By;
use database::{Change, Result, Tx, query};
use domain::smpp_user::{MAX_USERS, SmppUser};
use domain::{AccountId, ObjectRefusal, Refusal};

pub(super) struct RequestUser(pub(super) AddUser);

impl RequestUser {
    /// Returns `true` if the account has its maximum of users.
    async fn is_full(&self, tx: &mut Tx) -> Result<bool> {
        let count = query(
            "select count(*) from smpp_users where account_id = $1 and revoked_at_ms is null",
        );
        let valid: i64 = tx.fetch_one(count.bind(self.0.user.account.0)).await?;
        Ok(usize::try_from(valid).is_ok_and(|valid| valid >= MAX_USERS))
    }
}

impl Change for RequestUser {
    type Output = std::result::Result<SmppUser, Refusal>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        // A refused request does not raise the revision, at which every node reads accounts again. Two
        // requests that may be granted wait for each other, so that the number of users is exact.
        let is_full = self.is_full(tx).await? || {
            touch(tx).await?;
            self.is_full(tx).await?
        };
        if is_full {
            return Ok(Err(Refusal::Object(ObjectRefusal::SmppUsersUsed {
                limit: MAX_USERS,
            })));
        }
        self.0.insert(tx).await?;
        Ok(Ok(self.0.user.clone()))
    }

    async fn is_committed(&self, tx: &mut Tx, made: &Self::Output) -> Result<bool> {
        match made {
            Ok(_) => self.0.is_committed(tx, &()).await,
            Err(_) => Ok(true),
        }
    }
}

pub(super) struct GiveUpUser {
    account: AccountId,
    revoke: RevokeUser,
}

impl GiveUpUser {
    pub(super) fn new(account: AccountId, system_id: &str, by: By) -> Self {
        let system_id = system_id.to_owned();
        Self {
            account,
            revoke: RevokeUser { system_id, by },
        }
    }
}

impl Change for GiveUpUser {
    /// The system id of the user.
    type Output = std::result::Result<String, Refusal>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        let owner = query(
            "select account_id from smpp_users where system_id = $1 and revoked_at_ms is null",
        );
        let owner: Option<i64> = tx
            .fetch_optional(owner.bind(&self.revoke.system_id))
            .await?;
        let is_own = owner == Some(self.account.0);
        if is_own && self.revoke.apply(tx).await? {
            Ok(Ok(self.revoke.system_id.clone()))
        } else {
            Ok(Err(Refusal::Object(ObjectRefusal::UnknownSmppUser)))
        }
    }

    async fn is_committed(&self, tx: &mut Tx, made: &Self::Output) -> Result<bool> {
        match made {
            Ok(_) => self.revoke.is_committed(tx, &true).await,
            Err(_) => Ok(true),
        }
    }
}
