//! Pages of the recipients of a message, and single recipients with their events.

use super::events::{self, Event};
use super::messages::{self, Message};
use super::scope::{ListPage, Scope};
use crate::error::Error;
use domain::resale::Resale;
use domain::search::{List, Page, StatusFilter};
use domain::{
    Alphabet, Environment, Money, OTHER_NETWORK, PENDING, Recipient, Refusal, Text,
    parse_international, parse_national, parse_sandbox, recipient_charge,
};
use std::collections::{BTreeMap, HashMap};
use store::RecipientInfo;

/// Maximum number of recipients that a filter examines for a page. At this number the page ends
/// early, and its cursor continues the search.
const MAX_EXAMINED: usize = 10_000;
/// Number of recipients that are read from the database at a time.
const EXAMINED_BATCH_SIZE: usize = 1_000;

/// A recipient of a message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RecipientState {
    /// The number.
    pub recipient: Recipient,
    /// The network that the prefix belongs to.
    pub network: String,
    /// The status as named in the API.
    pub delivery_status: &'static str,
    /// The error code of the carrier or of this server.
    pub error_code: Option<String>,
    /// The text of the recipient, if the message is personalised.
    pub body: Option<String>,
    /// The pages of the text.
    pub pages: i64,
    /// The charge. Before the answer of a carrier, it is an estimate.
    pub cost: Money,
    /// The refunds.
    pub refunded: Money,
    /// The time of the carrier's answer, Unix milliseconds.
    pub submitted_at_ms: Option<i64>,
    /// The time of the last change, Unix milliseconds.
    pub updated_at_ms: i64,
}

/// A recipient with its events.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Timeline {
    /// The recipient.
    pub recipient: RecipientState,
    /// The events, oldest first.
    pub events: Vec<Event>,
}

/// The recipients of a message with the same outcome.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OutcomeCount {
    /// The status as named in the API.
    pub delivery_status: &'static str,
    /// The error code.
    pub error_code: Option<String>,
    /// The number of recipients.
    pub recipients: u64,
    /// Their refunds.
    pub refunded: Money,
}

/// A message with the values that its recipients share.
struct SharedValues<'a> {
    message: &'a Message,
    unicode: bool,
    /// The texts of the recipients of a personalised message.
    texts: HashMap<Recipient, String>,
    /// The terms of the parent of a sub-account, if an expected charge depends on them.
    resale: Option<Resale>,
}

impl<'a> SharedValues<'a> {
    /// Returns the message with the texts and the terms of these recipients.
    async fn with_texts(
        scope: &Scope<'_>,
        message: &'a Message,
        found: &[RecipientInfo],
    ) -> Result<Self, Error> {
        let texts = if message.is_personalised {
            let recipients: Vec<Recipient> = found.iter().map(|one| one.recipient).collect();
            let store = scope.store.recipients();
            store
                .texts(message.account, message.id, &recipients)
                .await?
        } else {
            HashMap::new()
        };
        let is_expected = found.iter().any(|one| one.delivery.is_none());
        let resale = if is_expected && message.recipients > 1 && scope.rules.is_some() {
            scope.store.sub_accounts().terms(message.account).await?
        } else {
            None
        };
        Ok(Self {
            message,
            resale,
            unicode: is_unicode(message.body.as_deref().unwrap_or_default()),
            texts,
        })
    }
}

fn is_unicode(text: &str) -> bool {
    Text::from_stored(text.to_owned()).alphabet() == Alphabet::Ucs2
}

