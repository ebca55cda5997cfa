//! The prepaid wallet: six components, the order of charges, and the target of refunds.

use crate::money::Money;
use std::fmt;
use std::str::FromStr;

/// A component of a wallet. Components are charged in this order.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Component {
    /// Promotional credit, which is charged first.
    PromoBonus,
    /// Bonus for volume.
    VolumeBonus,
    /// Bonus on purchased SMS credit.
    SmsBonus,
    /// Purchased SMS credit, the default component of a credit.
    SmsWallet,
    /// Main balance.
    MainBalance,
    /// Credit for all products, which is charged last.
    UniversalWallet,
}

impl Component {
    /// All components in the order of charges.
    pub const ALL: [Self; 6] = [
        Self::PromoBonus,
        Self::VolumeBonus,
        Self::SmsBonus,
        Self::SmsWallet,
        Self::MainBalance,
        Self::UniversalWallet,
    ];

    /// Returns the name in the API, the database and the commands.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PromoBonus => "promo_bonus",
            Self::VolumeBonus => "volume_bonus",
            Self::SmsBonus => "sms_bonus",
            Self::SmsWallet => "sms_wallet",
            Self::MainBalance => "main_balance",
            Self::UniversalWallet => "universal_wallet",
        }
    }

    /// Returns the component of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|component| component.as_str() == name)
    }
}

/// An amount for each component: the balances of a wallet, or the charge of a message.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Purse([Money; 6]);

impl Purse {
    /// Returns the amount of one component.
    pub const fn get(&self, component: Component) -> Money {
        self.0[component as usize]
    }

    /// Adds an amount to one component. It may be negative.
    pub fn add(&mut self, component: Component, amount: Money) {
        self.0[component as usize] += amount;
    }

    /// Returns the components with an amount in the order of charges.
    pub fn parts(&self) -> impl Iterator<Item = (Component, Money)> + '_ {
        Component::ALL
            .into_iter()
            .map(|component| (component, self.get(component)))
            .filter(|(_, amount)| !amount.is_zero())
    }

    /// Returns the sum of all components.
    pub fn total(&self) -> Money {
        self.0.into_iter().sum()
    }

    /// Returns how `cost` is charged to the components in order, or `None` if the sum is too low. A
    /// component below zero lowers the sum.
    pub fn draw(&self, cost: Money) -> Option<Purse> {
        if cost > self.total() {
            return None;
        }
        let mut rest = cost;
        let mut drawn = Purse::default();
        for component in Component::ALL {
            let paid = rest.min(self.get(component).max(Money::ZERO));
            drawn.add(component, paid);
            rest -= paid;
        }
        rest.is_zero().then_some(drawn)
    }

    /// Subtracts a charge.
    pub fn pay(&mut self, drawn: &Purse) {
        for (component, amount) in drawn.parts() {
            self.add(component, -amount);
        }
    }

    /// Returns how a refund of `amount` is distributed, if this purse was charged and `refunded`
    /// was refunded already.
    ///
    /// The component charged last is refunded first. No component gets more than it was charged,
    /// and any excess is not refunded.
    #[must_use]
    pub fn refund(&self, refunded: &Purse, amount: Money) -> Purse {
        let mut rest = amount;
        let mut back = Purse::default();
        for component in Component::ALL.into_iter().rev() {
            let open = self.get(component) - refunded.get(component);
            let share = rest.min(open.max(Money::ZERO));
            back.add(component, share);
            rest -= share;
        }
        back
    }
}

/// The stored form: `sms_bonus:500,sms_wallet:60000`, empty without amounts.
impl fmt::Display for Purse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (component, amount)) in self.parts().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{}:{}", component.as_str(), amount.units())?;
        }
        Ok(())
    }
}

/// The text is not a purse.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not amounts by wallet component")]
pub struct NotPurse;

impl FromStr for Purse {
    type Err = NotPurse;

