//! The payment of a top-up.

use super::pay::credit;
use super::row::{find, insert, lock, write};
use crate::buckets::Buckets;
use crate::wallets;
use database::{Change, Error, Result, Tx, query};
use domain::AccountId;
use domain::payment::{Mismatch, Payment, TopUp, TopUpId, TopUpState, Verdict, judge};

/// A top-up after a payment was applied to it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Settled {
    /// The top-up.
    pub top_up: TopUp,
    /// The effect of the payment.
    pub verdict: Verdict,
}

pub(super) struct SettlePayment {
    pub(super) buckets: Buckets,
    pub(super) id: TopUpId,
    pub(super) payment: Payment,
    pub(super) now_ms: i64,
}

impl Change for SettlePayment {
    type Output = Settled;

    async fn apply(&self, tx: &mut Tx) -> Result<Settled> {
        let Some(mut top_up) = lock(tx, self.id).await? else {
            return Err(Error::Impossible("a top-up is missing"));
        };
        let (before, now_ms) = (top_up.state, self.now_ms);
        let (mut verdict, account) = match top_up.account {
            Some(account) => (judge(&top_up, &self.payment), account),
            None => (Verdict::Nothing, AccountId(0)),
        };
        if verdict == Verdict::Nothing {
            return Ok(Settled { top_up, verdict });
        }
        let received = self.payment.received.clone();
        top_up.received = Some(received).filter(|_| verdict != Verdict::Fail);
        match verdict {
            Verdict::Nothing => {}
            Verdict::Fail => top_up.state = TopUpState::Failed,
            Verdict::Mismatch(reason) => top_up.mismatch(reason),
            Verdict::Credit => {
                wallets::lock(tx, &[(self.buckets.account(account), account)]).await?;
                if credit(tx, self.buckets, account, &mut top_up, now_ms).await? {
                    top_up.pay(now_ms);
                } else {
                    verdict = Verdict::Mismatch(Mismatch::Credited);
                    top_up.mismatch(Mismatch::Credited);
                }
            }
        }
        write(tx, before, &top_up).await?;
        Ok(Settled { top_up, verdict })
    }

    async fn is_committed(&self, tx: &mut Tx, settled: &Settled) -> Result<bool> {
        let found = find(tx, self.id).await?;
        Ok(found.is_some_and(|top_up| top_up.state == settled.top_up.state))
    }
}

pub(super) struct KeepUnknown {
    pub(super) top_up: TopUp,
}

impl Change for KeepUnknown {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        insert(tx, &self.top_up).await
    }

    async fn is_committed(&self, tx: &mut Tx, is_new: &bool) -> Result<bool> {
        if !is_new {
            return Ok(true);
        }
        let find = query("select state from top_ups where provider = $1 and reference = $2");
        let find = find
            .bind(&self.top_up.provider)
            .bind(&self.top_up.reference);
        let found: Option<String> = tx.fetch_optional(find).await?;
        Ok(found.is_some())
    }
}