/// Returns a page of the recipients of a message.
pub(crate) async fn list(
    scope: &Scope<'_>,
    id: &str,
    status: Option<StatusFilter>,
    page: (Option<&str>, Option<&str>),
) -> Result<ListPage<RecipientState>, Error> {
    let message = messages::find(scope, id).await?;
    let cursor_scope = scope.cursor_scope(Some(message.id));
    let page = Page::read(page.0, page.1, List::Recipients, &cursor_scope)?;
    let limit = page.limit as usize;
    let mut next = page.after.map_or(0, |after| {
        usize::try_from(after.place)
            .unwrap_or(usize::MAX)
            .saturating_add(1)
    });
    let (mut items, mut examined) = (Vec::new(), 0);
    let ends_at =
        loop {
            let chunk = match status {
                Some(_) => EXAMINED_BATCH_SIZE,
                None => limit + 1 - items.len(),
            };
            let until = next.saturating_add(chunk);
            let found = scope
                .store
                .recipients()
                .list(message.account, message.id, next, until);
            let found = found.await?.ok_or(Refusal::UnknownMessage)?;
            let (count, last) = (found.len(), found.last().map(|last| last.place));
            examined += count;
            next = until;
            let mut shared = SharedValues::with_texts(scope, &message, &found).await?;
            let found = found
                .into_iter()
                .map(|one| (one.place, recipient_state(scope, &mut shared, one)));
            items.extend(found.filter(|(_, one)| {
                status.is_none_or(|status| status.as_str() == one.delivery_status)
            }));
            if items.len() > limit {
                items.truncate(limit);
                break items.last().map(|(place, _)| *place);
            }
            if count < chunk {
                break None;
            }
            if examined >= MAX_EXAMINED {
                break last;
            }
        };
    let next_cursor = ends_at.map(|place| scope.after_recipient(message.id, place));
    let items = items.into_iter().map(|(_, item)| item).collect();
    Ok(ListPage { items, next_cursor })
}

/// Returns the recipients of a message from one index to another.
pub(crate) async fn range(
    scope: &Scope<'_>,
    message: &Message,
    from: usize,
    until: usize,
) -> Result<Vec<RecipientState>, Error> {
    let recipients = scope.store.recipients();
    let found = recipients.list(message.account, message.id, from, until);
    let found = found.await?.unwrap_or_default();
    let mut shared = SharedValues::with_texts(scope, message, &found).await?;
    let found = found.into_iter();
    Ok(found
        .map(|one| recipient_state(scope, &mut shared, one))
        .collect())
}

/// Returns all recipients of some messages, which have few each.
pub(super) async fn of_messages(
    scope: &Scope<'_>,
    messages: &[Message],
) -> Result<Vec<Vec<RecipientState>>, Error> {
    let keys: Vec<_> = messages.iter().map(|one| (one.account, one.id)).collect();
    let mut found = scope.store.recipients().of_messages(&keys).await?;
    let mut all = Vec::with_capacity(messages.len());
    for message in messages {
        let found = found.remove(&message.id).unwrap_or_default();
        let mut shared = SharedValues::with_texts(scope, message, &found).await?;
        let found = found.into_iter();
        let found = found.map(|one| recipient_state(scope, &mut shared, one));
        all.push(found.collect());
    }
    Ok(all)
}

/// Counts the outcomes of all recipients of a message, the most frequent first.
pub(crate) async fn outcomes(
    scope: &Scope<'_>,
    message: &Message,
) -> Result<Vec<OutcomeCount>, Error> {
    let mut counts: BTreeMap<(&str, Option<String>), (u64, Money)> = BTreeMap::new();
    let mut from = 0;
    loop {
        let found = range(scope, message, from, from + EXAMINED_BATCH_SIZE).await?;
        let is_end = found.len() < EXAMINED_BATCH_SIZE;
        for one in found {
            let outcome = (one.delivery_status, one.error_code);
            let (recipients, refunded) = counts.entry(outcome).or_default();
            *recipients += 1;
            *refunded += one.refunded;
        }
        if is_end {
            break;
        }
        from += EXAMINED_BATCH_SIZE;
    }
    let counts = counts
        .into_iter()
        .map(|(outcome, (recipients, refunded))| OutcomeCount {
            delivery_status: outcome.0,
            error_code: outcome.1,
            recipients,
            refunded,
        });
    let mut counts: Vec<OutcomeCount> = counts.collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.recipients));
    Ok(counts)
}

/// Returns the references that replace the one of a message, by recipient.
pub(super) async fn references(
    scope: &Scope<'_>,
    message: &Message,
    found: &[RecipientState],
) -> Result<HashMap<Recipient, String>, Error> {
    // A message with a text for all recipients has one reference for all.
    if message.body.is_some() {
        return Ok(HashMap::new());
    }
    let recipients: Vec<Recipient> = found.iter().map(|one| one.recipient).collect();
    let store = scope.store.recipients();
    let references = store.references(message.account, message.id, &recipients);
    Ok(references.await?)
}

