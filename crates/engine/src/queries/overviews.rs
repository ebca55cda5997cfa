//! The usage of a recent period for overviews, which open pages ask for again and again.
//!
//! The counts of messages that do not change any more are remembered on this node. A request then
//! reads the messages that are newer, and those that still change:
//!
//! ```text
//! since ──── settled: remembered sums ──── until ── newer: read ── now
//!                └─ still open: read by id
//! ```
//!
//! A late receipt may change a settled message, so everything is counted anew after some minutes.
//! While an account sends so much that a request is dear, its result is kept for a short time. If
//! the database is too slow for a request, the last result is answered once more.

use super::messages::{self, Message};
use super::scope::Scope;
use super::usage::{Usage, add_networks, group, group_key};
use crate::error::Error;
use domain::schedule::MessageState;
use domain::search::{MessageFilter, Page, Position, UsageBy};
use domain::{AccountId, Environment, MessageId};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// Number of messages that are read at a time.
const MESSAGES_BATCH_SIZE: u32 = 500;
/// Maximum number of messages that are read for an overview. The numbers of an account with more
/// begin at the last that was read.
const MAX_MESSAGES: usize = 10_000;
/// Maximum number of messages whose recipients are read for an overview.
const MAX_RECIPIENT_LISTS: usize = 500;
/// Maximum number of recipients that are read for an overview.
const MAX_RECIPIENTS: u64 = 20_000;
/// The age from which a settled message is remembered. Messages of a younger one may be committed
/// after it, with ids below its own.
const SETTLING_MS: i64 = 5_000;
/// The age from which everything is counted anew.
const MAX_REMEMBERED_MS: i64 = 300_000;
/// Maximum number of messages that still change. With more, nothing is remembered.
const MAX_OPEN: usize = 200;
/// Maximum number of overviews that are remembered, each of an account and period.
const MAX_KEPT: usize = 500;
/// A request that reads more messages than this is dear. Its result is kept for so many times its
/// duration, and for a limited time.
const DEAR_MESSAGES: usize = 500;
const KEPT_DURATIONS: u32 = 200;
const MAX_KEPT_TIME: Duration = Duration::from_secs(20);
/// Timeout of a request that has a last result. It is shorter than that of every read.
const COUNT_TIMEOUT: Duration = Duration::from_secs(3);

/// The usage of a period, newest messages first, within the limits of an overview.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct UsageOverview {
    /// The hours or days, oldest first.
    pub times: Vec<Usage>,
    /// The gateways by name.
    pub gateways: Vec<Usage>,
    /// The networks by name.
    pub networks: Vec<Usage>,
    /// The time of the oldest message that was counted, if older ones were left out.
    pub counted_since_ms: Option<i64>,
    /// The time of the oldest message that was counted by network, if older ones were left out.
    pub networks_since_ms: Option<i64>,
}

/// The account, or all of them, the environment, and the period with its steps.
type Key = (Option<AccountId>, Environment, i64, UsageBy);
/// An overview. Requests for the same one wait for each other.
type Place = Arc<tokio::sync::Mutex<Kept>>;

/// The overviews that this node remembers.
#[derive(Default)]
pub(crate) struct Overviews(Mutex<HashMap<Key, Place>>);

/// An overview that this node remembers.
#[derive(Default)]
struct Kept {
    remembered: Option<Remembered>,
    /// The last result, and the time until which it is kept.
    result: Option<(UsageOverview, Instant)>,
}

/// The sums of messages by time, gateway and network.
#[derive(Clone, Default)]
struct Sums {
    times: Groups,
    gateways: Groups,
    networks: Groups,
}

type Groups = BTreeMap<String, Usage>;

/// The messages that were counted before a time, Unix milliseconds.
#[derive(Clone)]
struct Remembered {
    /// The sums of those that do not change any more.
    sums: Sums,
    open: Vec<Open>,
    until_ms: i64,
    made_at_ms: i64,
    counted_since_ms: Option<i64>,
    networks_since_ms: Option<i64>,
}

