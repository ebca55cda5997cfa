//! The usage of a sub-account, as its parent reads it.

use super::messages;
use super::scope::Scope;
use super::usage::Usage;
use crate::error::Error;
use domain::search::{MessageFilter, Page, Position};
use domain::{AccountId, Money};
use std::collections::BTreeMap;

/// Number of messages that are read at a time.
const MESSAGES_BATCH_SIZE: u32 = 500;
/// Maximum number of messages that are read. The numbers of a sub-account with more begin at the last
/// that was read.
pub const MAX_RESALE_MESSAGES: usize = 10_000;

/// The usage of a sub-account in a period.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ResaleUsage {
    /// The groups of the gateways, in the order of their names.
    pub gateways: Vec<Usage>,
    /// The part of the charges that the parent got, without what was taken back.
    pub margin: Money,
    /// The time at which the numbers begin, if the period has more messages than are read.
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
        if read >= MAX_RESALE_MESSAGES {
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
