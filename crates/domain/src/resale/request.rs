//! The requests of a parent about its sub-accounts (docs/spec/sub-accounts.md).

use super::prices::ResalePrices;
use crate::account::AccountStatus;
use crate::gateway::{Gateway, Price};
use crate::money::Money;
use crate::named_enum;
use crate::refusal::{ObjectRefusal, Refusal};

/// Maximum number of sub-accounts of an account.
pub const MAX_SUB_ACCOUNTS: usize = 10_000;
/// Maximum number of characters of a name, an e-mail address and a reference.
const MAX_CHARACTERS: usize = 255;
/// The statuses that a parent may set.
const SETTABLE: [AccountStatus; 2] = [AccountStatus::Active, AccountStatus::Disabled];

/// The unparsed fields of a request for a sub-account.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SubAccountFields {
    /// The name.
    pub name: Option<String>,
    /// The e-mail address.
    pub email: Option<String>,
}

/// A request for a sub-account.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SubAccountRequest {
    /// The name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
}

impl SubAccountRequest {
    /// Parses the fields.
    pub fn read(fields: &SubAccountFields) -> Result<Self, Refusal> {
        let name = text("name", fields.name.as_deref())?;
        let email = text("email", fields.email.as_deref())?;
        let is_address = email
            .split_once('@')
            .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
        if !is_address || email.contains(char::is_whitespace) {
            return Err(malformed("`email` is not an e-mail address."));
        }
        Ok(Self { name, email })
    }
}

/// The unparsed prices of one gateway. Without both, the price is removed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PriceFields {
    /// The price of a page.
    pub price: Option<String>,
    /// The price of a Unicode page, twice that by default.
    pub unicode_price: Option<String>,
}

/// The unparsed fields of a change of a sub-account.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SubAccountChangeFields {
    /// The status.
    pub status: Option<String>,
    /// The daily limit in naira, or a blank text for none.
    pub daily_limit: Option<String>,
    /// The prices by gateway.
    pub prices: Vec<(String, PriceFields)>,
}

/// A change of a sub-account.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SubAccountChange {
    /// The new status.
    pub status: Option<AccountStatus>,
    /// The new daily limit. The inner `None` removes it.
    pub daily_limit: Option<Option<Money>>,
    /// The prices that are set or removed.
    pub prices: Vec<(Gateway, Option<Price>)>,
}

impl SubAccountChange {
    /// Parses the fields.
    pub fn read(fields: &SubAccountChangeFields) -> Result<Self, Refusal> {
        let status = fields.status.as_deref().map(status).transpose()?;
        let daily_limit = fields.daily_limit.as_deref().map(|text| match text.trim() {
            "" => Ok(None),
            text => money("daily_limit", text).map(Some),
        });
        let prices = fields.prices.iter();
        let prices = prices.map(|(gateway, fields)| price(gateway, fields));
        let change = Self {
            status,
            daily_limit: daily_limit.transpose()?,
            prices: prices.collect::<Result<_, _>>()?,
        };
        if change == Self::default() {
            return Err(malformed(
                "Nothing is to be changed: give `status`, `daily_limit` or `prices`.",
            ));
        }
        Ok(change)
    }

    /// Refuses a price below that of the parent, which `own` returns.
    pub fn check(&self, own: impl Fn(Gateway) -> Option<Price>) -> Result<(), Refusal> {
        for (gateway, price) in &self.prices {
            let own = own(*gateway).ok_or_else(|| unknown(gateway.as_str()))?;
            if let Some(price) = price
                && (price.plain < own.plain || price.unicode < own.unicode)
            {
                return Err(Refusal::Object(ObjectRefusal::PriceBelowOwn {
                    gateway: gateway.as_str(),
                    plain: own.plain,
                    unicode: own.unicode,
                }));
            }
        }
        Ok(())
    }

    /// Returns prices with this change.
    pub fn applied(&self, mut prices: ResalePrices) -> ResalePrices {
        for (gateway, price) in &self.prices {
            prices.set(*gateway, *price);
        }
        prices
    }
}

named_enum! {
    /// The direction of a transfer.
    pub enum Direction {
        /// From the parent to the sub-account.
        ToSub = "to_sub",
        /// From the sub-account to the parent.
        FromSub = "from_sub",
    }
}

