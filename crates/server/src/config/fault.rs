//! The faults of a configuration: all at once, each with its key and its place.

use std::cell::RefCell;
use std::fmt;

/// The place where a value was set.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Origin {
    /// The built-in defaults.
    Default,
    /// A file as a whole.
    File(String),
    /// A line of a file, counted from 1.
    Line(String, usize),
    /// An environment variable.
    Variable(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("defaults"),
            Self::Line(file, line) => write!(f, "{file}:{line}"),
            Self::File(name) | Self::Variable(name) => f.write_str(name),
        }
    }
}

/// A fault of a configuration, and the way to mend it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConfigFault {
    /// The place of the fault.
    pub place: Origin,
    /// The path of the key, such as `carriers.mtn.window`. It is empty if the fault is of no key.
    pub key: String,
    /// The fault, and the way to mend it.
    pub text: String,
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.as_str() {
            "" => write!(f, "{}: {}", self.place, self.text),
            key => write!(f, "{}: {key}: {}", self.place, self.text),
        }
    }
}

/// The faults found so far.
#[derive(Debug, Default)]
pub(super) struct Faults(RefCell<Vec<ConfigFault>>);

impl Faults {
    /// Adds a fault.
    pub(super) fn add(&self, place: &Origin, key: impl Into<String>, text: impl Into<String>) {
        let fault = ConfigFault {
            place: place.clone(),
            key: key.into(),
            text: text.into(),
        };
        self.0.borrow_mut().push(fault);
    }

    /// Returns `true` if no fault was found.
    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Returns all faults in the order of the file.
    pub(super) fn into_sorted(self) -> Vec<ConfigFault> {
        let mut faults = self.0.into_inner();
        faults.sort_by_key(|fault| match &fault.place {
            Origin::Line(_, line) => *line,
            Origin::Default | Origin::File(_) | Origin::Variable(_) => usize::MAX,
        });
        faults
    }
}

/// Returns the name closest to `wrong`, if one is close enough to be meant.
pub(super) fn closest<'a>(
    wrong: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let (distance, name) = names
        .into_iter()
        .map(|name| (distance(wrong, name), name))
        .min()?;
    (distance <= wrong.chars().count().div_ceil(3)).then_some(name)
}

/// Returns the number of letters to add, remove, replace or swap with their neighbour.
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, r) in right.iter().enumerate() {
            let mut least = (row[j] + usize::from(l != r))
                .min(row[j + 1] + 1)
                .min(next[j] + 1);
            let is_swapped = i > 0 && j > 0 && *l == right[j - 1] && left[i - 1] == *r;
            if is_swapped {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[right.len()]
}
