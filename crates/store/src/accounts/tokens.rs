//! API tokens. The database stores only their hashes.

use super::token_changes::{AddToken, NoteUses, RevokeToken, TokenInfo, TokenRow, terms};
use super::token_requests::{GiveUpToken, RequestToken};
use crate::buckets::Buckets;
use crate::change_once::ChangeOnce;
use crate::idempotency::{KeyedChange, Outcome};
use crate::lists::{AccountRowKey, page_of};
use crate::operators::audit::By;
use database::{Db, Result, query};
use domain::AccountId;
use domain::token::{TokenHash, TokenTerms};
use std::collections::HashMap;

/// Maximum number of uses in one commit.
const MAX_USES: usize = 500;

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

    /// Adds a token at the request of its account.
    pub async fn request(
        self,
        token: TokenInfo,
        hash: TokenHash,
        keyed: Option<KeyedChange<TokenInfo>>,
        by: By,
    ) -> Result<Outcome<TokenInfo>> {
        let (account, now_ms) = (token.account, by.at_ms);
        let change = RequestToken {
            bucket: Buckets::of(self.db).account(account),
            add: AddToken { token, hash, by },
        };
        let once = ChangeOnce::of_account(self.db, (account, now_ms), keyed, change);
        self.db.change(once).await
    }

    /// Revokes a token at the request of its account. Returns its id.
    pub async fn give_up(
        self,
        account: AccountId,
        id: &str,
        keyed: Option<KeyedChange<String>>,
        by: By,
    ) -> Result<Outcome<String>> {
        let now_ms = by.at_ms;
        let change = GiveUpToken::new(account, id, by);
        let once = ChangeOnce::of_account(self.db, (account, now_ms), keyed, change);
        self.db.change(once).await
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
        type Found = (i64, String, Option<i64>, String, String, Option<i64>);
        let found: Option<Found> = self
            .db
            .fetch_optional(
                query(
                    "select account_id, token_id, expires_at_ms, allowed, scopes, per_minute
                 from tokens
                 where hash = $1 and revoked_at_ms is null",
                )
                .bind(&hash[..]),
            )
            .await?;
        found
            .map(
                |(account, id, expires_at_ms, allowed, scopes, per_minute)| {
                    let terms = terms(expires_at_ms, &allowed, &scopes, per_minute)?;
                    Ok((AccountId(account), id, terms))
                },
            )
            .transpose()
    }

    /// Stores the last uses of tokens, by their ids. An older use changes nothing.
    pub async fn note_uses(self, mut uses: Vec<(String, i64)>) -> Result<()> {
        uses.sort_unstable();
        for uses in uses.chunks(MAX_USES) {
            let uses = uses.to_vec();
            self.db.change(NoteUses { uses }).await?;
        }
        Ok(())
    }

    /// Returns the last uses of the tokens of an account, by their ids.
    pub async fn uses(self, account: AccountId) -> Result<HashMap<String, i64>> {
        let rows: Vec<(String, i64)> = self
            .db
            .fetch_all(
                query(
                    "select token_id, used_at_ms from tokens
                     where account_id = $1 and used_at_ms is not null",
                )
                .bind(account.0),
            )
            .await?;
        Ok(rows.into_iter().collect())
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
                 expires_at_ms, allowed, scopes, per_minute
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