/// The unparsed fields of a transfer.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TransferFields {
    /// The amount in naira.
    pub amount: Option<String>,
    /// The direction.
    pub direction: Option<String>,
    /// The reference.
    pub reference: Option<String>,
}

/// A transfer between a parent and its sub-account.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TransferRequest {
    /// The amount.
    pub amount: Money,
    /// The direction.
    pub direction: Direction,
    /// The reference, which the parent uses once.
    pub reference: String,
}

impl TransferRequest {
    /// Parses the fields.
    pub fn read(fields: &TransferFields) -> Result<Self, Refusal> {
        let amount = fields.amount.as_deref().unwrap_or_default().trim();
        let amount = money("amount", amount)?;
        if !amount.is_positive() {
            return Err(malformed("`amount` must be more than 0."));
        }
        let direction = fields.direction.as_deref().unwrap_or_default().trim();
        let direction = Direction::from_name(direction)
            .ok_or_else(|| malformed("`direction` must be `to_sub` or `from_sub`."))?;
        Ok(Self {
            amount,
            direction,
            reference: text("reference", fields.reference.as_deref())?,
        })
    }
}

fn text(name: &str, text: Option<&str>) -> Result<String, Refusal> {
    let text = text.unwrap_or_default().trim();
    match text.chars().count() {
        0 => Err(malformed(format!("The field `{name}` is missing."))),
        1..=MAX_CHARACTERS if !text.contains(char::is_control) => Ok(text.to_owned()),
        _ => Err(malformed(format!(
            "`{name}` must have at most {MAX_CHARACTERS} characters, and no control characters."
        ))),
    }
}

fn status(text: &str) -> Result<AccountStatus, Refusal> {
    let status = AccountStatus::from_name(text.trim());
    let status = status.filter(|status| SETTABLE.contains(status));
    status.ok_or_else(|| malformed("`status` must be `active` or `disabled`."))
}

/// Parses an amount of naira that is not negative and has at most two decimals.
fn money(name: &str, text: &str) -> Result<Money, Refusal> {
    let decimals = text
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    let amount = text
        .parse()
        .ok()
        .filter(|amount: &Money| *amount >= Money::ZERO && *amount <= MAX_AMOUNT && decimals <= 2);
    amount.ok_or_else(|| {
        malformed(format!(
            "`{name}` must be an amount of naira such as 1500.00, with at most two decimals."
        ))
    })
}

/// The largest amount of a request.
const MAX_AMOUNT: Money = Money::from_naira(1_000_000_000);

fn price(gateway: &str, fields: &PriceFields) -> Result<(Gateway, Option<Price>), Refusal> {
    let of = Gateway::from_name(gateway.trim()).ok_or_else(|| unknown(gateway))?;
    let Some(plain) = fields.price.as_deref() else {
        if fields.unicode_price.is_some() {
            return Err(malformed("A price needs `price` beside `unicode_price`."));
        }
        return Ok((of, None));
    };
    let plain = page_price(plain)?;
    let unicode = match fields.unicode_price.as_deref() {
        Some(text) => page_price(text)?,
        None => plain * 2,
    };
    Ok((of, Some(Price { plain, unicode })))
}

/// Parses the price of a page, which may have four decimals.
fn page_price(text: &str) -> Result<Money, Refusal> {
    let price = text.trim().parse().ok();
    let price = price.filter(|price: &Money| *price >= Money::ZERO && *price <= MAX_AMOUNT);
    price.ok_or_else(|| malformed("A price must be an amount of naira such as 6.50."))
}

fn unknown(gateway: &str) -> Refusal {
    malformed(format!(
        "`prices` has {gateway:?}, which is no gateway here: `GET /docs` lists them."
    ))
}

