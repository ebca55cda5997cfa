//! Wallets and the ledger. A balance changes only with a ledger entry, in one transaction.

mod credit;
mod limit;

pub use credit::Credited;

use crate::Store;
use crate::lists::Listed;
use crate::rows::{id_bytes, message_id, named};
use database::{Error, Result, Sql, Tx, bulk, locking, query, value};
use domain::{
    AccountId, AccountStatus, Bucket, Component, MessageId, Money, Purse, Recipient, Refusal,
    Spending,
};
use std::collections::BTreeMap;

/// The bucket and account of a wallet.
pub(crate) type Owner = (Bucket, AccountId);

domain::named_enum! {
    /// The reason of a ledger entry.
    pub enum EntryKind {
        /// Money was added from outside.
        Credit = "credit",
        /// A send was accepted.
        Charge = "charge",
        /// A recipient was not delivered.
        Refund = "refund",
        /// A second leg was never submitted.
        UnusedLeg = "unused_leg",
    }
}

/// One movement of money on one component of a wallet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LedgerEntry {
    /// The account.
    pub account: AccountId,
    /// The message concerned, or the id of a credit.
    pub subject: MessageId,
    /// The recipient that was refunded.
    pub recipient: Option<Recipient>,
    /// The reason.
    pub kind: EntryKind,
    /// The component.
    pub component: Component,
    /// The amount, negative for a charge.
    pub amount: Money,
    /// Time, Unix milliseconds.
    pub created_at_ms: i64,
    /// The reference of a credit.
    pub reference: Option<String>,
}

impl LedgerEntry {
    fn number(&self) -> i64 {
        self.recipient.map_or(0, crate::rows::number)
    }
}

/// The key of a ledger entry in a statement: subject, recipient, kind and component.
pub type LedgerKey = (u128, i64, String, String);

impl Listed for LedgerEntry {
    type Key = LedgerKey;

    fn key(&self) -> LedgerKey {
        let (kind, component) = (self.kind.as_str(), self.component.as_str());
        (
            self.subject.0.as_u128(),
            self.number(),
            kind.to_owned(),
            component.to_owned(),
        )
    }
}

struct WalletRow {
    bucket: i16,
    account_id: i64,
    promo_bonus: i64,
    volume_bonus: i64,
    sms_bonus: i64,
    sms_wallet: i64,
    main_balance: i64,
    universal_wallet: i64,
    limit_per_day: Option<i64>,
    spent_day: i64,
    spent_today: i64,
    /// The status of an account that may not send, as its hold records it.
    held_as: Option<String>,
}

database::from_row!(WalletRow {
    bucket,
    account_id,
    promo_bonus,
    volume_bonus,
    sms_bonus,
    sms_wallet,
    main_balance,
    universal_wallet,
    limit_per_day,
    spent_day,
    spent_today,
    held_as
});

/// A locked wallet.
pub(crate) struct Wallet {
    pub(crate) purse: Purse,
    pub(crate) spending: Spending,
    /// The reason why its account may not send.
    pub(crate) refusal: Option<Refusal>,
}

impl WalletRow {
    fn purse(&self) -> Purse {
        Component::ALL
            .into_iter()
            .zip([
                self.promo_bonus,
                self.volume_bonus,
                self.sms_bonus,
                self.sms_wallet,
                self.main_balance,
                self.universal_wallet,
            ])
            .map(|(component, units)| (component, Money::from_units(units)))
            .collect()
    }

    fn refusal(&self) -> Result<Option<Refusal>> {
        let status = self.held_as.as_deref();
        let status = status.map(|status| named(AccountStatus::from_name, status));
        Ok(status.transpose()?.and_then(AccountStatus::refusal))
    }

    fn spending(&self) -> Spending {
        Spending {
            per_day: self.limit_per_day.map(Money::from_units),
            day: self.spent_day,
            spent: Money::from_units(self.spent_today),
        }
    }
}

pub(crate) async fn create(tx: &mut Tx, bucket: Bucket, account: AccountId) -> Result<()> {
    tx.execute(
        query("insert into wallets (bucket, account_id) values ($1, $2)")
            .bind(bucket.0)
            .bind(account.0),
    )
    .await?;
    Ok(())
}

