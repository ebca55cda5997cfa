//! Money that goes back: to the components that paid, once for each recipient.

use super::{Case, Outcome, Settling};
use crate::Store;
use crate::db::Tx;
use crate::error::Result;
use crate::wallets::{self, EntryKind, LedgerEntry, Owner};
use domain::{Environment, MessageId, Money, Purse, Refund};
use std::collections::{BTreeMap, HashMap};

/// Gives money back to where it came from. The sandbox has no wallet.
pub(super) async fn refund(
    tx: &mut Tx,
    store: &Store,
    now_ms: i64,
    outcomes: &[Outcome],
    messages: &HashMap<MessageId, Settling>,
) -> Result<()> {
    let owed: Vec<(&Outcome, Refund, &Settling)> = outcomes
        .iter()
        .filter_map(|outcome| {
            let message = messages.get(&outcome.case.message)?;
            let refund = outcome.refund?;
            (message.environment == Environment::Live).then_some((outcome, refund, message))
        })
        .collect();
    if owed.is_empty() {
        return Ok(());
    }
    let owner =
        |message: &Settling| -> Owner { (store.bucket_of(message.account), message.account) };
    let mut owners: Vec<Owner> = owed.iter().map(|(_, _, message)| owner(message)).collect();
    owners.sort_unstable();
    owners.dedup();
    let bucket = store.common(owners.iter().map(|owner| owner.0))?;
    wallets::lock(tx, bucket, &owners).await?;
    let mut mixed: Vec<(Owner, MessageId)> = owed
        .iter()
        .filter(|(_, _, message)| message.paid_from.parts().count() > 1)
        .map(|(_, _, message)| (owner(message), message.message))
        .collect();
    mixed.sort_unstable();
    mixed.dedup();
    let mut refunded = wallets::refunded(tx, &mixed).await?;
    let mut entries = Vec::with_capacity(owed.len());
    for (outcome, refund, message) in owed {
        let so_far = refunded.entry(message.message).or_default();
        let entry = entry(now_ms, &outcome.case, refund, message);
        for (component, amount) in back(&outcome.case, refund, message, so_far).parts() {
            so_far.add(component, amount);
            entries.push(LedgerEntry {
                component,
                amount,
                ..entry.clone()
            });
        }
    }
    let mut amounts: BTreeMap<Owner, Purse> = BTreeMap::new();
    for entry in wallets::enter(tx, |account| store.bucket_of(account), &entries).await? {
        let owner = (store.bucket_of(entry.account), entry.account);
        amounts
            .entry(owner)
            .or_default()
            .add(entry.component, entry.amount);
    }
    wallets::add(tx, &amounts).await
}

fn back(case: &Case, refund: Refund, message: &Settling, so_far: &Purse) -> Purse {
    let amount = match refund {
        Refund::Charge => case.charge,
        Refund::Reserve => case.reserve,
    };
    let mut parts = message.paid_from.parts();
    match (parts.next(), parts.next()) {
        // All was paid by one component: no need to know what went back before.
        (Some((component, _)), None) => Purse::from_iter([(component, amount)]),
        _ => message.paid_from.refund(so_far, amount),
    }
}

fn entry(now_ms: i64, case: &Case, refund: Refund, message: &Settling) -> LedgerEntry {
    LedgerEntry {
        account: message.account,
        subject: message.message,
        recipient: Some(case.recipient),
        kind: match refund {
            Refund::Charge => EntryKind::Refund,
            Refund::Reserve => EntryKind::UnusedLeg,
        },
        component: domain::Component::SmsWallet,
        amount: Money::ZERO,
        created_at_ms: now_ms,
        reference: None,
    }
}
