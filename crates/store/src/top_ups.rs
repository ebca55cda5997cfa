//! Top-ups. A payment is credited in one transaction with its ledger entries and the number of its
//! receipt, so it credits once, from wherever it is reported.

mod create;
mod decide;
mod pay;
mod row;
mod settle;
mod watch;

pub(crate) use pay::RECEIPT_COUNTS;
pub use settle::Settled;

use crate::buckets::Buckets;
use crate::change_once::ChangeOnce;
use crate::idempotency::{KeyedChange, Outcome};
use crate::lists::ListRow;
use crate::operators::audit::By;
use create::CreateTopUp;
use database::{Db, Result, query};
use decide::{AcceptTopUp, RejectTopUp};
use domain::payment::{AcceptFault, Acceptance, Payment, TopUp, TopUpId, TopUpState};
use domain::{AccountId, Environment};
use row::TopUpRow;
use settle::{KeepUnknown, SettlePayment};
use watch::{Expire, TakeWatched};

impl ListRow for TopUp {
    /// The id in its text form.
    type Key = String;

    fn key(&self) -> String {
        self.id.to_string()
    }
}

/// The top-ups of all accounts.
#[derive(Clone, Copy)]
pub struct TopUps<'s> {
    pub(crate) db: &'s Db,
}

impl TopUps<'_> {
    /// Stores a new top-up of an account.
    pub async fn create(
        self,
        account: AccountId,
        top_up: TopUp,
        keyed: Option<KeyedChange<TopUp>>,
    ) -> Result<Outcome<TopUp>> {
        let once = ChangeOnce {
            buckets: Buckets::of(self.db),
            account,
            environment: top_up.environment,
            keyed,
            now_ms: top_up.created_at_ms,
            change: CreateTopUp {
                bucket: Buckets::of(self.db).account(account),
                account,
                top_up,
            },
        };
        self.db.change(once).await
    }

    /// Returns a top-up by its id.
    pub async fn find(self, id: TopUpId) -> Result<Option<TopUp>> {
        let find = query("select * from top_ups where top_up_id = $1").bind(&id.0.as_bytes()[..]);
        let row: Option<TopUpRow> = self.db.fetch_optional(find).await?;
        row.map(TopUpRow::read).transpose()
    }

    /// Returns the top-up of a provider's reference.
    pub async fn of_reference(self, provider: &str, reference: &str) -> Result<Option<TopUp>> {
        let find = query("select * from top_ups where provider = $1 and reference = $2");
        let find = find.bind(provider).bind(reference);
        let row: Option<TopUpRow> = self.db.fetch_optional(find).await?;
        row.map(TopUpRow::read).transpose()
    }

    /// Returns some top-ups of an account behind one, newest first.
    pub async fn list(
        self,
        account: AccountId,
        environment: Environment,
        behind: Option<TopUpId>,
        limit: u32,
    ) -> Result<Vec<TopUp>> {
        let behind = behind.unwrap_or(TopUpId::HIGHEST);
        let list = query(
            "select * from top_ups where account_id = $1 and top_up_id < $2 and sandbox = $3
             order by top_up_id desc limit $4",
        );
        let list = list.bind(account.0).bind(&behind.0.as_bytes()[..]);
        let list = list.bind(environment == Environment::Sandbox);
        self.read(list.bind(i64::from(limit))).await
    }

    /// Returns some live top-ups of all accounts behind one, newest first: all, or those in a state.
    pub async fn list_all(
        self,
        state: Option<TopUpState>,
        behind: Option<TopUpId>,
        limit: u32,
    ) -> Result<Vec<TopUp>> {
        let behind = behind.unwrap_or(TopUpId::HIGHEST);
        let list = query(match state {
            Some(_) => {
                "select * from top_ups where top_up_id < $1 and sandbox = $3 and state = $4
                 order by top_up_id desc limit $2"
            }
            None => {
                "select * from top_ups where top_up_id < $1 and sandbox = $3
                 order by top_up_id desc limit $2"
            }
        });
        let list = list.bind(&behind.0.as_bytes()[..]).bind(i64::from(limit));
        let list = list.bind(false);
        self.read(match state {
            Some(state) => list.bind(state.as_str()),
            None => list,
        })
        .await
    }

    /// Returns the number of live top-ups of all accounts in a state.
    pub async fn count_all(self, state: TopUpState) -> Result<u64> {
        let count = query("select count(*) from top_ups where sandbox = $1 and state = $2");
        let count = count.bind(false).bind(state.as_str());
        let count: i64 = self.db.fetch_one(count).await?;
        Ok(count.unsigned_abs())
    }

    async fn read(self, list: database::Query<'_>) -> Result<Vec<TopUp>> {
        let rows: Vec<TopUpRow> = self.db.fetch_all(list).await?;
        rows.into_iter().map(TopUpRow::read).collect()
    }

    /// Applies a payment to its top-up, as the provider confirms it. It credits at most once.
    pub async fn settle(self, id: TopUpId, payment: Payment, now_ms: i64) -> Result<Settled> {
        let settle = SettlePayment {
            buckets: Buckets::of(self.db),
            id,
            payment,
            now_ms,
        };
        self.db.change(settle).await
    }

    /// Keeps a payment whose reference is not ours. Returns `false` if it was kept before.
    pub async fn keep_unknown(self, top_up: TopUp) -> Result<bool> {
        self.db.change(KeepUnknown { top_up }).await
    }

    /// Returns some watched top-ups that were not checked since a time, and marks them as checked.
    pub async fn take_watched(self, before_ms: i64, now_ms: i64, limit: u32) -> Result<Vec<TopUp>> {
        let take = TakeWatched {
            before_ms,
            now_ms,
            limit,
        };
        self.db.change(take).await
    }

    /// Ends the time to pay of a top-up. Returns `true` if it has expired with this.
    pub async fn expire(self, id: TopUpId) -> Result<bool> {
        self.db.change(Expire { id }).await
    }

    /// Credits a mismatch at the decision of an operator.
    pub async fn accept(
        self,
        id: TopUpId,
        acceptance: Acceptance,
        by: By,
    ) -> Result<std::result::Result<TopUp, AcceptFault>> {
        let accept = AcceptTopUp {
            buckets: Buckets::of(self.db),
            id,
            acceptance,
            by,
        };
        self.db.change(accept).await
    }

    /// Rejects a mismatch at the decision of an operator.
    pub async fn reject(
        self,
        id: TopUpId,
        by: By,
    ) -> Result<std::result::Result<TopUp, AcceptFault>> {
        self.db.change(RejectTopUp { id, by }).await
    }
}
