//! The operations on DND.

use super::actor::Actor;
use super::error::{OperationError, Result};
use domain::dnd::DndNumbers;
use domain::{Recipient, parse_national};
use store::Store;
use tokio::time::{Instant, sleep};

/// Blocks of numbers that one commit adds at most: half a megabyte. SQLite has one writer, so sends
/// wait for such a commit.
const MAX_BLOCKS: usize = 500;

/// DND: import, add, remove, count.
pub struct Dnd {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl Dnd {
    /// Adds the numbers of a file. `progress` gets the blocks that are committed, and all. Returns
    /// the number of new ones. A repeated import completes one that was interrupted. After each
    /// commit the writer is left to others for as long as the commit took.
    pub async fn import(
        self,
        numbers: DndNumbers,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<u64> {
        let blocks = numbers.into_blocks();
        let (all, mut done, mut added) = (blocks.len(), 0, 0);
        let by = self.actor.now();
        for (part, now) in (1..).zip(blocks.chunks(MAX_BLOCKS)) {
            let began = Instant::now();
            done += now.len();
            added += self.store.dnd().add(now.to_vec(), part, by.clone()).await?;
            progress(done, all);
            if done < all {
                sleep(began.elapsed()).await;
            }
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
