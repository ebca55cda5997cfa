//! Environment variables, which override the file: `OGENE_` and the key in capitals.

use super::defaults::DEFAULT;
use super::fault::{ConfigFault, Faults, Origin};
use super::tree::{Node, Table, Value, parse, set};
use domain::Gateway;
use std::collections::BTreeSet;
use std::ffi::OsString;

const PREFIX: &str = "OGENE_";
/// The variable that is read elsewhere: the name of the file.
const OTHERS: [&str; 1] = ["OGENE_CONFIG"];

/// Returns our variables among those of the system. One that is no text is a fault, because
/// ignoring it would leave the default in force. Variables of other programs are ignored.
pub(crate) fn ours(
    all: &[(OsString, OsString)],
) -> Result<Vec<(String, String)>, Vec<ConfigFault>> {
    let (mut ours, mut faults) = (Vec::new(), Vec::new());
    let is_ours = |name: &OsString| name.as_encoded_bytes().starts_with(PREFIX.as_bytes());
    for (name, text) in all.iter().filter(|(name, _)| is_ours(name)) {
        match (name.to_str(), text.to_str()) {
            (Some(name), Some(text)) => ours.push((name.to_owned(), text.to_owned())),
            _ => faults.push(ConfigFault {
                place: Origin::Variable(name.to_string_lossy().into_owned()),
                key: String::new(),
                text: "is not UTF-8".to_owned(),
            }),
        }
    }
    if faults.is_empty() {
        Ok(ours)
    } else {
        Err(faults)
    }
}

/// Sets the variables in `table`, and returns the names of those that set no key.
///
/// An unknown name is no fault: container platforms set variables such as `OGENE_PORT` by
/// themselves.
pub(super) fn overlay(
    table: &mut Table,
    variables: impl IntoIterator<Item = (String, String)>,
) -> Vec<String> {
    let ours: Vec<_> = variables
        .into_iter()
        .filter(|(name, _)| name.starts_with(PREFIX) && !OTHERS.contains(&name.as_str()))
        .collect();
    if ours.is_empty() {
        return Vec::new();
    }
    let keys = Keys::of_default();
    let carriers = names(table, "carriers");
    let mut unknown = Vec::new();
    for (variable, text) in ours {
        let spelled = variable.trim_start_matches(PREFIX).to_lowercase();
        match keys.path(&spelled, &carriers) {
            Some(path) => {
                let path: Vec<_> = path.iter().map(String::as_str).collect();
                let node = Node {
                    value: Value::Variable(text),
                    place: Origin::Variable(variable),
                };
                set(table, &path, node);
            }
            None => unknown.push(variable),
        }
    }
    unknown
}

/// Returns the default file with every key that it shows, also those that are comments.
pub(super) fn uncommented() -> String {
    let uncomment = |line: &'static str| match line.strip_prefix('#') {
        Some(rest) if !rest.is_empty() && !rest.starts_with([' ', '-']) => rest,
        Some(_) | None => line,
    };
    DEFAULT
        .lines()
        .map(uncomment)
        .collect::<Vec<_>>()
        .join("\n")
}

/// All keys that the default file shows.
struct Keys {
    /// Path of each, up to its section.
    plain: Vec<Vec<String>>,
    carrier: BTreeSet<String>,
    gateway: BTreeSet<String>,
}

impl Keys {
    fn of_default() -> Self {
        let mut root = parse(&uncommented(), |_| Origin::Default, &Faults::default());
        let mut inner = |key: &str| -> BTreeSet<String> {
            let sections = root.remove(key).map(|node| node.value);
            let Some(Value::Table(sections)) = sections else {
                return BTreeSet::new();
            };
            sections.values().flat_map(keys_of).collect()
        };
        let (carrier, gateway) = (inner("carriers"), inner("gateways"));
        let plain = root.iter().flat_map(|(key, node)| match &node.value {
            Value::Table(table) => table
                .iter()
                .flat_map(|(inner, node)| within(&[key, inner], node))
                .collect(),
            _ => vec![vec![key.clone()]],
        });
        Self {
            plain: plain.collect(),
            carrier,
            gateway,
        }
    }

    /// Returns the path of the key with this spelling in a variable.
    fn path(&self, spelled: &str, carriers: &[String]) -> Option<Vec<String>> {
        if let Some(path) = self
            .plain
            .iter()
            .find(|path| spell(&path.join("_")) == spelled)
        {
            return Some(path.clone());
        }
        if let Some(rest) = spelled.strip_prefix("gateways_") {
            let names = Gateway::ALL.iter().map(|gateway| gateway.as_str());
            return named("gateways", rest, names, &self.gateway);
        }
        let rest = spelled.strip_prefix("carriers_")?;
        let of_file = carriers.iter().map(String::as_str);
        named("carriers", rest, of_file, &self.carrier).or_else(|| {
            // The file does not name the carrier. Its name is the text before the longest key that
            // matches.
            let fits = |key: &&String| {
                rest.strip_suffix(key.as_str())
                    .is_some_and(|name| name.len() > 1 && name.ends_with('_'))
            };
            let key = self
                .carrier
                .iter()
                .filter(fits)
                .max_by_key(|key| key.len())?;
            let name = rest.strip_suffix(key.as_str())?.trim_end_matches('_');
            Some(vec!["carriers".to_owned(), name.to_owned(), key.clone()])
        })
    }
}

/// Returns the path of a key, and the paths of the keys below it.
fn within(path: &[&String], node: &Node) -> Vec<Vec<String>> {
    let path: Vec<String> = path.iter().map(|key| (*key).clone()).collect();
    let below = keys_of(node)
        .into_iter()
        .map(|key| [&path[..], &[key]].concat());
    let below: Vec<Vec<String>> = below.collect();
    [vec![path], below].concat()
}

fn named<'a>(
    section: &str,
    spelled: &str,
    names: impl Iterator<Item = &'a str>,
    keys: &BTreeSet<String>,
) -> Option<Vec<String>> {
    names.into_iter().find_map(|name| {
        let key = spelled.strip_prefix(&spell(name))?.strip_prefix('_')?;
        let path = || vec![section.to_owned(), name.to_owned(), key.to_owned()];
        keys.contains(key).then(path)
    })
}

/// Returns the spelling of a path in a variable, in lower case.
fn spell(path: &str) -> String {
    path.to_lowercase().replace(['-', '.'], "_")
}

fn keys_of(section: &Node) -> Vec<String> {
    match &section.value {
        Value::Table(table) => table.keys().cloned().collect(),
        _ => Vec::new(),
    }
}

fn names(table: &Table, section: &str) -> Vec<String> {
    table.get(section).map(keys_of).unwrap_or_default()
}
