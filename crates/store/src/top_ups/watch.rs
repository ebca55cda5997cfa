//! The top-ups whose provider the sweep asks, and the end of their time.

use super::row::{TopUpRow, lock, write};
use database::{Change, Result, Tx, locking, query};
use domain::payment::{TopUp, TopUpId};

pub(super) struct TakeWatched {
    pub(super) before_ms: i64,
    pub(super) now_ms: i64,
    pub(super) limit: u32,
}

impl Change for TakeWatched {
    type Output = Vec<TopUp>;

    async fn apply(&self, tx: &mut Tx) -> Result<Vec<TopUp>> {
        // A top-up that another node takes at this moment is left to it.
        let list = locking!(
            "select * from top_ups where watched and checked_at_ms <= $1
             order by checked_at_ms, top_up_id limit $2";
            "for update skip locked"
        );
        let list = query(list).bind(self.before_ms).bind(i64::from(self.limit));
        let rows: Vec<TopUpRow> = tx.fetch_all(list).await?;
        let top_ups: Result<Vec<TopUp>> = rows.into_iter().map(TopUpRow::read).collect();
        let top_ups = top_ups?;
        for top_up in &top_ups {
            let mark = query("update top_ups set checked_at_ms = $2 where top_up_id = $1");
            let mark = mark.bind(&top_up.id.0.as_bytes()[..]).bind(self.now_ms);
            tx.execute(mark).await?;
        }
        Ok(top_ups)
    }
}

pub(super) struct Expire {
    pub(super) id: TopUpId,
}

impl Change for Expire {
    /// `true` if the top-up is an expired one now, and was not before.
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let Some(mut top_up) = lock(tx, self.id).await?.filter(|top_up| top_up.is_watched) else {
            return Ok(false);
        };
        let before = top_up.state;
        top_up.expire();
        write(tx, before, &top_up).await?;
        Ok(top_up.state != before)
    }
}
