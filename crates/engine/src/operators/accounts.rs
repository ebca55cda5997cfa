//! The operations on accounts.

use super::actor::Actor;
use super::error::{OperationError, Result, checked};
use super::page::{Page, PageRequest};
use crate::context::random::Random;
use domain::search::{AccountSearch, Cursor, List};
use domain::{Account, AccountId, AccountStatus, Money, Purse, Queued, Spending, Verification};
use store::Store;

/// Maximum number of accounts that a page of a search reads.
const MAX_SEARCHED: u32 = 5_000;
/// Accounts that a search reads at once.
const SEARCH_BATCH_SIZE: u32 = 1_000;

/// Accounts: create, list, show, status, limits.
pub struct Accounts {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl Accounts {
    /// Creates an account that is active and unverified, with an empty wallet.
    pub async fn create(self, name: &str, email: &str) -> Result<Account> {
        let email = checked("the e-mail address", email)?;
        if email
            .split_once('@')
            .is_none_or(|(name, host)| name.is_empty() || host.is_empty())
        {
            return Err(OperationError::Email(email));
        }
        let by = self.actor.now();
        let random = Random::system().small();
        let account = Account {
            id: AccountId::new(by.at_ms, random),
            email,
            name: checked("the name", name)?,
            status: AccountStatus::Active,
            verification: Verification::Unverified,
            created_at_ms: by.at_ms,
        };
        self.store.accounts().create(account.clone(), by).await?;
        Ok(account)
    }

    /// Returns a page of all accounts, newest first.
    pub async fn list(self, request: &PageRequest) -> Result<Page<Account>> {
        let behind = request.behind(List::Accounts, "")?;
        let rows = self.store.accounts().list(behind, request.rows()).await?;
        Ok(request.page(List::Accounts, "", rows))
    }

    /// Returns a page of the accounts that fit a search, newest first. A page reads at most 5,000
    /// accounts, so it may have few or none although another page follows. A whole id finds its
    /// account at once.
    pub async fn search(
        self,
        search: &AccountSearch,
        request: &PageRequest,
    ) -> Result<Page<Account>> {
        let (accounts, scope) = (self.store.accounts(), search.text());
        if let Some(id) = search.id()
            && let Some(account) = accounts.find(id).await?
        {
            return Ok(Page {
                items: vec![account],
                next: None,
            });
        }
        let mut behind: Option<i64> = request.behind(List::Accounts, scope)?;
        let mut found = Vec::new();
        for _ in 0..MAX_SEARCHED / SEARCH_BATCH_SIZE {
            let rows = accounts.list(behind, SEARCH_BATCH_SIZE).await?;
            let is_end = (rows.len() as u64) < u64::from(SEARCH_BATCH_SIZE);
            behind = rows.last().map(|account| account.id.0).or(behind);
            found.extend(rows.into_iter().filter(|account| search.fits(account)));
            if is_end || found.len() as u64 >= u64::from(request.rows()) {
                return Ok(request.page(List::Accounts, scope, found));
            }
        }
        Ok(Page {
            items: found,
            next: behind.map(|key| Cursor::after(&key, List::Accounts, scope.as_bytes())),
        })
    }

    /// Returns an account and its wallet.
    pub async fn show(self, id: AccountId) -> Result<(Account, Purse)> {
        let account = account(&self.store, id).await?;
        let wallet = self.store.wallets().find(id).await?.unwrap_or_default();
        Ok((account, wallet))
    }

    /// Changes the status of an account, and the fate of its queued recipients. They are held by
    /// default if the account may not send.
    pub async fn set_status(
        self,
        id: AccountId,
        status: AccountStatus,
        queued: Option<Queued>,
    ) -> Result<QueuedSettled> {
        let may_send = status.refusal().is_none();
        if may_send && queued.is_some() {
            return Err(OperationError::QueuedOfActive);
        }
        let queued = match queued {
            _ if may_send => Queued::Send,
            queued => queued.unwrap_or(Queued::Hold),
        };
        let by = self.actor.now();
        let changed = self
            .store
            .accounts()
            .set_status(id, status, queued, by)
            .await?;
        changed.then_some(()).ok_or(OperationError::NoAccount(id))?;
        let now_ms = self.actor.clock().now_ms();
        let settled = self.store.held_batches().settle_queued(id, now_ms).await?;
        Ok(QueuedSettled {
            cancelled: settled.outcomes.len(),
        })
    }

    /// Returns the fate of the queued recipients, or `None` if they are sent.
    pub async fn queued(self, id: AccountId) -> Result<Option<Queued>> {
        Ok(self.store.accounts().holds().await?.remove(&id))
    }

    /// Changes the verification of an account.
    pub async fn set_verification(self, id: AccountId, verification: Verification) -> Result<()> {
        let changed = self
            .store
            .accounts()
            .set_verification(id, verification, self.actor.now())
            .await?;
        changed.then_some(()).ok_or(OperationError::NoAccount(id))
    }

    /// Sets the daily limit of an account, for calendar days in Lagos. `None` removes it.
    pub async fn set_daily_limit(self, id: AccountId, per_day: Option<Money>) -> Result<()> {
        let found = self
            .store
            .wallets()
            .set_daily_limit(id, per_day, self.actor.now())
            .await?;
        found.then_some(()).ok_or(OperationError::NoAccount(id))
    }

    /// Returns the daily limit of an account, and the amount that it has spent today.
    pub async fn spending(self, id: AccountId) -> Result<Spending> {
        self.store
            .wallets()
            .spending(id)
            .await?
            .ok_or(OperationError::NoAccount(id))
    }
}

pub(super) async fn account(store: &Store, id: AccountId) -> Result<Account> {
    store
        .accounts()
        .find(id)
        .await?
        .ok_or(OperationError::NoAccount(id))
}

/// Returns the scope of the cursors of a list about one account, or about all.
pub(super) fn scope_of(account: Option<AccountId>) -> String {
    account
        .map(|account| account.to_string())
        .unwrap_or_default()
}

/// The effect of a status change on queued recipients.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct QueuedSettled {
    /// Number of cancelled recipients.
    pub cancelled: usize,
}
