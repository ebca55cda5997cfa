//! The control of a carrier by an operator: pause, drain, resume, throttle. It holds on all nodes
//! until an operator changes it.

use crate::named_enum;

named_enum! {
    /// The mode in which a carrier runs.
    #[derive(Default)]
    pub enum CarrierMode {
        /// Due recipients are submitted.
        #[default]
        Running = "running",
        /// Recipients wait. Connections stay bound, and receipts are read.
        Paused = "paused",
        /// Recipients wait. Connections end once nothing claimed is left in memory.
        Drained = "drained",
    }
}

/// A change of the control of a carrier.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CarrierChange {
    /// No node submits, and the connections stay.
    Pause,
    /// No node submits, and then the connections end.
    Drain,
    /// A pause or a drain ends. A throttle stays.
    Resume,
    /// All nodes together submit at most so many pages a second, or the throttle ends.
    Throttle(Option<u32>),
}

/// The control of a carrier. Without one, a carrier runs by its configuration.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CarrierControl {
    /// The mode.
    pub mode: CarrierMode,
    /// The most submits a second of all nodes, below the limit of the configuration.
    pub max_per_second: Option<u32>,
}

impl CarrierControl {
    /// Returns the control after a change.
    #[must_use]
    pub const fn after(self, change: CarrierChange) -> Self {
        let Self {
            mode,
            max_per_second,
        } = self;
        match change {
            CarrierChange::Pause => Self {
                mode: CarrierMode::Paused,
                max_per_second,
            },
            CarrierChange::Drain => Self {
                mode: CarrierMode::Drained,
                max_per_second,
            },
            CarrierChange::Resume => Self {
                mode: CarrierMode::Running,
                max_per_second,
            },
            CarrierChange::Throttle(max_per_second) => Self {
                mode,
                max_per_second,
            },
        }
    }

    /// Returns `true` if recipients may be claimed and submitted. The rest of a multipart message
    /// whose first pages were accepted is submitted in any case.
    pub const fn submits(self) -> bool {
        matches!(self.mode, CarrierMode::Running)
    }

    /// Returns `true` if connections are kept. `is_empty` means that no claimed recipient is in
    /// memory, and that no outcome waits for its commit.
    pub const fn keeps_binds(self, is_empty: bool) -> bool {
        match self.mode {
            CarrierMode::Running | CarrierMode::Paused => true,
            CarrierMode::Drained => !is_empty,
        }
    }

    /// Returns the most submits a second, from the limit of the configuration.
    pub fn rate(self, configured: Option<u32>) -> Option<u32> {
        let limits = [configured, self.max_per_second];
        limits.into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::CarrierChange::{Drain, Pause, Resume, Throttle};
    use super::CarrierMode::{Drained, Paused, Running};
    use super::*;

    #[test]
    fn a_change_of_the_mode_keeps_the_throttle() {
        let mut control = CarrierControl::default();
        for (change, mode, max_per_second) in [
            (Pause, Paused, None),
            (Throttle(Some(5)), Paused, Some(5)),
            (Drain, Drained, Some(5)),
            (Pause, Paused, Some(5)),
            (Resume, Running, Some(5)),
            (Resume, Running, Some(5)),
            (Throttle(None), Running, None),
        ] {
            control = control.after(change);
            assert_eq!(
                (control.mode, control.max_per_second),
                (mode, max_per_second),
                "{change:?}"
            );
        }
        assert_eq!(control, CarrierControl::default());
    }

    #[test]
    fn only_a_running_carrier_submits_and_a_drained_one_unbinds() {
        for (mode, submits, keeps_busy, keeps_idle) in [
            (Running, true, true, true),
            (Paused, false, true, true),
            (Drained, false, true, false),
        ] {
            let control = CarrierControl {
                mode,
                max_per_second: None,
            };
            let keeps = [false, true].map(|is_empty| control.keeps_binds(is_empty));
            assert_eq!(
                (control.submits(), keeps),
                (submits, [keeps_busy, keeps_idle]),
                "{mode:?}"
            );
        }
    }

    #[test]
    fn a_throttle_lowers_the_configured_rate_and_never_raises_it() {
        for (configured, throttle, rate) in [
            (None, None, None),
            (Some(50), None, Some(50)),
            (None, Some(5), Some(5)),
            (Some(50), Some(5), Some(5)),
            (Some(50), Some(500), Some(50)),
        ] {
            let control = CarrierControl::default().after(Throttle(throttle));
            assert_eq!(control.rate(configured), rate);
        }
    }
}
