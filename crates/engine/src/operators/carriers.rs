//! The operations on carriers.

use super::actor::Actor;
use super::error::{OperationError, Result};
use crate::context::system::System;
use crate::dispatch::carrier_test::{self, TestedCarrier};
use crate::settings::CarrierSettings;
use domain::carrier_control::{CarrierChange, CarrierControl};
use domain::{Rulebook, redact};
use store::{ControlledCarrier, Store};

pub use crate::dispatch::carrier_test::{TestEnd, TestMessage, TestStep};

/// Carriers: list, pause, drain, resume, throttle, test.
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

    /// Sends a message over a carrier that is not stopped, outside of all accounts, and passes on
    /// each step. The audit names the test before anything is sent. `serves_embedded` is
    /// `true` if a service runs on the embedded database, and `None` on PostgreSQL.
    pub async fn test(
        self,
        (system, serves_embedded): (System, Option<bool>),
        settings: Option<CarrierSettings>,
        carrier: &str,
        message: &TestMessage,
        mut note: impl FnMut(TestStep) + Send,
    ) -> Result<TestEnd> {
        let settings = settings.ok_or_else(|| OperationError::NoCarrier(carrier.to_owned()))?;
        let tested = TestedCarrier::new(self.store.clone(), system, settings, serves_embedded)?;
        let masked = redact(&message.to.to_string());
        let controls = self.store.carrier_controls();
        let noted = controls.note_test(carrier.to_owned(), masked, self.actor.now());
        let control = noted.await?;
        if !control.submits() {
            let mode = control.mode.as_str();
            return Err(OperationError::CarrierStopped(carrier.to_owned(), mode));
        }
        Ok(carrier_test::run(&tested, message, &mut note).await?)
    }
}
