//! Credits from outside.

use super::balances::{Movement, add, lock};
use super::ledger::{LedgerEntry, enter};
use crate::operators::audit::{self, By};
use crate::rows::{id_bytes, named};
use database::{Change, Error, Result, Tx, query};
use domain::{Bucket, Component, Money, Purse, redact};
use serde_json::json;
use std::collections::BTreeMap;

/// The result of a credit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Credited {
    /// The wallet was credited.
    New,
    /// This reference was used before, with this amount and component. Nothing changed.
    Before {
        /// The earlier amount.
        amount: Money,
        /// The earlier component.
        component: Component,
    },
    /// The account does not exist.
    NoAccount,
    /// The component holds less than the debit. Nothing changed.
    TooLittle {
        /// The balance of the component.
        held: Money,
    },
}

pub(super) struct CreditWallet {
    pub(super) bucket: Bucket,
    /// The entry. A negative amount is a debit.
    pub(super) entry: LedgerEntry,
    pub(super) by: By,
    /// The reason of a debit.
    pub(super) reason: Option<String>,
}

impl Change for CreditWallet {
    type Output = Credited;

    async fn apply(&self, tx: &mut Tx) -> Result<Credited> {
        let owner = (self.bucket, self.entry.account);
        let Some(held) = lock(tx, &[owner]).await?.remove(&owner) else {
            return Ok(Credited::NoAccount);
        };
        let before: Option<(i64, String)> = tx
            .fetch_optional(
                query(
                    "select amount, component from ledger
             where bucket = $1 and account_id = $2 and reference = $3 and kind = 'credit'",
                )
                .bind(self.bucket.0)
                .bind(self.entry.account.0)
                .bind(&self.entry.reference),
            )
            .await?;
        if let Some((amount, component)) = before {
            let component = named(Component::from_name, &component)?;
            return Ok(Credited::Before {
                amount: Money::from_units(amount),
                component,
            });
        }
        let (component, amount) = (self.entry.component, self.entry.amount);
        let has = held.purse.get(component);
        if has + amount < Money::ZERO {
            return Ok(Credited::TooLittle { held: has });
        }
        let entries = std::slice::from_ref(&self.entry);
        if enter(tx, |_| self.bucket, entries).await?.len() != 1 {
            return Err(Error::Impossible("a credit is there already"));
        }
        let movement = Movement {
            purse: Purse::from_iter([(component, amount)]),
            spending: None,
        };
        add(tx, &BTreeMap::from([(owner, movement)])).await?;
        let name = component.as_str();
        let mut after = json!({ name: (has + amount).to_string() });
        if let Some(reason) = &self.reason {
            after["reason"] = redact(reason).into();
        }
        let reference = self.entry.reference.as_deref().unwrap_or_default();
        let entry = audit::Entry {
            by: &self.by,
            verb: if self.reason.is_some() {
                "wallet.debit"
            } else {
                "wallet.credit"
            },
            account: Some(self.entry.account),
            object: &redact(reference),
            before: json!({ name: has.to_string() }),
            after,
        };
        audit::enter(tx, entry).await?;
        Ok(Credited::New)
    }

    async fn is_committed(&self, tx: &mut Tx, credited: &Credited) -> Result<bool> {
        if *credited != Credited::New {
            return Ok(true);
        }
        let found: Option<i64> = tx
            .fetch_optional(
                query(
                    "select amount from ledger
             where bucket = $1 and account_id = $2 and subject = $3 and kind = 'credit'",
                )
                .bind(self.bucket.0)
                .bind(self.entry.account.0)
                .bind(id_bytes(&self.entry.subject)),
            )
            .await?;
        Ok(found.is_some())
    }
}
