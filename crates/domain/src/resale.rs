//! Sub-accounts: an account sells sends to accounts of its own.
//!
//! A sub-account pays its price, and its parent gets the difference to its own price: the margin.

mod margins;
mod prices;
mod request;

pub use margins::{margin_of, pack_margins};
pub use prices::{NotPrices, ResalePrices};
pub use request::{
    Direction, MAX_SUB_ACCOUNTS, PriceFields, SubAccountChange, SubAccountChangeFields,
    SubAccountFields, SubAccountRequest, TransferFields, TransferRequest,
};

use crate::account::AccountStatus;
use crate::gateway::{Gateway, Price, Rulebook};
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

/// Returns the highest price of a page that an account itself pays over a gateway, if the gateway is
/// configured. No price of its sub-accounts may be lower.
pub fn highest_price(rules: &Rulebook, account: AccountId, gateway: Gateway) -> Option<Price> {
    let count = u8::try_from(rules.plan.networks().len()).unwrap_or(u8::MAX);
    let networks = (0..count).map(Some).chain([None]);
    let prices = networks.filter_map(|network| {
        let of = |leg| Some(rules.leg(gateway, leg)?.tariff.price(account, network));
        [of(crate::leg::Leg::First), of(crate::leg::Leg::Second)]
            .into_iter()
            .flatten()
            .reduce(higher)
    });
    prices.reduce(higher)
}

fn higher(one: Price, other: Price) -> Price {
    Price {
        plain: one.plain.max(other.plain),
        unicode: one.unicode.max(other.unicode),
    }
}
