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
        let gateway = rules.gateway(self.gateway);
        self.environment == Environment::Live
            && self.caller.has_opt_outs
            && gateway.is_some_and(|rules| rules.respect_opt_outs)
    }

    /// Reads which of the recipients are left out.
    pub(crate) async fn unwanted(
        &self,
        store: &Store,
        recipients: Vec<Recipient>,
    ) -> Result<Unwanted, Error> {
        let account = self.caller.customer.account.id;
        let found = store
            .opt_outs()
            .of_recipients(account, self.sender, recipients);
        let opted_out = within(async { Ok(found.await?) }).await?;
        Ok(Unwanted { opted_out })
    }
}
