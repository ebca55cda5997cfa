//! The current configuration. A reload replaces it as a whole, so a reader takes one snapshot for
//! related values.

use crate::context::carrier::Carrier;
use crate::context::payments::Payments;
use crate::context::plan::Plan;
use crate::mail::MailSettings;
use crate::settings::{InboundSettings, Limits, Retention};
use domain::user::session::SessionLimits;
use std::sync::Arc;

/// A snapshot of the configuration.
pub(crate) struct Live {
    pub(crate) plan: Plan,
    /// All carriers in the order of the configuration. The sandbox is the last.
    pub(crate) carriers: Vec<Arc<Carrier>>,
    pub(crate) limits: Limits,
    pub(crate) retention: Retention,
    pub(crate) inbound: InboundSettings,
    pub(crate) payments: Arc<Payments>,
    pub(crate) mail: Option<MailSettings>,
    pub(crate) sessions: SessionLimits,
}

impl Live {
    /// Returns a carrier by name.
    pub(crate) fn carrier(&self, name: &str) -> Option<&Arc<Carrier>> {
        self.carriers.iter().find(|carrier| &*carrier.name == name)
    }

    /// Returns `true` if some gateway lists this carrier together with another one that submits.
    pub(crate) fn has_alternative(
        &self,
        carrier: &Carrier,
        submits: impl Fn(&Carrier) -> bool,
    ) -> bool {
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
                        .is_some_and(|other| submits(other))
            })
    }

    /// Returns `true` if this instance of a carrier is configured.
    pub(crate) fn runs(&self, carrier: &Arc<Carrier>) -> bool {
        self.carriers.iter().any(|one| Arc::ptr_eq(one, carrier))
    }
}
