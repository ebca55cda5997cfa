//! Tokens as they are stored, and their changes: add and revoke.

use crate::accounts::revision::touch;
use crate::lists::{AccountRowKey, ListRow};
use crate::operators::audit::{self, By, Entry};
use crate::rows::named;
use database::{Change, Result, Tx, bulk, query, value};
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

pub(super) struct TokenRow {
    token_id: String,
    account_id: i64,
    name: String,
    created_at_ms: i64,
    revoked_at_ms: Option<i64>,
    expires_at_ms: Option<i64>,
    allowed: String,
    scopes: String,
    per_minute: Option<i64>,
}

database::from_row!(TokenRow {
    token_id,
    account_id,
    name,
    created_at_ms,
    revoked_at_ms,
    expires_at_ms,
    allowed,
    scopes,
    per_minute
});

impl TokenRow {
    pub(super) fn token(self) -> Result<TokenInfo> {
        Ok(TokenInfo {
            id: self.token_id,
            account: AccountId(self.account_id),
            name: self.name,
            terms: terms(
                self.expires_at_ms,
                &self.allowed,
                &self.scopes,
                self.per_minute,
            )?,
            created_at_ms: self.created_at_ms,
            revoked_at_ms: self.revoked_at_ms,
        })
    }
}

/// Returns the limits of a token from its columns.
pub(super) fn terms(
    expires_at_ms: Option<i64>,
    allowed: &str,
    scopes: &str,
    per_minute: Option<i64>,
) -> Result<TokenTerms> {
    Ok(TokenTerms {
        expires_at_ms,
        allowed: named(|text| text.parse().ok(), allowed)?,
        scopes: named(|text| text.parse().ok(), scopes)?,
        per_minute: per_minute.and_then(|limit| u32::try_from(limit).ok()),
    })
}

/// The last uses of tokens.
pub(super) struct NoteUses {
    /// The id of each token, and the time in Unix milliseconds. They are in order, so that two nodes
    /// do not wait for each other.
    pub(super) uses: Vec<(String, i64)>,
}

impl Change for NoteUses {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let update = bulk(
            "update tokens set used_at_ms = $2
             where token_id = $1 and coalesce(used_at_ms, 0) < $2",
            "update tokens t set used_at_ms = v.used_at_ms
             from unnest($1::text[], $2::bigint[]) as v (token_id, used_at_ms)
             where t.token_id = v.token_id and coalesce(t.used_at_ms, 0) < v.used_at_ms",
        );
        let update = update.rows(&self.uses, |(id, at_ms)| [value(id), value(*at_ms)]);
        tx.execute_each(update).await?;
        Ok(())
    }

    // A change that is made twice has the same result.
}

pub(super) struct AddToken {
    pub(super) token: TokenInfo,
    pub(super) hash: TokenHash,
    pub(super) by: By,
}

impl Change for AddToken {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        tx.execute(
            query(
                "insert into tokens
             (token_id, account_id, name, hash, created_at_ms, expires_at_ms, allowed, scopes,
                 per_minute)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            )
            .bind(&self.token.id)
            .bind(self.token.account.0)
            .bind(&self.token.name)
            .bind(&self.hash[..])
            .bind(self.token.created_at_ms)
            .bind(self.token.terms.expires_at_ms)
            .bind(self.token.terms.allowed.to_string())
            .bind(self.token.terms.scopes.to_string())
            .bind(self.token.terms.per_minute.map(i64::from)),
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
        "scopes": token.terms.scopes.to_string(),
        "per_minute": token.terms.per_minute,
    })
}

const REVOKE: &str = "token.revoke";

pub(super) struct RevokeToken {
    pub(super) id: String,
    pub(super) by: By,
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
                 expires_at_ms, allowed, scopes, per_minute",
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
