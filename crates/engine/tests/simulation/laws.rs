//! The laws of money that hold at every moment, also between a kill and the next start.
//!
//! Rows are read one list after the other while the engine works, so each law is read in an order in
//! which a whole transaction can only seem to be there, and never a part of it.

use super::customers::{PARENT, PAYERS, SUB};
use database::Result;
use domain::{AccountId, Component, Money};
use std::collections::{BTreeMap, BTreeSet};
use store::{EntryKind, LedgerEntry, Store};

/// Returns the violations of now.
pub(crate) async fn broken(store: &Store) -> Vec<String> {
    let mut wrong = Vec::new();
    // A read fails only with the disk, and the next check reads again.
    let _ = receipts(store, &mut wrong).await;
    let _ = between_accounts(store, &mut wrong).await;
    wrong
}

/// Returns the entries of an account, as one moment has them.
async fn entries(store: &Store, account: AccountId) -> Result<Vec<LedgerEntry>> {
    store.wallets().statement(account, None, u32::MAX).await
}

/// Receipts are numbered without gap or repeat, and each paid top-up has one credit.
async fn receipts(store: &Store, wrong: &mut Vec<String>) -> Result<()> {
    let all = store.top_ups().list_all(None, None, u32::MAX).await?;
    let mut numbers: Vec<i64> = all.iter().filter_map(|one| one.receipt_number).collect();
    numbers.sort_unstable();
    let expected = (1..).take(numbers.len());
    if !expected.eq(numbers.iter().copied()) {
        wrong.push(format!("receipts have the numbers {numbers:?}"));
    }
    let mut credits: BTreeMap<String, usize> = BTreeMap::new();
    for account in PAYERS {
        for entry in entries(store, account).await? {
            if let Some(reference) = entry.reference.filter(|_| entry.kind == EntryKind::Credit) {
                *credits.entry(reference).or_default() += 1;
            }
        }
    }
    for top_up in all.iter().filter(|one| one.receipt_number.is_some()) {
        if credits.get(&top_up.reference) != Some(&1) {
            wrong.push(format!("{top_up:?} has not one credit"));
        }
    }
    let repeated: Vec<_> = credits.iter().filter(|(_, count)| **count > 1).collect();
    if !repeated.is_empty() {
        wrong.push(format!("credited more than once: {repeated:?}"));
    }
    Ok(())
}

/// Transfers leave the sum of both wallets, margins are those of charges and refunds, and the
/// sub-account never spends what it was not given.
async fn between_accounts(store: &Store, wrong: &mut Vec<String>) -> Result<()> {
    let of_sub = entries(store, SUB).await?;
    let of_parent = entries(store, PARENT).await?;
    let later = entries(store, SUB).await?;
    let keys = |entries: &[LedgerEntry], kind: EntryKind, sign: i64| -> BTreeSet<_> {
        let of_kind = entries.iter().filter(|entry| entry.kind == kind);
        let key = |entry: &LedgerEntry| {
            let amount = (entry.amount * sign).units();
            (entry.subject.to_string(), entry.component.as_str(), amount)
        };
        of_kind.map(key).collect()
    };
    let given = keys(&of_sub, EntryKind::Transfer, 1);
    let taken = keys(&of_parent, EntryKind::Transfer, -1);
    let after = keys(&later, EntryKind::Transfer, 1);
    if !given.is_subset(&taken) || !taken.is_subset(&after) {
        wrong.push(format!("transfers differ: {given:?} {taken:?} {after:?}"));
    }
    let recipients = |entries: &[LedgerEntry], kinds: [EntryKind; 2]| -> BTreeSet<_> {
        let of_kind = entries.iter().filter(|entry| kinds.contains(&entry.kind));
        let key = |entry: &LedgerEntry| {
            let recipient = entry.recipient.map_or(0, domain::Recipient::digits);
            (entry.subject.to_string(), recipient)
        };
        of_kind.map(key).collect()
    };
    let of_money = [EntryKind::Charge, EntryKind::Refund];
    let paid = recipients(&of_sub, of_money);
    let margins = recipients(&of_parent, [EntryKind::Margin; 2]);
    let after = recipients(&later, of_money);
    if !paid.is_subset(&margins) || !margins.is_subset(&after) {
        wrong.push(format!("margins differ: {paid:?} {margins:?} {after:?}"));
    }
    let mut held: BTreeMap<Component, Money> = BTreeMap::new();
    for entry in &later {
        let component = held.entry(entry.component).or_insert(Money::ZERO);
        *component += entry.amount;
    }
    if held.values().any(|held| *held < Money::ZERO) {
        wrong.push(format!("the sub-account spent too much: {later:?}"));
    }
    Ok(())
}
