//! New top-ups.

use super::row::{find, insert};
use crate::wallets;
use database::{Change, Error, Result, Tx, query};
use domain::payment::{MAX_OPEN_TOP_UPS, TopUp, TopUpId, TopUpState};
use domain::{AccountId, Bucket, Environment, ObjectRefusal, Refusal};

pub(super) struct CreateTopUp {
    pub(super) bucket: Bucket,
    pub(super) account: AccountId,
    pub(super) top_up: TopUp,
}

impl CreateTopUp {
    /// Returns `true` if the account has as many unpaid top-ups as it may have. Only those count
    /// that are as young as the new one will become.
    async fn is_full(&self, tx: &mut Tx) -> Result<bool> {
        let top_up = &self.top_up;
        let lifetime_ms = top_up.expires_at_ms - top_up.created_at_ms;
        let oldest = TopUpId::new(top_up.created_at_ms - lifetime_ms, [0; 10]);
        let count = query(
            "select count(*) from top_ups
             where account_id = $1 and top_up_id > $2 and sandbox = $3 and state = $4",
        );
        let count = count
            .bind(self.account.0)
            .bind(&oldest.0.as_bytes()[..])
            .bind(top_up.environment == Environment::Sandbox)
            .bind(TopUpState::Pending.as_str());
        let open: i64 = tx.fetch_one(count).await?;
        Ok(usize::try_from(open).is_ok_and(|open| open >= MAX_OPEN_TOP_UPS))
    }
}

impl Change for CreateTopUp {
    type Output = std::result::Result<TopUp, Refusal>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        // The lock orders requests of the account, so that they pass the limit one after the other.
        wallets::lock(tx, &[(self.bucket, self.account)]).await?;
        if self.is_full(tx).await? {
            let limit = MAX_OPEN_TOP_UPS;
            return Ok(Err(ObjectRefusal::TopUpsOpen { limit }.into()));
        }
        if !insert(tx, &self.top_up).await? {
            return Err(Error::Impossible("a top-up is there already"));
        }
        Ok(Ok(self.top_up.clone()))
    }

    async fn is_committed(&self, tx: &mut Tx, _created: &Self::Output) -> Result<bool> {
        Ok(find(tx, self.top_up.id).await?.is_some())
    }
}
