//! Pages of messages, and single messages.

use super::scope::{ListPage, Scope};
use crate::error::Error;
use domain::schedule::{self, MessageState, Progress};
use domain::search::{List, MessageFilter, Page, StatusFilter};
use domain::{AccountId, Gateway, MessageId, Money, Recipient, Refusal, sender};
use std::collections::HashMap;
use store::{Candidate, IdRange, MessageInfo, MessageTotals, SearchScope};

/// Maximum number of messages that a filter without an index examines for a page. At this number
/// the page ends early, and its cursor continues the search.
const MAX_EXAMINED: usize = 10_000;
/// Maximum number of messages that a filter examines for a page if it reads the totals of each
/// message.
const MAX_COUNTED: usize = 2_000;
/// Number of messages that are read from the database at a time.
const EXAMINED_BATCH_SIZE: usize = 500;

/// A pause or a resume of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PauseChange {
    /// The time, Unix milliseconds.
    pub at_ms: i64,
    /// `true` for a pause.
    pub is_pause: bool,
}

/// Reads the stored pauses and resumes of a message.
fn pauses(stored: Option<&str>) -> Vec<PauseChange> {
    let all = stored.unwrap_or_default().split(',');
    let read = |one: &str| {
        let (name, at_ms) = one.split_once(' ')?;
        Some(PauseChange {
            at_ms: at_ms.parse().ok()?,
            is_pause: name == "paused",
        })
    };
    all.filter_map(read).collect()
}

/// A message in the form of lists.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Message {
    /// The id.
    pub id: MessageId,
    /// The account.
    pub account: AccountId,
    /// The time of acceptance, Unix milliseconds.
    pub created_at_ms: i64,
    /// The due time, Unix milliseconds, if it is later than the acceptance.
    pub scheduled_for_ms: Option<i64>,
    /// The state.
    pub state: MessageState,
    /// The last pauses and resumes, oldest first.
    pub pauses: Vec<PauseChange>,
    /// The sender ID.
    pub sender: String,
    /// The requested gateway.
    pub gateway: Gateway,
    /// The text, or `None` if retention removed it.
    pub body: Option<String>,
    /// `true` if each recipient has a text of its own, which retention did not remove yet.
    pub is_personalised: bool,
    /// The number of recipients.
    pub recipients: u64,
    /// The pages of the longest form of the text.
    pub page_count: i64,
    /// The pages of all recipients.
    pub pages_total: i64,
    /// The charge.
    pub cost: Money,
    /// The refunds so far.
    pub refunded: Money,
    /// The caller's reference.
    pub customer_reference: Option<String>,
    /// The number of delivered recipients.
    pub delivered: u64,
    /// The number of recipients without an outcome.
    pub pending: u64,
    /// The number of recipients with another outcome.
    pub failed: u64,
}

