//! The prices of a gateway: its own, those of networks, and those of accounts.

use super::fault::closest;
use super::section::Section;
use super::tree::{Node, Table, Value};
use super::value::Read;
use domain::{AccountId, Money, NumberPlan, Price, Tariff};
use std::collections::{BTreeMap, HashMap};

/// The default price of a Unicode page, as a multiple of the plain one.
const UNICODE_FACTOR: i64 = 2;

/// Reads the price keys of a gateway's section. `base` is the default of each price.
pub(super) fn tariff(section: &mut Section<'_>, base: Price, plan: &NumberPlan) -> Tariff {
    let price = section.get::<Money>("price").unwrap_or(base.plain);
    let unicode = section.get::<Money>("unicode_price");
    let mut networks = vec![None; plan.networks().len()];
    let place = section.place_of("prices");
    for (name, price) in section
        .get::<BTreeMap<String, GivenPrice>>("prices")
        .unwrap_or_default()
    {
        match network(&name, plan) {
            Ok(index) => networks[index] = Some(price.0),
            Err(text) => section.fault_at(&place, "prices", text),
        }
    }
    let mut accounts = HashMap::new();
    let place = section.place_of("account_prices");
    let given = section.get::<BTreeMap<String, GivenPrice>>("account_prices");
    for (id, price) in given.unwrap_or_default() {
        match id.parse::<AccountId>() {
            Ok(account) => {
                accounts.insert(account, price.0);
            }
            Err(_) => {
                section.fault_at(&place, "account_prices", format!("{id:?} is not a user_id"));
            }
        }
    }
    Tariff {
        base: Price {
            plain: price,
            unicode: unicode.unwrap_or(price * UNICODE_FACTOR),
        },
        networks,
        accounts,
    }
}

/// A price as `"6.50"`, or as a table with both prices.
struct GivenPrice(Price);

impl Read for GivenPrice {
    fn read(node: &Node) -> Result<Self, String> {
        let Value::Table(table) = &node.value else {
            return Ok(Self(twice(Money::read(node)?)));
        };
        let amount = |table: &Table, key: &str| table.get(key).map(Money::read).transpose();
        let plain = amount(table, "price")?.ok_or("has no `price`")?;
        let unicode = amount(table, "unicode_price")?;
        let known = |key: &&String| ["price", "unicode_price"].contains(&key.as_str());
        match table.keys().find(|key| !known(key)) {
            Some(key) => Err(format!(
                "unknown key `{key}`; known are price, unicode_price"
            )),
            None => Ok(Self(Price {
                plain,
                unicode: unicode.unwrap_or(plain * UNICODE_FACTOR),
            })),
        }
    }
}

/// Returns the index of a network in the plan.
pub(super) fn network(name: &str, plan: &NumberPlan) -> Result<usize, String> {
    plan.networks()
        .iter()
        .position(|network| network == name)
        .ok_or_else(|| {
            let names = plan.networks().iter().map(String::as_str);
            match closest(name, names) {
                Some(meant) => format!("there is no network `{name}`; did you mean `{meant}`?"),
                None => format!(
                    "there is no network `{name}`; there are {}",
                    plan.networks().join(", ")
                ),
            }
        })
}

/// Returns a price without a price of its own for Unicode.
pub(super) fn twice(plain: Money) -> Price {
    Price {
        plain,
        unicode: plain * UNICODE_FACTOR,
    }
}
