//! Opt-outs: the numbers that accounts send nothing to.

mod changes;
mod row;

pub use changes::AddedOptOuts;
pub(crate) use changes::{opt_in, opt_out};

use crate::change_once::ChangeOnce;
use crate::idempotency::{KeyedChange, Outcome};
use crate::lists::ListRow;
use crate::operators::audit::By;
use crate::rows::{id_bytes, number, recipient};
use changes::{Add, Remove};
use database::{Db, Result, query};
use domain::opt_out::OptOut;
use domain::{AccountId, MessageId, Recipient, sender};
use row::OptOutRow;
use std::collections::HashSet;

/// Opt-outs that one query reads at least. With fewer between the first and the last recipient of a
/// send, one query finds all of them.
const MIN_RANGE: usize = 1_000;

impl ListRow for OptOut {
    /// The id in its text form.
    type Key = String;

    fn key(&self) -> String {
        self.id.to_string()
    }
}

/// The opt-outs of all accounts.
#[derive(Clone, Copy)]
pub struct OptOuts<'s> {
    pub(crate) db: &'s Db,
}

impl OptOuts<'_> {
    /// Adds opt-outs of one account. A number that opted out before keeps its opt-out. The change is
    /// refused if the account could have more than `limit` opt-outs after it.
    pub async fn add(
        self,
        account: AccountId,
        (opt_outs, limit): (Vec<OptOut>, Option<u64>),
        keyed: Option<KeyedChange<AddedOptOuts>>,
        by: By,
    ) -> Result<Outcome<AddedOptOuts>> {
        let change = Add {
            account,
            opt_outs,
            limit,
            by,
        };
        let now_ms = change.by.at_ms;
        let once = ChangeOnce::of_account(self.db, (account, now_ms), keyed, change);
        self.db.change(once).await
    }

    /// Removes all opt-outs of a number. Returns how many there were, and refuses if there was none.
    pub async fn remove(
        self,
        account: AccountId,
        recipient: Recipient,
        keyed: Option<KeyedChange<u64>>,
        by: By,
    ) -> Result<Outcome<u64>> {
        let change = Remove {
            account,
            recipient,
            by,
        };
        let now_ms = change.by.at_ms;
        let once = ChangeOnce::of_account(self.db, (account, now_ms), keyed, change);
        self.db.change(once).await
    }

    /// Returns `true` if an account has ever had an opt-out.
    pub async fn were_used(self, account: AccountId) -> Result<bool> {
        let find = query("select account_id from opt_out_accounts where account_id = $1");
        let found: Option<i64> = self.db.fetch_optional(find.bind(account.0)).await?;
        Ok(found.is_some())
    }

    /// Returns some opt-outs of an account behind one, newest first.
    pub async fn list(
        self,
        account: AccountId,
        behind: Option<MessageId>,
        limit: u32,
    ) -> Result<Vec<OptOut>> {
        let behind = behind.unwrap_or(MessageId::HIGHEST);
        let list = query(
            "select * from opt_outs where account_id = $1 and opt_out_id < $2
             order by opt_out_id desc limit $3",
        );
        let list = list.bind(account.0).bind(id_bytes(&behind));
        let rows: Vec<OptOutRow> = self.db.fetch_all(list.bind(i64::from(limit))).await?;
        rows.into_iter().map(OptOutRow::opt_out).collect()
    }

    /// Returns those of some recipients who opted out of the messages of an account with a sender
    /// ID. One query reads the opt-outs between the lowest and the highest number. If there are many
    /// of them, further queries follow.
    pub async fn of_recipients(
        self,
        account: AccountId,
        sender: &str,
        mut recipients: Vec<Recipient>,
    ) -> Result<HashSet<Recipient>> {
        recipients.sort_unstable();
        let key = sender::key(sender);
        let limit = MIN_RANGE.max(2 * recipients.len());
        let mut found = HashSet::new();
        let mut rest = &recipients[..];
        while let (Some(first), Some(last)) = (rest.first(), rest.last()) {
            let read = query(
                "select recipient from opt_outs
                 where account_id = $1 and recipient >= $2 and recipient <= $3
                     and (sender_key = '' or sender_key = $4)
                 order by recipient limit $5",
            );
            let read = read
                .bind(account.0)
                .bind(number(*first))
                .bind(number(*last))
                .bind(&key)
                .bind(i64::try_from(limit).unwrap_or(i64::MAX));
            let rows: Vec<i64> = self.db.fetch_all(read).await?;
            let is_last = rows.len() < limit;
            let end = rows.last().map(|&last| recipient(last));
            let opted_out = rows.into_iter().map(recipient);
            found.extend(opted_out.filter(|one| rest.binary_search(one).is_ok()));
            rest = match end {
                Some(end) if !is_last => &rest[rest.partition_point(|one| *one <= end)..],
                _ => return Ok(found),
            };
        }
        Ok(found)
    }
}