/// Returns one recipient of a message with its events.
pub(crate) async fn find(scope: &Scope<'_>, id: &str, number: &str) -> Result<Timeline, Error> {
    let message = messages::find(scope, id).await?;
    let parse = match scope.environment {
        Environment::Live => |text: &str| parse_international(text).or(parse_national(text)),
        Environment::Sandbox => parse_sandbox,
    };
    let recipient = parse(number.trim()).ok_or(Refusal::UnknownMessage)?;
    let (account, id) = (message.account, message.id);
    let recipients = scope.store.recipients();
    let found = recipients.find(account, id, recipient).await?;
    let found = found.ok_or(Refusal::UnknownMessage)?;
    let refunds = recipients.refunds(account, id, recipient).await?;
    let receipts = recipients.receipts(account, id, recipient).await?;
    let attempts = scope.store.attempts();
    let attempts = attempts.of_recipient(account, id, recipient).await?;
    let mut shared =
        SharedValues::with_texts(scope, &message, std::slice::from_ref(&found)).await?;
    Ok(Timeline {
        events: events::recipient_events(
            &message,
            found.delivery.as_ref(),
            receipts,
            &refunds,
            &attempts,
        ),
        recipient: recipient_state(scope, &mut shared, found),
    })
}

fn recipient_state(
    scope: &Scope<'_>,
    shared: &mut SharedValues<'_>,
    found: RecipientInfo,
) -> RecipientState {
    let RecipientInfo {
        recipient,
        delivery,
        refunded,
        ..
    } = found;
    let network = scope.plan.network_of(recipient);
    let network = network.and_then(|at| scope.plan.networks().get(usize::from(at)));
    let network = network.map_or(OTHER_NETWORK, String::as_str).to_owned();
    let accepted_at_ms = shared.message.created_at_ms;
    let body = shared.texts.remove(&recipient);
    let Some(delivery) = delivery else {
        let (pages, unicode) = expected_pages(shared, body.as_deref());
        return RecipientState {
            recipient,
            network,
            delivery_status: PENDING,
            error_code: None,
            body,
            pages,
            cost: expected_charge(scope, shared, recipient, unicode, pages),
            refunded,
            submitted_at_ms: None,
            updated_at_ms: accepted_at_ms,
        };
    };
    RecipientState {
        recipient,
        network,
        delivery_status: delivery.status.outside(),
        error_code: delivery.error,
        body,
        pages: delivery.pages,
        cost: delivery.charge,
        refunded,
        submitted_at_ms: delivery
            .leg
            .map(|_| delivery.submitted_at_ms.max(accepted_at_ms)),
        updated_at_ms: delivery
            .settled_at_ms
            .unwrap_or(delivery.submitted_at_ms)
            .max(accepted_at_ms),
    }
}

/// Returns the pages of a recipient that no carrier answered yet, and whether they are Unicode.
fn expected_pages(shared: &SharedValues<'_>, body: Option<&str>) -> (i64, bool) {
    let Some(body) = body else {
        return (shared.message.page_count, shared.unicode);
    };
    let pages = Text::from_stored(body.to_owned()).page_count();
    let pages = i64::try_from(pages).unwrap_or(i64::MAX);
    (pages, is_unicode(body))
}

/// Returns the expected charge of a recipient that is not settled. Its exact charge is in its batch,
/// which is not read.
fn expected_charge(
    scope: &Scope<'_>,
    shared: &SharedValues<'_>,
    recipient: Recipient,
    unicode: bool,
    pages: i64,
) -> Money {
    let message = shared.message;
    let payer = (message.account, shared.resale.as_ref());
    let charge_by =
        |rules| recipient_charge(rules, message.gateway, payer, recipient, unicode, pages);
    let count = i64::try_from(message.recipients).unwrap_or(i64::MAX).max(1);
    let average = Money::from_units(message.cost.units() / count);
    match scope.rules.filter(|_| count > 1) {
        Some(rules) => charge_by(rules).unwrap_or(average),
        None => average,
    }
}
