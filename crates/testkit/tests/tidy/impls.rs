//! A struct has one `impl` block, apart from those of traits, so it is not cut over several files.

use super::imports::code;
use super::tidy::{crates, is_test, rust_files};
use std::collections::BTreeMap;
use std::fs;

/// Returns the type of an `impl` block that begins on this line, if it is not one of a trait.
fn implemented(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(generics) => {
            let mut depth = 1;
            let end = generics.find(|character| {
                depth += match character {
                    '<' => 1,
                    '>' => -1,
                    _ => 0,
                };
                depth == 0
            })?;
            &generics[end + 1..]
        }
        None => rest,
    };
    let rest = rest.strip_prefix(' ')?;
    let is_of_trait = rest.contains(" for ");
    let name = rest
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()?;
    (!is_of_trait && !name.is_empty()).then_some(name)
}

/// Returns the name of the type that a line defines.
fn defined(line: &str) -> Option<&str> {
    let line = line.trim_start_matches("pub ");
    let line = match line.strip_prefix("pub(") {
        Some(rest) => rest.split_once(") ")?.1,
        None => line,
    };
    let rest = ["struct ", "enum ", "union "]
        .iter()
        .find_map(|keyword| line.strip_prefix(keyword))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
}

#[test]
fn a_struct_has_one_impl_block() {
    let mut faults = Vec::new();
    for folder in crates() {
        let crate_ = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let files = rust_files(&folder.join("src")).into_iter();
        let sources: Vec<String> = files
            .filter(|file| !is_test(file))
            .map(|file| code(&fs::read_to_string(file).unwrap()))
            .collect();
        let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for line in sources.iter().flat_map(|source| source.lines()) {
            if let Some(name) = implemented(line) {
                counts.entry(name).or_default().0 += 1;
            }
            // The macro of named enums has an indented definition.
            if let Some(name) = defined(line.trim_start()) {
                counts.entry(name).or_default().1 += 1;
            }
        }
        let several = counts.iter().filter(|(_, (impls, types))| impls > types);
        faults.extend(several.map(|(name, _)| format!("{crate_}::{name} has several impl blocks")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn impl_blocks_are_read_right() {
    assert_eq!(implemented("impl Engine {"), Some("Engine"));

    assert_eq!(implemented("impl<T: InLane> Lane<T> {"), Some("Lane"));
    assert_eq!(implemented("impl fmt::Display for Engine {"), None);
    assert_eq!(implemented("    impl Engine {"), None);
    assert_eq!(defined("pub(crate) struct Lane<T> {"), Some("Lane"));
    assert_eq!(defined("pub enum Health {"), Some("Health"));
    assert_eq!(defined("let x = 1;"), None);
}
