//! The values of a configuration before they are interpreted, each with its place.

use super::fault::{Faults, Origin};
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Values by key.
pub(super) type Table = BTreeMap<String, Node>;

/// A value and where it was set.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The value.
    pub(super) value: Value,
    /// The place where it was set.
    pub(super) place: Origin,
}

/// A value of TOML. Numbers keep their text, so that money never passes through a float.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Text in quotes.
    Text(String),
    /// An integer or a decimal, as written.
    Number(String),
    /// `true` or `false`.
    Boolean(bool),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
    /// A date or time, which no key of ours takes.
    Time,
    /// The text of an environment variable. Its meaning depends on the key.
    Variable(String),
}

impl Value {
    /// The kind of the value, for faults.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) | Self::Variable(_) => "a text",
            Self::Number(_) => "a number",
            Self::Boolean(_) => "true or false",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Time => "a time",
        }
    }
}

/// Reads TOML. `place` maps a line to its place. Text that is no TOML becomes a fault.
pub(super) fn parse(text: &str, place: impl Fn(usize) -> Origin, faults: &Faults) -> Table {
    let place_of = |offset: usize| place(line_of(text, offset));
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let offset = error.span().map_or(0, |span| span.start);
        faults.add(
            &place_of(offset),
            "",
            format!("not TOML: {}", error.message()),
        );
    }
    table(document.get_ref(), &place_of)
}

/// Merges `over` into `base`: its values replace those of `base`, and tables are merged.
pub(super) fn merge(base: &mut Table, over: Table) {
    for (key, node) in over {
        match (base.get_mut(&key), node) {
            (
                Some(Node {
                    value: Value::Table(base),
                    place,
                }),
                Node {
                    value: Value::Table(over),
                    place: over_place,
                },
            ) => {
                *place = over_place;
                merge(base, over);
            }
            (_, node) => {
                base.insert(key, node);
            }
        }
    }
}

/// Sets the value at `path`, and creates the tables on the way.
pub(super) fn set(table: &mut Table, path: &[&str], node: Node) {
    let Some((key, path)) = path.split_first() else {
        return;
    };
    if path.is_empty() {
        table.insert((*key).to_owned(), node);
        return;
    }
    let inner = table.entry((*key).to_owned()).or_insert_with(|| Node {
        value: Value::Table(Table::new()),
        place: node.place.clone(),
    });
    if let Value::Table(inner) = &mut inner.value {
        set(inner, path, node);
    }
}

fn table(table: &DeTable<'_>, place: &impl Fn(usize) -> Origin) -> Table {
    table
        .iter()
        .map(|(key, value)| {
            let node = node(value, key.span().start, place);
            (key.get_ref().to_string(), node)
        })
        .collect()
}

fn node(value: &Spanned<DeValue<'_>>, offset: usize, place: &impl Fn(usize) -> Origin) -> Node {
    let item = |item: &Spanned<DeValue<'_>>| node(item, item.span().start, place);
    let value = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => {
            Value::Number(number.as_str().to_owned())
        }
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or(Value::Number(number.as_str().to_owned()), |number| {
                Value::Number(number.to_string())
            }),
        DeValue::Float(number) => Value::Number(number.as_str().to_owned()),
        DeValue::Boolean(flag) => Value::Boolean(*flag),
        DeValue::Datetime(_) => Value::Time,
        DeValue::Array(items) => Value::List(items.iter().map(item).collect()),
        DeValue::Table(inner) => Value::Table(table(inner, place)),
    };
    Node {
        value,
        place: place(offset),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    before.filter(|&&byte| byte == b'\n').count() + 1
}
