//! Rate windows that nodes share.

use crate::Store;
use crate::db::{Change, Tx};
use crate::error::{Error, Result};
use crate::sql::on;
use domain::Environment;
use domain::rate::{RateKey, Reservation, Reserved, Window};

/// How long a window is kept after its newest count: long enough to be empty by the clock of every node.
const KEPT_MS: i64 = 120_000;
/// Most windows tidied in one transaction.
const MOST_TIDIED: i64 = 2_000;

struct Reserve {
    key: RateKey,
    asked: Reservation,
}

impl Change for Reserve {
    type Output = Reserved;

    async fn apply(&self, tx: &mut Tx) -> Result<Reserved> {
        tx.forgo_durability().await?;
        let found = lock(tx, &self.key).await?;
        let is_new = found.is_none();
        let mut window = found.unwrap_or_else(|| Window::new(self.asked.now_ms));
        let reserved = window.reserve(&self.asked);
        if reserved.granted == 0 && self.asked.unused == 0 {
            return Ok(reserved);
        }
        if is_new {
            // Where another node wrote it first, this change is run again and finds it.
            insert(tx, &self.key, &window).await?;
        } else {
            update(tx, &self.key, &window).await?;
        }
        Ok(reserved)
    }
}

/// Reads a window and keeps others from changing it until the commit.
async fn lock(tx: &mut Tx, key: &RateKey) -> Result<Option<Window>> {
    let sql = format!(
        "select newest_ms, counts from rates where account_id = $1 and sandbox = $2 and kind = $3{}",
        tx.for_update()
    );
    let found: Option<(i64, Vec<u8>)> =
        on!(tx, |connection| sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .bind(key.account.0)
            .bind(key.environment == Environment::Sandbox)
            .bind(key.kind.as_str())
            .fetch_optional(connection)
            .await?);
    let Some((newest_ms, counts)) = found else {
        return Ok(None);
    };
    let window = Window::unpack(newest_ms, &counts);
    let unreadable = || Error::Unreadable(format!("a rate window of {} bytes", counts.len()));
    window.ok_or_else(unreadable).map(Some)
}

async fn insert(tx: &mut Tx, key: &RateKey, window: &Window) -> Result<()> {
    let (newest_ms, counts) = window.pack();
    on!(tx, |connection| sqlx::query(
        "insert into rates (account_id, sandbox, kind, newest_ms, counts)
         values ($1, $2, $3, $4, $5)",
    )
    .bind(key.account.0)
    .bind(key.environment == Environment::Sandbox)
    .bind(key.kind.as_str())
    .bind(newest_ms)
    .bind(counts)
    .execute(connection)
    .await
    .map(drop))?;
    Ok(())
}

async fn update(tx: &mut Tx, key: &RateKey, window: &Window) -> Result<()> {
    let (newest_ms, counts) = window.pack();
    on!(tx, |connection| sqlx::query(
        "update rates set newest_ms = $4, counts = $5
         where account_id = $1 and sandbox = $2 and kind = $3",
    )
    .bind(key.account.0)
    .bind(key.environment == Environment::Sandbox)
    .bind(key.kind.as_str())
    .bind(newest_ms)
    .bind(counts)
    .execute(connection)
    .await
    .map(drop))?;
    Ok(())
}

struct TidyRates {
    now_ms: i64,
}

impl Change for TidyRates {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let sql = format!(
            "delete from rates where (account_id, sandbox, kind) in (
                 select account_id, sandbox, kind from rates where newest_ms < $1 limit $2{})",
            tx.skip_locked("rates")
        );
        let gone = on!(tx, |connection| sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(self.now_ms - KEPT_MS)
            .bind(MOST_TIDIED)
            .execute(connection)
            .await?
            .rows_affected());
        Ok(gone >= MOST_TIDIED.unsigned_abs())
    }
}

impl Store {
    /// Reserves permits from the window that all nodes share, and gives back unused ones. A crash of the
    /// database may forget what was reserved in its last second.
    pub async fn reserve(&self, key: RateKey, asked: Reservation) -> Result<Reserved> {
        self.db.change(Reserve { key, asked }).await
    }

    /// Forgets windows in which nothing was counted for more than a minute, in small steps; whether more remain.
    pub async fn tidy_rates(&self, now_ms: i64) -> Result<bool> {
        self.db.change(TidyRates { now_ms }).await
    }
}
