//! Sub-accounts: an account sells sends to accounts of its own.
//!
//! A sub-account pays its price, and its parent gets the difference to its own price: the margin.

mod margins;
mod page_price;
mod prices;
mod request;

pub use margins::{margin_of, pack_margins};
pub use page_price::{PagePrice, highest_price};
pub use prices::{NotPrices, ResalePrices};
pub use request::{
    Direction, MAX_SUB_ACCOUNTS, PriceFields, SubAccountChange, SubAccountChangeFields,
    SubAccountFields, SubAccountRequest, TransferFields, TransferRequest,
};

use crate::account::AccountStatus;
use crate::gateway::Gateway;
use crate::ids::AccountId;
use crate::money::Money;
use crate::refusal::{ObjectRefusal, Refusal};

/// The terms on which a sub-account sends.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Resale {
    /// The account that sells.
    pub parent: AccountId,
    /// The status of the parent. A sub-account sends only while its parent may send.
    pub parent_status: AccountStatus,
    /// The prices that the parent set.
    pub prices: ResalePrices,
}

impl Resale {
    /// Returns the refusal of a send of a sub-account. Its daily limit is money that its parent did
    /// not give it.
    pub fn refusal(refusal: Refusal) -> Refusal {
        match refusal {
            Refusal::DailyLimit {
                limit,
                left,
                needed,
                ..
            } => Refusal::Object(ObjectRefusal::SubAccountLimit {
                limit,
                left,
                needed,
            }),
            other => other,
        }
    }

    /// Returns what a sub-account pays for a page that costs its parent so much. It is never less.
    pub(crate) fn paid(&self, gateway: Gateway, unicode: bool, own: Money) -> Money {
        let price = self.prices.get(gateway);
        let set = price.map(|price| if unicode { price.unicode } else { price.plain });
        set.map_or(own, |set| set.max(own))
    }
}
