//! How much an account sends to one number, and to the numbers of one block, in an hour of the clock.

pub(crate) mod block;

pub use block::{Block, NotBlock};

use crate::ids::AccountId;
use crate::number::recipient::Recipient;
use crate::refusal::Refusal;
use crate::refusal::seconds;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Numbers, and blocks, that are counted in an hour, each of an account. Further ones are not counted: a
/// customer with a large campaign is not taken for a pump, and a pump that hides behind that has paid for as many first.
pub const MAX_COUNTED: usize = 500_000;

const HOUR_MS: i64 = 3_600_000;

/// The limits of an operator; nothing is limited where nothing is set.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct VelocityLimits {
    /// Messages of an account to one number.
    pub per_recipient: Option<u32>,
    /// Messages of an account to the numbers of one block.
    pub per_block: Option<u32>,
    /// For how long a block is paused for an account that sends more, milliseconds.
    pub pause_ms: i64,
}

impl VelocityLimits {
    /// Returns whether anything is limited.
    pub fn are_set(&self) -> bool {
        self.per_recipient.is_some() || self.per_block.is_some()
    }
}

/// The decision on a send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum VelocityVerdict {
    /// It may go, and is counted.
    Goes,
    /// It may not.
    Refused(Refusal),
    /// It may not, and the block is to be paused for the account.
    Pause(Block),
}

/// The counts of one hour of the clock, and the paused blocks.
#[derive(Debug, Default)]
pub struct Velocity {
    hour: i64,
    recipients: HashMap<(AccountId, Recipient), u32>,
    blocks: HashMap<(AccountId, Block), u32>,
    /// Who was told of for what goes to one number.
    reported: HashSet<AccountId>,
    /// Until when.
    paused: HashMap<(AccountId, Block), i64>,
}

impl Velocity {
    /// Judges a send whole: it is counted for all of its recipients, or for none.
    pub fn judge(
        &mut self,
        account: AccountId,
        recipients: &[Recipient],
        limits: &VelocityLimits,
        now_ms: i64,
    ) -> VelocityVerdict {
        self.begin_hour(now_ms);
        let mut blocks: BTreeMap<Block, u32> = BTreeMap::new();
        for &recipient in recipients {
            *blocks.entry(Block::of(recipient)).or_default() += 1;
        }
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
            for &recipient in recipients {
                count(&mut self.recipients, (account, recipient), 1);
            }
        }
        if limits.per_block.is_some() {
            for (block, more) in blocks {
                count(&mut self.blocks, (account, block), more);
            }
        }
        VelocityVerdict::Goes
    }

    /// Takes back what was counted for a send that was refused after all.
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

    /// Returns whether that account is to be reported for its messages to one number: once in an hour. There is nothing to
    /// pause:
    /// until the hour is over, the number gets nothing more.
    pub fn report_once(&mut self, account: AccountId) -> bool {
        self.reported.insert(account)
    }

    /// Says which blocks are paused, and until when. One that is not any more is counted from nothing.
    pub fn set_paused(&mut self, paused: HashMap<(AccountId, Block), i64>) {
        for key in self.paused.keys().filter(|key| !paused.contains_key(key)) {
            self.blocks.remove(key);
        }
        self.paused = paused;
    }

    /// Begins to count anew where another hour has begun.
    fn begin_hour(&mut self, now_ms: i64) {
        let hour = now_ms.div_euclid(HOUR_MS);
        if hour != self.hour {
            self.hour = hour;
            self.recipients.clear();
            self.blocks.clear();
            self.reported.clear();
        }
    }

    /// The refusal of what goes to a block that is paused. When the pause is over it is counted from nothing.
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

/// How a send to a block is refused that is paused until then.
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
