//! The changes of secrets that sign callbacks, and their rows.

use crate::accounts::revision::touch;
use crate::lists::{AccountRowKey, ListRow};
use crate::operators::audit::{self, By, Entry};
use database::{Change, Error, Result, Tx, query};
use domain::AccountId;
use domain::callback::signature::{Secret, Signing};
use serde_json::{Value, json};
use std::ops::RangeInclusive;

/// A secret of an account.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CallbackSecret {
    /// The account.
    pub account: AccountId,
    /// Time of creation, Unix milliseconds.
    pub created_at_ms: i64,
    /// The secret, and the end of its use.
    pub signing: Signing,
}

impl ListRow for CallbackSecret {
    type Key = AccountRowKey;

    fn key(&self) -> AccountRowKey {
        let id = self.signing.secret.id();
        (self.account.0, self.created_at_ms, id)
    }
}

pub(super) struct SecretRow {
    account_id: i64,
    secret: String,
    created_at_ms: i64,
    ends_at_ms: Option<i64>,
}

database::from_row!(SecretRow {
    account_id,
    secret,
    created_at_ms,
    ends_at_ms
});

impl SecretRow {
    pub(super) fn secret(self) -> Result<CallbackSecret> {
        // The error is logged, so it does not contain the value.
        let secret = Secret::read(&self.secret);
        let secret = secret.ok_or_else(|| Error::Unreadable("a secret of callbacks".to_owned()))?;
        Ok(CallbackSecret {
            account: AccountId(self.account_id),
            created_at_ms: self.created_at_ms,
            signing: Signing {
                secret,
                ends_at_ms: self.ends_at_ms,
            },
        })
    }
}

pub(super) struct AddSecret {
    pub(super) secret: CallbackSecret,
    pub(super) others: RangeInclusive<usize>,
    pub(super) others_end_at_ms: i64,
    pub(super) by: By,
}

impl Change for AddSecret {
    /// The number of secrets that the account had.
    type Output = usize;

    async fn apply(&self, tx: &mut Tx) -> Result<usize> {
        let (account, now_ms) = (self.secret.account.0, self.secret.created_at_ms);
        // The row is locked before secrets are counted, so that a concurrent addition waits.
        touch(tx).await?;
        tx.execute(
            query("delete from callback_secrets where account_id = $1 and ends_at_ms <= $2")
                .bind(account)
                .bind(now_ms),
        )
        .await?;
        let had: i64 = tx
            .fetch_one(
                query("select count(*) from callback_secrets where account_id = $1").bind(account),
            )
            .await?;
        let had = usize::try_from(had).unwrap_or(usize::MAX);
        if !self.others.contains(&had) {
            return Ok(had);
        }
        tx.execute(
            query(
                "update callback_secrets set ends_at_ms = $2 where account_id = $1
             and ends_at_ms is null",
            )
            .bind(account)
            .bind(self.others_end_at_ms),
        )
        .await?;
        let secret = &self.secret.signing.secret;
        tx.execute(
            query(
                "insert into callback_secrets (account_id, secret_id, secret, created_at_ms)
             values ($1, $2, $3, $4)",
            )
            .bind(account)
            .bind(secret.id())
            .bind(secret.text())
            .bind(now_ms),
        )
        .await?;
        let (verb, before) = match had {
            0 => ("callback.secret.create", Value::Null),
            _ => (
                "callback.secret.rotate",
                json!({ "others": had, "others_end_at_ms": self.others_end_at_ms }),
            ),
        };
        let entry = Entry {
            by: &self.by,
            verb,
            account: Some(self.secret.account),
            object: &secret.id(),
            before,
            after: json!({ "ends_at_ms": null }),
        };
        audit::enter(tx, entry).await?;
        Ok(had)
    }

    async fn is_committed(&self, tx: &mut Tx, _: &usize) -> Result<bool> {
        let found: Option<i64> = tx
            .fetch_optional(
                query(
                    "select created_at_ms from callback_secrets where account_id = $1
             and secret_id = $2",
                )
                .bind(self.secret.account.0)
                .bind(self.secret.signing.secret.id()),
            )
            .await?;
        Ok(found.is_some())
    }
}

const REVOKE: &str = "callback.secret.revoke";

pub(super) struct RevokeSecrets {
    pub(super) account: AccountId,
    pub(super) id: Option<String>,
    pub(super) by: By,
}

impl Change for RevokeSecrets {
    type Output = u64;

    async fn apply(&self, tx: &mut Tx) -> Result<u64> {
        let gone = tx
            .execute(
                query(
                    "delete from callback_secrets where account_id = $1 and (secret_id = $2
             or $2 = '')",
                )
                .bind(self.account.0)
                .bind(self.id.as_deref().unwrap_or_default()),
            )
            .await?;
        if gone == 0 {
            return Ok(0);
        }
        touch(tx).await?;
        let entry = Entry {
            by: &self.by,
            verb: REVOKE,
            account: Some(self.account),
            object: self.id.as_deref().unwrap_or_default(),
            before: json!({ "secrets": gone }),
            after: Value::Null,
        };
        audit::enter(tx, entry).await?;
        Ok(gone)
    }

    async fn is_committed(&self, tx: &mut Tx, gone: &u64) -> Result<bool> {
        let id = self.id.as_deref().unwrap_or_default();
        Ok(*gone == 0 || audit::is_kept(tx, &self.by, REVOKE, id).await?)
    }
}
