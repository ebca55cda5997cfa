//! The rows of top-ups.

use crate::rows::{environment, named};
use database::{Error, Result, Tx, locking, query};
use domain::payment::{Mismatch, Percent, Priced, Received, TopUp, TopUpId, TopUpState};
use domain::{AccountId, Component, Environment, Money};
use uuid::Uuid;

pub(super) struct TopUpRow {
    top_up_id: Vec<u8>,
    account_id: i64,
    sandbox: bool,
    provider: String,
    reference: String,
    amount: i64,
    vat: i64,
    vat_rate: i64,
    bonus: i64,
    component: String,
    state: String,
    watched: bool,
    created_at_ms: i64,
    expires_at_ms: i64,
    checkout_url: String,
    return_url: Option<String>,
    payment_id: Option<String>,
    received: Option<i64>,
    currency: Option<String>,
    mismatch: Option<String>,
    decided_at_ms: Option<i64>,
    paid_at_ms: Option<i64>,
    receipt_number: Option<i64>,
}

database::from_row!(TopUpRow {
    top_up_id,
    account_id,
    sandbox,
    provider,
    reference,
    amount,
    vat,
    vat_rate,
    bonus,
    component,
    state,
    watched,
    created_at_ms,
    expires_at_ms,
    checkout_url,
    return_url,
    payment_id,
    received,
    currency,
    mismatch,
    decided_at_ms,
    paid_at_ms,
    receipt_number
});

impl TopUpRow {
    pub(super) fn read(self) -> Result<TopUp> {
        let id = Uuid::from_slice(&self.top_up_id)
            .map_err(|_| Error::Unreadable("a top-up id of another length".to_owned()))?;
        let received = match (self.received, self.currency, self.payment_id) {
            (Some(amount), Some(currency), Some(payment_id)) => Some(Received {
                amount: Money::from_units(amount),
                currency,
                payment_id,
            }),
            _ => None,
        };
        let mismatch = self.mismatch.as_deref();
        let mismatch = mismatch.map(|reason| named(Mismatch::from_name, reason));
        Ok(TopUp {
            id: TopUpId(id),
            account: Some(AccountId(self.account_id)).filter(|account| account.0 != 0),
            environment: environment(self.sandbox),
            provider: self.provider,
            reference: self.reference,
            price: Priced {
                amount: Money::from_units(self.amount),
                vat: Money::from_units(self.vat),
                vat_rate: Percent::from_hundredths(self.vat_rate),
                bonus: Money::from_units(self.bonus),
                component: named(Component::from_name, &self.component)?,
            },
            state: named(TopUpState::from_name, &self.state)?,
            is_watched: self.watched,
            created_at_ms: self.created_at_ms,
            expires_at_ms: self.expires_at_ms,
            checkout_url: self.checkout_url,
            return_url: self.return_url,
            received,
            mismatch: mismatch.transpose()?,
            decided_at_ms: self.decided_at_ms,
            paid_at_ms: self.paid_at_ms,
            receipt_number: self.receipt_number,
        })
    }
}

/// Reads a top-up.
pub(super) async fn find(tx: &mut Tx, id: TopUpId) -> Result<Option<TopUp>> {
    let find = query("select * from top_ups where top_up_id = $1").bind(&id.0.as_bytes()[..]);
    let row: Option<TopUpRow> = tx.fetch_optional(find).await?;
    row.map(TopUpRow::read).transpose()
}

/// Reads a top-up, and locks it until the commit. It is locked before the wallet of its account.
pub(super) async fn lock(tx: &mut Tx, id: TopUpId) -> Result<Option<TopUp>> {
    let lock = locking!("select * from top_ups where top_up_id = $1"; "for update");
    let row: Option<TopUpRow> = tx
        .fetch_optional(query(lock).bind(&id.0.as_bytes()[..]))
        .await?;
    row.map(TopUpRow::read).transpose()
}

/// Inserts a top-up. Returns `false` if its reference is known.
pub(super) async fn insert(tx: &mut Tx, top_up: &TopUp) -> Result<bool> {
    let insert = query(
        "insert into top_ups (top_up_id, account_id, sandbox, provider, reference, amount, vat,
             vat_rate, bonus, component, state, watched, created_at_ms, expires_at_ms,
             checked_at_ms, checkout_url, return_url, payment_id, received, currency, mismatch)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $13, $15, $16, $17,
             $18, $19, $20)
         on conflict do nothing",
    );
    let (price, received) = (&top_up.price, top_up.received.as_ref());
    let insert = insert
        .bind(&top_up.id.0.as_bytes()[..])
        .bind(top_up.account.map_or(0, |account| account.0))
        .bind(top_up.environment == Environment::Sandbox)
        .bind(&top_up.provider)
        .bind(&top_up.reference)
        .bind(price.amount.units())
        .bind(price.vat.units())
        .bind(price.vat_rate.hundredths())
        .bind(price.bonus.units())
        .bind(price.component.as_str())
        .bind(top_up.state.as_str())
        .bind(top_up.is_watched)
        .bind(top_up.created_at_ms)
        .bind(top_up.expires_at_ms)
        .bind(&top_up.checkout_url)
        .bind(&top_up.return_url)
        .bind(received.map(|received| received.payment_id.clone()))
        .bind(received.map(|received| received.amount.units()))
        .bind(received.map(|received| received.currency.clone()))
        .bind(top_up.mismatch.map(Mismatch::as_str));
    Ok(tx.execute(insert).await? == 1)
}

/// Stores the changed state of a top-up, whose state was `before`.
pub(super) async fn write(tx: &mut Tx, before: TopUpState, top_up: &TopUp) -> Result<()> {
    let write = query(
        "update top_ups set account_id = $3, amount = $4, vat = $5, bonus = $6, state = $7,
             watched = $8, payment_id = $9, received = $10, currency = $11, mismatch = $12,
             decided_at_ms = $13, paid_at_ms = $14, receipt_number = $15
         where top_up_id = $1 and state = $2",
    );
    let (price, received) = (&top_up.price, top_up.received.as_ref());
    let write = write
        .bind(&top_up.id.0.as_bytes()[..])
        .bind(before.as_str())
        .bind(top_up.account.map_or(0, |account| account.0))
        .bind(price.amount.units())
        .bind(price.vat.units())
        .bind(price.bonus.units())
        .bind(top_up.state.as_str())
        .bind(top_up.is_watched)
        .bind(received.map(|received| received.payment_id.clone()))
        .bind(received.map(|received| received.amount.units()))
        .bind(received.map(|received| received.currency.clone()))
        .bind(top_up.mismatch.map(Mismatch::as_str))
        .bind(top_up.decided_at_ms)
        .bind(top_up.paid_at_ms)
        .bind(top_up.receipt_number);
    if tx.execute(write).await? == 1 {
        Ok(())
    } else {
        Err(Error::Impossible("a top-up changed under its lock"))
    }
}
