//! Notifications of PostgreSQL (`LISTEN`).

use super::pooled::Pool;
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

/// Listens on a channel. The listener has a connection of its own, because a dead one would occupy
/// a place in the pool.
pub(crate) async fn listen(pool: &Pool, channel: &str) -> Result<Listener> {
    let own = pool.connections.options().clone();
    let own = own
        .max_connections(1)
        .connect_lazy_with(pool.connections.connect_options().as_ref().clone());
    let listener = PgListener::connect_with(&own).await;
    let mut listener = listener.map_err(Error::Connecting)?;
    listener.listen(channel).await?;
    Ok(Listener(listener))
}
