//! Entries of a wallet, newest message or credit first.

use super::scope::{ListPage, Scope};
use crate::error::Error;
use domain::search::{self, List, Page, Position, WalletFilter};
use domain::{AccountId, Component, MessageId, Money, Recipient};
use store::{EntryKind, LedgerEntry, LedgerKey, ListRow as _};

/// Maximum number of entries that a filter examines for a page. At this number the page ends early,
/// and its cursor continues the search.
const MAX_EXAMINED: usize = 20_000;
/// Number of entries that are read from the database at a time.
const EXAMINED_BATCH_SIZE: u32 = 500;
/// Number of bits for each of kind and component in the place of a cursor.
const KIND_BITS: u32 = 3;

/// An entry of a wallet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WalletEntry {
    /// The id, which names the entry in the account.
    pub id: String,
    /// Time, Unix milliseconds.
    pub at_ms: i64,
    /// The kind.
    pub kind: search::EntryKind,
    /// The amount, negative for a charge.
    pub amount: Money,
    /// The component.
    pub component: Component,
    /// The balance of the component after the entry.
    pub balance_after: Money,
    /// The message of a charge, refund or margin.
    pub message: Option<MessageId>,
    /// The recipient of a refund, or of a margin that was taken back.
    pub recipient: Option<Recipient>,
    /// The reference of a credit or transfer.
    pub reference: Option<String>,
}

impl WalletEntry {
    fn new(entry: LedgerEntry, balance_after: Money) -> Self {
        let kind = kind(&entry);
        let is_of_message = matches!(
            kind,
            search::EntryKind::Charge | search::EntryKind::Refund | search::EntryKind::Margin
        );
        Self {
            id: format!("{}-{:x}", entry.subject.0.simple(), place(&entry)),
            at_ms: entry.created_at_ms,
            kind,
            amount: entry.amount,
            component: entry.component,
            balance_after,
            message: is_of_message.then_some(entry.subject),
            recipient: entry.recipient,
            reference: entry.reference,
        }
    }
}

/// Returns the kind of an entry as named in the API.
fn kind(entry: &LedgerEntry) -> search::EntryKind {
    match entry.kind {
        EntryKind::Charge => search::EntryKind::Charge,
        EntryKind::Refund | EntryKind::UnusedLeg => search::EntryKind::Refund,
        EntryKind::Credit if entry.amount < Money::ZERO => search::EntryKind::Debit,
        EntryKind::Credit => search::EntryKind::Credit,
        EntryKind::Transfer => search::EntryKind::Transfer,
        EntryKind::Margin => search::EntryKind::Margin,
    }
}

/// Returns the place of an entry among those of its message or credit: recipient, kind and component.
fn place(entry: &LedgerEntry) -> u64 {
    let digits = entry.recipient.map_or(0, Recipient::digits);
    let index = |place: Option<usize>| place.unwrap_or_default() as u64;
    let kind = index(EntryKind::ALL.iter().position(|kind| *kind == entry.kind));
    let component = index(
        Component::ALL
            .iter()
            .position(|one| *one == entry.component),
    );
    (digits << (2 * KIND_BITS)) | (kind << KIND_BITS) | component
}

/// Returns the key of the entry at a position.
fn key_at(position: Position) -> Option<LedgerKey> {
    let bits = |shift: u32| usize::try_from((position.place >> shift) & ((1 << KIND_BITS) - 1));
    let kind = EntryKind::ALL.get(bits(KIND_BITS).ok()?)?;
    let component = Component::ALL.get(bits(0).ok()?)?;
    let digits = i64::try_from(position.place >> (2 * KIND_BITS)).ok()?;
    let (kind, component) = (kind.as_str().to_owned(), component.as_str().to_owned());
    Some((position.id, digits, kind, component))
}

/// Entries of a page, and the position of the last examined entry. At the end of the list there is no position.
pub(super) struct EntryPage {
    pub(super) items: Vec<WalletEntry>,
    pub(super) ends_at: Option<Position>,
}

