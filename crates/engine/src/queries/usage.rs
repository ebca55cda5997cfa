//! Usage: messages, recipients and money by time, gateway, network or sender.

use super::messages::{self, Message};
use super::recipients;
use super::scope::{ListPage, Scope};
use crate::error::Error;
use domain::search::{List, MessageFilter, Page, Position, UsageBy, UsageFilter};
use domain::time::lagos_time;
use domain::{DeliveryStatus, Money, PENDING};
use std::collections::{BTreeMap, BTreeSet};

/// Number of messages that are read at a time.
const MESSAGES_BATCH_SIZE: u32 = 500;

/// A group of a usage report.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Usage {
    /// The hour, day, gateway, network or sender ID.
    pub key: String,
    /// Messages with a recipient in the group.
    pub messages: u64,
    /// Recipients.
    pub recipients: u64,
    /// Delivered recipients.
    pub delivered: u64,
    /// Recipients that were not delivered.
    pub failed: u64,
    /// Recipients without an outcome.
    pub pending: u64,
    /// Pages.
    pub pages: i64,
    /// Charges, before refunds.
    pub cost: Money,
    /// Refunds.
    pub refunded: Money,
}

impl Usage {
    pub(super) fn add(&mut self, message: &Message) {
        self.messages += 1;
        self.recipients += message.recipients;
        self.delivered += message.delivered;
        self.failed += message.failed;
        self.pending += message.pending;
        self.pages += message.pages_total;
        self.cost += message.cost;
        self.refunded += message.refunded;
    }

    /// Adds the usage of other messages.
    pub(super) fn join(&mut self, other: &Self) {
        self.messages += other.messages;
        self.recipients += other.recipients;
        self.delivered += other.delivered;
        self.failed += other.failed;
        self.pending += other.pending;
        self.pages += other.pages;
        self.cost += other.cost;
        self.refunded += other.refunded;
    }
}

/// Returns a page of the groups: times newest first, names in alphabetical order.
pub(crate) async fn list(
    scope: &Scope<'_>,
    filter: UsageFilter,
    page: Page,
) -> Result<ListPage<Usage>, Error> {
    let mut groups: Vec<Usage> = groups(scope, filter).await?.into_values().collect();
    let is_time = matches!(filter.by, UsageBy::Hour | UsageBy::Day);
    if is_time {
        groups.reverse();
    }
    // The cursor names a group by its key, since newer periods may be added before it.
    let skipped = match page.after {
        None => 0,
        Some(after) => groups
            .iter()
            .take_while(|group| key_hash(&group.key) != after.place)
            .count()
            .saturating_add(1),
    };
    let mut items: Vec<Usage> = groups.into_iter().skip(skipped).collect();
    let limit = page.limit as usize;
    let has_more = items.len() > limit;
    items.truncate(limit);
    let last = items.last().filter(|_| has_more);
    let next_cursor = last.map(|last| {
        let position = Position {
            id: 0,
            place: key_hash(&last.key),
        };
        position.encode(List::Usage, &scope.cursor_scope(None))
    });
    Ok(ListPage { items, next_cursor })
}

/// Returns a number for a key, which is the place of its group in a cursor (FNV-1a).
fn key_hash(key: &str) -> u64 {
    key.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, octet| {
        (hash ^ u64::from(octet)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

async fn groups(scope: &Scope<'_>, filter: UsageFilter) -> Result<BTreeMap<String, Usage>, Error> {
    let wanted = MessageFilter {
        since_ms: filter.since_ms,
        until_ms: filter.until_ms,
        ..MessageFilter::default()
    };
    let mut groups = BTreeMap::new();
    let mut after = None;
    loop {
        let page = Page {
            limit: MESSAGES_BATCH_SIZE,
            after,
        };
        let found = messages::page(scope, &wanted, page).await?;
        for message in &found.items {
            match filter.by {
                UsageBy::Network => add_networks(scope, message, &mut groups).await?,
                by => group(&mut groups, &group_key(by, message)).add(message),
            }
        }
        let Some(last) = found.ends_at else {
            return Ok(groups);
        };
        after = Some(Position {
            id: last.number(),
            place: 0,
        });
    }
}

pub(super) fn group<'g>(groups: &'g mut BTreeMap<String, Usage>, key: &str) -> &'g mut Usage {
    let new = || Usage {
        key: key.to_owned(),
        ..Usage::default()
    };
    groups.entry(key.to_owned()).or_insert_with(new)
}

/// Returns the group of a message. Hours and days are those of Lagos.
pub(super) fn group_key(by: UsageBy, message: &Message) -> String {
    let time = || lagos_time(message.created_at_ms);
    match by {
        UsageBy::Hour => format!("{}:00:00", time().chars().take(13).collect::<String>()),
        UsageBy::Day => time().chars().take(10).collect(),
        UsageBy::Gateway => message.gateway.as_str().to_owned(),
        UsageBy::Sender | UsageBy::Network => message.sender.clone(),
    }
}

/// Adds the recipients of a message to the groups of their networks.
pub(super) async fn add_networks(
    scope: &Scope<'_>,
    message: &Message,
    groups: &mut BTreeMap<String, Usage>,
) -> Result<(), Error> {
    let mut touched = BTreeSet::new();
    for one in recipients::range(scope, message, 0, usize::MAX).await? {
        let group = group(groups, &one.network);
        group.messages += u64::from(touched.insert(one.network));
        group.recipients += 1;
        match one.delivery_status {
            PENDING => group.pending += 1,
            status if status == DeliveryStatus::Delivered.outside() => group.delivered += 1,
            _ => group.failed += 1,
        }
        group.pages += one.pages;
        group.cost += one.cost;
        group.refunded += one.refunded;
    }
    Ok(())
}