/// Reads the wallets of these accounts, and locks them until the commit.
pub(crate) async fn lock(tx: &mut Tx, owners: &[Owner]) -> Result<BTreeMap<Owner, Wallet>> {
    let one = locking!(
        "select wallets.*, (select h.status from holds h where h.account_id = wallets.account_id) as held_as
         from wallets where bucket = $1 and account_id = $2";
        "for update"
    );
    let many = "select wallets.*, (select h.status from holds h where h.account_id = wallets.account_id) as held_as
         from wallets where (bucket, account_id) in (select * from unnest($1::bigint[], $2::bigint[]))
         order by bucket, account_id for update";
    let read = bulk(one, many).rows(owners, |owner| [value(owner.0.0), value(owner.1.0)]);
    let rows: Vec<WalletRow> = tx.fetch_each(read).await?;
    rows.iter()
        .map(|row| {
            let owner = (Bucket(row.bucket.into()), AccountId(row.account_id));
            let wallet = Wallet {
                purse: row.purse(),
                spending: row.spending(),
                refusal: row.refusal()?,
            };
            Ok((owner, wallet))
        })
        .collect()
}

/// The change of a wallet. Negative amounts reduce it, never below zero.
#[derive(Default)]
pub(crate) struct Movement {
    pub(crate) purse: Purse,
    /// The account's spending, if the change is a charge.
    pub(crate) spending: Option<Spending>,
}

/// Applies the changes of wallets.
pub(crate) async fn add(tx: &mut Tx, movements: &BTreeMap<Owner, Movement>) -> Result<()> {
    let rows: Vec<_> = movements.iter().collect();
    let changed = tx.changed_each(bulk("update wallets set promo_bonus = promo_bonus + $5, volume_bonus = volume_bonus + $6,
             sms_bonus = sms_bonus + $7, sms_wallet = sms_wallet + $8,
             main_balance = main_balance + $9, universal_wallet = universal_wallet + $10,
             spent_day = coalesce($3, spent_day), spent_today = coalesce($4, spent_today)
         where wallets.bucket = $1 and wallets.account_id = $2", "with v (bucket, account_id, day, spent, promo, volume, bonus, sms, main, universal) as (select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[]))
         update wallets set promo_bonus = promo_bonus + v.promo, volume_bonus = volume_bonus + v.volume,
             sms_bonus = sms_bonus + v.bonus, sms_wallet = sms_wallet + v.sms,
             main_balance = main_balance + v.main, universal_wallet = universal_wallet + v.universal,
             spent_day = coalesce(v.day, spent_day), spent_today = coalesce(v.spent, spent_today)
         from v where wallets.bucket = v.bucket and wallets.account_id = v.account_id
         returning wallets.account_id").rows(&rows, |row| {
            let ((bucket, account), Movement { purse, spending }) = row;
            let [promo, volume, bonus, sms, main, universal] =
                Component::ALL.map(|component| value(purse.get(component).units()));
            [
                value(bucket.0),
                value(account.0),
                value(spending.map(|spending| spending.day)),
                value(spending.map(|spending| spending.spent.units())),
                promo,
                volume,
                bonus,
                sms,
                main,
                universal,
            ]
        }), rows.iter().map(|row| (row.0.1.0,))).await?;
    if changed.into_iter().all(|is_changed| is_changed) {
        Ok(())
    } else {
        Err(Error::Impossible("a wallet is missing"))
    }
}

/// Inserts ledger entries and skips existing ones. Returns the new ones.
pub(crate) async fn enter<'e>(
    tx: &mut Tx,
    bucket_of: impl Fn(AccountId) -> Bucket,
    entries: &'e [LedgerEntry],
) -> Result<Vec<&'e LedgerEntry>> {
    let new = tx.changed_each(bulk("insert into ledger (bucket, account_id, subject, recipient, kind, component, amount,
             created_at_ms, reference)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing", "insert into ledger (bucket, account_id, subject, recipient, kind, component, amount,
             created_at_ms, reference)
         select * from unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::text[]) on conflict do nothing
         returning account_id, subject, recipient, kind, component").rows(entries, |entry| [value(bucket_of(entry.account).0), value(entry.account.0), value(id_bytes(&entry.subject)), value(entry.number()), value(entry.kind.as_str()), value(entry.component.as_str()), value(entry.amount.units()), value(entry.created_at_ms), value(&entry.reference)]), entries.iter().map(|entry| {
            let subject = id_bytes(&entry.subject).to_vec();
            let (kind, component) = (entry.kind.as_str(), entry.component.as_str());
            (entry.account.0, subject, entry.number(), kind.to_owned(), component.to_owned())
        })).await?;
    let both = entries.iter().zip(new);
    Ok(both
        .filter_map(|(entry, is_new)| is_new.then_some(entry))
        .collect())
}

