//! A top-up and its states.

use super::id::TopUpId;
use super::percent::Percent;
use super::provided::{Mismatch, Payment, Received};
use super::terms::Priced;
use crate::account::Environment;
use crate::ids::AccountId;
use crate::money::Money;
use crate::named_enum;
use crate::wallet::Component;

named_enum! {
    /// The state of a top-up.
    pub enum TopUpState {
        /// The payment is not known yet.
        Pending = "pending",
        /// The payment was credited, once.
        Paid = "paid",
        /// The provider refused the payment, or an operator rejected it. A later payment is credited
        /// unless an operator decided.
        Failed = "failed",
        /// Nobody paid in time. A later payment is credited all the same.
        Expired = "expired",
        /// The payment does not fit, and only an operator can credit it.
        Mismatch = "mismatch",
    }
}

/// A top-up.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TopUp {
    /// The id.
    pub id: TopUpId,
    /// The account, or `None` if a payment named no top-up of ours.
    pub account: Option<AccountId>,
    /// The environment.
    pub environment: Environment,
    /// The name of the provider.
    pub provider: String,
    /// The reference by which the provider names it.
    pub reference: String,
    /// The price.
    pub price: Priced,
    /// The state.
    pub state: TopUpState,
    /// `true` while the sweep asks the provider.
    pub is_watched: bool,
    /// The time of creation, Unix milliseconds.
    pub created_at_ms: i64,
    /// The end of the time to pay, Unix milliseconds.
    pub expires_at_ms: i64,
    /// The page of the provider on which the customer pays.
    pub checkout_url: String,
    /// The page to which the customer returns.
    pub return_url: Option<String>,
    /// The money that the provider received.
    pub received: Option<Received>,
    /// The reason why the payment does not fit.
    pub mismatch: Option<Mismatch>,
    /// The time at which an operator accepted or rejected a mismatch, Unix milliseconds.
    pub decided_at_ms: Option<i64>,
    /// The time of the credit, Unix milliseconds.
    pub paid_at_ms: Option<i64>,
    /// The number of the receipt. The numbers of live top-ups run without gaps.
    pub receipt_number: Option<i64>,
}

/// The request for a top-up, once its provider has made a page for it.
#[derive(Clone, Debug)]
pub struct NewTopUp {
    /// The id.
    pub id: TopUpId,
    /// The account.
    pub account: AccountId,
    /// The environment.
    pub environment: Environment,
    /// The name of the provider.
    pub provider: String,
    /// The price.
    pub price: Priced,
    /// The page of the provider.
    pub checkout_url: String,
    /// The page to which the customer returns.
    pub return_url: Option<String>,
    /// The time for which it may be paid, milliseconds.
    pub expires_ms: i64,
}

impl TopUp {
    /// Returns a new top-up.
    pub fn new(new: NewTopUp, now_ms: i64) -> Self {
        Self {
            id: new.id,
            account: Some(new.account),
            environment: new.environment,
            provider: new.provider,
            reference: new.id.reference(),
            price: new.price,
            state: TopUpState::Pending,
            // A page of ours pays in the sandbox, and no provider can be asked.
            is_watched: new.environment == Environment::Live,
            created_at_ms: now_ms,
            expires_at_ms: now_ms + new.expires_ms,
            checkout_url: new.checkout_url,
            return_url: new.return_url,
            received: None,
            mismatch: None,
            decided_at_ms: None,
            paid_at_ms: None,
            receipt_number: None,
        }
    }

    /// Returns the mismatch of a payment whose reference is not ours. Nobody gets anything for it
    /// until an operator names the account and the amount.
    pub fn unknown(id: TopUpId, provider: &str, payment: &Payment, now_ms: i64) -> Self {
        Self {
            id,
            account: None,
            environment: Environment::Live,
            provider: provider.to_owned(),
            reference: payment.reference.clone(),
            price: Priced {
                amount: Money::ZERO,
                vat: Money::ZERO,
                vat_rate: Percent::default(),
                bonus: Money::ZERO,
                component: Component::UniversalWallet,
            },
            state: TopUpState::Mismatch,
            is_watched: false,
            created_at_ms: now_ms,
            expires_at_ms: now_ms,
            checkout_url: String::new(),
            return_url: None,
            received: Some(payment.received.clone()),
            mismatch: Some(Mismatch::Unknown),
            decided_at_ms: None,
            paid_at_ms: None,
            receipt_number: None,
        }
    }

    /// Returns the amount that the customer pays.
    pub fn total(&self) -> Money {
        self.price.amount + self.price.vat
    }

    /// Returns `true` if a payment can still change the top-up. A paid top-up, a mismatch and the
    /// decision of an operator stay, so that nothing is credited twice.
    pub fn is_open(&self) -> bool {
        match self.state {
            TopUpState::Paid | TopUpState::Mismatch => false,
            TopUpState::Pending | TopUpState::Expired | TopUpState::Failed => {
                self.decided_at_ms.is_none()
            }
        }
    }

    /// Makes the top-up a paid one. The receipt number is added where it is counted.
    pub fn pay(&mut self, now_ms: i64) {
        self.state = TopUpState::Paid;
        self.is_watched = false;
        self.paid_at_ms = Some(now_ms);
    }

    /// Makes the top-up a mismatch.
    pub fn mismatch(&mut self, reason: Mismatch) {
        self.state = TopUpState::Mismatch;
        self.is_watched = false;
        self.mismatch = Some(reason);
    }

    /// Ends the time to pay.
    pub fn expire(&mut self) {
        self.is_watched = false;
        if self.state == TopUpState::Pending {
            self.state = TopUpState::Expired;
        }
    }

    /// Rejects the mismatch, at the decision of an operator.
    pub fn reject(&mut self, now_ms: i64) {
        self.state = TopUpState::Failed;
        self.decided_at_ms = Some(now_ms);
    }
}
