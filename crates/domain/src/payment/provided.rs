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
