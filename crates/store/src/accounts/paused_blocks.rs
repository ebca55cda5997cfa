//! Blocks of numbers that are paused for an account, on all nodes, until an operator releases them
//! or the pause ends.

use crate::accounts::revision::touch;
use crate::lists::ListRow;
use crate::operators::audit::{self, By, Entry};
use database::{Change, Db, Error, Result, Tx, query};
use domain::AccountId;
use domain::velocity::Block;
use serde_json::{Value, json};

/// A pause.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PausedBlock {
    /// The account.
    pub account: AccountId,
    /// The block of numbers.
    pub block: Block,
    /// Start of the pause, Unix milliseconds.
    pub paused_at_ms: i64,
    /// End of the pause, Unix milliseconds.
    pub until_ms: i64,
}

impl ListRow for PausedBlock {
    /// Start of the pause, account and block.
    type Key = (i64, i64, i64);

    fn key(&self) -> Self::Key {
        (self.paused_at_ms, self.account.0, stored(self.block))
    }
}

const PAUSE: &str = "velocity.pause";

const RELEASE: &str = "velocity.release";

fn stored(block: Block) -> i64 {
    i64::try_from(block.digits()).unwrap_or(i64::MAX)
}

struct Pause {
    paused: PausedBlock,
    by: By,
}

impl Change for Pause {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let paused = &self.paused;
        tx.execute(query("delete from paused_blocks where until_ms <= $1").bind(self.by.at_ms))
            .await?;
        let new = tx
            .execute(
                query(
                    "insert into paused_blocks (account_id, block, paused_at_ms, until_ms)
             values ($1, $2, $3, $4) on conflict do nothing",
                )
                .bind(paused.account.0)
                .bind(stored(paused.block))
                .bind(paused.paused_at_ms)
                .bind(paused.until_ms),
            )
            .await?;
        if new == 0 {
            return Ok(false);
        }
        touch(tx).await?;
        let entry = Entry {
            by: &self.by,
            verb: PAUSE,
            account: Some(paused.account),
            object: &paused.block.to_string(),
            before: Value::Null,
            after: json!({ "until_ms": paused.until_ms }),
        };
        audit::enter(tx, entry).await?;
        Ok(true)
    }

    async fn is_committed(&self, tx: &mut Tx, new: &bool) -> Result<bool> {
        let block = self.paused.block.to_string();
        Ok(!new || audit::is_kept(tx, &self.by, PAUSE, &block).await?)
    }
}

struct Release {
    account: AccountId,
    block: Block,
    by: By,
}

impl Change for Release {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let until_ms: Option<i64> = tx
            .fetch_optional(
                query(
                    "delete from paused_blocks where account_id = $1 and block = $2
             and until_ms > $3
             returning until_ms",
                )
                .bind(self.account.0)
                .bind(stored(self.block))
                .bind(self.by.at_ms),
            )
            .await?;
        let Some(until_ms) = until_ms else {
            return Ok(false);
        };
        touch(tx).await?;
        let entry = Entry {
            by: &self.by,
            verb: RELEASE,
            account: Some(self.account),
            object: &self.block.to_string(),
            before: json!({ "until_ms": until_ms }),
            after: Value::Null,
        };
        audit::enter(tx, entry).await?;
        Ok(true)
    }

    async fn is_committed(&self, tx: &mut Tx, released: &bool) -> Result<bool> {
        let block = self.block.to_string();
        Ok(!released || audit::is_kept(tx, &self.by, RELEASE, &block).await?)
    }
}

/// The account, the block, and the start and the end of its pause.
type PausedRow = (i64, i64, i64, i64);

fn paused((account, block, paused_at_ms, until_ms): PausedRow) -> Result<PausedBlock> {
    let block =
        u64::try_from(block).map_err(|_| Error::Unreadable("a block of numbers".to_owned()))?;
    Ok(PausedBlock {
        account: AccountId(account),
        block: Block::from_digits(block),
        paused_at_ms,
        until_ms,
    })
}

/// The blocks of numbers to which an account may not send for some time.
#[derive(Clone, Copy)]
pub struct PausedBlocks<'s> {
    pub(crate) db: &'s Db,
}

impl PausedBlocks<'_> {
    /// Pauses a block. It returns `false` if the block is already paused.
    pub async fn pause(self, paused: PausedBlock, by: By) -> Result<bool> {
        self.db.change(Pause { paused, by }).await
    }

    /// Ends a pause. It returns `false` if there is none.
    pub async fn release(self, account: AccountId, block: Block, by: By) -> Result<bool> {
        let release = Release { account, block, by };
        self.db.change(release).await
    }

    /// Returns all blocks paused at this moment.
    pub async fn all(self, now_ms: i64) -> Result<Vec<PausedBlock>> {
        let rows: Vec<PausedRow> = self
            .db
            .fetch_all(
                query(
                    "select account_id, block, paused_at_ms, until_ms from paused_blocks
                 where until_ms > $1 order by paused_at_ms",
                )
                .bind(now_ms),
            )
            .await?;
        rows.into_iter().map(paused).collect()
    }

    /// Returns some blocks behind one that are paused at this moment, the latest first.
    pub async fn list(
        self,
        now_ms: i64,
        behind: Option<(i64, i64, i64)>,
        limit: u32,
    ) -> Result<Vec<PausedBlock>> {
        let behind = behind.unwrap_or((i64::MAX, i64::MAX, i64::MAX));
        let rows: Vec<PausedRow> = self
            .db
            .fetch_all(
                query(
                    "select account_id, block, paused_at_ms, until_ms from paused_blocks
                 where until_ms > $1 and (paused_at_ms, account_id, block) < ($2, $3, $4)
                 order by paused_at_ms desc, account_id desc, block desc limit $5",
                )
                .bind(now_ms)
                .bind(behind.0)
                .bind(behind.1)
                .bind(behind.2)
                .bind(i64::from(limit)),
            )
            .await?;
        rows.into_iter().map(paused).collect()
    }
}
