//! API tokens. Only their hashes are kept.

use crate::Store;
use crate::accounts::touch;
use crate::db::{Change, Tx};
use crate::error::Result;
use crate::sql::{on, read};
use domain::AccountId;
use domain::token::TokenHash;

/// A token, without what would let anyone use it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TokenInfo {
    /// Its id, for listing and revoking.
    pub id: String,
    /// Whose it is.
    pub account: AccountId,
    /// What it is for, in the customer's words.
    pub name: String,
    /// When it was made, Unix milliseconds.
    pub created_at_ms: i64,
    /// When it was revoked.
    pub revoked_at_ms: Option<i64>,
}

type TokenRow = (String, i64, String, i64, Option<i64>);

fn token_info((id, account, name, created_at_ms, revoked_at_ms): TokenRow) -> TokenInfo {
    TokenInfo {
        id,
        account: AccountId(account),
        name,
        created_at_ms,
        revoked_at_ms,
    }
}

struct AddToken {
    token: TokenInfo,
    hash: TokenHash,
}

impl Change for AddToken {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        on!(tx, |connection| sqlx::query(
            "insert into tokens (token_id, account_id, name, hash, created_at_ms)
             values ($1, $2, $3, $4, $5)",
        )
        .bind(&self.token.id)
        .bind(self.token.account.0)
        .bind(&self.token.name)
        .bind(&self.hash[..])
        .bind(self.token.created_at_ms)
        .execute(connection)
        .await
        .map(drop))?;
        touch(tx).await
    }

    async fn stands(&self, tx: &mut Tx, (): &()) -> Result<bool> {
        let found: Option<i64> = on!(tx, |connection| sqlx::query_scalar(
            "select account_id from tokens where token_id = $1"
        )
        .bind(&self.token.id)
        .fetch_optional(connection)
        .await?);
        Ok(found.is_some())
    }
}

struct RevokeToken {
    id: String,
    now_ms: i64,
}

impl Change for RevokeToken {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let changed = on!(tx, |connection| {
            sqlx::query(
            "update tokens set revoked_at_ms = $2 where token_id = $1 and revoked_at_ms is null",
        )
        .bind(&self.id)
        .bind(self.now_ms)
        .execute(connection)
        .await?
        .rows_affected()
        });
        touch(tx).await?;
        Ok(changed == 1)
    }
}

impl Store {
    /// Keeps a new token by its hash.
    pub async fn add_token(&self, token: TokenInfo, hash: TokenHash) -> Result<()> {
        self.db.change(AddToken { token, hash }).await
    }

    /// Revokes a token; `false` when there is none of that id that was still good.
    pub async fn revoke_token(&self, id: &str, now_ms: i64) -> Result<bool> {
        self.db
            .change(RevokeToken {
                id: id.to_owned(),
                now_ms,
            })
            .await
    }

    /// The account that a good token belongs to.
    pub async fn token_account(&self, hash: &TokenHash) -> Result<Option<AccountId>> {
        let found: Option<i64> = read!(self.db, |connection| {
            sqlx::query_scalar(
                "select account_id from tokens where hash = $1 and revoked_at_ms is null",
            )
            .bind(&hash[..])
            .fetch_optional(connection)
            .await?
        });
        Ok(found.map(AccountId))
    }

    /// All tokens, or those of one account, oldest first.
    pub async fn tokens(&self, account: Option<AccountId>) -> Result<Vec<TokenInfo>> {
        let rows: Vec<TokenRow> = read!(self.db, |connection| {
            sqlx::query_as(
                "select token_id, account_id, name, created_at_ms, revoked_at_ms from tokens
                 where account_id = $1 or $1 = -1 order by created_at_ms, token_id",
            )
            .bind(account.map_or(-1, |account| account.0))
            .fetch_all(connection)
            .await?
        });
        Ok(rows.into_iter().map(token_info).collect())
    }
}
