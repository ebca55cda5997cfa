//! Hints between nodes that there is work (`LISTEN` and `NOTIFY` of PostgreSQL). A node that misses
//! a hint finds the work in its next poll.

use database::{Db, Listener, Result, query};

const CHANNEL: &str = "ogene";

/// The hints of other nodes.
pub struct Hints(Listener);

impl Hints {
    /// Returns the next carrier that has work. It replaces a lost connection. An error means that
    /// hints may have been missed.
    pub async fn next(&mut self) -> Result<String> {
        self.0.next().await
    }
}

/// Listens for hints. It returns `None` if there can be no other node.
pub(crate) async fn listen(db: &Db) -> Result<Option<Hints>> {
    Ok(db.listen(CHANNEL).await?.map(Hints))
}

/// Notifies the other nodes that these carriers have work. It runs outside the transaction that
/// made the work, because commits with notifications wait for each other.
pub(crate) async fn notify(db: &Db, carriers: &[String]) -> Result<()> {
    if db.is_embedded() || carriers.is_empty() {
        return Ok(());
    }
    let mut tx = db.read().await?;
    for carrier in carriers {
        let notify = query("select pg_notify($1, $2)");
        tx.execute(notify.bind(CHANNEL).bind(carrier)).await?;
    }
    Ok(())
}
