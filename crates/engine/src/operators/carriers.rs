//! The operations on carriers.

use super::actor::Actor;
use super::error::{OperationError, Result};
use domain::Rulebook;
use domain::carrier_control::{CarrierChange, CarrierControl};
use store::{ControlledCarrier, Store};

/// Carriers: list, pause, drain, resume, throttle.
pub struct Carriers {
    pub(super) store: Store,
    pub(super) actor: Actor,
    pub(super) rules: Rulebook,
}

impl Carriers {
    /// Returns the carriers under control, in alphabetical order. All others run by their
    /// configuration.
    pub async fn controlled(self) -> Result<Vec<ControlledCarrier>> {
        Ok(self.store.carrier_controls().all().await?)
    }

    /// Changes the control of a carrier. Running nodes apply it within a second. Returns it after
    /// the change.
    pub async fn change(self, carrier: &str, change: CarrierChange) -> Result<CarrierControl> {
        let controls = self.store.carrier_controls();
        let is_configured = self.rules.carrier(carrier).is_some();
        let is_known = is_configured || {
            let all = controls.all().await?;
            all.iter().any(|one| one.carrier == carrier)
        };
        if !is_known {
            return Err(OperationError::NoCarrier(carrier.to_owned()));
        }
        let changed = controls.change(carrier.to_owned(), change, self.actor.now());
        Ok(changed.await?)
    }
}
