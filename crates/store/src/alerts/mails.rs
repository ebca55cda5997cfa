//! The mails of alerts.

use super::row::AlertRow;
use database::{Change, Result, Tx, locking, query};
use domain::Money;
use domain::alert::Alert;

/// A mail that is due.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DueMail {
    /// The alert.
    pub alert: Alert,
    /// The current balance, which the mail names.
    pub balance: Money,
}

pub(super) struct TakeMails {
    /// The number of buckets.
    pub(super) buckets: i64,
    pub(super) now_ms: i64,
    pub(super) next_ms: i64,
    pub(super) limit: u32,
}

impl Change for TakeMails {
    type Output = Vec<DueMail>;

    /// A mail that failed before names the current balance. It is dropped if the balance is not below
    /// the threshold any more.
    async fn apply(&self, tx: &mut Tx) -> Result<Vec<DueMail>> {
        let due = locking!(
            "select a.alert_id, a.account_id, a.threshold, a.url, a.email, a.below,
                 a.created_at_ms, a.told_at_ms,
                 (select w.promo_bonus + w.volume_bonus + w.sms_bonus + w.sms_wallet
                      + w.main_balance + w.universal_wallet
                  from wallets w
                  where w.bucket = a.account_id % $3 and w.account_id = a.account_id)
                     as told_balance
             from alerts a where a.mail_due_ms <= $1
             order by a.mail_due_ms, a.alert_id limit $2";
            "for update skip locked"
        );
        let due = query(due).bind(self.now_ms).bind(i64::from(self.limit));
        let rows: Vec<AlertRow> = tx.fetch_all(due.bind(self.buckets)).await?;
        let mut mails = Vec::new();
        for row in rows {
            let balance = row.balance();
            let alert = Alert::from(row);
            let is_below = balance < alert.threshold;
            let next =
                query("update alerts set mail_due_ms = $2, told_balance = $3 where alert_id = $1");
            let next = next
                .bind(&alert.id)
                .bind(is_below.then_some(self.next_ms))
                .bind(balance.units());
            tx.execute(next).await?;
            if is_below {
                mails.push(DueMail { alert, balance });
            }
        }
        Ok(mails)
    }
}

pub(super) struct FinishMail {
    pub(super) id: String,
    pub(super) told_at_ms: i64,
}

impl Change for FinishMail {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let finish =
            query("update alerts set mail_due_ms = null where alert_id = $1 and told_at_ms = $2");
        tx.execute(finish.bind(&self.id).bind(self.told_at_ms))
            .await?;
        Ok(())
    }
}
