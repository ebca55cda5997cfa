//! Velocity limits: the messages of an account to one number or block of numbers in an hour of the
//! clock.

pub(crate) mod block;

pub use block::{Block, NotBlock};

use crate::ids::AccountId;
use crate::number::recipient::Recipient;
use crate::refusal::Refusal;
use crate::refusal::seconds;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Maximum number of counted numbers, and of blocks. Further ones are not counted in that hour, so
/// a large campaign is not taken for abuse, and abuse must pay for a large campaign first.
pub const MAX_COUNTED: usize = 500_000;

const HOUR_MS: i64 = 3_600_000;

/// The limits of an operator. `None` is no limit.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct VelocityLimits {
    /// Maximum number of messages of an account to one number.
    pub per_recipient: Option<u32>,
    /// Maximum number of messages of an account to the numbers of one block.
    pub per_block: Option<u32>,
    /// Duration of a pause of a block after its limit, milliseconds.
    pub pause_ms: i64,
}

impl VelocityLimits {
    /// Returns `true` if any limit is set.
    pub fn are_set(&self) -> bool {
        self.per_recipient.is_some() || self.per_block.is_some()
    }
}

/// The decision on a send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum VelocityVerdict {
    /// The send is allowed and counted.
    Allowed,
    /// The send is refused.
    Refused(Refusal),
    /// The send is refused, and the block must be paused for the account.
    Pause(Block),
}

/// The counts of one hour of the clock, and the paused blocks.
#[derive(Debug, Default)]
pub struct Velocity {
    hour: i64,
    recipients: HashMap<(AccountId, Recipient), u32>,
    blocks: HashMap<(AccountId, Block), u32>,
    /// The accounts whose limit for a number was logged in this hour.
    reported: HashSet<AccountId>,
    /// The end of each pause.
    paused: HashMap<(AccountId, Block), i64>,
}

impl Velocity {
    /// Decides on a send. It is counted for all of its recipients or for none.
    pub fn judge(
        &mut self,
        account: AccountId,
        recipients: &[Recipient],
        limits: &VelocityLimits,
        now_ms: i64,
    ) -> VelocityVerdict {
        let verdict = self.check(account, recipients, limits, now_ms);
        if verdict != VelocityVerdict::Allowed {
            return verdict;
        }
        if limits.per_recipient.is_some() {
            for &recipient in recipients {
                count(&mut self.recipients, (account, recipient), 1);
            }
        }
        if limits.per_block.is_some() {
            for (block, more) in blocks_of(recipients) {
                count(&mut self.blocks, (account, block), more);
            }
        }
        verdict
    }

    /// Decides on a send without counting it.
    pub fn check(
        &mut self,
        account: AccountId,
        recipients: &[Recipient],
        limits: &VelocityLimits,
        now_ms: i64,
    ) -> VelocityVerdict {
        self.begin_hour(now_ms);
        let blocks = blocks_of(recipients);
        for &block in blocks.keys() {
            if let Some(refusal) = self.pause_of(account, block, now_ms) {
                return VelocityVerdict::Refused(refusal);
            }
        }
        if let Some(limit) = limits.per_block {
            let sent = |block| self.blocks.get(&(account, block)).copied().unwrap_or(0);
            let is_over =
                |&(&block, &more): &(&Block, &u32)| more > limit.saturating_sub(sent(block));
            if let Some((&block, _)) = blocks.iter().find(is_over) {
                return VelocityVerdict::Pause(block);
            }
        }
        if let Some(limit) = limits.per_recipient {
            let sent = |to: &Recipient| self.recipients.get(&(account, *to)).copied().unwrap_or(0);
            if let Some(&recipient) = recipients.iter().find(|to| sent(to) >= limit) {
                return VelocityVerdict::Refused(Refusal::RecipientTooOften {
                    limit,
                    block: Block::of(recipient),
                    retry_after_s: seconds(HOUR_MS - now_ms.rem_euclid(HOUR_MS)),
                });
            }
        }
        VelocityVerdict::Allowed
    }

    /// Takes back the count of a send that was refused later.
    pub fn take_back(&mut self, account: AccountId, recipients: &[Recipient]) {
        for &recipient in recipients {
            if let Some(count) = self.recipients.get_mut(&(account, recipient)) {
                *count = count.saturating_sub(1);
            }
            if let Some(count) = self.blocks.get_mut(&(account, Block::of(recipient))) {
                *count = count.saturating_sub(1);
            }
        }
    }

    /// Returns `true` if the account must be reported for its messages to one number, which happens
    /// once an hour. No pause is needed, since the number gets no further messages in that hour.
    pub fn report_once(&mut self, account: AccountId) -> bool {
        self.reported.insert(account)
    }

    /// Replaces the paused blocks. The count of a released block starts again.
    pub fn set_paused(&mut self, paused: HashMap<(AccountId, Block), i64>) {
        for key in self.paused.keys().filter(|key| !paused.contains_key(key)) {
            self.blocks.remove(key);
        }
        self.paused = paused;
    }

    /// Resets the counts at a new hour.
    fn begin_hour(&mut self, now_ms: i64) {
        let hour = now_ms.div_euclid(HOUR_MS);
        if hour != self.hour {
            self.hour = hour;
            self.recipients.clear();
            self.blocks.clear();
            self.reported.clear();
        }
    }

    /// Returns the refusal of a paused block. After the pause its count starts again.
    fn pause_of(&mut self, account: AccountId, block: Block, now_ms: i64) -> Option<Refusal> {
        let until_ms = *self.paused.get(&(account, block))?;
        if until_ms <= now_ms {
            self.paused.remove(&(account, block));
            self.blocks.remove(&(account, block));
            return None;
        }
        Some(paused(block, until_ms, now_ms))
    }
}

/// Returns the blocks of numbers, with the number of recipients in each.
fn blocks_of(recipients: &[Recipient]) -> BTreeMap<Block, u32> {
    let mut blocks: BTreeMap<Block, u32> = BTreeMap::new();
    for &recipient in recipients {
        *blocks.entry(Block::of(recipient)).or_default() += 1;
    }
    blocks
}

/// Returns the refusal of a block that is paused until `until_ms`.
pub fn paused(block: Block, until_ms: i64, now_ms: i64) -> Refusal {
    Refusal::BlockPaused {
        block,
        retry_after_s: seconds(until_ms - now_ms),
    }
}

fn count<K: Eq + std::hash::Hash>(counts: &mut HashMap<K, u32>, key: K, more: u32) {
    if counts.len() < MAX_COUNTED || counts.contains_key(&key) {
        let count = counts.entry(key).or_default();
        *count = count.saturating_add(more);
    }
}

#[cfg(test)]
mod tests;
