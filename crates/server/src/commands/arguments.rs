//! The forms of arguments that several commands take.

use domain::{AccountId, Money};

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
