//! A section while it is read. Each key that is read is removed. The keys left at the end are
//! unknown.

use super::fault::{Faults, Origin, closest};
use super::secret::Secret;
use super::tree::{Node, Table};
use super::value::{Read, Time, table};
use std::fmt::Display;
use std::fs;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// A table of the configuration under its path.
pub(super) struct Section<'a> {
    path: String,
    place: Origin,
    table: Table,
    asked: Vec<&'static str>,
    faults: &'a Faults,
}

impl<'a> Section<'a> {
    /// The whole configuration.
    pub(super) fn root(table: Table, faults: &'a Faults) -> Self {
        Self {
            path: String::new(),
            place: Origin::Default,
            table,
            asked: Vec::new(),
            faults,
        }
    }

    /// Returns the section `key`, which may be empty.
    pub(super) fn section(&mut self, key: &'static str) -> Section<'a> {
        let node = self.take(key);
        self.inner(key, node.as_ref())
    }

    /// Returns all sections under `key`, by name.
    pub(super) fn sections(&mut self, key: &'static str) -> Vec<(String, Section<'a>)> {
        let mut outer = self.section(key);
        let table = std::mem::take(&mut outer.table);
        let inner = |(name, node): (String, Node)| {
            let section = outer.inner(&name, Some(&node));
            (name, section)
        };
        table.into_iter().map(inner).collect()
    }

    /// Returns the value of `key`, if it is set and has no fault.
    pub(super) fn get<T: Read>(&mut self, key: &'static str) -> Option<T> {
        let node = self.take(key)?;
        match T::read(&node) {
            Ok(value) => Some(value),
            Err(text) => {
                self.faults.add(&node.place, self.key(key), text);
                None
            }
        }
    }

    /// Returns the value of a key that is required.
    pub(super) fn require<T: Read>(&mut self, key: &'static str) -> Option<T> {
        if !self.table.contains_key(key) {
            self.asked.push(key);
            self.fault(key, "is missing");
            return None;
        }
        self.get(key)
    }

    /// Returns a value of `key` within `range`.
    pub(super) fn within<T: Read + PartialOrd + Display>(
        &mut self,
        key: &'static str,
        range: RangeInclusive<T>,
    ) -> Option<T> {
        let place = self.place_of(key);
        let value: T = self.get(key)?;
        if range.contains(&value) {
            return Some(value);
        }
        let (least, most) = range.into_inner();
        let text = format!("must be from {least} to {most}, not {value}");
        self.faults.add(&place, self.key(key), text);
        None
    }

    /// Returns a duration of `key` within `range`.
    pub(super) fn time(
        &mut self,
        key: &'static str,
        range: RangeInclusive<Duration>,
    ) -> Option<Duration> {
        let (least, most) = range.into_inner();
        let time = self.within(key, Time(least)..=Time(most));
        time.map(|Time(duration)| duration)
    }

    /// Returns one of the named values.
    pub(super) fn one_of<T: Copy>(
        &mut self,
        key: &'static str,
        values: &[(&'static str, T)],
    ) -> Option<T> {
        let place = self.place_of(key);
        let text: String = self.get(key)?;
        let found = values.iter().find(|(name, _)| *name == text);
        if found.is_none() {
            let names: Vec<_> = values.iter().map(|(name, _)| format!("{name:?}")).collect();
            let text = format!("must be one of {}, not {text:?}", names.join(", "));
            self.faults.add(&place, self.key(key), text);
        }
        found.map(|(_, value)| *value)
    }

    /// Returns a text with a maximum number of ASCII characters.
    pub(super) fn short_text(&mut self, key: &'static str, most: usize) -> Option<String> {
        let place = self.place_of(key);
        let text: String = self.get(key)?;
        match short(&text, most) {
            Ok(()) => Some(text),
            Err(fault) => {
                self.faults.add(&place, self.key(key), fault);
                None
            }
        }
    }

    /// Returns a secret from `key`, or from the file that `file_key` names.
    pub(super) fn secret(&mut self, key: &'static str, file_key: &'static str) -> Option<Secret> {
        let file_place = self.place_of(file_key);
        let (here, file): (Option<String>, Option<PathBuf>) = (self.get(key), self.get(file_key));
        match (here, file) {
            (Some(_), Some(_)) => {
                let text = format!("give either `{key}` or `{file_key}`, not both");
                self.faults.add(&file_place, self.key(file_key), text);
                None
            }
            (Some(text), None) => Some(Secret::new(text)),
            (None, Some(file)) => match fs::read_to_string(&file) {
                Ok(text) => Some(Secret::new(text.trim_end_matches(['\r', '\n']))),
                Err(error) => {
                    let text = format!("cannot read {}: {error}", file.display());
                    self.faults.add(&file_place, self.key(file_key), text);
                    None
                }
            },
            (None, None) => None,
        }
    }

    /// Returns `true` if `key` is set and not yet read.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Returns `true` if no key is set in it.
    pub(super) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Takes the whole table, unread.
    pub(super) fn take_all(&mut self) -> Table {
        std::mem::take(&mut self.table)
    }

    /// Adds a fault of a key of this section.
    pub(super) fn fault(&self, key: &str, text: impl Into<String>) {
        self.faults.add(&self.place_of(key), self.key(key), text);
    }

    /// Adds a fault of a key that was read already, at its place.
    pub(super) fn fault_at(&self, place: &Origin, key: &str, text: impl Into<String>) {
        self.faults.add(place, self.key(key), text);
    }

    /// Returns the place where `key` is set, else the place of this section.
    pub(super) fn place_of(&self, key: &str) -> Origin {
        self.table
            .get(key)
            .map_or(&self.place, |node| &node.place)
            .clone()
    }

    /// Adds a fault for each unknown key.
    pub(super) fn finish(self) {
        for (key, node) in &self.table {
            let text = match closest(key, self.asked.iter().copied()) {
                Some(meant) => format!("unknown key; did you mean `{meant}`?"),
                None => format!("unknown key; known are {}", self.asked.join(", ")),
            };
            self.faults.add(&node.place, self.key(key), text);
        }
    }

    fn take(&mut self, key: &'static str) -> Option<Node> {
        self.asked.push(key);
        self.table.remove(key)
    }

    /// Returns the path of `key`. An empty `key` stands for the section itself.
    fn key(&self, key: &str) -> String {
        let parts = [self.path.as_str(), key];
        let given = parts.into_iter().filter(|part| !part.is_empty());
        given.collect::<Vec<_>>().join(".")
    }

    fn inner(&self, key: &str, node: Option<&Node>) -> Section<'a> {
        let path = self.key(key);
        let place = node
            .as_ref()
            .map_or(&self.place, |node| &node.place)
            .clone();
        let table = match node.map(table) {
            None => Table::new(),
            Some(Ok(table)) => table,
            Some(Err(text)) => {
                self.faults.add(&place, path.clone(), text);
                Table::new()
            }
        };
        Section {
            path,
            place,
            table,
            asked: Vec::new(),
            faults: self.faults,
        }
    }
}

/// Refuses a text that is too long for a field of SMPP with this many octets.
pub(super) fn short(text: &str, most: usize) -> Result<(), String> {
    if text.len() > most {
        return Err(format!(
            "has {} characters; at most {most} are allowed",
            text.len()
        ));
    }
    if !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Err("must be printable ASCII".to_owned());
    }
    Ok(())
}
