//! One-time passwords: their messages, and the attempts at their codes. No row has a code.

mod change;
mod messages;
mod row;

pub(crate) use messages::{OtpChecks, keep};
pub use row::Otp;

use crate::buckets::Buckets;
use crate::idempotency::{KeyedChange, Outcome};
use change::{Attempt, Cancel, ChangeOtp, Step};
pub use change::{OtpChange, OtpMoment};
use database::{Change, Db, Result, Tx, query};
use domain::otp::{Code, GivenCode, OtpId, Verified};
use domain::{AccountId, Bucket, Environment};
use row::OtpRow;

/// Time for which a one-time password stays after it was made.
const KEPT_FOR_MS: i64 = 86_400_000;

/// Removes the oldest one-time passwords of a bucket, and returns their number.
pub(crate) async fn remove_old(tx: &mut Tx, bucket: Bucket, now_ms: i64, most: i64) -> Result<u64> {
    let before_ms = now_ms - KEPT_FOR_MS;
    let remove = query(
        "delete from otps where bucket = $1 and created_at_ms < $2 and created_at_ms <= coalesce(
             (select created_at_ms from otps where bucket = $1 and created_at_ms < $2
              order by created_at_ms limit 1 offset $3), $2)",
    );
    tx.execute(remove.bind(bucket.0).bind(before_ms).bind(most - 1))
        .await
}

/// The one-time passwords of accounts.
#[derive(Clone, Copy)]
pub struct Otps<'s> {
    pub(crate) db: &'s Db,
}

impl Otps<'_> {
    /// Returns a one-time password.
    pub async fn get(
        self,
        account: AccountId,
        environment: Environment,
        id: OtpId,
    ) -> Result<Option<Otp>> {
        let owner = (Buckets::of(self.db).account(account), account);
        let find = query(
            "select otp_id, recipient, message_id, kind, length, expires_at_ms, max_attempts,
                 wrong_attempts, verified, cancelled, sent_times, sender, body, callback_url,
                 customer_reference
             from otps where bucket = $1 and otp_id = $2 and account_id = $3 and sandbox = $4",
        );
        let find = find
            .bind(owner.0.0)
            .bind(&id.0.as_bytes()[..])
            .bind(account.0)
            .bind(environment == Environment::Sandbox);
        let row: Option<OtpRow> = self.db.fetch_optional(find).await?;
        row.map(OtpRow::read).transpose()
    }

    /// Judges a typed code in one transaction. The second of two concurrent attempts is judged by
    /// the result of the first. Returns `None` if the account has no such one-time password.
    pub async fn verify(
        self,
        account: AccountId,
        environment: Environment,
        id: OtpId,
        (expected, given): (Code, GivenCode),
        moment: OtpMoment,
        keyed: Option<KeyedChange<OtpChange<Verified>>>,
    ) -> Result<Option<Outcome<OtpChange<Verified>>>> {
        let attempt = Attempt(expected, given);
        self.change((account, environment, id), attempt, moment, keyed)
            .await
    }

    /// Cancels a one-time password.
    pub async fn cancel(
        self,
        account: AccountId,
        environment: Environment,
        id: OtpId,
        moment: OtpMoment,
        keyed: Option<KeyedChange<OtpChange<()>>>,
    ) -> Result<Option<Outcome<OtpChange<()>>>> {
        self.change((account, environment, id), Cancel, moment, keyed)
            .await
    }

    async fn change<S: Step>(
        self,
        (account, environment, id): (AccountId, Environment, OtpId),
        step: S,
        moment: OtpMoment,
        keyed: Option<KeyedChange<OtpChange<S::Result>>>,
    ) -> Result<Option<Outcome<OtpChange<S::Result>>>> {
        let change = ChangeOtp {
            buckets: Buckets::of(self.db),
            account,
            environment,
            id,
            moment,
            step,
            keyed,
        };
        self.db.change(change).await
    }

    /// Returns the key from which codes are derived. The first node that needs it stores `fresh`.
    pub async fn server_key(self, fresh: [u8; 32]) -> Result<Vec<u8>> {
        self.db.change(MakeKey { fresh }).await
    }
}

/// The name of the key from which codes are derived.
const CODES: &str = "otp";

struct MakeKey {
    fresh: [u8; 32],
}

impl Change for MakeKey {
    type Output = Vec<u8>;

    async fn apply(&self, tx: &mut Tx) -> Result<Vec<u8>> {
        let insert = query(
            "insert into server_keys (name, key) values ($1, $2) on conflict (name) do nothing",
        );
        tx.execute(insert.bind(CODES).bind(&self.fresh[..])).await?;
        let (key,): (Vec<u8>,) = tx
            .fetch_one(query("select key from server_keys where name = $1").bind(CODES))
            .await?;
        Ok(key)
    }
}
