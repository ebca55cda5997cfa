//! Hints from node to node that there is work (`LISTEN` and `NOTIFY` of PostgreSQL). Only hints: whoever
//! misses one finds the work by looking, a little later.

use crate::Store;
use database::{Listener, Result, query};

const CHANNEL: &str = "ogene";

/// The hints of other nodes.
pub struct Hints(Listener);

impl Hints {
    /// The next carrier that has work. A lost connection is made anew, and an error then means that hints may have been
    /// missed.
    pub async fn next(&mut self) -> Result<String> {
        self.0.next().await
    }
}

impl Store {
    /// Listens for hints; `None` where there is no other node.
    pub async fn listen(&self) -> Result<Option<Hints>> {
        Ok(self.db.listen(CHANNEL).await?.map(Hints))
    }

    /// Notifies the other nodes that these carriers have work. It runs outside of the transaction that made the work: a
    /// commit that notifies waits for all others that do.
    pub async fn ring(&self, carriers: &[String]) -> Result<()> {
        if self.db.is_embedded() || carriers.is_empty() {
            return Ok(());
        }
        let mut tx = self.db.read().await?;
        for carrier in carriers {
            let notify = query("select pg_notify($1, $2)");
            tx.execute(notify.bind(CHANNEL).bind(carrier)).await?;
        }
        Ok(())
    }
}
