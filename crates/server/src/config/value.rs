//! Conversion of values to the types of keys: durations, sizes, money, addresses, lists.

use super::fault::{Faults, Origin};
use super::tree::{Node, Table, Value, parse};
use domain::Money;
use domain::client_address::{AddressRange, NotRange};
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// A type that a key can hold.
pub(super) trait Read: Sized {
    /// Reads the value, or returns the fault.
    fn read(node: &Node) -> Result<Self, String>;
}

impl Read for String {
    fn read(node: &Node) -> Result<Self, String> {
        match &node.value {
            Value::Text(text) | Value::Variable(text) => Ok(text.clone()),
            other => Err(format!("must be a text in quotes, not {}", other.kind())),
        }
    }
}

impl Read for bool {
    fn read(node: &Node) -> Result<Self, String> {
        match &node.value {
            Value::Boolean(flag) => Ok(*flag),
            Value::Variable(text) if matches!(text.as_str(), "true" | "1") => Ok(true),
            Value::Variable(text) if matches!(text.as_str(), "false" | "0") => Ok(false),
            Value::Variable(_) => Err("must be true or false".to_owned()),
            other => Err(format!("must be true or false, not {}", other.kind())),
        }
    }
}

impl Read for u32 {
    fn read(node: &Node) -> Result<Self, String> {
        let refused = |found: &str| format!("must be a whole number, not {found}");
        match &node.value {
            Value::Number(text) | Value::Variable(text) => {
                let digits = text.replace('_', "");
                digits.parse().map_err(|_| refused(text))
            }
            other => Err(refused(other.kind())),
        }
    }
}

/// Maximum price of a page. A higher price is a typing error. Sums of lower prices stay within the
/// range of money.
const DEAREST_PAGE: Money = Money::from_naira(100_000);

/// The price of a page.
impl Read for Money {
    fn read(node: &Node) -> Result<Self, String> {
        let text = match &node.value {
            Value::Text(text) | Value::Number(text) | Value::Variable(text) => text,
            other => return Err(format!("must be an amount in naira, not {}", other.kind())),
        };
        let amount: Self = text
            .parse()
            .map_err(|fault| format!("{text:?} is {fault}"))?;
        match amount {
            amount if amount < Self::ZERO => Err("must not be negative".to_owned()),
            amount if amount > DEAREST_PAGE => Err(format!("must be at most {DEAREST_PAGE}")),
            amount => Ok(amount),
        }
    }
}

impl Read for Duration {
    fn read(node: &Node) -> Result<Self, String> {
        let text = String::read(node)?;
        duration(&text)
            .ok_or_else(|| format!("{text:?} is not a duration such as 500ms, 30s, 2m, 48h or 7d"))
    }
}

impl Read for SocketAddr {
    fn read(node: &Node) -> Result<Self, String> {
        let text = String::read(node)?;
        text.parse()
            .map_err(|_| format!("{text:?} is not an IP address and port such as 127.0.0.1:8080"))
    }
}

impl Read for AddressRange {
    fn read(node: &Node) -> Result<Self, String> {
        String::read(node)?
            .parse()
            .map_err(|fault: NotRange| fault.to_string())
    }
}

