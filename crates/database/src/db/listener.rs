//! Notifications of PostgreSQL (`LISTEN`).

use super::Db;
use crate::error::{Error, Result};
use sqlx::postgres::PgListener;

/// A listener on a channel.
#[derive(Debug)]
pub struct Listener(PgListener);

impl Listener {
    /// Returns the next notification. It replaces a lost connection. An error means that
    /// notifications may have been missed.
    pub async fn next(&mut self) -> Result<String> {
        Ok(self.0.recv().await?.payload().to_owned())
    }
}

impl Db {
    /// Listens on a channel. It returns `None` for an embedded database, which has no other node.
    pub async fn listen(&self, channel: &str) -> Result<Option<Listener>> {
        let Self::Postgres { pool } = self else {
            return Ok(None);
        };
        // The listener has a connection of its own, because a dead one would occupy a place in the
        // pool.
        let own = pool.connections.options().clone();
        let own = own
            .max_connections(1)
            .connect_lazy_with(pool.connections.connect_options().as_ref().clone());
        Self::in_time(async {
            let listener = PgListener::connect_with(&own).await;
            let mut listener = listener.map_err(Error::Connecting)?;
            listener.listen(channel).await?;
            Ok(Some(Listener(listener)))
        })
        .await
    }
}
