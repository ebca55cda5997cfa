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
    /// The balance that it tells.
    pub balance: Money,
}

pub(super) struct TakeMails {
    pub(super) now_ms: i64,
    pub(super) next_ms: i64,
    pub(super) limit: u32,
}

impl Change for TakeMails {
    type Output = Vec<DueMail>;

    async fn apply(&self, tx: &mut Tx) -> Result<Vec<DueMail>> {
        let due = locking!(
            "select * from alerts where mail_due_ms <= $1 order by mail_due_ms, alert_id limit $2";
            "for update skip locked"
        );
        let due = query(due).bind(self.now_ms).bind(i64::from(self.limit));
        let rows: Vec<AlertRow> = tx.fetch_all(due).await?;
        let mut mails = Vec::new();
        for row in rows {
            let balance = row.balance();
            let alert = Alert::from(row);
            let next = query("update alerts set mail_due_ms = $2 where alert_id = $1");
            tx.execute(next.bind(&alert.id).bind(self.next_ms)).await?;
            mails.push(DueMail { alert, balance });
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
