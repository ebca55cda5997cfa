//! Secrets that sign callbacks. They are stored in clear text, because signing needs them, and must
//! never be logged.

use super::secret_changes::{AddSecret, CallbackSecret, RevokeSecrets, SecretRow};
use super::secret_requests::{GiveUpSecret, RequestSecret};
use crate::change_once::ChangeOnce;
use crate::idempotency::{KeyedChange, Outcome};
use crate::lists::{AccountRowKey, page_of};
use crate::operators::audit::By;
use database::{Db, Result, query};
use domain::AccountId;
use std::ops::RangeInclusive;

/// The secrets that sign callbacks.
#[derive(Clone, Copy)]
pub struct CallbackSecrets<'s> {
    pub(crate) db: &'s Db,
}

impl CallbackSecrets<'_> {
    /// Adds a secret if the account has an allowed number of others, which sign until a given time.
    /// Returns the number that it has. Outside the allowed range, nothing was changed.
    pub async fn add(
        self,
        secret: CallbackSecret,
        others: RangeInclusive<usize>,
        others_end_at_ms: i64,
        by: By,
    ) -> Result<usize> {
        self.db
            .change(AddSecret {
                secret,
                others,
                others_end_at_ms,
                by,
            })
            .await
    }

    /// Adds a secret at the request of its account, or refuses it. The others sign until a given
    /// time.
    pub async fn request(
        self,
        secret: CallbackSecret,
        others_end_at_ms: i64,
        keyed: Option<KeyedChange<CallbackSecret>>,
        by: By,
    ) -> Result<Outcome<CallbackSecret>> {
        let at = (secret.account, by.at_ms);
        let change = RequestSecret::new(secret, others_end_at_ms, by);
        let once = ChangeOnce::of_account(self.db, at, keyed, change);
        self.db.change(once).await
    }

    /// Revokes a secret at the request of its account, or refuses it. Returns the id of the secret.
    pub async fn give_up(
        self,
        account: AccountId,
        id: &str,
        keyed: Option<KeyedChange<String>>,
        by: By,
    ) -> Result<Outcome<String>> {
        let now_ms = by.at_ms;
        let change = GiveUpSecret::new(account, id, by);
        let once = ChangeOnce::of_account(self.db, (account, now_ms), keyed, change);
        self.db.change(once).await
    }

    /// Removes one secret of an account, or all. Returns the number removed.
    pub async fn revoke(self, account: AccountId, id: Option<&str>, by: By) -> Result<u64> {
        let id = id.map(str::to_owned);
        self.db.change(RevokeSecrets { account, id, by }).await
    }

    /// Returns the secrets of all accounts, oldest first, including ended ones.
    pub async fn all(self) -> Result<Vec<CallbackSecret>> {
        let rows: Vec<SecretRow> = self
            .db
            .fetch_all(query(
                "select account_id, secret, created_at_ms, ends_at_ms from callback_secrets
                 order by account_id, created_at_ms, secret_id",
            ))
            .await?;
        rows.into_iter().map(SecretRow::secret).collect()
    }

    /// Returns some secrets behind one that sign at this moment, of all accounts or of one. The
    /// newest account comes first, and for each account its newest secret.
    pub async fn list(
        self,
        now_ms: i64,
        account: Option<AccountId>,
        behind: Option<AccountRowKey>,
        limit: u32,
    ) -> Result<Vec<CallbackSecret>> {
        let (lowest, behind) = page_of(account, behind);
        let rows: Vec<SecretRow> = self
            .db
            .fetch_all(
                query(
                    "select account_id, secret, created_at_ms, ends_at_ms from callback_secrets
                 where account_id >= $1 and (account_id, created_at_ms, secret_id) < ($2, $3, $4)
                     and (ends_at_ms is null or ends_at_ms > $5)
                 order by account_id desc, created_at_ms desc, secret_id desc limit $6",
                )
                .bind(lowest.0)
                .bind(behind.0)
                .bind(behind.1)
                .bind(&behind.2)
                .bind(now_ms)
                .bind(i64::from(limit)),
            )
            .await?;
        rows.into_iter().map(SecretRow::secret).collect()
    }
}
