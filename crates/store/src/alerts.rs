//! Alerts about low balances. An alert is told in one transaction with its callback, so it is told
//! once on all nodes.

mod changes;
mod mails;
mod row;

pub use mails::DueMail;
pub use row::Crossed;

use crate::buckets::Buckets;
use crate::change_once::ChangeOnce;
use crate::idempotency::{KeyedChange, Outcome};
use changes::{AddAlert, RemoveAlert, TellAlert};
use database::{Db, Result, query};
use domain::alert::Alert;
use domain::{AccountId, Bucket};
use mails::{FinishMail, TakeMails};
use row::AlertRow;

/// The alerts of all accounts.
#[derive(Clone, Copy)]
pub struct Alerts<'s> {
    pub(crate) db: &'s Db,
}

impl Alerts<'_> {
    /// Adds an alert at the request of its account.
    pub async fn add(
        self,
        alert: Alert,
        keyed: Option<KeyedChange<Alert>>,
    ) -> Result<Outcome<Alert>> {
        let of = (alert.account, alert.created_at_ms);
        let bucket = Buckets::of(self.db).account(alert.account);
        let once = ChangeOnce::of_account(self.db, of, keyed, AddAlert { bucket, alert });
        self.db.change(once).await
    }

    /// Removes an alert at the request of its account. Returns its id.
    pub async fn remove(
        self,
        account: AccountId,
        id: &str,
        keyed: Option<KeyedChange<String>>,
        now_ms: i64,
    ) -> Result<Outcome<String>> {
        let id = id.to_owned();
        let remove = RemoveAlert { account, id };
        let once = ChangeOnce::of_account(self.db, (account, now_ms), keyed, remove);
        self.db.change(once).await
    }

    /// Returns some alerts of an account behind one (time and id), newest first.
    pub async fn list(
        self,
        account: AccountId,
        behind: Option<(i64, String)>,
        limit: u32,
    ) -> Result<Vec<Alert>> {
        let (at_ms, id) = behind.unwrap_or((i64::MAX, String::new()));
        let list = query(
            "select * from alerts
             where account_id = $1 and (created_at_ms, alert_id) < ($2, $3)
             order by created_at_ms desc, alert_id desc limit $4",
        );
        let list = list.bind(account.0).bind(at_ms).bind(id);
        let rows: Vec<AlertRow> = self.db.fetch_all(list.bind(i64::from(limit))).await?;
        Ok(rows.into_iter().map(Alert::from).collect())
    }

    /// Returns some alerts of a bucket whose balance has crossed the threshold. The remainder is that
    /// of [`Buckets::account`], so the alerts of other buckets look up no wallet. The `+` keeps SQLite
    /// from beginning with the wallets, of which there are more.
    pub async fn crossed(self, bucket: Bucket, limit: u32) -> Result<Vec<Crossed>> {
        let list = query(
            "select a.alert_id, a.account_id, a.threshold, a.url, a.email, a.below,
                 a.created_at_ms, a.told_at_ms, w.promo_bonus + w.volume_bonus + w.sms_bonus
                     + w.sms_wallet + w.main_balance + w.universal_wallet as told_balance
             from alerts a
             join wallets w on w.bucket = $1 and w.account_id = +a.account_id
             where a.account_id % $3 = $1
                 and a.below <> (w.promo_bonus + w.volume_bonus + w.sms_bonus + w.sms_wallet
                     + w.main_balance + w.universal_wallet < a.threshold)
             limit $2",
        );
        let list = list.bind(bucket.0).bind(i64::from(limit));
        let list = list.bind(Buckets::of(self.db).count());
        let rows: Vec<AlertRow> = self.db.fetch_all(list).await?;
        let crossed = rows.into_iter().map(|row| Crossed {
            balance: row.balance(),
            alert: row.into(),
        });
        Ok(crossed.collect())
    }

    /// Stores that a balance has crossed a threshold. A balance that fell below it is told, once.
    /// Returns `false` if that is stored already. `random` makes the id of the callback.
    pub async fn tell(self, crossed: Crossed, now_ms: i64, random: [u8; 10]) -> Result<bool> {
        let tell = TellAlert {
            bucket: Buckets::of(self.db).account(crossed.alert.account),
            crossed,
            now_ms,
            random,
        };
        self.db.change(tell).await
    }

    /// Takes some mails that are due, and sets the time of their next attempt. Each has the current
    /// balance.
    pub async fn take_mails(self, now_ms: i64, next_ms: i64, limit: u32) -> Result<Vec<DueMail>> {
        let take = TakeMails {
            buckets: Buckets::of(self.db).count(),
            now_ms,
            next_ms,
            limit,
        };
        self.db.change(take).await
    }

    /// Ends the mail of an alert that was told at a time.
    pub async fn finish_mail(self, id: &str, told_at_ms: i64) -> Result<()> {
        let id = id.to_owned();
        self.db.change(FinishMail { id, told_at_ms }).await
    }
}
