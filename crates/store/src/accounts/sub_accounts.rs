//! Accounts that belong to another account.

use super::account_changes::CreateAccount;
use super::sub_account_changes::{
    ChangeSubAccount, RequestSubAccount, SubAccount, SubAccountRow, new_account, query_of,
};
use super::token_changes::{AddToken, TokenInfo};
use super::transfers::{MakeTransfer, Transfer};
use crate::buckets::Buckets;
use crate::change_once::ChangeOnce;
use crate::idempotency::{KeyedChange, Outcome};
use crate::operators::audit::By;
use crate::rows::{id_bytes, named};
use database::{Db, Result, bulk, query, value};
use domain::resale::{Resale, SubAccountChange, SubAccountRequest};
use domain::token::TokenHash;
use domain::{AccountId, AccountStatus, MessageId, Money};

/// The accounts that belong to another account.
#[derive(Clone, Copy)]
pub struct SubAccounts<'s> {
    pub(crate) db: &'s Db,
}

impl SubAccounts<'_> {
    /// Creates a sub-account at the request of its parent, with an empty wallet and a token, or
    /// refuses it. Both accounts have one bucket.
    pub async fn request(
        self,
        (parent, request): (AccountId, SubAccountRequest),
        (token, hash): (TokenInfo, TokenHash),
        keyed: Option<KeyedChange<SubAccount>>,
        by: By,
    ) -> Result<Outcome<SubAccount>> {
        let now_ms = by.at_ms;
        let id = token.account;
        let account = new_account(id, (request.name, request.email), now_ms);
        let change = RequestSubAccount {
            create: CreateAccount {
                account,
                bucket: Buckets::of(self.db).account(id),
                by: by.clone(),
            },
            parent,
            token: AddToken { token, hash, by },
        };
        let once = ChangeOnce::of_account(self.db, (parent, now_ms), keyed, change);
        self.db.change(once).await
    }

    /// Changes a sub-account at the request of its parent, or refuses it.
    pub async fn change(
        self,
        (parent, account): (AccountId, AccountId),
        change: SubAccountChange,
        keyed: Option<KeyedChange<SubAccount>>,
        by: By,
    ) -> Result<Outcome<SubAccount>> {
        let now_ms = by.at_ms;
        let change = ChangeSubAccount {
            bucket: Buckets::of(self.db).account(account),
            parent,
            account,
            change,
            by,
        };
        let once = ChangeOnce::of_account(self.db, (parent, now_ms), keyed, change);
        self.db.change(once).await
    }

    /// Moves money between a parent and its sub-account, once for each reference, or refuses it.
    pub async fn transfer(
        self,
        parent: AccountId,
        transfer: Transfer,
        keyed: Option<KeyedChange<Transfer>>,
        by: By,
    ) -> Result<Outcome<Transfer>> {
        let now_ms = by.at_ms;
        let change = MakeTransfer {
            bucket: Buckets::of(self.db).account(parent),
            parent,
            transfer,
            by,
        };
        let once = ChangeOnce::of_account(self.db, (parent, now_ms), keyed, change);
        self.db.change(once).await
    }

    /// Returns a sub-account of an account.
    pub async fn find(self, parent: AccountId, account: AccountId) -> Result<Option<SubAccount>> {
        let behind = account.0.checked_add(1);
        let found = self.list(parent, behind, 1).await?.pop();
        Ok(found.filter(|sub| sub.account.id == account))
    }

    /// Returns some sub-accounts of an account behind one, newest first.
    pub async fn list(
        self,
        parent: AccountId,
        behind: Option<i64>,
        limit: u32,
    ) -> Result<Vec<SubAccount>> {
        let rows: Vec<SubAccountRow> = self
            .db
            .fetch_all(query_of(
                Buckets::of(self.db).account(parent),
                parent,
                behind,
                limit,
            ))
            .await?;
        rows.into_iter().map(SubAccountRow::account).collect()
    }

    /// Returns the margins that a parent has of these messages of its sub-accounts, without what was
    /// taken back.
    pub async fn margins(self, parent: AccountId, messages: &[MessageId]) -> Result<Money> {
        let bucket = Buckets::of(self.db).account(parent);
        let statement = bulk(
            "select cast(coalesce(sum(amount), 0) as bigint) from ledger
             where bucket = $1 and account_id = $2 and subject = $3 and kind = 'margin'",
            "select cast(coalesce(sum(amount), 0) as bigint) from ledger
             where (bucket, account_id, subject) in (select *
                 from unnest($1::bigint[], $2::bigint[], $3::bytea[])) and kind = 'margin'",
        );
        let statement = statement.rows(messages, |id| {
            [value(bucket.0), value(parent.0), value(id_bytes(id))]
        });
        let sums: Vec<(i64,)> = Db::in_time(async {
            let mut tx = self.db.read().await?;
            tx.fetch_each(statement).await
        })
        .await?;
        let sums = sums.into_iter().map(|(sum,)| Money::from_units(sum));
        Ok(sums.sum())
    }

    /// Returns the terms on which an account sends, if it is a sub-account.
    pub async fn terms(self, account: AccountId) -> Result<Option<Resale>> {
        let found: Option<(i64, String, String)> = self
            .db
            .fetch_optional(
                query(
                    "select s.parent_id, p.status, s.prices from sub_accounts s
                     join accounts p on p.account_id = s.parent_id where s.account_id = $1",
                )
                .bind(account.0),
            )
            .await?;
        let read = |(parent, status, prices): (i64, String, String)| {
            Ok(Resale {
                parent: AccountId(parent),
                parent_status: named(AccountStatus::from_name, &status)?,
                prices: named(|text| text.parse().ok(), &prices)?,
            })
        };
        found.map(read).transpose()
    }
}
