//! The credit of a top-up.

use crate::buckets::Buckets;
use crate::wallets::{EntryKind, LedgerEntry, Movement, add, enter};
use database::{Error, Result, Tx, query};
use domain::payment::TopUp;
use domain::{AccountId, Component, Environment, Purse};
use std::collections::BTreeMap;

/// The mark that counts the receipts. Two writers wait for each other on it, so that no number is
/// left out.
const RECEIPTS: &str = "receipts";
/// The mark that counts the receipts of the sandbox.
const SANDBOX_RECEIPTS: &str = "receipts-sandbox";
/// The marks that count receipts.
pub(crate) const RECEIPT_COUNTS: [&str; 2] = [RECEIPTS, SANDBOX_RECEIPTS];

/// Returns the ledger entries of a top-up: its amount and its bonus.
fn entries(account: AccountId, top_up: &TopUp, now_ms: i64) -> Vec<LedgerEntry> {
    let entry = |component, amount, reference| LedgerEntry {
        account,
        subject: top_up.id.subject(),
        recipient: None,
        kind: EntryKind::Credit,
        component,
        amount,
        created_at_ms: now_ms,
        reference: Some(reference),
    };
    let price = &top_up.price;
    let (amount, bonus) = (price.amount, price.bonus);
    let mut entries = vec![entry(price.component, amount, top_up.reference.clone())];
    if bonus.is_positive() && price.component == Component::SmsBonus {
        entries[0].amount += bonus;
    } else if bonus.is_positive() {
        let reference = format!("{}-bonus", top_up.reference);
        entries.push(entry(Component::SmsBonus, bonus, reference));
    }
    entries
}

/// Returns `true` if an entry of the account has one of these references.
async fn are_used(tx: &mut Tx, bucket: i64, entries: &[LedgerEntry]) -> Result<bool> {
    for entry in entries {
        let find = query(
            "select amount from ledger
             where bucket = $1 and account_id = $2 and reference = $3 and kind = 'credit'",
        );
        let find = find.bind(bucket).bind(entry.account.0);
        let found: Option<i64> = tx.fetch_optional(find.bind(&entry.reference)).await?;
        if found.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Credits a paid top-up, whose wallet is locked, and numbers its receipt. In the sandbox nothing is
/// credited. Returns `false` if the account was credited under this reference before.
pub(super) async fn credit(
    tx: &mut Tx,
    buckets: Buckets,
    account: AccountId,
    top_up: &mut TopUp,
    now_ms: i64,
) -> Result<bool> {
    let mark = match top_up.environment {
        Environment::Live => RECEIPTS,
        Environment::Sandbox => SANDBOX_RECEIPTS,
    };
    if top_up.environment == Environment::Live {
        let bucket = buckets.account(account);
        let entries = entries(account, top_up, now_ms);
        if are_used(tx, bucket.0, &entries).await? {
            return Ok(false);
        }
        if enter(tx, |_| bucket, &entries).await?.len() != entries.len() {
            return Err(Error::Impossible("a top-up is credited already"));
        }
        let amounts = entries.iter().map(|entry| (entry.component, entry.amount));
        let purse: Purse = amounts.collect();
        let movement = Movement {
            purse,
            spending: None,
        };
        add(tx, &BTreeMap::from([((bucket, account), movement)])).await?;
    }
    let count = query(
        "insert into marks (name, value) values ($1, 1)
         on conflict (name) do update set value = marks.value + 1 returning value",
    );
    let number: i64 = tx.fetch_one(count.bind(mark)).await?;
    top_up.receipt_number = Some(number);
    Ok(true)
}
