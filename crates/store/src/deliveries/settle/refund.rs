//! Refunds: money that returns to the components that paid, once for each recipient.
//!
//! Refunds are the last step of a transaction, all at once. All who change wallets lock them in one
//! order.

use super::decide::Settlement;
use super::margins::{self, Refunded};
use super::message::MessageFacts;
use crate::buckets::Buckets;
use crate::wallets::{self, EntryKind, LedgerEntry, Movement, Owner};
use database::{Result, Tx};
use domain::{Environment, MessageId, Money, Purse, Recipient, Refund};
use std::collections::{BTreeMap, HashMap};

/// The refund for a recipient.
#[derive(Debug)]
pub(crate) struct RefundDue {
    message: MessageFacts,
    recipient: Recipient,
    refund: Refund,
    amount: Money,
}

/// Returns the refunds due for these outcomes. The sandbox has no wallet.
pub(super) fn owed(
    outcomes: &[Settlement],
    messages: &HashMap<MessageId, MessageFacts>,
) -> Vec<RefundDue> {
    let owed = outcomes.iter().filter_map(|outcome| {
        let message = messages.get(&outcome.case.message)?;
        let refund = outcome.refund?;
        (message.environment == Environment::Live).then(|| RefundDue {
            message: message.clone(),
            recipient: outcome.case.recipient,
            refund,
            amount: match refund {
                Refund::Charge => outcome.case.charge,
                Refund::Reserve => outcome.case.reserve,
            },
        })
    });
    owed.collect()
}

/// Returns money to its source. It is the last step of a transaction.
pub(crate) async fn refund(
    tx: &mut Tx,
    buckets: Buckets,
    now_ms: i64,
    owed: Vec<RefundDue>,
) -> Result<()> {
    if owed.is_empty() {
        return Ok(());
    }
    let owner =
        |message: &MessageFacts| -> Owner { (buckets.account(message.account), message.account) };
    let of_parents = of_parents(buckets, &owed);
    let margins = match &of_parents[..] {
        [] => Vec::new(),
        some => margins::taken_back(tx, some, now_ms).await?,
    };
    let mut owners: Vec<Owner> = owed.iter().map(|owed| owner(&owed.message)).collect();
    owners.extend(
        margins
            .iter()
            .map(|taken| (buckets.account(taken.account), taken.account)),
    );
    owners.sort_unstable();
    owners.dedup();
    wallets::lock(tx, &owners).await?;
    let mut mixed: Vec<(Owner, MessageId)> = owed
        .iter()
        .map(|owed| &owed.message)
        .filter(|message| message.paid_from.parts().count() > 1)
        .map(|message| (owner(message), message.message))
        .collect();
    mixed.sort_unstable();
    mixed.dedup();
    let mut refunded = wallets::refunded(tx, &mixed).await?;
    let mut entries = Vec::with_capacity(owed.len());
    entries.extend(margins);
    for owed in owed {
        let so_far = refunded.entry(owed.message.message).or_default();
        let entry = entry(now_ms, &owed);
        for (component, amount) in back(&owed, so_far).parts() {
            so_far.add(component, amount);
            entries.push(LedgerEntry {
                component,
                amount,
                ..entry.clone()
            });
        }
    }
    let mut movements: BTreeMap<Owner, Movement> = BTreeMap::new();
    for entry in wallets::enter(tx, |account| buckets.account(account), &entries).await? {
        let owner = (buckets.account(entry.account), entry.account);
        movements
            .entry(owner)
            .or_default()
            .purse
            .add(entry.component, entry.amount);
    }
    wallets::add(tx, &movements).await
}

/// Returns the refunded recipients whose margins parents lose. The reserve of a second leg has none.
fn of_parents(buckets: Buckets, owed: &[RefundDue]) -> Vec<Refunded> {
    let whole = owed.iter().filter(|owed| owed.refund == Refund::Charge);
    let of_parents = whole.filter_map(|owed| {
        Some(Refunded {
            bucket: buckets.account(owed.message.account),
            parent: owed.message.parent?,
            message: owed.message.message,
            recipient: owed.recipient,
        })
    });
    of_parents.collect()
}

fn back(owed: &RefundDue, so_far: &Purse) -> Purse {
    let paid_from = &owed.message.paid_from;
    let mut parts = paid_from.parts();
    match (parts.next(), parts.next()) {
        // One component paid all, so earlier refunds need not be known.
        (Some((component, _)), None) => Purse::from_iter([(component, owed.amount)]),
        _ => paid_from.refund(so_far, owed.amount),
    }
}

fn entry(now_ms: i64, owed: &RefundDue) -> LedgerEntry {
    LedgerEntry {
        account: owed.message.account,
        subject: owed.message.message,
        recipient: Some(owed.recipient),
        kind: match owed.refund {
            Refund::Charge => EntryKind::Refund,
            Refund::Reserve => EntryKind::UnusedLeg,
        },
        component: domain::Component::SmsWallet,
        amount: Money::ZERO,
        created_at_ms: now_ms,
        reference: None,
    }
}
