//! The control of carriers by operators, as this node knows it.

use domain::carrier_control::CarrierControl;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// The carriers under control. A reload of the configuration leaves them as they are.
#[derive(Default)]
pub(crate) struct Controls {
    any: AtomicBool,
    by_carrier: RwLock<HashMap<String, CarrierControl>>,
}

impl Controls {
    /// Returns the control of a carrier.
    pub(crate) fn of(&self, carrier: &str) -> CarrierControl {
        if !self.any.load(Ordering::Relaxed) {
            return CarrierControl::default();
        }
        let controls = self.by_carrier.read();
        controls.get(carrier).copied().unwrap_or_default()
    }

    /// Replaces the controls. Returns the carriers whose control changed.
    pub(crate) fn set(&self, controls: HashMap<String, CarrierControl>) -> Vec<String> {
        let mut held = self.by_carrier.write();
        let names = controls.keys().chain(held.keys());
        let is_changed = |name: &&String| controls.get(*name) != held.get(*name);
        let mut changed: Vec<String> = names.filter(is_changed).cloned().collect();
        changed.sort_unstable();
        changed.dedup();
        self.any.store(!controls.is_empty(), Ordering::Relaxed);
        *held = controls;
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::carrier_control::{CarrierChange, CarrierMode};

    #[test]
    fn only_changed_controls_are_named() {
        let controls = Controls::default();
        let paused = CarrierControl::default().after(CarrierChange::Pause);
        let set = |all: &[(&str, CarrierControl)]| {
            let all = all
                .iter()
                .map(|(name, control)| ((*name).to_owned(), *control));
            controls.set(all.collect())
        };
        assert_eq!(set(&[("mtn", paused)]), ["mtn"]);
        assert_eq!(controls.of("mtn").mode, CarrierMode::Paused);
        assert_eq!(controls.of("glo"), CarrierControl::default());
        assert_eq!(set(&[("mtn", paused), ("glo", paused)]), ["glo"]);
        assert_eq!(set(&[("glo", paused)]), ["mtn"]);
        assert_eq!(controls.of("mtn"), CarrierControl::default());
        assert_eq!(set(&[]), ["glo"]);
    }
}
