//! Hints from node to node that there is work (`LISTEN` and `NOTIFY` of PostgreSQL). Only hints: whoever
//! misses one finds the work by looking, a little later.

use crate::Store;
use database::{Db, Error, Lent, Result};
use sqlx::postgres::PgListener;

const CHANNEL: &str = "ogene";

/// What other nodes ring for.
pub struct Hints(PgListener);

impl Hints {
    /// The next carrier that has work. A lost connection is made anew, and an error then says that hints may
    /// have been missed.
    pub async fn next(&mut self) -> Result<String> {
        Ok(self.0.recv().await?.payload().to_owned())
    }
}

impl Store {
    /// Listens for hints; `None` where there is no other node.
    pub async fn listen(&self) -> Result<Option<Hints>> {
        let Db::Postgres { pool, .. } = &self.db else {
            return Ok(None);
        };
        // Of its own: one that has died without a word would keep its place among the others.
        let own = pool.options().clone();
        let own = own
            .max_connections(1)
            .connect_lazy_with(pool.connect_options().as_ref().clone());
        Db::in_time(async {
            let listener = PgListener::connect_with(&own).await;
            let mut listener = listener.map_err(Error::Connecting)?;
            listener.listen(CHANNEL).await?;
            Ok(Some(Hints(listener)))
        })
        .await
    }

    /// Tells the other nodes that these carriers have work. Said outside of the transaction that made it: a
    /// commit that notifies waits for all others that do.
    pub async fn ring(&self, carriers: &[String]) -> Result<()> {
        let Db::Postgres { pool, .. } = &self.db else {
            return Ok(());
        };
        if carriers.is_empty() {
            return Ok(());
        }
        let mut connection = Lent::by(pool).await?;
        for carrier in carriers {
            sqlx::query("select pg_notify($1, $2)")
                .bind(CHANNEL)
                .bind(carrier)
                .execute(&mut *connection)
                .await?;
        }
        Ok(())
    }
}