/// Returns the amounts refunded for these messages so far.
pub(crate) async fn refunded(
    tx: &mut Tx,
    messages: &[(Owner, MessageId)],
) -> Result<BTreeMap<MessageId, Purse>> {
    let rows: Vec<(Vec<u8>, String, i64)> = tx.fetch_each(bulk("select subject, component, cast(sum(amount) as bigint) from ledger
         where bucket = $1 and account_id = $2 and subject = $3 and kind in ('refund', 'unused_leg')
         group by subject, component", "select subject, component, cast(sum(amount) as bigint) from ledger
         where (bucket, account_id, subject) in (select * from unnest($1::bigint[], $2::bigint[], $3::bytea[])) and kind in ('refund', 'unused_leg')
         group by subject, component").rows(messages, |row| [value(row.0.0.0), value(row.0.1.0), value(id_bytes(&row.1))])).await?;
    let mut refunded: BTreeMap<MessageId, Purse> = BTreeMap::new();
    for (subject, component, amount) in rows {
        let component = named(Component::from_name, &component)?;
        refunded
            .entry(message_id(&subject)?)
            .or_default()
            .add(component, Money::from_units(amount));
    }
    Ok(refunded)
}

struct LedgerRow {
    account_id: i64,
    subject: Vec<u8>,
    recipient: i64,
    kind: String,
    component: String,
    amount: i64,
    created_at_ms: i64,
    reference: Option<String>,
}

database::from_row!(LedgerRow {
    account_id,
    subject,
    recipient,
    kind,
    component,
    amount,
    created_at_ms,
    reference
});

impl LedgerRow {
    fn entry(self) -> Result<LedgerEntry> {
        Ok(LedgerEntry {
            account: AccountId(self.account_id),
            subject: message_id(&self.subject)?,
            recipient: (self.recipient != 0).then(|| crate::rows::recipient(self.recipient)),
            kind: named(EntryKind::from_name, &self.kind)?,
            component: named(Component::from_name, &self.component)?,
            amount: Money::from_units(self.amount),
            created_at_ms: self.created_at_ms,
            reference: self.reference,
        })
    }
}

impl Store {
    async fn wallet_row(&self, account: AccountId) -> Result<Option<WalletRow>> {
        let row: Option<WalletRow> = self.db.fetch_optional(query("select wallets.*, cast(null as text) as held_as from wallets where bucket = $1 and account_id = $2")
                .bind(self.bucket_of(account).0)
                .bind(account.0)).await?;
        Ok(row)
    }

    /// Returns the balances of a wallet.
    pub async fn wallet(&self, account: AccountId) -> Result<Option<Purse>> {
        Ok(self.wallet_row(account).await?.map(|row| row.purse()))
    }

    /// Returns some ledger entries of an account behind one. The entries of the newest message or
    /// credit come first, and a refund stands with the charge of its message.
    pub async fn statement(
        &self,
        account: AccountId,
        behind: Option<LedgerKey>,
        limit: u32,
    ) -> Result<Vec<LedgerEntry>> {
        // Each database reads its own key backwards. With the plus SQLite keeps the account in the
        // order, where its key has it.
        let sql = Sql {
            sqlite: "select * from ledger where bucket = $1 and +account_id = $2
                 and (subject, account_id, recipient, kind, component) < ($3, $2, $4, $5, $6)
             order by subject desc, account_id desc, recipient desc, kind desc, component desc limit $7",
            postgres: "select * from ledger where bucket = $1 and account_id = $2
                 and (subject, kind, recipient, component) < ($3, $5, $4, $6)
             order by subject desc, kind desc, recipient desc, component desc limit $7",
        };
        let behind = behind.unwrap_or((u128::MAX, 0, String::new(), String::new()));
        let rows: Vec<LedgerRow> = self
            .db
            .fetch_all(
                query(sql)
                    .bind(self.bucket_of(account).0)
                    .bind(account.0)
                    .bind(&behind.0.to_be_bytes()[..])
                    .bind(behind.1)
                    .bind(&behind.2)
                    .bind(&behind.3)
                    .bind(i64::from(limit)),
            )
            .await?;
        rows.into_iter().map(LedgerRow::entry).collect()
    }
}
