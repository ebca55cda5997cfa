//! The changes of secrets at the request of their account, with their refusals.

use super::secret_changes::{AddSecret, CallbackSecret, RevokeSecrets};
use crate::operators::audit::By;
use database::{Change, Result, Tx};
use domain::callback::signature::MAX_SECRETS;
use domain::{AccountId, ObjectRefusal, Refusal};

pub(super) struct RequestSecret(AddSecret);

impl RequestSecret {
    pub(super) fn new(secret: CallbackSecret, others_end_at_ms: i64, by: By) -> Self {
        Self(AddSecret {
            secret,
            others: 0..=MAX_SECRETS - 1,
            others_end_at_ms,
            by,
        })
    }
}

impl Change for RequestSecret {
    type Output = std::result::Result<CallbackSecret, Refusal>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        let had = self.0.apply(tx).await?;
        if self.0.others.contains(&had) {
            return Ok(Ok(self.0.secret.clone()));
        }
        Ok(Err(Refusal::Object(ObjectRefusal::SecretsUsed {
            limit: MAX_SECRETS,
        })))
    }

    async fn is_committed(&self, tx: &mut Tx, made: &Self::Output) -> Result<bool> {
        match made {
            Ok(_) => self.0.is_committed(tx, &0).await,
            Err(_) => Ok(true),
        }
    }
}

pub(super) struct GiveUpSecret {
    id: String,
    revoke: RevokeSecrets,
}

impl GiveUpSecret {
    pub(super) fn new(account: AccountId, id: &str, by: By) -> Self {
        let id = id.to_owned();
        Self {
            revoke: RevokeSecrets {
                account,
                id: Some(id.clone()),
                by,
            },
            id,
        }
    }
}

impl Change for GiveUpSecret {
    /// The id of the secret.
    type Output = std::result::Result<String, Refusal>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        // An empty id would revoke all secrets.
        if !self.id.is_empty() && self.revoke.apply(tx).await? > 0 {
            Ok(Ok(self.id.clone()))
        } else {
            Ok(Err(Refusal::Object(ObjectRefusal::UnknownSecret)))
        }
    }

    async fn is_committed(&self, tx: &mut Tx, made: &Self::Output) -> Result<bool> {
        match made {
            Ok(_) => self.revoke.is_committed(tx, &1).await,
            Err(_) => Ok(true),
        }
    }
}
