//! The operations on wallets: credit, debit and statement.

use super::accounts::{account, scope_of};
use super::actor::Actor;
use super::error::{OperationError, Result, checked};
use super::page::{Page, PageRequest};
use crate::context::random::Random;
use domain::search::List;
use domain::{AccountId, Component, MessageId, Money};
use store::{Credited, EntryKind, LedgerEntry, Store};

/// Wallets: credit, debit, statement.
pub struct Wallets {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl Wallets {
    /// Adds credit. A repeated reference with the same amount changes nothing, and with another
    /// amount is refused.
    pub async fn credit(
        self,
        id: AccountId,
        amount: Money,
        reference: &str,
        component: Component,
    ) -> Result<Credit> {
        let by = self.actor.now();
        let entry = credit_entry(id, checked_amount(amount)?, reference, component, by.at_ms)?;
        let credited = self.store.wallets().credit(entry, by).await?;
        outcome(&self.store, id, amount, component, credited).await
    }

    /// Removes credit, at most the balance of the component. A reference counts once, as with
    /// [`Self::credit`].
    pub async fn debit(
        self,
        id: AccountId,
        amount: Money,
        reference: &str,
        reason: &str,
        component: Component,
    ) -> Result<Credit> {
        let by = self.actor.now();
        let amount = Money::ZERO - checked_amount(amount)?;
        let entry = credit_entry(id, amount, reference, component, by.at_ms)?;
        let credited = self
            .store
            .wallets()
            .debit(entry, checked("the reason", reason)?, by)
            .await?;
        outcome(&self.store, id, amount, component, credited).await
    }

    /// Returns a page of the ledger entries of an account. The newest message or credit is first,
    /// and a refund is listed with the charge of its message.
    pub async fn statement(
        self,
        id: AccountId,
        request: &PageRequest,
    ) -> Result<Page<LedgerEntry>> {
        account(&self.store, id).await?;
        let scope = scope_of(Some(id));
        let behind = request.behind(List::Statement, &scope)?;
        let rows = self
            .store
            .wallets()
            .statement(id, behind, request.rows())
            .await?;
        Ok(request.page(List::Statement, &scope, rows))
    }
}

/// The result of a credit or debit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Credit {
    /// `false` if the reference was already used with the same amount, so that nothing changed.
    pub new: bool,
    /// The balance of all components.
    pub balance: Money,
}

fn checked_amount(amount: Money) -> Result<Money> {
    if amount.is_positive() && amount <= Money::from_naira(1_000_000_000) {
        Ok(amount)
    } else {
        Err(OperationError::Amount)
    }
}

fn credit_entry(
    id: AccountId,
    amount: Money,
    reference: &str,
    component: Component,
    now_ms: i64,
) -> Result<LedgerEntry> {
    Ok(LedgerEntry {
        account: id,
        subject: MessageId::new(now_ms, Random::system().bytes()),
        recipient: None,
        kind: EntryKind::Credit,
        component,
        amount,
        created_at_ms: now_ms,
        reference: Some(checked("the reference", reference)?),
    })
}

async fn outcome(
    store: &Store,
    id: AccountId,
    amount: Money,
    component: Component,
    credited: Credited,
) -> Result<Credit> {
    let new = match credited {
        Credited::New => true,
        Credited::NoAccount => return Err(OperationError::NoAccount(id)),
        Credited::TooLittle { held } => {
            return Err(OperationError::TooLittle {
                held,
                component: component.as_str(),
            });
        }
        Credited::Before {
            amount: before,
            component: then,
        } => {
            if before != amount || then != component {
                return Err(OperationError::OtherCredit {
                    amount: before,
                    component: then.as_str(),
                });
            }
            false
        }
    };
    let balance = store.wallets().find(id).await?.unwrap_or_default().total();
    Ok(Credit { new, balance })
}