/// Returns a page of the entries of an account.
pub(crate) async fn list(
    scope: &Scope<'_>,
    account: AccountId,
    filter: &WalletFilter,
    page: Page,
) -> Result<ListPage<WalletEntry>, Error> {
    let EntryPage { items, ends_at } = self::page(scope, account, filter, page).await?;
    let cursor_scope = scope.cursor_scope(None);
    let next_cursor = ends_at.map(|last| last.encode(List::WalletEntries, &cursor_scope));
    Ok(ListPage { items, next_cursor })
}

/// Reads a page of the entries of an account.
pub(super) async fn page(
    scope: &Scope<'_>,
    account: AccountId,
    filter: &WalletFilter,
    page: Page,
) -> Result<EntryPage, Error> {
    let (limit, first) = (page.limit as usize, filter.message_id);
    let mut after_key = match page.after {
        Some(after) => key_at(after),
        None => first_key(filter),
    };
    let wallets = scope.store.wallets();
    let mut balances = None;
    let (mut items, mut examined) = (Vec::new(), 0);
    let ends_at = loop {
        let (found, newest) = wallets
            .statement_with_balances(account, after_key.clone(), EXAMINED_BATCH_SIZE, balances)
            .await?;
        let mut balance = newest;
        let count = found.len();
        let Some(last) = found.last().cloned() else {
            break None;
        };
        after_key = Some(last.key());
        examined += count;
        for entry in found {
            let after = balance.get(entry.component);
            balance.add(entry.component, Money::ZERO - entry.amount);
            if items.len() <= limit && matches(filter, &entry) {
                items.push((position(&entry), WalletEntry::new(entry, after)));
            }
        }
        balances = Some(balance);
        if items.len() > limit {
            items.truncate(limit);
            break items.last().map(|(position, _)| *position);
        }
        if count < EXAMINED_BATCH_SIZE as usize || is_exhausted(filter, &last, first) {
            break None;
        }
        if examined >= MAX_EXAMINED {
            break Some(position(&last));
        }
    };
    let items = items.into_iter().map(|(_, entry)| entry).collect();
    Ok(EntryPage { items, ends_at })
}

fn position(entry: &LedgerEntry) -> Position {
    Position {
        id: entry.subject.number(),
        place: place(entry),
    }
}

/// Returns the key after which the first page begins.
fn first_key(filter: &WalletFilter) -> Option<LedgerKey> {
    let until = match (filter.message_id, filter.until_ms) {
        (Some(message), _) => message.number().checked_add(1)?,
        (None, Some(until_ms)) => MessageId::lowest_at(until_ms).number(),
        (None, None) => return None,
    };
    Some((until, 0, String::new(), String::new()))
}

/// Returns `true` if an entry matches a filter.
fn matches(filter: &WalletFilter, entry: &LedgerEntry) -> bool {
    let at_ms = entry.created_at_ms;
    filter.since_ms.is_none_or(|since_ms| at_ms >= since_ms)
        && filter.until_ms.is_none_or(|until_ms| at_ms < until_ms)
        && filter.kind.is_none_or(|wanted| wanted == kind(entry))
        && filter
            .message_id
            .is_none_or(|message| message == entry.subject)
}

/// Returns `true` if no later entry can match the filter.
fn is_exhausted(filter: &WalletFilter, last: &LedgerEntry, message: Option<MessageId>) -> bool {
    let accepted_at_ms = last.subject.accepted_at_ms();
    message.is_some_and(|message| last.subject < message)
        || filter
            .since_ms
            .is_some_and(|since_ms| accepted_at_ms < since_ms - MAX_AGE_MS)
}

/// The longest time from the acceptance of a message to its last refund: 90 days of scheduling,
/// seven days for receipts, and a margin of three days.
pub(crate) const MAX_AGE_MS: i64 = 100 * 24 * 3_600_000;