    fn from_str(text: &str) -> Result<Self, NotPurse> {
        text.split(',')
            .filter(|part| !part.is_empty())
            .map(|part| {
                let (name, units) = part.split_once(':')?;
                Some((
                    Component::from_name(name)?,
                    Money::from_units(units.parse().ok()?),
                ))
            })
            .collect::<Option<Self>>()
            .ok_or(NotPurse)
    }
}

impl FromIterator<(Component, Money)> for Purse {
    fn from_iter<I: IntoIterator<Item = (Component, Money)>>(parts: I) -> Self {
        let mut purse = Self::default();
        for (component, amount) in parts {
            purse.add(component, amount);
        }
        purse
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn purse(amounts: [i64; 6]) -> Purse {
        Purse(amounts.map(Money::from_units))
    }

    #[test]
    fn bonuses_pay_before_bought_credit() {
        let wallet = purse([10, 20, 30, 40, 50, 60]);
        assert_eq!(
            wallet.draw(Money::from_units(65)),
            Some(purse([10, 20, 30, 5, 0, 0]))
        );
        assert_eq!(wallet.draw(Money::from_units(210)), Some(wallet));
        assert_eq!(wallet.draw(Money::from_units(211)), None);
    }

    #[test]
    fn a_refund_reverses_the_order_of_the_charge() {
        let drawn = purse([10, 0, 0, 20, 0, 0]);
        let first = drawn.refund(&Purse::default(), Money::from_units(15));
        assert_eq!(first, purse([0, 0, 0, 15, 0, 0]));
        let second = drawn.refund(&first, Money::from_units(15));
        assert_eq!(second, purse([10, 0, 0, 5, 0, 0]));
    }

    #[test]
    fn a_component_below_zero_is_made_up_for_first() {
        let wallet = purse([0, 0, 0, 40, 0, -15]);
        assert_eq!(
            wallet.draw(Money::from_units(25)),
            Some(purse([0, 0, 0, 25, 0, 0]))
        );
        assert_eq!(wallet.draw(Money::from_units(26)), None);
        assert_eq!(purse([0, 0, 0, 0, 0, -1]).draw(Money::ZERO), None);
    }

    proptest! {
        #[test]
        fn a_draw_is_exact_and_never_overdraws(
            amounts in proptest::array::uniform6(0i64..1_000_000), cost in 0i64..8_000_000,
        ) {
            let wallet = purse(amounts);
            match wallet.draw(Money::from_units(cost)) {
                None => prop_assert!(wallet.total() < Money::from_units(cost)),
                Some(drawn) => {
                    prop_assert_eq!(drawn.total(), Money::from_units(cost));
                    let mut left = wallet;
                    left.pay(&drawn);
                    prop_assert!(Component::ALL.iter().all(|&c| left.get(c) >= Money::ZERO));
                    prop_assert_eq!(left.total() + drawn.total(), wallet.total());
                }
            }
        }

        #[test]
        fn a_displayed_purse_parses_to_itself(amounts in proptest::array::uniform6(-5i64..5)) {
            prop_assert_eq!(purse(amounts).to_string().parse(), Ok(purse(amounts)));
        }

        #[test]
        fn refunds_add_up_to_the_charge_of_each_component(
            amounts in proptest::array::uniform6(0i64..1_000), steps in proptest::collection::vec(1i64..500, 0..30),
        ) {
            let drawn = purse(amounts);
            let mut refunded = Purse::default();
            for step in steps {
                let back = drawn.refund(&refunded, Money::from_units(step));
                for (component, amount) in back.parts() {
                    refunded.add(component, amount);
                }
                prop_assert!(Component::ALL.iter().all(|&c| refunded.get(c) <= drawn.get(c)));
            }
            let rest = drawn.refund(&refunded, drawn.total());
            prop_assert_eq!(refunded.total() + rest.total(), drawn.total());
        }
    }
}
