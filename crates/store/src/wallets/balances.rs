//! The balances of wallets, and what their accounts have spent.

use crate::buckets::Buckets;
use crate::rows::named;
use database::{Db, Error, Query, Result, Tx, bulk, locking, query, value};
use domain::{AccountId, AccountStatus, Bucket, Component, Money, Purse, Refusal, Spending};
use std::collections::BTreeMap;

/// The bucket and account of a wallet.
pub(crate) type Owner = (Bucket, AccountId);

pub(super) struct WalletRow {
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
    pub(super) fn purse(&self) -> Purse {
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

    pub(super) fn spending(&self) -> Spending {
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

/// Lets the component of margins fall below zero.
pub(crate) async fn let_sell(tx: &mut Tx, owner: Owner) -> Result<()> {
    tx.execute(
        query("update wallets set sells = true where bucket = $1 and account_id = $2")
            .bind(owner.0.0)
            .bind(owner.1.0),
    )
    .await?;
    Ok(())
}

/// Reads the wallets of these accounts, and locks them until the commit.
pub(crate) async fn lock(tx: &mut Tx, owners: &[Owner]) -> Result<BTreeMap<Owner, Wallet>> {
    let one = locking!(
        "select wallets.*, (select h.status from holds h
         where h.account_id = wallets.account_id) as held_as
         from wallets where bucket = $1 and account_id = $2";
        "for update"
    );
    let many = "select wallets.*, (select h.status from holds h
         where h.account_id = wallets.account_id) as held_as
         from wallets where (bucket, account_id) in (select *
             from unnest($1::bigint[], $2::bigint[]))
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

/// The change of a wallet. Negative amounts reduce it. Only the component of margins may fall below
/// zero, see [`let_sell`].
#[derive(Default)]
pub(crate) struct Movement {
    pub(crate) purse: Purse,
    /// The account's spending, if the change is a charge.
    pub(crate) spending: Option<Spending>,
}

/// Applies the changes of wallets.
pub(crate) async fn add(tx: &mut Tx, movements: &BTreeMap<Owner, Movement>) -> Result<()> {
    let rows: Vec<_> = movements.iter().collect();
    let changed = tx
        .changed_each(
            bulk(
                "update wallets set promo_bonus = promo_bonus + $5,
             volume_bonus = volume_bonus + $6, sms_bonus = sms_bonus + $7,
                 sms_wallet = sms_wallet + $8, main_balance = main_balance + $9,
                     universal_wallet = universal_wallet + $10, spent_day = coalesce($3,
                         spent_day), spent_today = coalesce($4, spent_today)
         where wallets.bucket = $1 and wallets.account_id = $2",
                "with v (bucket, account_id, day, spent, promo, volume, bonus, sms,
         main, universal) as (select * from unnest($1::bigint[], $2::bigint[], $3::bigint[],
         $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
         $10::bigint[]))
         update wallets set promo_bonus = promo_bonus + v.promo,
             volume_bonus = volume_bonus + v.volume, sms_bonus = sms_bonus + v.bonus,
                 sms_wallet = sms_wallet + v.sms, main_balance = main_balance + v.main,
                     universal_wallet = universal_wallet + v.universal,
             spent_day = coalesce(v.day, spent_day), spent_today = coalesce(v.spent, spent_today)
         from v where wallets.bucket = v.bucket and wallets.account_id = v.account_id
         returning wallets.account_id",
            )
            .rows(&rows, |row| {
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
            }),
            rows.iter().map(|row| (row.0.1.0,)),
        )
        .await?;
    if changed.into_iter().all(|is_changed| is_changed) {
        Ok(())
    } else {
        Err(Error::Impossible("a wallet is missing"))
    }
}

/// Returns the query for a wallet.
pub(super) fn query_of(bucket: Bucket, account: AccountId) -> Query<'static> {
    let wallet = "select wallets.*, cast(null as text) as held_as from wallets where bucket = $1 and account_id = $2";
    query(wallet).bind(bucket.0).bind(account.0)
}

/// Reads a wallet.
pub(super) async fn read(db: &Db, account: AccountId) -> Result<Option<WalletRow>> {
    let bucket = Buckets::of(db).account(account);
    db.fetch_optional(query_of(bucket, account)).await
}
