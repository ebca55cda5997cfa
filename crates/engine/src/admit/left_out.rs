//! The recipients that a send leaves out.

use super::callers::Caller;
use crate::error::{Error, within};
use domain::opt_out::Unwanted;
use domain::{Environment, Gateway, Recipient, Rulebook};
use store::Store;

/// A send whose recipients are checked.
pub(crate) struct Checked<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) environment: Environment,
    pub(crate) gateway: Gateway,
    /// The sender ID.
    pub(crate) sender: &'a str,
}

impl Checked<'_> {
    /// Returns `true` if some recipients may have to be left out. The sandbox sends to nobody, so
    /// it leaves nobody out.
    pub(crate) fn is_needed(&self, rules: &Rulebook) -> bool {
        let (opt_outs, dnd) = self.respected(rules);
        opt_outs || dnd
    }

    /// Returns `true` for opt-outs and for DND if the send respects them.
    fn respected(&self, rules: &Rulebook) -> (bool, bool) {
        let gateway = rules.gateway(self.gateway);
        let Some(gateway) = gateway.filter(|_| self.environment == Environment::Live) else {
            return (false, false);
        };
        let opt_outs = gateway.respects.opt_outs && self.caller.has_opt_outs;
        (opt_outs, gateway.respects.dnd)
    }

    /// Reads which of the recipients are left out.
    pub(crate) async fn unwanted(
        &self,
        (store, rules): (&Store, &Rulebook),
        recipients: Vec<Recipient>,
    ) -> Result<Unwanted, Error> {
        let account = self.caller.customer.account.id;
        let (opt_outs, dnd) = self.respected(rules);
        let mut unwanted = Unwanted::default();
        if dnd {
            let found = Box::pin(store.dnd().of_recipients(recipients.clone()));
            unwanted.dnd = within(async { Ok(found.await?) }).await?;
        }
        if opt_outs {
            let found = store
                .opt_outs()
                .of_recipients(account, self.sender, recipients);
            unwanted.opted_out = within(async { Ok(found.await?) }).await?;
        }
        Ok(unwanted)
    }
}