fn malformed(text: impl Into<String>) -> Refusal {
    Refusal::Malformed(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sub_account_has_a_name_and_an_address() {
        let read = |name: &str, email: &str| {
            SubAccountRequest::read(&SubAccountFields {
                name: Some(name.to_owned()),
                email: Some(email.to_owned()),
            })
        };
        assert_eq!(read(" Ada ", "a@b.ng").unwrap().name, "Ada");
        for (name, email) in [
            ("", "a@b.ng"),
            ("a\nb", "a@b.ng"),
            ("Ada", ""),
            ("Ada", "a b@c.ng"),
            ("Ada", "@b.ng"),
            ("Ada", "ab.ng"),
        ] {
            assert!(read(name, email).is_err(), "{name} {email}");
        }
    }

    #[test]
    fn a_unicode_page_costs_twice_as_much_unless_said_otherwise() {
        let read = |gateway: &str, price: Option<&str>, unicode_price: Option<&str>| {
            let fields = PriceFields {
                price: price.map(str::to_owned),
                unicode_price: unicode_price.map(str::to_owned),
            };
            let fields = SubAccountChangeFields {
                prices: vec![(gateway.to_owned(), fields)],
                ..SubAccountChangeFields::default()
            };
            SubAccountChange::read(&fields).map(|change| change.prices)
        };
        let price = |plain, unicode| {
            let [plain, unicode] = [plain, unicode].map(Money::from_naira);
            vec![(Gateway::Otp, Some(Price { plain, unicode }))]
        };
        assert_eq!(read("otp", Some("7"), None), Ok(price(7, 14)));
        assert_eq!(read("otp", Some("7"), Some("8.00")), Ok(price(7, 8)));
        assert_eq!(read("otp", None, None), Ok(vec![(Gateway::Otp, None)]));
        for (gateway, plain, unicode) in [
            ("sms", Some("7"), None),
            ("otp", Some("-7"), None),
            ("otp", Some("x"), None),
            ("otp", None, Some("7")),
        ] {
            assert!(
                read(gateway, plain, unicode).is_err(),
                "{gateway} {plain:?}"
            );
        }
    }

    #[test]
    fn no_price_is_below_that_of_the_parent() {
        let change = |plain, unicode| {
            let [plain, unicode] = [plain, unicode].map(Money::from_naira);
            SubAccountChange {
                prices: vec![(Gateway::Otp, Some(Price { plain, unicode }))],
                ..SubAccountChange::default()
            }
        };
        let own = |_| {
            let [plain, unicode] = [6, 12].map(Money::from_naira);
            Some(Price { plain, unicode })
        };
        assert_eq!(change(6, 12).check(own), Ok(()));
        for (plain, unicode) in [(5, 12), (6, 11)] {
            let refused = change(plain, unicode).check(own).unwrap_err();
            let is_it = matches!(
                refused,
                Refusal::Object(ObjectRefusal::PriceBelowOwn { .. })
            );
            assert!(is_it, "{refused:?}");
        }
        assert!(matches!(
            change(6, 12).check(|_| None),
            Err(Refusal::Malformed(_))
        ));
    }

    #[test]
    fn a_change_names_what_it_changes() {
        let read = |status: Option<&str>, daily_limit: Option<&str>| {
            SubAccountChange::read(&SubAccountChangeFields {
                status: status.map(str::to_owned),
                daily_limit: daily_limit.map(str::to_owned),
                prices: Vec::new(),
            })
        };
        assert_eq!(
            read(Some("disabled"), None).unwrap().status,
            Some(AccountStatus::Disabled)
        );
        let limit = |text| read(None, Some(text)).unwrap().daily_limit;
        assert_eq!(limit(""), Some(None));
        assert_eq!(limit("50.5"), Some(Some(Money::from_units(505_000))));
        for (status, daily_limit) in [
            (None, None),
            (Some("restricted"), None),
            (None, Some("-1")),
            (None, Some("1.005")),
            (None, Some("much")),
        ] {
            assert!(
                read(status, daily_limit).is_err(),
                "{status:?} {daily_limit:?}"
            );
        }
    }

    #[test]
    fn a_transfer_has_amount_direction_and_reference() {
        let read = |amount: &str, direction: &str, reference: &str| {
            TransferRequest::read(&TransferFields {
                amount: Some(amount.to_owned()),
                direction: Some(direction.to_owned()),
                reference: Some(reference.to_owned()),
            })
        };
        let transfer = read("100", "to_sub", "t-1").unwrap();
        assert_eq!(
            (transfer.amount, transfer.direction),
            (Money::from_naira(100), Direction::ToSub)
        );
        for (amount, direction, reference) in [
            ("0", "to_sub", "t-1"),
            ("-5", "to_sub", "t-1"),
            ("1e3", "to_sub", "t-1"),
            ("5.001", "to_sub", "t-1"),
            ("2000000000", "to_sub", "t-1"),
            ("5", "up", "t-1"),
            ("5", "to_sub", " "),
        ] {
            assert!(
                read(amount, direction, reference).is_err(),
                "{amount} {direction}"
            );
        }
    }
}
