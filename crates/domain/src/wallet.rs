//! The prepaid wallet: six components, the order in which they pay, and where a refund goes.

use crate::money::Money;
use std::fmt;
use std::str::FromStr;

/// One of the six pockets of a wallet, in the order in which they are drawn from.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Component {
    /// Promotional credit: spent first.
    PromoBonus,
    /// Bonus for volume.
    VolumeBonus,
    /// Bonus on bought SMS credit.
    SmsBonus,
    /// Bought SMS credit: what a credit goes to by default.
    SmsWallet,
    /// Main balance.
    MainBalance,
    /// Credit that every product can spend: spent last.
    UniversalWallet,
}

impl Component {
    /// All six, in draw order.
    pub const ALL: [Self; 6] = [
        Self::PromoBonus,
        Self::VolumeBonus,
        Self::SmsBonus,
        Self::SmsWallet,
        Self::MainBalance,
        Self::UniversalWallet,
    ];

    /// The name in the interface, the database and the commands.
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

    /// The component of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|component| component.as_str() == name)
    }
}

/// An amount per component: a wallet's balances, or what a message drew from it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Purse([Money; 6]);

impl Purse {
    /// Returns the balance of one component.
    pub const fn get(&self, component: Component) -> Money {
        self.0[component as usize]
    }

    /// Adds to one component; a negative amount takes away.
    pub fn add(&mut self, component: Component, amount: Money) {
        self.0[component as usize] += amount;
    }

    /// The components that hold something, in draw order.
    pub fn parts(&self) -> impl Iterator<Item = (Component, Money)> + '_ {
        Component::ALL
            .into_iter()
            .map(|component| (component, self.get(component)))
            .filter(|(_, amount)| !amount.is_zero())
    }

    /// All components together.
    pub fn total(&self) -> Money {
        self.0.into_iter().sum()
    }

    /// Which components pay `cost`, in draw order; `None` when all of them together cannot.
    pub fn draw(&self, cost: Money) -> Option<Purse> {
        let mut rest = cost;
        let mut drawn = Purse::default();
        for component in Component::ALL {
            let paid = rest.min(self.get(component).max(Money::ZERO));
            drawn.add(component, paid);
            rest -= paid;
        }
        rest.is_zero().then_some(drawn)
    }

    /// Takes what was drawn.
    pub fn pay(&mut self, drawn: &Purse) {
        for (component, amount) in drawn.parts() {
            self.add(component, -amount);
        }
    }

    /// Where a refund of `amount` goes, when this purse was drawn and `refunded` went back already.
    ///
    /// The component drawn last gets its money back first, until each has what it gave. The part that exceeds
    /// the rest of the draw is not refunded: nobody gets back more than was paid.
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

/// `sms_bonus:500,sms_wallet:60000`: how a message keeps what paid it. Empty when nothing did.
impl fmt::Display for Purse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (component, amount)) in self.parts().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{}:{}", component.as_str(), amount.units())?;
        }
        Ok(())
    }
}

/// A text is not what a purse is written as.
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
    fn a_refund_goes_back_where_it_came_from_last_drawn_first() {
        let drawn = purse([10, 0, 0, 20, 0, 0]);
        let first = drawn.refund(&Purse::default(), Money::from_units(15));
        assert_eq!(first, purse([0, 0, 0, 15, 0, 0]));
        let second = drawn.refund(&first, Money::from_units(15));
        assert_eq!(second, purse([10, 0, 0, 5, 0, 0]));
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
        fn reading_what_was_written_gives_the_purse(amounts in proptest::array::uniform6(-5i64..5)) {
            prop_assert_eq!(purse(amounts).to_string().parse(), Ok(purse(amounts)));
        }

        #[test]
        fn refunds_together_give_back_exactly_what_each_component_paid(
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
