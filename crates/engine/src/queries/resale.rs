//! The usage of a sub-account, as its parent reads it.

use super::messages;
use super::scope::Scope;
use super::usage::Usage;
use crate::error::Error;
use domain::search::{MessageFilter, Page, Position};
use domain::{AccountId, Money};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// Number of messages that are read at a time.
const MESSAGES_BATCH_SIZE: u32 = 200;
/// Maximum number of messages that are read, and the time after which no more are read: a page waits
/// for them. The numbers of a sub-account with more begin at the last that was read.
const MAX_MESSAGES: usize = 2_000;
const READING_TIME: Duration = Duration::from_secs(1);

/// The usage of a sub-account in a period.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ResaleUsage {
    /// The groups of the gateways, in the order of their names.
    pub gateways: Vec<Usage>,
    /// The part of the charges that the parent got, without what was taken back.
    pub margin: Money,
    /// The time at which the numbers begin, if older messages of the period were not read.
    pub counted_since_ms: Option<i64>,
}

/// Returns the usage of the account of a scope since a time, and the margin of its parent.
pub(crate) async fn usage(
    scope: &Scope<'_>,
    parent: AccountId,
    since_ms: i64,
) -> Result<ResaleUsage, Error> {
    let wanted = MessageFilter {
        since_ms: Some(since_ms),
        ..MessageFilter::default()
    };
    let mut gateways: BTreeMap<&'static str, Usage> = BTreeMap::new();
    let (mut usage, mut read, mut after) = (ResaleUsage::default(), 0, None);
    let began = Instant::now();
    loop {
        let page = Page {
            limit: MESSAGES_BATCH_SIZE,
            after,
        };
        let found = messages::page(scope, &wanted, page).await?;
        for message in &found.items {
            let key = message.gateway.as_str();
            let group = gateways.entry(key).or_insert_with(|| Usage {
                key: key.to_owned(),
                ..Usage::default()
            });
            group.add(message);
        }
        read += found.items.len();
        let ids: Vec<_> = found.items.iter().map(|message| message.id).collect();
        let accounts = scope.store.sub_accounts();
        usage.margin += accounts.margins(parent, &ids).await?;
        let Some(last) = found.ends_at else {
            break;
        };
        if is_enough(read, began.elapsed()) {
            usage.counted_since_ms = Some(last.accepted_at_ms());
            break;
        }
        after = Some(Position {
            id: last.number(),
            place: 0,
        });
    }
    usage.gateways = gateways.into_values().collect();
    Ok(usage)
}

/// Returns `true` once no more messages are read for a page.
fn is_enough(messages: usize, time: Duration) -> bool {
    messages >= MAX_MESSAGES || time >= READING_TIME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_ends_after_some_messages_or_some_time() {
        let short = READING_TIME / 2;
        assert!(!is_enough(MAX_MESSAGES - 1, short));
        assert!(is_enough(MAX_MESSAGES, short));
        assert!(is_enough(1, READING_TIME));
    }
}
