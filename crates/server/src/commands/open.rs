//! What most commands begin with: the configuration, and the database it names.

use super::Surroundings;
use super::answer::Failure;
use crate::app;
use crate::config::Config;
use domain::{AccountId, Money};
use engine::Clock;
use std::path::PathBuf;
use store::Store;

impl Surroundings {
    /// The configuration, with the name of its file from `--config` or `OGENE_CONFIG`.
    pub(super) fn config(&self) -> Result<Config, Failure> {
        let named = self
            .variables
            .iter()
            .find(|(name, _)| name == "OGENE_CONFIG");
        let path = self
            .global
            .config
            .clone()
            .or_else(|| named.map(|(_, path)| PathBuf::from(path)));
        Config::load(path.as_deref(), self.variables.iter().cloned())
            .map_err(Failure::configuration)
    }

    /// The database that the configuration names, and the clock.
    pub(super) async fn open(&self) -> Result<(Store, Clock), Failure> {
        let store = app::open(&self.config()?).await?;
        Ok((store, Clock::system()))
    }
}

/// Reads an account id as the commands print it.
pub(super) fn account_id(text: &str) -> Result<AccountId, String> {
    text.parse().map_err(|_| {
        "an account is given by its user_id, a number; see `ogene account list`".to_owned()
    })
}

/// Reads an amount to credit.
pub(super) fn amount(text: &str) -> Result<Money, String> {
    let amount: Money = text
        .parse()
        .map_err(|fault: domain::NotMoney| fault.to_string())?;
    if amount.is_positive() {
        Ok(amount)
    } else {
        Err("must be more than nothing".to_owned())
    }
}