/// A message that still changes.
#[derive(Clone)]
struct Open {
    account: AccountId,
    id: MessageId,
    /// `true` if its networks are counted.
    has_networks: bool,
}

impl Overviews {
    /// Returns the usage since a time, by hours or days, gateways and networks.
    pub(crate) async fn read(
        &self,
        scope: &Scope<'_>,
        since_ms: i64,
        by: UsageBy,
    ) -> Result<UsageOverview, Error> {
        let place = self.place((scope.account, scope.environment, since_ms, by));
        let mut kept = place.lock().await;
        let Some((result, until)) = &kept.result else {
            return kept.count(scope, since_ms, by).await;
        };
        if Instant::now() < *until {
            return Ok(result.clone());
        }
        let last = result.clone();
        if let Ok(counted) = timeout(COUNT_TIMEOUT, kept.count(scope, since_ms, by)).await {
            return counted;
        }
        kept.result = Some((last.clone(), Instant::now() + MAX_KEPT_TIME));
        Ok(last)
    }

    /// Returns the place of an overview. All are forgotten when there are too many.
    fn place(&self, key: Key) -> Place {
        let mut places = self.0.lock();
        if places.len() >= MAX_KEPT && !places.contains_key(&key) {
            places.clear();
        }
        Arc::clone(places.entry(key).or_default())
    }
}

impl Kept {
    /// Counts what is newer than the remembered messages.
    async fn count(
        &mut self,
        scope: &Scope<'_>,
        since_ms: i64,
        by: UsageBy,
    ) -> Result<UsageOverview, Error> {
        let began = Instant::now();
        let is_current =
            |one: &Remembered| (0..MAX_REMEMBERED_MS).contains(&(scope.now_ms - one.made_at_ms));
        // A count that is broken off forgets nothing.
        let before = self.remembered.clone().filter(is_current);
        let from_ms = before.as_ref().map_or(since_ms, |one| one.until_ms);
        let mut count = Count::new(scope, by, from_ms);
        count.newer().await?;
        let before = before.filter(|_| count.left_out_ms.is_none());
        if let Some(before) = &before {
            count.open(&before.open).await?;
        }
        let is_dear = count.messages_read > DEAR_MESSAGES;
        let (result, remembered) = count.end(before);
        self.remembered = remembered;
        let ended = Instant::now();
        let time = ((ended - began) * KEPT_DURATIONS).min(MAX_KEPT_TIME);
        let until = if is_dear { ended + time } else { ended };
        self.result = Some((result.clone(), until));
        Ok(result)
    }
}

/// A count of the messages from a time on.
struct Count<'s> {
    scope: &'s Scope<'s>,
    by: UsageBy,
    from_ms: i64,
    /// Settled messages before this time are remembered.
    settling_ms: i64,
    /// The sums of what does not change any more, and of the others.
    settled: Sums,
    changing: Sums,
    open: Vec<Open>,
    messages_read: usize,
    recipients_read: u64,
    /// `true` until there are too many messages for the networks.
    all_networks: bool,
    /// The times of the oldest message whose networks were counted, and of the oldest one if older
    /// ones were left out.
    networks_ms: Option<i64>,
    left_out_ms: Option<i64>,
}

impl<'s> Count<'s> {
    fn new(scope: &'s Scope<'s>, by: UsageBy, from_ms: i64) -> Self {
        Self {
            scope,
            by,
            from_ms,
            settling_ms: (scope.now_ms - SETTLING_MS).max(from_ms),
            settled: Sums::default(),
            changing: Sums::default(),
            open: Vec::new(),
            messages_read: 0,
            recipients_read: 0,
            all_networks: true,
            networks_ms: None,
            left_out_ms: None,
        }
    }