impl Read for PathBuf {
    fn read(node: &Node) -> Result<Self, String> {
        match String::read(node)? {
            text if text.is_empty() => Err("must not be empty".to_owned()),
            text => Ok(Self::from(text)),
        }
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(node: &Node) -> Result<Self, String> {
        let items = match &node.value {
            Value::List(items) => items.clone(),
            Value::Variable(text) => listed(text, &node.place)?,
            other => return Err(format!("must be a list, not {}", other.kind())),
        };
        collected(items.iter().enumerate().map(|(index, item)| {
            T::read(item).map_err(|fault| format!("item {}: {fault}", index + 1))
        }))
    }
}

impl<T: Read> Read for BTreeMap<String, T> {
    fn read(node: &Node) -> Result<Self, String> {
        collected(
            table(node)?
                .into_iter()
                .map(|(key, item)| match T::read(&item) {
                    Ok(value) => Ok((key, value)),
                    Err(fault) => Err(format!("{key}: {fault}")),
                }),
        )
    }
}

impl Read for Node {
    fn read(node: &Node) -> Result<Self, String> {
        Ok(node.clone())
    }
}

/// Returns a table unread, for keys that read its values by other rules.
pub(super) fn table(node: &Node) -> Result<Table, String> {
    match &node.value {
        Value::Table(table) => Ok(table.clone()),
        Value::Variable(text) => match toml_value(text, &node.place)?.value {
            Value::Table(table) => Ok(table),
            other => Err(format!("must be a table, not {}", other.kind())),
        },
        other => Err(format!("must be a table, not {}", other.kind())),
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, PartialOrd)]
pub(super) struct Size(pub(super) usize);

/// The units of sizes, the largest first.
const SIZE_UNITS: [(&str, usize); 4] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |(_, bytes): &(&str, usize)| self.0.is_multiple_of(*bytes);
        let (unit, bytes) = SIZE_UNITS.into_iter().find(whole).unwrap_or(("B", 1));
        write!(f, "{}{unit}", self.0 / bytes)
    }
}

impl Read for Size {
    fn read(node: &Node) -> Result<Self, String> {
        let text = String::read(node)?;
        let size = SIZE_UNITS.iter().find_map(|(unit, bytes)| {
            let count: usize = text.strip_suffix(unit)?.trim().parse().ok()?;
            count.checked_mul(*bytes)
        });
        size.map(Self)
            .ok_or_else(|| format!("{text:?} is not a size such as 64KiB or 10MiB"))
    }
}

/// A duration whose faults show it as it is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq, PartialOrd)]
pub(super) struct Time(pub(super) Duration);

/// The units of durations, with their milliseconds.
const TIME_UNITS: [(&str, u64); 5] = [
    ("ms", 1),
    ("s", 1_000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.0.as_millis();
        let whole = |(_, millis): &(&str, u64)| all.is_multiple_of((*millis).into());
        let units = TIME_UNITS.into_iter().rev();
        // Zero is a whole number of every unit.
        let found = units.into_iter().find(|unit| all > 0 && whole(unit));
        let (unit, millis) = found.unwrap_or(("ms", 1));
        write!(f, "{}{unit}", all / u128::from(millis))
    }
}

impl Read for Time {
    fn read(node: &Node) -> Result<Self, String> {
        Duration::read(node).map(Self)
    }
}

/// Reads a whole number with a unit. A number without a unit such as `5` is refused, because its
/// meaning is ambiguous.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    TIME_UNITS.iter().find_map(|(unit, millis)| {
        let count: u64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        Some(Duration::from_millis(count.checked_mul(*millis)?))
    })
}

/// Returns all values, or all faults in one sentence.
fn collected<T, C: FromIterator<T>>(
    results: impl Iterator<Item = Result<T, String>>,
) -> Result<C, String> {
    let (mut values, mut faults) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() {
        Ok(values.into_iter().collect())
    } else {
        Err(faults.join("; "))
    }
}

/// Returns the items of a variable that holds a list: TOML, or texts with commas between them.
fn listed(text: &str, place: &Origin) -> Result<Vec<Node>, String> {
    if text.trim_start().starts_with('[') {
        return match toml_value(text, place)?.value {
            Value::List(items) => Ok(items),
            other => Err(format!("must be a list, not {}", other.kind())),
        };
    }
    let items = text
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty());
    Ok(items
        .map(|item| Node {
            value: Value::Variable(item.to_owned()),
            place: place.clone(),
        })
        .collect())
}

fn toml_value(text: &str, place: &Origin) -> Result<Node, String> {
    let faults = Faults::default();
    let mut table = parse(&format!("value = {text}"), |_| place.clone(), &faults);
    match (faults.into_sorted().first(), table.remove("value")) {
        (None, Some(node)) => Ok(node),
        (fault, _) => Err(fault.map_or_else(|| "is empty".to_owned(), |fault| fault.text.clone())),
    }
}
