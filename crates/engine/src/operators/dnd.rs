//! The operations on DND.

use super::actor::Actor;
use super::error::{OperationError, Result};
use domain::dnd::DndNumbers;
use domain::{Recipient, parse_national};
use store::Store;

/// Blocks of numbers that one commit adds at most.
const MAX_BLOCKS: usize = 10_000;

/// DND: import, add, remove, count.
pub struct Dnd {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl Dnd {
    /// Adds the numbers of a file. `progress` gets the blocks that are committed, and all. Returns
    /// the number of new ones. A repeated import completes one that was interrupted.
    pub async fn import(
        self,
        numbers: DndNumbers,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<u64> {
        let mut blocks = numbers.into_blocks();
        let (all, mut done, mut added) = (blocks.len(), 0, 0);
        let by = self.actor.now();
        for part in 1.. {
            let rest = blocks.split_off(MAX_BLOCKS.min(blocks.len()));
            let now = std::mem::replace(&mut blocks, rest);
            if now.is_empty() {
                break;
            }
            done += now.len();
            added += self.store.dnd().add(now, part, by.clone()).await?;
            progress(done, all);
        }
        Ok(added)
    }

    /// Adds a number. Returns `false` if it was on DND.
    pub async fn add(self, number: &str) -> Result<bool> {
        let mut numbers = DndNumbers::default();
        numbers.insert(recipient(number)?);
        let by = self.actor.now();
        let added = self.store.dnd().add(numbers.into_blocks(), 0, by);
        Ok(added.await? > 0)
    }

    /// Removes a number. Returns `false` if it was not on DND.
    pub async fn remove(self, number: &str) -> Result<bool> {
        let by = self.actor.now();
        Ok(self.store.dnd().remove(recipient(number)?, by).await?)
    }

    /// Returns the number of all numbers.
    pub async fn count(self) -> Result<u64> {
        Ok(self.store.dnd().count().await?)
    }
}

fn recipient(number: &str) -> Result<Recipient> {
    parse_national(number).ok_or(OperationError::NoDndNumber)
}
