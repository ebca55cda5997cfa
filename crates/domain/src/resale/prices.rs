//! The prices of a sub-account, by gateway.

use crate::gateway::{Gateway, Price};
use crate::money::Money;
use std::fmt;
use std::str::FromStr;

/// The prices of a page that a parent set for a sub-account. Over other gateways the sub-account
/// pays what its parent pays.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ResalePrices(Vec<(Gateway, Price)>);

impl ResalePrices {
    /// Returns the price over a gateway, if one was set.
    pub fn get(&self, gateway: Gateway) -> Option<Price> {
        let mut prices = self.0.iter();
        prices
            .find(|(of, _)| *of == gateway)
            .map(|(_, price)| *price)
    }

    /// Sets the price over a gateway, or removes it.
    pub fn set(&mut self, gateway: Gateway, price: Option<Price>) {
        self.0.retain(|(of, _)| *of != gateway);
        self.0.extend(price.map(|price| (gateway, price)));
        self.0.sort_unstable_by_key(|(of, _)| of.as_str());
    }

    /// Returns the prices in the order of the gateways' names.
    pub fn iter(&self) -> impl Iterator<Item = (Gateway, Price)> + '_ {
        self.0.iter().copied()
    }
}

/// The stored form: `direct-refund:65000:130000,otp:80000:80000`.
impl fmt::Display for ResalePrices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (gateway, price)) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let (plain, unicode) = (price.plain.units(), price.unicode.units());
            write!(f, "{comma}{}:{plain}:{unicode}", gateway.as_str())?;
        }
        Ok(())
    }
}

/// The text has no prices.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not prices by gateway")]
pub struct NotPrices;

impl FromStr for ResalePrices {
    type Err = NotPrices;

    fn from_str(text: &str) -> Result<Self, NotPrices> {
        let parts = text.split(',').filter(|part| !part.is_empty());
        let prices = parts.map(|part| {
            let mut fields = part.split(':');
            let gateway = Gateway::from_name(fields.next()?)?;
            let plain = Money::from_units(fields.next()?.parse().ok()?);
            let unicode = Money::from_units(fields.next()?.parse().ok()?);
            let price = Price { plain, unicode };
            fields.next().is_none().then_some((gateway, price))
        });
        let prices: Option<Vec<_>> = prices.collect();
        let mut read = Self::default();
        for (gateway, price) in prices.ok_or(NotPrices)? {
            read.set(gateway, Some(price));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_prices_parse_to_themselves() {
        let mut prices = ResalePrices::default();
        assert_eq!(prices.to_string(), "");
        let price = |plain, unicode| Price {
            plain: Money::from_naira(plain),
            unicode: Money::from_naira(unicode),
        };
        prices.set(Gateway::Otp, Some(price(8, 9)));
        prices.set(Gateway::DirectRefund, Some(price(7, 14)));
        prices.set(Gateway::Otp, Some(price(8, 8)));
        let text = prices.to_string();
        assert_eq!(text, "direct-refund:70000:140000,otp:80000:80000");
        assert_eq!(text.parse(), Ok(prices.clone()));
        prices.set(Gateway::Otp, None);
        assert_eq!(prices.get(Gateway::Otp), None);
        assert_eq!(prices.get(Gateway::DirectRefund), Some(price(7, 14)));
        for text in ["otp", "otp:1", "otp:1:2:3", "sms:1:2", "otp:x:2"] {
            assert_eq!(text.parse::<ResalePrices>(), Err(NotPrices), "{text}");
        }
    }
}
