//! The configuration that holds while the engine runs. A reload replaces all of it at one moment: who goes by two parts of
//! it takes both from the same one.

use crate::context::carrier::Carrier;
use crate::context::plan::Plan;
use crate::settings::{Limits, Retention};
use std::sync::Arc;

/// The configuration.
pub(crate) struct Live {
    pub(crate) plan: Plan,
    /// In the order of the configuration; the sandbox is the last.
    pub(crate) carriers: Vec<Arc<Carrier>>,
    pub(crate) limits: Limits,
    pub(crate) retention: Retention,
}

impl Live {
    /// The carrier of that name; there are few.
    pub(crate) fn carrier(&self, name: &str) -> Option<&Arc<Carrier>> {
        self.carriers.iter().find(|carrier| &*carrier.name == name)
    }

    /// Returns `true` if anything that goes to this carrier could go to another that is up.
    pub(crate) fn has_alternative(&self, carrier: &Carrier) -> bool {
        let rules = &self.plan.rules;
        let Some(index) = rules.carrier(&carrier.name) else {
            return false;
        };
        let lists = rules.gateways.iter().flat_map(|rules| {
            let preference = &rules.preference;
            preference
                .networks
                .iter()
                .flatten()
                .chain([&preference.default])
        });
        lists
            .filter(|list| list.contains(&index))
            .flatten()
            .any(|&other| {
                let name = rules
                    .carriers
                    .get(other)
                    .map(|carrier| carrier.name.as_str());
                other != index
                    && name
                        .and_then(|name| self.carrier(name))
                        .is_some_and(|other| other.is_up_anywhere())
            })
    }

    /// Returns `true` if this very carrier is one of them.
    pub(crate) fn runs(&self, carrier: &Arc<Carrier>) -> bool {
        self.carriers.iter().any(|one| Arc::ptr_eq(one, carrier))
    }
}
