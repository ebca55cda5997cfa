//! The carrier of a test, and what the test needs to reach it.

use crate::context::clock::Clock;
use crate::context::network::Network;
use crate::context::system::System;
use crate::context::tls;
use crate::error::StartError;
use crate::settings::CarrierSettings;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsConnector;

/// Longest wait for the next beat of a node. A node that is slower has ended.
const BEAT_TIMEOUT: Duration = Duration::from_secs(3);
/// Interval of the looks at beats and at parked receipts.
pub(super) const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// A carrier to test.
pub(crate) struct TestedCarrier {
    pub(super) store: Store,
    pub(super) network: Arc<dyn Network>,
    pub(super) clock: Clock,
    pub(super) settings: Arc<CarrierSettings>,
    pub(super) tls: Option<TlsConnector>,
    /// `true` if a service runs on the embedded database.
    serves_embedded: Option<bool>,
}

impl TestedCarrier {
    pub(crate) fn new(
        store: Store,
        system: System,
        settings: CarrierSettings,
        serves_embedded: Option<bool>,
    ) -> Result<Self, StartError> {
        let tls = tls::connector(&settings)?;
        Ok(Self {
            store,
            network: system.network,
            clock: system.clock,
            settings: Arc::new(settings),
            tls,
            serves_embedded,
        })
    }

    /// Returns `true` if a node serves. On PostgreSQL it raises its beat every second.
    pub(super) async fn is_served(&self) -> database::Result<bool> {
        if let Some(serves) = self.serves_embedded {
            return Ok(serves);
        }
        let before = self.store.nodes().all().await?;
        let deadline = Instant::now() + BEAT_TIMEOUT;
        while !before.is_empty() && Instant::now() < deadline {
            sleep(LOOK_INTERVAL).await;
            let now = self.store.nodes().all().await?;
            if now.iter().any(|node| !before.contains(node)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
