//! The changes of alerts.

use super::row::{AlertRow, Crossed};
use crate::outbox::{self, Callback};
use crate::wallets;
use database::{Change, Result, Tx, query};
use domain::alert::{Alert, AlertTarget, MAX_ALERTS};
use domain::{AccountId, Bucket, MessageId, ObjectRefusal, Refusal};

pub(super) struct AddAlert {
    pub(super) bucket: Bucket,
    pub(super) alert: Alert,
}

async fn find(tx: &mut Tx, id: &str) -> Result<Option<Alert>> {
    let find = query("select * from alerts where alert_id = $1").bind(id);
    let row: Option<AlertRow> = tx.fetch_optional(find).await?;
    Ok(row.map(Alert::from))
}

impl Change for AddAlert {
    type Output = std::result::Result<Alert, Refusal>;

    /// A balance that is below the threshold already is told once it has been above.
    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        let alert = &self.alert;
        // The lock orders requests of the account, so that they pass the limit one after the other.
        wallets::lock(tx, &[(self.bucket, alert.account)]).await?;
        let count = query("select count(*) from alerts where account_id = $1");
        let count: i64 = tx.fetch_one(count.bind(alert.account.0)).await?;
        if usize::try_from(count).is_ok_and(|count| count >= MAX_ALERTS) {
            let limit = MAX_ALERTS;
            return Ok(Err(ObjectRefusal::AlertsUsed { limit }.into()));
        }
        let (url, email) = match &alert.target {
            AlertTarget::Url(url) => (Some(url), None),
            AlertTarget::Email(email) => (None, Some(email)),
        };
        let add = query(
            "insert into alerts (alert_id, account_id, threshold, url, email, below, created_at_ms)
             select $1, account_id, $4, $5, $6,
                 promo_bonus + volume_bonus + sms_bonus + sms_wallet + main_balance
                     + universal_wallet < $4, $7
             from wallets where bucket = $2 and account_id = $3",
        );
        let add = add
            .bind(&alert.id)
            .bind(self.bucket.0)
            .bind(alert.account.0)
            .bind(alert.threshold.units())
            .bind(url.cloned())
            .bind(email.cloned())
            .bind(alert.created_at_ms);
        tx.execute(add).await?;
        let added = find(tx, &alert.id).await?;
        Ok(added.ok_or_else(|| ObjectRefusal::UnknownAlert.into()))
    }

    async fn is_committed(&self, tx: &mut Tx, _added: &Self::Output) -> Result<bool> {
        Ok(find(tx, &self.alert.id).await?.is_some())
    }
}

pub(super) struct RemoveAlert {
    pub(super) account: AccountId,
    pub(super) id: String,
}

impl Change for RemoveAlert {
    /// The id of the alert.
    type Output = std::result::Result<String, Refusal>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        let remove = query("delete from alerts where alert_id = $1 and account_id = $2");
        let removed = tx
            .execute(remove.bind(&self.id).bind(self.account.0))
            .await?;
        Ok(if removed == 0 {
            Err(ObjectRefusal::UnknownAlert.into())
        } else {
            Ok(self.id.clone())
        })
    }

    async fn is_committed(&self, tx: &mut Tx, _removed: &Self::Output) -> Result<bool> {
        Ok(find(tx, &self.id).await?.is_none())
    }
}

pub(super) struct TellAlert {
    pub(super) bucket: Bucket,
    pub(super) crossed: Crossed,
    pub(super) now_ms: i64,
    pub(super) random: [u8; 10],
}

impl Change for TellAlert {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let Crossed { alert, balance } = &self.crossed;
        if alert.is_below {
            let rise = query("update alerts set below = false where alert_id = $1 and below");
            return Ok(tx.execute(rise.bind(&alert.id)).await? == 1);
        }
        let fall = query(
            "update alerts set below = true, told_at_ms = $2, told_balance = $3, mail_due_ms = $4
             where alert_id = $1 and not below",
        );
        let mail = matches!(alert.target, AlertTarget::Email(_)).then_some(self.now_ms);
        let fall = fall.bind(&alert.id).bind(self.now_ms);
        let fall = fall.bind(balance.units()).bind(mail);
        if tx.execute(fall).await? == 0 {
            return Ok(false);
        }
        if let AlertTarget::Url(url) = &alert.target {
            let id = MessageId::new(self.now_ms, self.random);
            let body = alert.callback_body(*balance, self.now_ms);
            let of = (self.bucket, alert.account);
            let callback = Callback::of_alert(of, id, (url, body), self.now_ms);
            outbox::insert(tx, &[callback], None).await?;
        }
        Ok(true)
    }

    async fn is_committed(&self, tx: &mut Tx, _is_new: &bool) -> Result<bool> {
        let found = find(tx, &self.crossed.alert.id).await?;
        Ok(found.is_none_or(|found| found.is_below != self.crossed.alert.is_below))
    }
}