impl Message {
    fn new(info: MessageInfo, totals: &MessageTotals, now_ms: i64) -> Self {
        let failed = totals.not_delivered();
        Self {
            id: info.id,
            account: info.account,
            created_at_ms: info.id.accepted_at_ms(),
            scheduled_for_ms: schedule::scheduled_for(
                info.due_at_ms,
                info.paused_for_ms,
                info.id.accepted_at_ms(),
            ),
            state: state(&info, totals, now_ms),
            pauses: pauses(info.changes.as_deref()),
            sender: info.sender,
            gateway: info.gateway,
            body: Some(info.body).filter(|body| !body.is_empty()),
            is_personalised: info.is_personalised,
            recipients: info.recipients,
            page_count: info.page_count,
            pages_total: info.pages_total,
            cost: info.cost,
            refunded: totals.refunded,
            customer_reference: info.customer_reference,
            delivered: totals.delivered,
            pending: info.recipients.saturating_sub(totals.delivered + failed),
            failed,
        }
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn state(info: &MessageInfo, totals: &MessageTotals, now_ms: i64) -> MessageState {
    let progress = Progress {
        recipients: signed(info.recipients),
        handed_over: signed(totals.deliveries - totals.cancelled),
        ended: signed(totals.deliveries - totals.open),
        cancelled: signed(totals.cancelled),
        due_at_ms: info.due_at_ms.unwrap_or_else(|| info.id.accepted_at_ms()),
        is_paused: info.paused_at_ms.is_some(),
        was_cancelled: info.was_cancelled,
    };
    progress.state(now_ms)
}

/// Returns `true` if a message has a recipient with this status.
fn has_status(recipients: u64, totals: &MessageTotals, status: StatusFilter) -> bool {
    let count = match status {
        StatusFilter::Pending => recipients.saturating_sub(totals.deliveries - totals.open),
        StatusFilter::Delivered => totals.delivered,
        StatusFilter::Undelivered => totals.undelivered,
        StatusFilter::Expired => totals.expired,
        StatusFilter::Rejected => totals.rejected,
        StatusFilter::Failed => totals.failed,
        StatusFilter::Cancelled => totals.cancelled,
    };
    count > 0
}

/// Returns the maximum number of messages that are examined for a page, and the number of messages
/// that are read at a time. `None` reads one page.
fn budget(filter: &MessageFilter) -> (usize, Option<usize>) {
    let counts = filter.state.is_some() || filter.delivery_status.is_some();
    if counts {
        (MAX_COUNTED, Some(EXAMINED_BATCH_SIZE))
    } else if filter.sender.is_some() || filter.gateway.is_some() {
        (MAX_EXAMINED, Some(EXAMINED_BATCH_SIZE))
    } else {
        (MAX_EXAMINED, None)
    }
}

/// Messages of a page, and the last examined message. At the end of the list there is none.
pub(super) struct MessagePage {
    pub(super) items: Vec<Message>,
    pub(super) ends_at: Option<MessageId>,
}

/// Returns a page of the messages that match a filter, newest first.
pub(crate) async fn list(
    scope: &Scope<'_>,
    filter: &MessageFilter,
    page: Page,
) -> Result<ListPage<Message>, Error> {
    let MessagePage { items, ends_at } = self::page(scope, filter, page).await?;
    let next_cursor = ends_at.map(|id| scope.after_message(List::Messages, id));
    Ok(ListPage { items, next_cursor })
}

/// Reads a page of the messages that match a filter.
pub(super) async fn page(
    scope: &Scope<'_>,
    filter: &MessageFilter,
    page: Page,
) -> Result<MessagePage, Error> {
    read_page(scope, filter, page, Totals::Read).await
}

/// Reads a page of the messages that match a filter, without totals. Their states, refunds and
/// counts of outcomes may be wrong.
pub(super) async fn page_without_totals(
    scope: &Scope<'_>,
    filter: &MessageFilter,
    page: Page,
) -> Result<MessagePage, Error> {
    read_page(scope, filter, page, Totals::LeftOut).await
}

/// This says whether the totals of messages are read that no filter needs.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Totals {
    Read,
    LeftOut,
}

async fn read_page(
    scope: &Scope<'_>,
    filter: &MessageFilter,
    page: Page,
    wanted_totals: Totals,
) -> Result<MessagePage, Error> {
    let search = SearchScope {
        account: scope.account,
        environment: scope.environment,
        customer_reference: filter.customer_reference.clone(),
        sender_key: filter.sender.clone(),
        recipient: filter.recipient,
    };
    let mut range = IdRange::accepted(filter.since_ms, filter.until_ms);
    if let Some(after) = page.after {
        range = range.before(MessageId::from_number(after.id));
    }
    let limit = page.limit as usize;
    let (max_examined, batch_size) = budget(filter);
    let (mut items, mut examined) = (Vec::new(), 0);
    let ends_at = loop {
        // One further message shows whether there is another page.
        let wanted = limit + 1 - items.len();
        let chunk = batch_size.unwrap_or(wanted);
        let found = scope.store.search().newest(&search, range, chunk).await?;
        let is_end = found.len() < chunk;
        let Some(last) = found.last().map(|found| found.id) else {
            break None;
        };
        examined += found.len();
        range = range.before(last);
        items.extend(matching(scope, filter, found, (wanted, wanted_totals)).await?);
        if items.len() > limit {
            items.truncate(limit);
            break items.last().map(|item: &Message| item.id);
        }
        if is_end {
            break None;
        }
        if examined >= max_examined {
            break Some(last);
        }
    };
    Ok(MessagePage { items, ends_at })
}

/// Returns the first `wanted` candidates that match a filter.
async fn matching(
    scope: &Scope<'_>,
    filter: &MessageFilter,
    mut found: Vec<Candidate>,
    (wanted, wanted_totals): (usize, Totals),
) -> Result<Vec<Message>, Error> {
    found.retain(|one| {
        let is_sender = |key: &String| sender::key(&one.sender) == *key;
        filter.sender.as_ref().is_none_or(is_sender)
            && filter.gateway.is_none_or(|gateway| gateway == one.gateway)
    });
    if let Some(recipient) = filter.recipient {
        retain_with_recipient(scope, recipient, &mut found).await?;
    }
    let mut totals = HashMap::new();
    if filter.state.is_some() || filter.delivery_status.is_some() {
        totals = read_totals(scope, &found).await?;
        found.retain(|one| {
            let own_totals = totals.get(&one.id).copied().unwrap_or_default();
            filter
                .delivery_status
                .is_none_or(|status| has_status(one.recipients, &own_totals, status))
        });
    }
    if filter.state.is_none() {
        found.truncate(wanted);
    }
    if totals.is_empty() && wanted_totals == Totals::Read {
        totals = read_totals(scope, &found).await?;
    }
    let keys: Vec<_> = found.iter().map(|one| (one.account, one.id)).collect();
    let messages = scope.store.search().infos(&keys).await?;
    let mut messages: Vec<Message> = messages
        .into_iter()
        .map(|info| {
            let own_totals = totals.get(&info.id).copied().unwrap_or_default();
            Message::new(info, &own_totals, scope.now_ms)
        })
        .filter(|message| filter.state.is_none_or(|state| state == message.state))
        .collect();
    messages.sort_unstable_by_key(|message| std::cmp::Reverse(message.id));
    messages.truncate(wanted);
    Ok(messages)
}

async fn retain_with_recipient(
    scope: &Scope<'_>,
    recipient: Recipient,
    found: &mut Vec<Candidate>,
) -> Result<(), Error> {
    let keys: Vec<_> = found.iter().map(|one| (one.account, one.id)).collect();
    let matching_ids = scope
        .store
        .recipients()
        .messages_with(&keys, recipient)
        .await?;
    found.retain(|one| matching_ids.contains(&one.id));
    Ok(())
}

async fn read_totals(
    scope: &Scope<'_>,
    found: &[Candidate],
) -> Result<HashMap<MessageId, MessageTotals>, Error> {
    let keys = found
        .iter()
        .map(|one| (one.account, one.id, one.recipients));
    Ok(scope
        .store
        .search()
        .totals(&keys.collect::<Vec<_>>())
        .await?)
}

/// Returns messages by their ids, in no order. Missing ones are left out.
pub(super) async fn by_ids(
    scope: &Scope<'_>,
    keys: &[(AccountId, MessageId)],
) -> Result<Vec<Message>, Error> {
    let search = scope.store.search();
    let found = search.infos(keys).await?;
    let counted = found
        .iter()
        .map(|one| (one.account, one.id, one.recipients));
    let totals = search.totals(&counted.collect::<Vec<_>>()).await?;
    let message = |info: MessageInfo| {
        let own_totals = totals.get(&info.id).copied().unwrap_or_default();
        Message::new(info, &own_totals, scope.now_ms)
    };
    Ok(found.into_iter().map(message).collect())
}

/// Returns one message. A text that is not an id is refused like an unknown id.
pub(crate) async fn find(scope: &Scope<'_>, id: &str) -> Result<Message, Error> {
    let id: MessageId = id.trim().parse().map_err(|_| Refusal::UnknownMessage)?;
    let search = scope.store.search();
    let found = search.info(scope.account, scope.environment, id).await?;
    let info = found.ok_or(Refusal::UnknownMessage)?;
    let key = (info.account, info.id, info.recipients);
    let totals = search.totals(&[key]).await?;
    let totals = totals.get(&info.id).copied().unwrap_or_default();
    Ok(Message::new(info, &totals, scope.now_ms))
}
