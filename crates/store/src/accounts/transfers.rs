//! Transfers between an account and its sub-accounts.

use super::sub_account_changes::is_known;
use crate::operators::audit::{self, By, Entry};
use crate::rows::{id_bytes, message_id, named};
use crate::wallets::{self, EntryKind, LedgerEntry, Movement, Owner};
use database::{Change, Error, Result, Tx, query};
use domain::resale::{Direction, TransferRequest};
use domain::{AccountId, Bucket, MessageId, Money, ObjectRefusal, Purse, Refusal, redact};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A transfer that was made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Transfer {
    /// The id.
    pub id: MessageId,
    /// The sub-account.
    pub account: AccountId,
    /// Amount, direction and reference.
    pub request: TransferRequest,
    /// Time, Unix milliseconds.
    pub created_at_ms: i64,
}

pub(super) struct MakeTransfer {
    /// The bucket of both accounts.
    pub(super) bucket: Bucket,
    pub(super) parent: AccountId,
    pub(super) transfer: Transfer,
    pub(super) by: By,
}

type Row = (Vec<u8>, i64, String, i64, i64);

impl MakeTransfer {
    /// Returns the transfer of this reference, if there is one.
    async fn before(&self, tx: &mut Tx) -> Result<Option<Transfer>> {
        let reference = &self.transfer.request.reference;
        let found: Option<Row> = tx
            .fetch_optional(
                query(
                    "select transfer_id, account_id, direction, amount, created_at_ms
                     from transfers where parent_id = $1 and reference = $2",
                )
                .bind(self.parent.0)
                .bind(reference),
            )
            .await?;
        let Some((id, account, direction, amount, created_at_ms)) = found else {
            return Ok(None);
        };
        Ok(Some(Transfer {
            id: message_id(&id)?,
            account: AccountId(account),
            request: TransferRequest {
                amount: Money::from_units(amount),
                direction: named(Direction::from_name, &direction)?,
                reference: reference.clone(),
            },
            created_at_ms,
        }))
    }

    /// Returns the wallets that give and take.
    fn owners(&self) -> [Owner; 2] {
        let [parent, sub] = [self.parent, self.transfer.account].map(|one| (self.bucket, one));
        match self.transfer.request.direction {
            Direction::ToSub => [parent, sub],
            Direction::FromSub => [sub, parent],
        }
    }

    /// Moves the parts of the amount from one wallet to the other, component by component.
    async fn move_money(&self, tx: &mut Tx, drawn: &Purse) -> Result<()> {
        let [gives, takes] = self.owners();
        let entry = |owner: Owner, component, amount| LedgerEntry {
            account: owner.1,
            subject: self.transfer.id,
            recipient: None,
            kind: EntryKind::Transfer,
            component,
            amount,
            created_at_ms: self.by.at_ms,
            reference: Some(self.transfer.request.reference.clone()),
        };
        let mut entries = Vec::new();
        let mut movements: BTreeMap<Owner, Movement> = BTreeMap::new();
        for (component, amount) in drawn.parts() {
            for (owner, amount) in [(gives, -amount), (takes, amount)] {
                entries.push(entry(owner, component, amount));
                let movement = movements.entry(owner).or_default();
                movement.purse.add(component, amount);
            }
        }
        let new = wallets::enter(tx, |_| self.bucket, &entries).await?.len();
        if new != entries.len() {
            return Err(Error::Impossible("a transfer is there already"));
        }
        wallets::add(tx, &movements).await
    }

    async fn keep(&self, tx: &mut Tx) -> Result<()> {
        let Transfer {
            id,
            account,
            request,
            created_at_ms,
        } = &self.transfer;
        tx.execute(
            query(
                "insert into transfers (parent_id, reference, transfer_id, account_id, direction,
                     amount, created_at_ms)
                 values ($1, $2, $3, $4, $5, $6, $7)",
            )
            .bind(self.parent.0)
            .bind(&request.reference)
            .bind(id_bytes(id))
            .bind(account.0)
            .bind(request.direction.as_str())
            .bind(request.amount.units())
            .bind(*created_at_ms),
        )
        .await?;
        let entry = Entry {
            by: &self.by,
            verb: "sub-account.transfer",
            account: Some(*account),
            object: &redact(&request.reference),
            before: Value::Null,
            after: json!({
                "direction": request.direction.as_str(), "amount": request.amount.to_string(),
            }),
        };
        audit::enter(tx, entry).await
    }
}

impl Change for MakeTransfer {
    type Output = std::result::Result<Transfer, Refusal>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        if !is_known(tx, self.parent, self.transfer.account).await? {
            return Ok(Err(Refusal::Object(ObjectRefusal::UnknownSubAccount)));
        }
        // The lock of the parent's wallet orders all uses of a reference.
        let mut owners = self.owners();
        owners.sort_unstable();
        let wallets = wallets::lock(tx, &owners).await?;
        if let Some(before) = self.before(tx).await? {
            let is_same =
                before.account == self.transfer.account && before.request == self.transfer.request;
            let refusal = Refusal::Object(ObjectRefusal::ReferenceUsed);
            return Ok(if is_same { Ok(before) } else { Err(refusal) });
        }
        let [gives, _] = self.owners();
        let purse = wallets.get(&gives).map(|wallet| wallet.purse);
        let purse = purse.ok_or(Error::Impossible("an account has no wallet"))?;
        let amount = self.transfer.request.amount;
        let Some(drawn) = purse.draw(amount) else {
            return Ok(Err(Refusal::InsufficientFunds {
                needed: amount,
                available: purse.total(),
            }));
        };
        self.move_money(tx, &drawn).await?;
        self.keep(tx).await?;
        Ok(Ok(self.transfer.clone()))
    }

    // A transfer that is made twice is found by its reference.
}
