//! API tokens. The database stores only their hashes.

use crate::accounts::revision::touch;
use crate::lists::{AccountRowKey, ListRow, page_of};
use crate::operators::audit::{self, By, Entry};
use crate::rows::named;
use database::{Change, Db, Result, Tx, query};
use domain::AccountId;
use domain::redact;
use domain::token::{TokenHash, TokenTerms};
use serde_json::{Value, json};

/// A token, without the secret that would let a reader use it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TokenInfo {
    /// The id, for listing and revoking.
    pub id: String,
    /// The account.
    pub account: AccountId,
    /// The purpose, in the customer's words.
    pub name: String,
    /// The end of its validity, and the allowed addresses.
    pub terms: TokenTerms,
    /// Time of creation, Unix milliseconds.
    pub created_at_ms: i64,
    /// Time of revocation.
    pub revoked_at_ms: Option<i64>,
}

impl ListRow for TokenInfo {
    type Key = AccountRowKey;

    fn key(&self) -> AccountRowKey {
        (self.account.0, self.created_at_ms, self.id.clone())
    }
}

struct TokenRow {
    token_id: String,
    account_id: i64,
    name: String,
    created_at_ms: i64,
    revoked_at_ms: Option<i64>,
    expires_at_ms: Option<i64>,
    allowed: String,
}

database::from_row!(TokenRow {
    token_id,
    account_id,
    name,
    created_at_ms,
    revoked_at_ms,
    expires_at_ms,
    allowed
});

impl TokenRow {
    fn token(self) -> Result<TokenInfo> {
        Ok(TokenInfo {
            id: self.token_id,
            account: AccountId(self.account_id),
            name: self.name,
            terms: terms(self.expires_at_ms, &self.allowed)?,
            created_at_ms: self.created_at_ms,
            revoked_at_ms: self.revoked_at_ms,
        })
    }
}

fn terms(expires_at_ms: Option<i64>, allowed: &str) -> Result<TokenTerms> {
    Ok(TokenTerms {
        expires_at_ms,
        allowed: named(|text| text.parse().ok(), allowed)?,
    })
}

struct AddToken {
    token: TokenInfo,
    hash: TokenHash,
    by: By,
}

impl Change for AddToken {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        tx.execute(
            query(
                "insert into tokens
             (token_id, account_id, name, hash, created_at_ms, expires_at_ms, allowed)
             values ($1, $2, $3, $4, $5, $6, $7)",
            )
            .bind(&self.token.id)
            .bind(self.token.account.0)
            .bind(&self.token.name)
            .bind(&self.hash[..])
            .bind(self.token.created_at_ms)
            .bind(self.token.terms.expires_at_ms)
            .bind(self.token.terms.allowed.to_string()),
        )
        .await?;
        touch(tx).await?;
        let entry = Entry {
            by: &self.by,
            verb: "token.create",
            account: Some(self.token.account),
            object: &self.token.id,
            before: Value::Null,
            after: audited(&self.token),
        };
        audit::enter(tx, entry).await
    }

    async fn is_committed(&self, tx: &mut Tx, (): &()) -> Result<bool> {
        let found: Option<i64> = tx
            .fetch_optional(
                query("select account_id from tokens where token_id = $1").bind(&self.token.id),
            )
            .await?;
        Ok(found.is_some())
    }
}

/// Returns a token as the audit records it.
fn audited(token: &TokenInfo) -> Value {
    json!({
        "name": redact(&token.name),
        "expires_at_ms": token.terms.expires_at_ms,
        "allowed": token.terms.allowed.to_string(),
    })
}

const REVOKE: &str = "token.revoke";

struct RevokeToken {
    id: String,
    by: By,
}

impl Change for RevokeToken {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let revoked: Option<TokenRow> = tx
            .fetch_optional(
                query(
                    "update tokens set revoked_at_ms = $2 where token_id = $1
             and revoked_at_ms is null
             returning token_id, account_id, name, created_at_ms, revoked_at_ms,
                 expires_at_ms, allowed",
                )
                .bind(&self.id)
                .bind(self.by.at_ms),
            )
            .await?;
        let Some(revoked) = revoked else {
            return Ok(false);
        };
        let revoked = revoked.token()?;
        touch(tx).await?;
        let entry = Entry {
            by: &self.by,
            verb: REVOKE,
            account: Some(revoked.account),
            object: &self.id,
            before: audited(&revoked),
            after: Value::Null,
        };
        audit::enter(tx, entry).await?;
        Ok(true)
    }

    async fn is_committed(&self, tx: &mut Tx, revoked: &bool) -> Result<bool> {
        Ok(!revoked || audit::is_kept(tx, &self.by, REVOKE, &self.id).await?)
    }
}

/// The tokens of accounts.
#[derive(Clone, Copy)]
pub struct Tokens<'s> {
    pub(crate) db: &'s Db,
}

impl Tokens<'_> {
    /// Adds a token by its hash.
    pub async fn add(self, token: TokenInfo, hash: TokenHash, by: By) -> Result<()> {
        self.db.change(AddToken { token, hash, by }).await
    }

    /// Revokes a token. It returns `false` if no valid token has this id.
    pub async fn revoke(self, id: &str, by: By) -> Result<bool> {
        let id = id.to_owned();
        self.db.change(RevokeToken { id, by }).await
    }

    /// Returns the account of a token with this id.
    pub async fn owner(self, id: &str) -> Result<Option<AccountId>> {
        let found: Option<i64> = self
            .db
            .fetch_optional(query("select account_id from tokens where token_id = $1").bind(id))
            .await?;
        Ok(found.map(AccountId))
    }

    /// Returns the account of a token that is not revoked, the id of the token, and its terms.
    pub async fn account_of(
        self,
        hash: &TokenHash,
    ) -> Result<Option<(AccountId, String, TokenTerms)>> {
        let found: Option<(i64, String, Option<i64>, String)> = self
            .db
            .fetch_optional(
                query(
                    "select account_id, token_id, expires_at_ms, allowed from tokens
                 where hash = $1 and revoked_at_ms is null",
                )
                .bind(&hash[..]),
            )
            .await?;
        found
            .map(|(account, id, expires_at_ms, allowed)| {
                Ok((AccountId(account), id, terms(expires_at_ms, &allowed)?))
            })
            .transpose()
    }

    /// Returns some tokens behind one, of all accounts or of one. The newest account comes first,
    /// and for each account its newest token.
    pub async fn list(
        self,
        account: Option<AccountId>,
        behind: Option<AccountRowKey>,
        limit: u32,
    ) -> Result<Vec<TokenInfo>> {
        let (lowest, behind) = page_of(account, behind);
        let rows: Vec<TokenRow> = self
            .db
            .fetch_all(
                query(
                    "select token_id, account_id, name, created_at_ms, revoked_at_ms,
                 expires_at_ms, allowed
                 from tokens
                 where account_id >= $1 and (account_id, created_at_ms, token_id) < ($2, $3, $4)
                 order by account_id desc, created_at_ms desc, token_id desc limit $5",
                )
                .bind(lowest.0)
                .bind(behind.0)
                .bind(behind.1)
                .bind(&behind.2)
                .bind(i64::from(limit)),
            )
            .await?;
        rows.into_iter().map(TokenRow::token).collect()
    }
}