    /// Counts the messages from the time on, the newest first, within the limits of an overview.
    async fn newer(&mut self) -> Result<(), Error> {
        let wanted = MessageFilter {
            since_ms: Some(self.from_ms),
            ..MessageFilter::default()
        };
        let mut after = None;
        loop {
            let page = Page {
                limit: MESSAGES_BATCH_SIZE,
                after,
            };
            let found = messages::page(self.scope, &wanted, page).await?;
            for message in &found.items {
                self.messages_read += 1;
                self.recipients_read += message.recipients;
                self.all_networks &= self.messages_read <= MAX_RECIPIENT_LISTS
                    && self.recipients_read <= MAX_RECIPIENTS;
                if self.all_networks {
                    self.networks_ms = Some(message.created_at_ms);
                }
                self.add(message, self.all_networks).await?;
            }
            let Some(last) = found.ends_at else {
                return Ok(());
            };
            if self.messages_read >= MAX_MESSAGES {
                self.left_out_ms = Some(last.accepted_at_ms());
                return Ok(());
            }
            after = Some(Position {
                id: last.number(),
                place: 0,
            });
        }
    }

    /// Counts the messages again that were open before.
    async fn open(&mut self, before: &[Open]) -> Result<(), Error> {
        if before.is_empty() {
            return Ok(());
        }
        let keys: Vec<_> = before.iter().map(|one| (one.account, one.id)).collect();
        for message in messages::by_ids(self.scope, &keys).await? {
            let known = before.iter().find(|one| one.id == message.id);
            let had_networks = known.is_some_and(|one| one.has_networks);
            self.add(&message, had_networks && self.all_networks)
                .await?;
        }
        Ok(())
    }

    async fn add(&mut self, message: &Message, has_networks: bool) -> Result<(), Error> {
        let is_settled = message.pending == 0
            && matches!(
                message.state,
                MessageState::Completed | MessageState::Cancelled
            );
        let is_old = message.created_at_ms < self.settling_ms;
        let sums = if is_old && is_settled {
            &mut self.settled
        } else {
            &mut self.changing
        };
        group(&mut sums.times, &group_key(self.by, message)).add(message);
        group(&mut sums.gateways, &group_key(UsageBy::Gateway, message)).add(message);
        if has_networks {
            add_networks(self.scope, message, &mut sums.networks).await?;
        }
        if is_old && !is_settled {
            self.open.push(Open {
                account: message.account,
                id: message.id,
                has_networks,
            });
        }
        Ok(())
    }

    /// Returns the overview, and what is remembered of it, together with what was counted before.
    fn end(mut self, before: Option<Remembered>) -> (UsageOverview, Option<Remembered>) {
        let made_at_ms = before.as_ref().map(|one| one.made_at_ms);
        let (mut counted_since_ms, mut networks_since_ms) = (self.left_out_ms, None);
        if let Some(before) = before {
            counted_since_ms = before.counted_since_ms;
            networks_since_ms = before.networks_since_ms;
            join(&mut self.settled.times, &before.sums.times);
            join(&mut self.settled.gateways, &before.sums.gateways);
            if self.all_networks {
                join(&mut self.settled.networks, &before.sums.networks);
            }
        }
        if !self.all_networks {
            networks_since_ms = self.networks_ms;
        }
        let (settled, changing) = (self.settled, self.changing);
        let overview = UsageOverview {
            times: joined(changing.times, &settled.times),
            gateways: joined(changing.gateways, &settled.gateways),
            networks: joined(changing.networks, &settled.networks),
            counted_since_ms,
            networks_since_ms,
        };
        let remembered = Remembered {
            sums: settled,
            open: self.open,
            until_ms: self.settling_ms,
            made_at_ms: made_at_ms.unwrap_or(self.scope.now_ms),
            counted_since_ms,
            networks_since_ms,
        };
        let is_small = remembered.open.len() <= MAX_OPEN;
        (overview, is_small.then_some(remembered))
    }
}

fn join(groups: &mut Groups, others: &Groups) {
    for (key, usage) in others {
        group(groups, key).join(usage);
    }
}

/// Returns the groups of both, in the order of their keys.
fn joined(mut groups: Groups, others: &Groups) -> Vec<Usage> {
    join(&mut groups, others);
    groups.into_values().collect()
}
