//! The prices of a sub-account beside those of its parent.

use super::prices::ResalePrices;
use crate::gateway::{Gateway, Price, Rulebook};
use crate::ids::AccountId;
use crate::leg::Leg;

/// The prices of a page over a gateway, for a sub-account and its parent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PagePrice {
    /// The gateway.
    pub gateway: Gateway,
    /// The highest price that the parent itself pays.
    pub own: Price,
    /// The price that the parent set.
    pub set: Option<Price>,
}

impl PagePrice {
    /// Returns the prices over all gateways that are configured.
    pub fn all(rules: &Rulebook, parent: AccountId, prices: &ResalePrices) -> Vec<Self> {
        let of = |&gateway: &Gateway| {
            Some(Self {
                gateway,
                own: highest_price(rules, parent, gateway)?,
                set: prices.get(gateway),
            })
        };
        Gateway::ALL.iter().filter_map(of).collect()
    }

    /// Returns the highest price that the sub-account pays. It is never below that of its parent.
    pub fn paid(&self) -> Price {
        self.set.map_or(self.own, |set| Price {
            plain: set.plain.max(self.own.plain),
            unicode: set.unicode.max(self.own.unicode),
        })
    }

    /// Returns the part of a page's price that the parent gets at least.
    pub fn margin(&self) -> Price {
        let paid = self.paid();
        Price {
            plain: paid.plain - self.own.plain,
            unicode: paid.unicode - self.own.unicode,
        }
    }
}

/// Returns the highest price of a page that an account itself pays over a gateway, if the gateway is
/// configured. No price of its sub-accounts may be lower.
pub fn highest_price(rules: &Rulebook, account: AccountId, gateway: Gateway) -> Option<Price> {
    let count = u8::try_from(rules.plan.networks().len()).unwrap_or(u8::MAX);
    let networks = (0..count).map(Some).chain([None]);
    let prices = networks.filter_map(|network| {
        let of = |leg| Some(rules.leg(gateway, leg)?.tariff.price(account, network));
        [of(Leg::First), of(Leg::Second)]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Money;

    fn price(plain: i64, unicode: i64) -> Price {
        let [plain, unicode] = [plain, unicode].map(Money::from_naira);
        Price { plain, unicode }
    }

    #[test]
    fn a_margin_is_what_is_paid_above_the_own_price() {
        let own = price(6, 12);
        for (set, paid, margin) in [
            (None, price(6, 12), price(0, 0)),
            (Some(price(8, 15)), price(8, 15), price(2, 3)),
            // The price of the parent rose after this one was set.
            (Some(price(5, 13)), price(6, 13), price(0, 1)),
        ] {
            let prices = PagePrice {
                gateway: Gateway::Otp,
                own,
                set,
            };
            assert_eq!((prices.paid(), prices.margin()), (paid, margin), "{set:?}");
        }
    }
}
