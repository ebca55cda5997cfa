//! The changes of tokens at the request of their account, with their refusals.

use super::token_changes::{AddToken, RevokeToken, TokenInfo};
use crate::operators::audit::By;
use crate::wallets;
use database::{Change, Result, Tx, query};
use domain::token::MAX_TOKENS;
use domain::{AccountId, Bucket, ObjectRefusal, Refusal};

pub(super) struct RequestToken {
    pub(super) bucket: Bucket,
    pub(super) add: AddToken,
}

impl Change for RequestToken {
    type Output = std::result::Result<TokenInfo, Refusal>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        let account = self.add.token.account;
        // The lock orders requests of the account, so that they pass the limit one after the other.
        wallets::lock(tx, &[(self.bucket, account)]).await?;
        let count =
            query("select count(*) from tokens where account_id = $1 and revoked_at_ms is null");
        let valid: i64 = tx.fetch_one(count.bind(account.0)).await?;
        if usize::try_from(valid).is_ok_and(|valid| valid >= MAX_TOKENS) {
            return Ok(Err(Refusal::Object(ObjectRefusal::TokensUsed {
                limit: MAX_TOKENS,
            })));
        }
        self.add.apply(tx).await?;
        Ok(Ok(self.add.token.clone()))
    }

    async fn is_committed(&self, tx: &mut Tx, made: &Self::Output) -> Result<bool> {
        match made {
            Ok(_) => self.add.is_committed(tx, &()).await,
            Err(_) => Ok(true),
        }
    }
}

pub(super) struct GiveUpToken {
    account: AccountId,
    revoke: RevokeToken,
}

impl GiveUpToken {
    pub(super) fn new(account: AccountId, id: &str, by: By) -> Self {
        let id = id.to_owned();
        Self {
            account,
            revoke: RevokeToken { id, by },
        }
    }
}

impl Change for GiveUpToken {
    /// The id of the token.
    type Output = std::result::Result<String, Refusal>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        let owner = query("select account_id from tokens where token_id = $1");
        let owner: Option<i64> = tx.fetch_optional(owner.bind(&self.revoke.id)).await?;
        let is_own = owner == Some(self.account.0);
        if is_own && self.revoke.apply(tx).await? {
            Ok(Ok(self.revoke.id.clone()))
        } else {
            Ok(Err(Refusal::Object(ObjectRefusal::UnknownToken)))
        }
    }

    async fn is_committed(&self, tx: &mut Tx, made: &Self::Output) -> Result<bool> {
        match made {
            Ok(_) => self.revoke.is_committed(tx, &true).await,
            Err(_) => Ok(true),
        }
    }
}
