//! Payments as their providers confirm them.

use crate::money::Money;
use crate::named_enum;

/// The currency of all payments.
pub const CURRENCY: &str = "NGN";

/// The money that a provider received.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Received {
    /// The amount.
    pub amount: Money,
    /// The currency.
    pub currency: String,
    /// The id of the payment at the provider.
    pub payment_id: String,
}

/// Maximum length of a provider's text about a payment, in characters.
const MAX_CHARACTERS: usize = 200;

impl Received {
    /// Returns the money as a provider describes it. Characters that cannot be stored or shown are
    /// replaced, so that a payment with a strange currency or id is a mismatch that an operator can see.
    pub fn new(amount: Money, currency: &str, payment_id: &str) -> Self {
        let storable = |text: &str| -> String {
            let shown = text.chars().take(MAX_CHARACTERS);
            let shown = shown.map(|sign| if sign.is_control() { '?' } else { sign });
            shown.collect()
        };
        Self {
            amount,
            currency: storable(currency),
            payment_id: storable(payment_id),
        }
    }
}

named_enum! {
    /// The reason why a payment does not fit its top-up.
    pub enum Mismatch {
        /// Another amount was paid.
        Amount = "amount",
        /// Another currency was paid.
        Currency = "currency",
        /// The provider confirmed a payment of another reference.
        Reference = "reference",
        /// The reference is not ours.
        Unknown = "unknown_reference",
        /// An operator credited the account under this reference before.
        Credited = "credited_before",
    }
}

/// The status of a payment at its provider.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PaymentStatus {
    /// The money was received.
    Paid,
    /// The payment is not complete.
    Pending,
    /// The payment was refused.
    Failed,
}

/// A payment as its provider confirms it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Payment {
    /// The reference that the provider has for it.
    pub reference: String,
    /// The status.
    pub status: PaymentStatus,
    /// The money.
    pub received: Received,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_provider_says_is_stored_and_no_currency_becomes_ours() {
        let long = "9".repeat(MAX_CHARACTERS + 1);
        let received = Received::new(Money::ZERO, "NGN\0", &long);
        assert_eq!(received.currency, "NGN?");
        assert_eq!(received.payment_id, "9".repeat(MAX_CHARACTERS));
        assert_eq!(Received::new(Money::ZERO, CURRENCY, "1").currency, CURRENCY);
    }
}
